#!/usr/bin/env bash
# Runs the unmodified SDKs, from their registries, against a server: clients of Python (sync, asyncio) and JavaScript, the
# Python worker, and berth dev with an unmodified handler; those of Python in the newest version and in an older one.
# Everything it installs goes to a directory that it removes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
berth=$here/../../bin/berth
tmp=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$tmp"
}
trap finish EXIT

make -s -C "$here/../.." build
for version in older newest; do
	python3 -m venv "$tmp/$version"
	"$tmp/$version/bin/pip" install --quiet --disable-pip-version-check -r "$here/python/requirements-$version.txt"
done
cp -r "$here/js" "$tmp/js"
(cd "$tmp/js" && npm ci --no-audit --no-fund --loglevel=error)
path=$PATH

# start NAME ARGS: starts berth and reads what it printed once it was ready.
start() {
	: >"$tmp/ready"
	"$berth" "$@" >"$tmp/ready" 2>"$tmp/log" &
	server=$!
	for _ in $(seq 200); do
		[ -s "$tmp/ready" ] && return
		kill -0 "$server" 2>/dev/null || break
		sleep 0.1
	done
	cat "$tmp/log"
	exit 1
}
stop() {
	kill "$server"
	wait "$server"
	server=
}
field() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval("d"+sys.argv[2]))' "$tmp/ready" "$1"; }
# checked COMMAND: runs it within two minutes, the most that any check may take; shows the server's log when it fails.
checked() {
	timeout 120 "$@" || {
		echo "FAILED ($?): $*"
		cat "$tmp/log"
		exit 1
	}
}

for version in older newest; do
	export PATH="$tmp/$version/bin:$path"
	start serve --json --listen 127.0.0.1:0 --data "$tmp/data-$version" --endpoint "echo=$berth worker --handler echo" \
		--endpoint "python=python -u $here/python/handler.py" --endpoint "idle="
	url=$(field '["url"]')/v2 key=$(field '["key"]')
	export RUNPOD_ENDPOINT_BASE_URL=$url
	idle=$(field '["endpoints"]["idle"]')
	for name in echo python; do
		endpoint=$(field "[\"endpoints\"][\"$name\"]")
		checked python "$here/python/sync_client.py" "$key" "$endpoint" "$idle"
		checked python "$here/python/asyncio_client.py" "$key" "$endpoint" "$idle"
		checked node "$tmp/js/client.mjs" "$url" "$key" "$endpoint" "$idle"
	done
	checked python "$here/python/failing_job.py" "$key" "$endpoint"
	stop

	start dev --json --listen 127.0.0.1:0 --data "$tmp/dev-$version" "$here/python/handler.py"
	export RUNPOD_ENDPOINT_BASE_URL=$(field '["url"]')/v2
	checked python "$here/python/failing_job.py" "$(field '["key"]')" "$(field '["endpoints"]["dev"]')"
	stop
done

checked python "$here/python/openai_client.py" "$berth" "$tmp/openai"

start dev --listen 127.0.0.1:0 --data "$tmp/dev-curl" "$here/python/handler.py"
checked bash -c 'until grep -q curl "$1"; do sleep 0.1; done' wait "$tmp/ready"
checked bash -c "$(grep -o 'curl .*' "$tmp/ready")" >"$tmp/answer"
grep -q COMPLETED "$tmp/answer" || {
	echo "FAILED: berth dev's printed curl answered: $(cat "$tmp/answer")"
	cat "$tmp/log"
	exit 1
}
echo "ok: berth dev, its printed curl, an unmodified worker"
stop
