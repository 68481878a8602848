#!/usr/bin/env bash
# Fuzzes a server with schemathesis over the documents that it serves: every check, every phase, stateful ones too. Then has it give
# what random requests do not bring about (reach.py), and fails if a documented answer was never seen.
# FUZZ_CONTRACT: the edition of the contract, without it the strict one.
# FUZZ_EXAMPLES: examples for each operation; FUZZ_SEEDS: seeds. Everything it installs goes to a directory that it removes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
berth=${BERTH:-$here/../../bin/berth}
examples=${FUZZ_EXAMPLES:-300}
seeds=${FUZZ_SEEDS:-1 2 3}
tmp=$(mktemp -d)
pids=()
finish() {
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$tmp"
}
trap finish EXIT

make -s -C "$here/../.." build
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
export PATH="$tmp/venv/bin:$PATH" PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1

export FUZZ_HOOKS=$here/hooks.py FUZZ_SEEN=$tmp/seen FUZZ_URL FUZZ_KEY FUZZ_CONTROLS FUZZ_ENDPOINT FUZZ_FAILED
field() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval("d"+sys.argv[2]))' "$tmp/ready" "$1"; }
# start NAME ARGS: starts a server and sets where it is.
start() {
	: >"$tmp/ready"
	"$berth" serve --json --listen 127.0.0.1:0 --data "$tmp/$1" ${FUZZ_CONTRACT:+--contract "$FUZZ_CONTRACT"} --endpoint served= --endpoint taken= --endpoint failed= "${@:2}" >"$tmp/ready" 2>"$tmp/$1.log" &
	pids+=($!)
	for _ in $(seq 1200); do
		[ -s "$tmp/ready" ] && break
		kill -0 $! 2>/dev/null || break
		sleep 0.1
	done
	[ -s "$tmp/ready" ] || { cat "$tmp/$1.log"; exit 1; }
	FUZZ_URL=$(field '["url"]') FUZZ_KEY=$(field '["key"]') FUZZ_ENDPOINT=$(field '["endpoints"]["served"]')
	served=$FUZZ_ENDPOINT taken=$(field '["endpoints"]["taken"]') FUZZ_FAILED=$(field '["endpoints"]["failed"]')
}

# fuzz SEED DOCUMENT: all phases; shows the report of what fails.
fuzz() {
	local phases began log=$tmp/$2.out path=openapi/$2.json
	[ "$2" != rest ] || path=v2/openapi.json
	# Stateful tests first: they read the list of pods, which is still short.
	for phases in "stateful --max-examples 100" "examples,coverage,fuzzing --max-examples $examples"; do
		began=$SECONDS
		# shellcheck disable=SC2086 # words
		(cd "$tmp" && schemathesis --config-file "$here/schemathesis.toml" run "$FUZZ_URL/$path" --no-color --continue-on-failure \
			--seed "$1" --phases $phases ${BERTH_REPLICAS:+--exclude-operation-id loadState}) >"$log" 2>&1 || {
			echo "FAILED: seed $1, $2, ${phases%% *}"
			cat "$log"
			grep -h level=ERROR "$tmp"/*.log | grep -v 'a scripted fault' || true
			return 1
		}
		echo "ok: seed $1, $2, ${phases%% *}: $(grep -o '[0-9]\+ generated' "$log") in $((SECONDS - began)) s"
	done
}

for seed in $seeds; do
	# A new server for each seed: the list of pods does not grow for ever.
	start "seed$seed" --quota-minute 100000000 --quota-hour 100000000 --quota-day 1000000000
	# A worker of the endpoint served, so that /runsync and /status-sync end as soon as their job does.
	RUNPOD_WEBHOOK_GET_JOB="$FUZZ_URL/v2/$served/job-take/\$ID" RUNPOD_WEBHOOK_POST_OUTPUT="$FUZZ_URL/v2/$served/job-done/\$RUNPOD_POD_ID/\$ID" \
		RUNPOD_WEBHOOK_POST_STREAM="$FUZZ_URL/v2/$served/job-stream/\$RUNPOD_POD_ID/\$ID" RUNPOD_WEBHOOK_PING="$FUZZ_URL/v2/$served/ping/\$RUNPOD_POD_ID" \
		RUNPOD_AI_API_KEY=$FUZZ_KEY RUNPOD_POD_ID=w "$berth" worker --handler echo --concurrency 10 >"$tmp/worker.log" 2>&1 &
	pids+=($!)
	# The largest document beside the others: generating takes more time than answering.
	fuzz "$seed" rest &
	rest=$!
	passed=yes
	FUZZ_ENDPOINT=$served fuzz "$seed" queue && FUZZ_ENDPOINT=$taken fuzz "$seed" worker || passed=no
	wait $rest || passed=no
	[ $passed = yes ]
done

start controlled --test-controls ${BERTH_REPLICAS:+--private-webhooks} # the address of several servers is none of their own
FUZZ_CONTROLS=$(field '["controlsKey"]')
documents=("$FUZZ_URL"/{v2/openapi,openapi/queue,openapi/worker}.json)
[ -n "${FUZZ_CONTRACT:-}" ] || documents+=("$FUZZ_URL/openapi/controls.json") # which is the same in each edition
python3 "$here/reach.py" "${documents[@]}"
[ -n "${FUZZ_CONTRACT:-}" ] || for seed in $seeds; do FUZZ_KEY=$FUZZ_CONTROLS fuzz "$seed" controls; done
python3 "$here/seen.py" "$FUZZ_SEEN" "${documents[@]}"
