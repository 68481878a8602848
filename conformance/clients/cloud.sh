#!/usr/bin/env bash
# Runs the clients that know the public names of the API and of pods alone, unmodified, in a network of their own, where these
# names lead to a server that serves the public edition: the SDK's control functions, tasks and apps, dstack's client, and functions and apps of flash.
#
# usage: cloud.sh BERTH DIRECTORY. DIRECTORY has the virtual environments next, dstack and flash.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
berth=$1 tmp=$2

if [ -z "${INSIDE:-}" ]; then
	own=(--net --mount)
	[ "$(id -u)" = 0 ] || own+=(--user --map-root-user)
	if ! unshare "${own[@]}" true 2>/dev/null; then
		echo "SKIPPED: clients with fixed names need a network namespace, which this machine does not permit"
		exit 0
	fi
	INSIDE=1 exec unshare "${own[@]}" "$0" "$@"
fi

ip link set lo up
echo "nameserver 127.0.0.1" >"$tmp/resolv.conf"
mount --bind "$tmp/resolv.conf" "$(realpath /etc/resolv.conf)"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=berth" -addext "subjectAltName=DNS:api.runpod.io,DNS:*.proxy.runpod.net,DNS:api.runpod.ai,DNS:*.api.runpod.ai" \
	-keyout "$tmp/edge.key" -out "$tmp/edge.pem" 2>/dev/null

# served RUNTIME ARGS: a server with pods on RUNTIME, and what stands before it, until the next one.
served() {
	runtime=$1
	shift
	: >"$tmp/cloud.ready" # the shell of the server empties it too late for who looks whether it is empty
	PATH="$tmp/next/bin:$PATH" "$berth" serve --json --contract public --runtime "$runtime" --listen 127.0.0.1:0 --data "$tmp/cloud-$runtime" "$@" \
		>"$tmp/cloud.ready" 2>"$tmp/cloud.log" &
	server=$!
	until [ -s "$tmp/cloud.ready" ]; do kill -0 $server && sleep 0.1; done
	url=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["url"])' "$tmp/cloud.ready")
	key=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["key"])' "$tmp/cloud.ready")

	: >"$tmp/edge.ready"
	python3 "$here/python/edge.py" "$tmp/edge.pem" "$tmp/edge.key" "${url##*:}" >"$tmp/edge.ready" &
	edge=$!
	until [ -s "$tmp/edge.ready" ]; do kill -0 $edge && sleep 0.1; done
}
ended() {
	kill $edge $server
	wait $server || true
}
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT

checked() {
	SSL_CERT_FILE=$tmp/edge.pem REQUESTS_CA_BUNDLE=$tmp/edge.pem timeout 900 "$@" || {
		echo "FAILED ($?): ${*:1:2}"
		tail -n 100 "$tmp/cloud.log"
		exit 1
	}
}

served sim
checked "$tmp/next/bin/python" "$here/python/cloud_client.py" https://api.runpod.io "$key"
checked "$tmp/dstack/bin/python" "$here/python/dstack_client.py" "$key"
ended

# What listens is played by the programs in python: the images of the SDK and of flash are in no registry of packages.
flash="$tmp/flash/bin/python $here/python/flash_worker.py"
served process --endpoint env=env --endpoint "flash=$flash queue" --endpoint "flash-web=$flash web" --process-accept args --process-accept env --domain api.runpod.ai
checked "$tmp/next/bin/python" "$here/python/task_client.py" https://api.runpod.io "$key" "$here/python/runtime"
endpoints() { curl -sS -H "Authorization: Bearer $key" "$url/v2/serverless" | grep -o '"name":"[^"]*"'; }
before=$(endpoints)
RUNPOD_API_KEY=$key APP_RUNTIME=$here/python/runtime checked "$tmp/next/bin/rp" flash dev "$here/python/app_functions.py" --once >"$tmp/app"
grep -q "the app was answered" "$tmp/app" || { cat "$tmp/app"; exit 1; }
echo "ok: rp flash dev: an api and a function of an app"
checked "$tmp/next/bin/python" "$here/python/login_client.py" "$url" "$key" "$tmp/next/bin/rp"
checked "$tmp/flash/bin/python" "$here/python/login_client.py" "$url" "$key" "$tmp/flash/bin/flash"
checked "$tmp/flash/bin/python" -W ignore "$here/python/flash_client.py" https://api.runpod.io "$key"
checked "$tmp/flash/bin/python" -W ignore "$here/python/flash_deploy.py" "$url" "$key"
[ "$(endpoints)" = "$before" ] || { echo "FAILED: an app left an endpoint behind: $(endpoints)"; exit 1; }
ended
