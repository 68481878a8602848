#!/usr/bin/env bash
# Runs the unmodified SDKs, from their registries, against servers: the Python worker in four versions, with each kind of
# handler; the clients of Python (sync, asyncio) and JavaScript, with each of these; berth dev; and clients of the public edition
# that know public names alone. Each version has a server of its own. Everything that is installed goes to a directory that is
# removed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
berth=${BERTH:-$(cd "$here/../.." && pwd)/bin/berth}
program=${BERTH_PROGRAM:-$berth} # where the former stands for several servers
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

install() {
	python3 -m venv "$tmp/$1"
	"$tmp/$1/bin/pip" install --quiet --disable-pip-version-check -r "$here/python/requirements-$1.txt"
}

# start NAME ARGS: starts berth as NAME, for as long as this subshell lives, and waits for what it prints once it is ready.
start() {
	name=$1
	shift
	: >"$tmp/$name.ready"
	"$berth" "$@" --listen 127.0.0.1:0 --data "$tmp/$name.data" >"$tmp/$name.ready" 2>"$tmp/$name.log" &
	server=$!
	trap 'kill "$server" 2>/dev/null || true; wait' EXIT
	for _ in $(seq 1200); do
		[ -s "$tmp/$name.ready" ] && return
		kill -0 "$server" 2>/dev/null || break
		sleep 0.1
	done
	cat "$tmp/$name.log"
	exit 1
}
stop() {
	kill "$server"
	wait "$server" || {
		echo "FAILED ($?): the server of $name, as it ended"
		tail -n 20 "$tmp/$name.log"
		exit 1
	}
}
field() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); v=eval("d"+sys.argv[2]); print(v if isinstance(v, str) else json.dumps(v))' "$tmp/$name.ready" "$1"; }
# checked COMMAND: runs it within a quarter of an hour: on a busy machine an SDK may take minutes to be imported; shows the server's log when it fails.
checked() {
	timeout 900 "$@" || {
		echo "FAILED ($?): ${*:1:2}"
		tail -n 100 "$tmp/$name.log"
		exit 1
	}
}

# version NAME: the worker of one version with each kind of handler, the clients with that worker and the built-in one.
version() {
	python=$tmp/$1/bin/python
	endpoints=(--endpoint idle= --endpoint own= --endpoint "echo=$program worker --handler echo")
	# SDKs before 1.10.1 keep the jobs that they work on in a file of the working directory: two workers there take each other's
	# jobs for their own, and one that follows a killed one believes that it is busy for ever. So each gets an empty directory.
	for kind in sync asynchronous generator async_generator aggregate concurrent refresh cancelled:asynchronous blocked:sync progress:sync; do
		endpoints+=(--endpoint "${kind%:*}=sh -c 'cd \$(mktemp -d -p $tmp) && exec $python -u $here/python/handlers.py ${kind#*:}'")
	done
	start "$1" serve --json "${endpoints[@]}"
	url=$(field '["url"]')/v2 key=$(field '["key"]')
	export RUNPOD_ENDPOINT_BASE_URL=$url
	idle=$(field '["endpoints"]["idle"]') stream=$(field '["endpoints"]["async_generator"]')
	checked "$python" "$here/python/workers.py" "$url" "$key" "$(field '["endpoints"]')"
	own=$(field '["endpoints"]["own"]')
	checked "$python" "$here/python/own_worker.py" "$url" "$key" "$own" "$("$berth" keys create --data "$tmp/$name.data" --scope "queue:$own:work")"
	for kind in echo sync; do
		endpoint=$(field "[\"endpoints\"][\"$kind\"]")
		checked "$python" "$here/python/sync_client.py" "$key" "$endpoint" "$stream" "$idle"
		checked "$python" "$here/python/asyncio_client.py" "$key" "$endpoint" "$stream" "$idle"
		checked node "$tmp/js/client.mjs" "$url" "$key" "$endpoint" "$stream" "$idle"
	done
	# The control functions of SDK 2 speak REST: cloud.sh runs those.
	[ "$1" = next ] || checked "$python" "$here/python/graphql_client.py" "${url%/v2}" "$key"
	stop
}

# idle: how often a worker with nothing to do asks for work.
idle() {
	export PATH="$tmp/newest/bin:$PATH"
	start idle dev -v --json "$here/python/handlers.py" sync
	checked python "$here/python/idle_worker.py" "$tmp/idle.log" 50
	stop
}

# pasted: berth dev's printed curl.
pasted() {
	export PATH="$tmp/newest/bin:$PATH"
	start dev dev "$here/python/handlers.py" sync
	checked bash -c 'until grep -q curl "$1"; do sleep 0.1; done' wait "$tmp/dev.ready"
	for _ in 1 2 3 4 5; do # it waits for 90 s, and a worker may take longer to start on a busy machine
		checked bash -c "$(grep -o 'curl .*' "$tmp/dev.ready")" >"$tmp/answer"
		! grep -q COMPLETED "$tmp/answer" || break
	done
	grep -q COMPLETED "$tmp/answer" || {
		echo "FAILED: berth dev's printed curl answered: $(cat "$tmp/answer")"
		cat "$tmp/dev.log"
		exit 1
	}
	echo "ok: berth dev, its printed curl, an unmodified worker"
	stop
}

# openai: the client of another API, before a worker that speaks it, and before web servers that do.
openai() {
	export PATH="$tmp/newest/bin:$PATH"
	name=openai
	: >"$tmp/openai.log"
	checked python "$here/python/openai_client.py" "$berth" "$tmp/openai"
	start balanced serve --json --runtime process --endpoint "openai=python $here/python/openai_server.py"
	checked python "$here/python/openai_balanced.py" "$(field '["url"]')" "$(field '["key"]')"
	stop
}

# together COMMAND...: runs them at once, shows what each printed in turn, and fails if one did.
together() {
	pids=() n=0 failed=0
	for command in "$@"; do
		n=$((n + 1))
		$command >"$tmp/out.$n" 2>&1 &
		pids+=($!)
	done
	for i in "${!pids[@]}"; do
		wait "${pids[$i]}" || failed=1
		cat "$tmp/out.$((i + 1))"
	done
	[ $failed = 0 ] || exit 1
}

make -s -C "$here/../.." build
cp -r "$here/js" "$tmp/js"
together "install oldest" "install older" "install newest" "install next" "install dstack" "install flash" "npm --prefix $tmp/js ci --no-audit --no-fund --loglevel=error"
together "version oldest" "version older" "version newest" "version next" idle pasted openai "$here/cloud.sh $berth $tmp"
