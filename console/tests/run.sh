#!/usr/bin/env bash
# Opens the console of a server in headless Chromium. Screenshots go to BERTH_ARTEFACTS, or artefacts/; BERTH_CHROMIUM names the browser.
# The packages are those that build.sh has installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
artefacts=${BERTH_ARTEFACTS:-$root/artefacts}
for browser in ${BERTH_CHROMIUM:-chromium chromium-browser google-chrome}; do
	if chromium=$(command -v "$browser"); then break; fi
done
if [ -z "${chromium:-}" ]; then
	echo "SKIPPED: the console needs Chromium: install it, or name it in BERTH_CHROMIUM"
	exit
fi
# The time is against what hangs alone: on a busy machine all of it has taken 5 minutes.
timeout 1200 node "$here/console.mjs" "$root/bin/berth" "$chromium" "$artefacts/console"
