#!/usr/bin/env bash
# The second step of somebody new: a handler that crashes, berth dev twice, with a virtual environment and an edit of a module that the
# handler imports, and the server in a browser. It needs python3 with venv and curl, and no network: the handlers speak to berth
# worker's program, which stands for an SDK.
set -euo pipefail
berth=$(cd "$(dirname "$0")/.." && pwd)/bin/berth
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait; rm -rf "$tmp"' EXIT
export BERTH_CONFIG=/dev/null
unset VIRTUAL_ENV
cd "$tmp"

fail() {
	echo "FAILED: $*"
	tail -n 50 "$tmp"/*.out "$tmp"/*.err
	exit 1
}
# has FILE TEXT: the file gets the text within a minute.
has() {
	for _ in $(seq 600); do
		! grep -qF -- "$2" "$1" || return 0
		kill -0 "$server" 2>/dev/null || break
		sleep 0.1
	done
	fail "$1 does not have: $2"
}
# start NAME COMMAND...: starts a server, for stop.
start() {
	name=$1
	shift
	"$berth" "$@" --listen 127.0.0.1:0 >"$name.out" 2>"$name.err" &
	server=$!
}
stop() {
	kill "$server"
	wait "$server" || fail "the server ended with $?"
	server=
}
pasted() { grep -o "$1" "$2" | head -1; }

# A handler that crashes: the wait for its job prints why.
printf 'import sys\nprint("loading", flush=True)\nimport not_installed\n' >crash.py
start crash serve --json --data crash.data --endpoint "words=python3 -u $tmp/crash.py"
has crash.out '"key"'
export BERTH_SERVER BERTH_KEY
BERTH_SERVER=$(pasted 'http://127[^"]*' crash.out) BERTH_KEY=$(pasted 'brt_[a-z0-9_]*' crash.out)
for patience in 10s 60s 300s; do # a worker has to start and to end in that time, which takes longer on a busy machine
	code=0
	"$berth" jobs run words --input '{}' --wait --timeout $patience >wait.out 2>wait.err || code=$?
	! grep -qF "No module named 'not_installed'" wait.err || ! grep -qF "the worker ended with exit code 1" wait.err || break
done
[ $code = 6 ] || fail "jobs run --wait ended with $code, not 6"
has wait.err "ModuleNotFoundError: No module named 'not_installed'"
has wait.err "the worker ended with exit code 1"
id=$(sed -n 's/.*its log: berth endpoints logs words \([a-z0-9]*\)$/\1/p' wait.err | head -1)
"$berth" endpoints workers words >workers.out
has workers.out "ModuleNotFoundError"
"$berth" endpoints logs words "$id" >log.out
has log.out "loading"
stop
grep -q not_installed crash.err && fail "what a worker wrote is in the server's log"
echo "ok: a crashing handler is understood from what jobs run --wait prints"

# berth dev: a file that is missing, a virtual environment, an edit between two jobs, a second start.
code=0
"$berth" dev none.py --data dev.data >none.out 2>none.err || code=$?
[ $code = 2 ] || fail "a missing handler ended with $code, not 2"
[ ! -e dev.data ] || fail "a missing handler left a data directory"

mkdir project
python3 -m venv --without-pip project/.venv
echo 'ANSWER = "before"' >project/answers.py
cat >project/handler.py <<'END'
import json, os, sys, urllib.request
import answers


def call(url, body=None):
    request = urllib.request.Request(url, data=body, headers={"Authorization": os.environ["RUNPOD_AI_API_KEY"], "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return answer.status, answer.read()


worker = os.environ["RUNPOD_POD_ID"]
while True:
    status, job = call(os.environ["RUNPOD_WEBHOOK_GET_JOB"].replace("$ID", worker))
    if status == 200:
        job = json.loads(job)
        done = os.environ["RUNPOD_WEBHOOK_POST_OUTPUT"].replace("$RUNPOD_POD_ID", worker).replace("$ID", job["id"])
        call(done, json.dumps({"output": [answers.ANSWER, sys.prefix]}).encode())
END
job() { bash -c "$(pasted 'curl .*' "$1.out")"; }
start first dev project/handler.py --data dev.data
has first.out "curl"
has first.out "Python is $tmp/project/.venv/bin/python"
job first >first.job.out
has first.job.out before
has first.job.out "$tmp/project/.venv"
echo 'ANSWER = "after the edit"' >project/answers.py
has first.err "its worker is replaced"
for _ in $(seq 600); do
	job first >edited.job.out
	! grep -q after edited.job.out || break
	sleep 0.1
done
has edited.job.out "after the edit"
stop
[ "$(stat -c %a dev.data/dev.key 2>/dev/null || stat -f %Lp dev.data/dev.key)" = 600 ] || fail "dev.key is open to others"

start second dev project/handler.py --data dev.data
has second.out "curl"
job second >second.job.out
has second.job.out "after the edit"
[ "$(pasted 'brt_[a-z0-9_]*' first.out)" = "$(pasted 'brt_[a-z0-9_]*' second.out)" ] || fail "the second start has another key"
stop
echo "ok: berth dev with a virtual environment, an edit between two jobs, and a second start"

# A browser at the root is led to pages.
start browser serve --json --data browser.data
has browser.out '"url"'
status=$(curl -sSL -o page.out -w '%{http_code} %{content_type}' -H 'Accept: text/html' "$(pasted 'http://127[^/"]*' browser.out)/")
case $status in
"200 text/html"*) ;;
*) fail "a browser at the root gets $status" ;;
esac
stop
echo "ok: a browser at the root"
