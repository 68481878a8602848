#!/usr/bin/env bash
# Runs the examples with the berth of this tree. What it installs goes to a directory that it removes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export BERTH=$here/../bin/berth PYTHONDONTWRITEBYTECODE=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

go test -count=1 -run Example "$here/.."

for test in "$here"/shell/for_*.sh; do timeout 300 "$test"; done

python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/python/requirements.txt"
(cd "$here/python" && timeout 300 "$tmp/venv/bin/python" -m pytest -q -p no:cacheprovider)

cp -r "$here/javascript" "$tmp/javascript"
cd "$tmp/javascript"
npm ci --no-audit --no-fund --loglevel=error
timeout 300 npm test --silent
