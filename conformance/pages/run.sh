#!/usr/bin/env bash
# Opens the pages of a server in headless Chromium. Screenshots go to BERTH_ARTEFACTS, or artefacts/; BERTH_CHROMIUM names the browser.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
artefacts=${BERTH_ARTEFACTS:-$root/artefacts}
for browser in ${BERTH_CHROMIUM:-chromium chromium-browser google-chrome}; do
	if chromium=$(command -v "$browser"); then break; fi
done
if [ -z "${chromium:-}" ]; then
	echo "SKIPPED: the pages need Chromium: install it, or name it in BERTH_CHROMIUM"
	exit
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp "$here"/package*.json "$here/pages.mjs" "$tmp"
(cd "$tmp" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null)
timeout 1200 node "$tmp/pages.mjs" "$root/bin/berth" "$chromium" "$artefacts/pages"
