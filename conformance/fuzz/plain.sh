#!/usr/bin/env bash
# Runs schemathesis as anybody would, without any configuration of ours but time for a busy machine, over each document that a server
# serves, and holds what it finds against plain.yaml, which names the rule that demands it. PLAIN_EXAMPLES: examples for each operation;
# PLAIN_SEEDS: seeds; PLAIN_FEED: examples for the logs of pods and workers, feeds that schemathesis reads for 30 s each time, or 0.
# Everything it installs goes to a directory that it removes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
berth=$here/../../bin/berth
examples=${PLAIN_EXAMPLES:-100}
seeds=${PLAIN_SEEDS:-1 2 3}
feed=${PLAIN_FEED:-5}

# Webhooks are random, too: in a network of its own the server calls none but itself.
if [ -z "${PLAIN_TMP:-}" ]; then
	unshare -rn true 2>/dev/null || { echo "SKIPPED: a plain schemathesis needs a network of its own (unshare), or random webhooks would call strangers"; exit 0; }
	make -s -C "$here/../.." build
	PLAIN_TMP=$(mktemp -d)
	export PLAIN_TMP
	trap 'rm -rf "$PLAIN_TMP"' EXIT
	python3 -m venv "$PLAIN_TMP/venv"
	"$PLAIN_TMP/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
	unshare -rn sh -c 'ip link set lo up && exec "$0"' "$here/plain.sh"
	exit
fi

pids=()
trap '[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true; wait' EXIT
cd "$PLAIN_TMP" # no configuration file is there
python=$PLAIN_TMP/venv/bin/python

# run SEED DOCUMENT PATH [ARGS]: a server of its own, since some requests change what others meet.
run() {
	local name=$2-$1 key=key began=$SECONDS
	[ "$2" != controls ] || key=controlsKey
	"$berth" serve --json --listen 127.0.0.1:0 --data "$name" --endpoint served= --test-controls \
		--quota-minute 100000000 --quota-hour 100000000 --quota-day 1000000000 >"$name.ready" 2>"$name.log" &
	local server=$!
	for _ in $(seq 1200); do
		[ ! -s "$name.ready" ] && kill -0 $server 2>/dev/null || break
		sleep 0.1
	done
	[ -s "$name.ready" ] || { cat "$name.log"; return 1; }
	field() { "$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$name.ready" "$1"; }
	# Its exit code says that it found something; an error of its own leaves no report of an end, which plain.py misses.
	venv/bin/schemathesis run "$(field url)/$3" --header "Authorization: Bearer $(field $key)" --seed "$1" --max-examples "$examples" \
		--continue-on-failure --no-color --request-timeout 60 --suppress-health-check too_slow \
		--report ndjson --report-ndjson-path "$name.ndjson" "${@:4}" >"$name.out" 2>&1 || true
	kill $server
	wait $server || true
	grep -h level=ERROR "$name.log" | grep -v 'a scripted fault' || true
	echo "seed $1, $2: $(grep -o '[0-9]\+ generated' "$name.out" || tail -5 "$name.out") in $((SECONDS - began)) s"
}

for seed in $seeds; do
	run "$seed" rest v2/openapi.json --exclude-path-regex 'logs$' &
	pids+=($!)
	if [ "$feed" != 0 ]; then # with what makes pods and workers
		run "$seed" feed v2/openapi.json --include-path-regex '^/v2/(pods|serverless|.*/workers|.*/logs)$' --max-examples "$feed" &
		pids+=($!)
	fi
	run "$seed" queue openapi/queue.json
	run "$seed" worker openapi/worker.json
	# Sleeping is answered when the clock has moved on, by up to a year, and events never end.
	run "$seed" controls openapi/controls.json --exclude-path-regex '(clock/sleep|/events)$'
	for pid in "${pids[@]}"; do wait "$pid"; done # of several, wait tells of the last one alone
	pids=()
done
"$python" "$here/plain.py" "$here/plain.yaml" "$here/../../spec/rules.yaml" ./*.ndjson
