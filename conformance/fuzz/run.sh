#!/usr/bin/env bash
# Fuzzes a server with schemathesis, over the three documents that it serves: every check, every phase, stateful ones too.
# Then has it refuse what random requests do not reach, and fails if a documented answer was never seen (see unseen.txt).
# FUZZ_EXAMPLES: examples for each operation; FUZZ_SEEDS: seeds. Everything it installs goes to a directory that it removes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
berth=$here/../../bin/berth
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
export PATH="$tmp/venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1

field() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval("d"+sys.argv[2]))' "$tmp/ready" "$1"; }
# start NAME ARGS: starts a server and sets where it is.
start() {
	: >"$tmp/ready"
	"$berth" serve --json --listen 127.0.0.1:0 --data "$tmp/$1" --endpoint served= --endpoint taken= "${@:2}" >"$tmp/ready" 2>"$tmp/$1.log" &
	pids+=($!)
	for _ in $(seq 200); do
		[ -s "$tmp/ready" ] && break
		kill -0 $! 2>/dev/null || break
		sleep 0.1
	done
	[ -s "$tmp/ready" ] || { cat "$tmp/$1.log"; exit 1; }
	export FUZZ_URL=$(field '["url"]')
	key=$(field '["key"]') served=$(field '["endpoints"]["served"]') taken=$(field '["endpoints"]["taken"]')
}

export FUZZ_HOOKS=$here/hooks.py FUZZ_SEEN=$tmp/seen FUZZ_MODE FUZZ_KEY FUZZ_ENDPOINT FUZZ_TAKEN
# fuzz WHAT DOCUMENT ARGS: one run; shows its report if it fails.
fuzz() {
	local began=$SECONDS path=openapi/$2.json
	FUZZ_ENDPOINT=$served FUZZ_TAKEN=$taken
	[ "$2" != rest ] || path=v2/openapi.json
	[ "$2" != worker ] || FUZZ_ENDPOINT=$taken
	(cd "$tmp" && schemathesis --config-file "$here/schemathesis.toml" run "$FUZZ_URL/$path" --no-color "${@:3}") >"$tmp/out" 2>&1 || {
		echo "FAILED: $1, $2"
		cat "$tmp/out"
		grep -h level=ERROR "$tmp"/*.log || true
		exit 1
	}
	echo "ok: $1, $2: $(grep -o '[0-9]\+ generated' "$tmp/out") in $((SECONDS - began)) s"
}

FUZZ_MODE=fed
for seed in $seeds; do
	# A new server for each seed: the list of pods does not grow for ever.
	start "seed$seed" --quota-minute 100000000 --quota-hour 100000000 --quota-day 1000000000
	FUZZ_KEY=$key
	# A worker of the endpoint served, so that /runsync and /status-sync end as soon as their job does.
	RUNPOD_WEBHOOK_GET_JOB="$FUZZ_URL/v2/$served/job-take/\$ID" RUNPOD_WEBHOOK_POST_OUTPUT="$FUZZ_URL/v2/$served/job-done/\$RUNPOD_POD_ID/\$ID" \
		RUNPOD_WEBHOOK_POST_STREAM="$FUZZ_URL/v2/$served/job-stream/\$RUNPOD_POD_ID/\$ID" RUNPOD_WEBHOOK_PING="$FUZZ_URL/v2/$served/ping/\$RUNPOD_POD_ID" \
		RUNPOD_AI_API_KEY=$key RUNPOD_POD_ID=w "$berth" worker --handler echo --concurrency 10 >"$tmp/worker.log" 2>&1 &
	pids+=($!)
	for document in rest queue worker; do
		# Stateful tests first: they read the list of pods, which is still short.
		fuzz "seed $seed, stateful" $document --seed "$seed" --continue-on-failure --phases stateful --max-examples 100
		fuzz "seed $seed" $document --seed "$seed" --continue-on-failure --phases examples,coverage,fuzzing --max-examples "$examples"
	done
done

forbidden=$("$berth" keys create --data "$tmp/seed$seed" --name "no scope of these" --scope graphql:read)
# answers WHAT DOCUMENT EXAMPLES ARGS: a few valid requests, whose answers must be as documented whatever their status.
answers() {
	fuzz "$1" "$2" --max-examples "$3" --seed 1 --phases fuzzing --mode positive --warnings off "${@:4}" \
		--checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance
}
for document in rest queue worker; do
	FUZZ_MODE=faults answers "faults" $document 4
	FUZZ_MODE=plain
	FUZZ_KEY=nobody answers "no key" $document 1
	FUZZ_KEY=$forbidden answers "a key without scope" $document 1
done
served=nosuchendpoint taken=nosuchendpoint
for document in queue worker; do answers "an unknown endpoint" $document 1; done

start small --quota-minute 1
FUZZ_KEY=$key
answers "over the quota" rest 3
answers "nothing to take or stop" worker 1 --workers 3 \
	--include-operation-id takeJob --include-operation-id takeJobs --include-operation-id stopJobs

python3 "$here/seen.py" "$FUZZ_SEEN" "$here/unseen.txt" "$FUZZ_URL"/{v2/openapi,openapi/queue,openapi/worker}.json
