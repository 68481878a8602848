#!/usr/bin/env bash
# Records what the command line and curl do with a berth, plays it back to them, and compares two others by it: there must be no difference. And
# a service that answers otherwise must be found out. Needs bin/berth and curl. The planted differences are tests of impl/record.
set -euo pipefail
cd "$(dirname "$0")/.."

berth=$PWD/bin/berth
tmp=$(mktemp -d)
pids=()
finish() {
	[ $? = 0 ] || tail -n 5 "$tmp"/*.txt
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
	rm -rf "$tmp"
}
trap finish EXIT

fail() { printf 'FAILED: %s\n' "$*"; exit 1; }

# up NAME ARGS...: starts berth, which says in a line of JSON when it is ready.
up() {
	local name=$1
	shift
	"$berth" "$@" --json --listen 127.0.0.1:0 >"$tmp/$name.json" 2>"$tmp/$name.log" &
	pids+=($!)
	until [ -s "$tmp/$name.json" ]; do kill -0 "${pids[-1]}" || fail "berth $1: $(cat "$tmp/$name.log")"; sleep 0.1; done
}

# of NAME MEMBER: what it said.
of() { sed "s/.*\"$2\":\"\([^\"]*\)\".*/\1/" "$tmp/$1.json"; }

# serve NAME: starts a server.
serve() { up "$1" serve --data "$tmp/$1" --endpoint "echo=$berth worker --handler echo"; }

# session URL: what a client does, and what it sees of it.
session() {
	export BERTH_SERVER=$1
	id() { grep -oE '"id":"[a-z0-9]{14}"' | sed '1!d; s/.*:"//; s/"//'; }
	local pod gpu template volume endpoint
	pod=$("$berth" pods create --name first --image ubuntu:24.04 --cpu cpu3g --vcpus 2 --env API_TOKEN=hunter22 --port 8888/http --wait --json | id)
	"$berth" pods update "$pod" --name renamed --json
	gpu=$("$berth" pods create --name second --image cuda --gpu 'NVIDIA L4' --wait --json | id)
	"$berth" pods list --json
	"$berth" pods stop "$pod" --wait --json
	template=$("$berth" templates create --name mine --image ubuntu:24.04 --json | id)
	"$berth" templates get "$template" --json
	volume=$("$berth" volumes create --name data --size 20 --data-center US-KS-2 --json | id)
	"$berth" volumes update "$volume" --size 30 --json
	"$berth" jobs runsync echo --input '{"n": 1.5, "list": ["a", "b"]}' --json
	endpoint=$("$berth" endpoints list --json | id)
	"$berth" endpoints get "$endpoint" --json
	"$berth" catalog gpus --json
	graphql '{"query": "query { pod(input: {podId: \"'"$gpu"'\"}) { id name desiredStatus costPerHr machine { gpuDisplayName } } }"}'
	graphql '{"query": "mutation Stop($id: String!) { podStop(input: {podId: $id}) { id desiredStatus } }", "variables": {"id": "'"$gpu"'"}}'
	graphql '{"query": "{ nothing }"}'
	"$berth" pods get nosuchpodatall && fail "a pod that is not there"
	"$berth" pods create --name '' --image i --cpu cpu3g --vcpus 3 && fail "a pod that cannot be"
	BERTH_KEY=brt_nobody_1 "$berth" pods list && fail "somebody else's key"
	"$berth" volumes delete "$volume"
	"$berth" templates delete "$template"
	for one in "$pod" "$gpu"; do "$berth" pods delete "$one"; done
	"$berth" pods list --json
}

graphql() { curl -sS -H "Authorization: Bearer $BERTH_KEY" -H 'Content-Type: application/json' -d "$1" "$BERTH_SERVER/graphql"; echo; }

serve live
export BERTH_KEY
BERTH_KEY=$(of live key)
up proxy record --upstream "$(of live url)" "$tmp/session.jsonl"
session "$(of proxy url)" >"$tmp/live.txt" 2>&1
grep -q 'hunter22\|'"$BERTH_KEY" "$tmp/session.jsonl" && fail "a secret is in the recording"
printf '%s exchanges are recorded\n' "$(($(wc -l <"$tmp/session.jsonl") - 1))"

up player play "$tmp/session.jsonl"
session "$(of player url)" >"$tmp/played.txt" 2>&1
diff <(sed "s,$(of proxy url),URL,g; s/hunter22/***/g" "$tmp/live.txt") <(sed "s,$(of player url),URL,g" "$tmp/played.txt") || fail "the recording plays otherwise"
echo "it plays back the same"

# Which workers are up depends on how long everything takes: they come with jobs, and go 5 seconds after the last one.
grep -v '/workers"' "$tmp/session.jsonl" >"$tmp/compared.jsonl"
[ "$(wc -l <"$tmp/compared.jsonl")" -gt 35 ] || fail "hardly anything is left to compare"

serve left
serve right
BERTH_KEY_LEFT=$(of left key) BERTH_KEY_RIGHT=$(of right key) "$berth" compare "$tmp/compared.jsonl" --left "$(of left url)" --right "$(of right url)" --patience 2m
serve other
BERTH_KEY=$(of other key) "$berth" compare "$tmp/compared.jsonl" --against "$(of other url)" --patience 2m

# The answer to the pod that is not there, edited.
sed 's/"status":404/"status":410/' "$tmp/compared.jsonl" >"$tmp/edited.jsonl"
code=0
BERTH_KEY=$(of other key) "$berth" compare "$tmp/edited.jsonl" --against "$(of other url)" --patience 3s >"$tmp/found.txt" 2>&1 || code=$?
[ $code = 1 ] || fail "the other status has the exit code $code"
grep -E 'getPod +status +status +410 +404 +2.0.0 +pods' "$tmp/found.txt"
