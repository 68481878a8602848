#!/usr/bin/env bash
# For a team with machines of its own: its scripts, held against a simulated host like its own, with four processors.
. "$(dirname "$0")/berth.sh"
fleet=$(mktemp)
echo '{"hosts": [{"id": "rack-1", "dataCenterId": "EU-RO-1", "cloud": "SECURE", "cpus": ["cpu3g"], "vcpus": 4, "memoryGb": 64, "diskGb": 500}]}' >"$fleet"
start --fleet "$fleet"
rm "$fleet"
export BERTH_KEY=the-key-of-the-team

# deploy: the team's script. It tries again what is refused for a while (exit code 3).
deploy() {
	for _ in 1 2 3; do
		code=0
		"$berth" pods start podoftheteam01 >"$directory/pod" 2>&1 || code=$?
		[ $code = 3 ] || break
	done
	return $code
}
status() { "$berth" pods get podoftheteam01 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["status"])'; }

controls clock freeze >"$directory/clock"
expect "the pod of the seed" EXITED "$(status)"
controls faults add --operation podAction --status 503 --times 1 >"$directory/fault"
deploy
expect "the pod at once" "not RUNNING" "$(status | sed 's/^[^R].*/not RUNNING/')"
controls clock advance 1m >"$directory/clock"
expect "the pod a minute later" RUNNING "$(status)"

code=0
"$berth" pods create --name more --image tool:1 --cpu cpu3g --vcpus 4 >"$directory/more" 2>&1 || code=$?
expect "what no host has room for" 3 "$code"
grep -q "asked for 4 vCPUs" "$directory/more"

controls journal verify - <<'EXPECTED'
[{"operation": "podAction", "resource": "podoftheteam01", "status": "503", "times": {"exactly": 1}},
 {"operation": "podAction", "resource": "podoftheteam01", "status": "2xx", "times": {"exactly": 1}},
 {"operation": "createPod", "status": "400", "times": {"exactly": 1}}]
EXPECTED
echo "ok: a team's script on its machine"
