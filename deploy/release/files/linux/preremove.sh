#!/bin/sh
# Debian says remove, RPM how many are left; an upgrade leaves the service alone.
set -e
if [ -d /run/systemd/system ]; then
	case "$1" in
	remove | 0) systemctl disable --now berth.service || true ;;
	esac
fi
