#!/usr/bin/env bash
# Runs what compose-replicas.yaml runs, without containers: PostgreSQL, two replicas, and Caddy with balancer/Caddyfile before them. Real
# clients and workers go through the balancer, while the replica that owns the database is asked to end, is killed, and the database is
# away. Needs bin/berth, curl, Python, PostgreSQL and Caddy, and says SKIPPED where one of them is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() { echo "SKIPPED: replicas behind a balancer: $*"; exit 0; }
programs=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname)
[ -n "$programs" ] || skip "PostgreSQL is missing (Debian: apt-get install postgresql)"
command -v caddy >/dev/null || skip "Caddy is missing (Debian: apt-get install caddy)"
command -v python3 >/dev/null || skip "Python 3 is missing"

tmp=$(mktemp -d /tmp/berth-replicas.XXXXXX) # a short path: it is that of a socket, too
as=()
if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses to run as root
	as=(runuser -u postgres --)
	chown postgres "$tmp"
fi
started=()
stop() {
	for pid in "${started[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
	for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
	if [ -f "$tmp/postgres/postmaster.pid" ]; then "${as[@]}" "$programs/pg_ctl" stop -D "$tmp/postgres" -m immediate >/dev/null || true; fi
	rm -rf "$tmp"
}
trap stop EXIT
fail() {
	echo "FAILED: $*"
	tail -n 20 "$tmp"/log.* | sed 's/brt_[a-z0-9_]*/brt_.../g'
	exit 1
}
# until_true WHAT COMMAND...: waits a minute for the command to succeed.
until_true() {
	local end=$((SECONDS + 60))
	until "${@:2}"; do
		[ $SECONDS -lt $end ] || fail "this did not come: $1"
		sleep 0.1
	done
}

# broken FILE: two servers that say they are ready, and break the connection of all else once they noted its path in the file. What is held
# they note when whoever asked has gone.
cat >"$tmp/broken.py" <<'END'
import http.server, sys, threading

class Broken(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # a connection is used again: what breaks one of those is sent again more easily

    def do_GET(self):
        if self.path == "/readyz":
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.close_connection = True
        if self.path == "/held":
            self.connection.recv(1)
        with open(sys.argv[1], "a") as file:
            file.write(f"{self.headers['Host']} {self.path}\n")

    def log_message(self, *_):
        pass

servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Broken) for _ in range(2)]
for server in servers:
    threading.Thread(target=server.serve_forever).start()
print(*(f"127.0.0.1:{server.server_port}" for server in servers), flush=True)
END
python3 "$tmp/broken.py" "$tmp/asked" >"$tmp/broken" &
started+=($!)
until_true "two servers that break connections" test -s "$tmp/broken"
# free_ports N: so many that nobody listens on, below those that the system gives to who asks for any.
free_ports() {
	python3 -c 'import random, socket, sys
held = []
while len(held) < int(sys.argv[1]):
    try: held.append(socket.create_server(("127.0.0.1", random.randrange(20000, 32000))))
    except OSError: pass
for s in held: print(s.getsockname()[1])' "$1"
}
port=$(free_ports 1)
BALANCER_LISTEN=http://:$port BALANCER_REPLICAS=$(cat "$tmp/broken") BALANCER_DOMAIN=pods.example XDG_CONFIG_HOME=$tmp XDG_DATA_HOME=$tmp \
	caddy run --adapter caddyfile --config deploy/balancer/Caddyfile >"$tmp/log.broken" 2>&1 &
started+=($!)
until_true "the balancer listens" curl -s -o /dev/null "http://127.0.0.1:$port/readyz"
# asked TIMES HOST PATH: whether so many requests arrive where one is sent.
asked() {
	for _ in 1 2 3 4 5 6 7 8; do curl -s -o /dev/null "http://127.0.0.1:$port/readyz"; done # both have a connection that can be used again
	: >"$tmp/asked"
	curl -s -o /dev/null -H "Host: $2" "http://127.0.0.1:$port$3"
	local times
	times=$(grep -cx "$2 $3" "$tmp/asked" || true)
	if [ "$1" = several ]; then [ "$times" -gt 1 ]; else [ "$times" = "$1" ]; fi || fail "the connection of $2$3 breaks: it was sent $times times, not $1"
}
asked several berth.example /v2/pods
asked several berth.example /v2/e1/status/j1
for path in /v2/e1/stream/j1 /v2/e1/openai/v1/models /_berth/pods/p1/exec /_berth/endpoints/e1/workers/w1/exec /proxy/endpoints/e1/any; do asked 1 berth.example "$path"; done
asked 1 p1-80.pods.example /v2/pods
asked 1 p1-80.localhost /v2/pods
echo "ok: what does not only read is sent to one replica, once"
curl -s -o /dev/null --max-time 1 "http://127.0.0.1:$port/held" || true
until_true "a replica hears that a client hung up" grep -q ' /held$' "$tmp/asked"
echo "ok: a replica hears that a client hung up"

database() { "${as[@]}" "$programs/pg_ctl" "$1" -D "$tmp/postgres" -l "$tmp/postgres.log" -w "${@:2}" >/dev/null; }
database_starts() { database start -o "-k $tmp -c listen_addresses= -c fsync=off"; }
"${as[@]}" "$programs/initdb" -D "$tmp/postgres" -U berth -A trust -N -E UTF8 --locale=C >/dev/null
database_starts

head -c 32 /dev/urandom >"$tmp/secret.key"
chmod 600 "$tmp/secret.key"
mapfile -t ports < <(free_ports 3)
pids=(0 0)
# replica N: starts that of the two, 0 or 1, and waits until it serves.
replica() {
	BERTH_STORE="postgres:///postgres?host=$tmp&user=berth" bin/berth serve --json --data "$tmp/data.$1" --secret-key "$tmp/secret.key" \
		--listen "127.0.0.1:${ports[$1]}" --drain-notice 5s --endpoint echo= --endpoint idle= >"$tmp/ready.$1.new" 2>>"$tmp/log.$1" &
	pids[$1]=$!
	started+=($!)
	until_true "replica $1 serves" test -s "$tmp/ready.$1.new"
	[ -f "$tmp/ready.$1" ] || mv "$tmp/ready.$1.new" "$tmp/ready.$1"
}
replica 0
replica 1
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$tmp/ready.0"; }
BERTH_KEY=$(field key) echo=$(field echo) idle=$(field idle)
export BERTH_KEY BERTH_SERVER=http://127.0.0.1:${ports[2]}
auth="Authorization: Bearer $BERTH_KEY"

BALANCER_LISTEN="http://127.0.0.1:${ports[2]}" BALANCER_REPLICAS="127.0.0.1:${ports[0]} 127.0.0.1:${ports[1]}" XDG_CONFIG_HOME=$tmp XDG_DATA_HOME=$tmp \
	caddy run --adapter caddyfile --config deploy/balancer/Caddyfile >"$tmp/log.balancer" 2>&1 &
started+=($!)
until_true "the balancer answers" curl -sf -o /dev/null "$BERTH_SERVER/readyz"

# A take that gets nothing is held for 25 s, beside what follows.
take=$BERTH_SERVER/v2/$idle/job-take/w1
curl -s -o /dev/null -w '%{http_code} %{time_total}\n' -H "$auth" "$take" >"$tmp/held" &
held=$!
worker() {
	RUNPOD_WEBHOOK_GET_JOB="$BERTH_SERVER/v2/$echo/job-take/\$ID" RUNPOD_WEBHOOK_POST_OUTPUT="$BERTH_SERVER/v2/$echo/job-done/\$RUNPOD_POD_ID/\$ID" \
		RUNPOD_WEBHOOK_POST_STREAM="$BERTH_SERVER/v2/$echo/job-stream/\$RUNPOD_POD_ID/\$ID" RUNPOD_WEBHOOK_PING="$BERTH_SERVER/v2/$echo/ping/\$RUNPOD_POD_ID" \
		RUNPOD_AI_API_KEY=$BERTH_KEY RUNPOD_POD_ID=$1 bin/berth worker --handler "$2" --concurrency 4 >>"$tmp/worker.log" 2>&1 &
	started+=($!)
}
worker first echo

bin/berth jobs runsync "$echo" --input '{"text":"hello"}' --json | grep -q '"output":{"text":"hello"}' || fail "/runsync through the balancer"
python3 -c 'import json; print(json.dumps({"input": {"text": "x" * 19_900_000}}))' >"$tmp/large"
curl -s --data-binary "@$tmp/large" -H "$auth" -H 'Content-Type: application/json' "$BERTH_SERVER/v2/$echo/runsync" >"$tmp/answer"
python3 -c 'import json, sys
sent, got = (json.load(open(name)) for name in sys.argv[1:])
sys.exit(got.get("output") != sent["input"])' "$tmp/large" "$tmp/answer" || fail "a body of 20 MB: $(head -c 300 "$tmp/answer")"
echo "ok: /runsync and a body of 20 MB through the balancer"

pod=$(bin/berth pods create --name streamed --image ubuntu:24.04 --cpu cpu3g --vcpus 2 --wait --json | sed -n 's/.*"id":"\([a-z0-9]\{14\}\)".*/\1/p')
bin/berth pods logs "$pod" --follow >"$tmp/stream" 2>>"$tmp/log.stream" &
started+=($!)
until_true "the stream of a log begins" grep -q 'pod is RUNNING' "$tmp/stream"
bin/berth pods stop "$pod" >/dev/null
until_true "the stream of a log goes on" grep -q 'pod is EXITED' "$tmp/stream"
echo "ok: the stream of a log comes as it is written"

wait $held || true
read -r code took <"$tmp/held"
if [ "$code" != 200 ] && [ "$code" != 204 ] || [ "${took%.*}" -lt 24 ]; then fail "a held take was answered $code after $took s"; fi
echo "ok: a take was held for ${took%.*} s"

owner() { for n in 0 1; do if curl -s -i "http://127.0.0.1:${ports[$n]}/readyz" | grep -qi '^berth-owns: true'; then echo $n; fi; done; }
submit() { curl -s -o "$tmp/submitted" -w '%{http_code}' -d '{"input":{"n":1}}' -H "$auth" -H 'Content-Type: application/json' "$BERTH_SERVER/v2/$echo/run"; }
# load: submits jobs until the file run is gone; jobs has the ids of those that were taken, refused what was answered otherwise.
load() {
	while [ -f "$tmp/run" ]; do
		code=$(submit) || code="no answer, curl $?" # which is no end of the load
		if [ "$code" = 200 ]; then sed 's/.*"id":"\([^"]*\)".*/\1/' "$tmp/submitted" >>"$tmp/jobs"; echo >>"$tmp/jobs"; else echo "$code $(head -c 200 "$tmp/submitted")" >>"$tmp/refused"; fi
	done
}
more() { [ "$(wc -l <"$tmp/jobs")" -gt "$1" ]; }
completed() { bin/berth jobs status "$echo" "$1" --json | grep -q '"status":"COMPLETED"'; }
# under_load WHAT COMMAND...: runs the command while jobs are submitted, and goes on until some more were.
under_load() {
	: >"$tmp/jobs" >"$tmp/refused"
	touch "$tmp/run"
	load &
	local loading=$!
	until_true "jobs are taken" more 5
	"${@:2}"
	until_true "jobs are taken after $1" more $(($(wc -l <"$tmp/jobs") + 20))
	rm "$tmp/run"
	wait $loading
	while read -r job; do [ -z "$job" ] || until_true "$job is completed after $1" completed "$job"; done <"$tmp/jobs"
}

ends() { kill "-$1" "${pids[$2]}" && { wait "${pids[$2]}" 2>/dev/null || true; }; }
was=$(owner)
under_load "the owner was asked to end" ends TERM "$was"
[ ! -s "$tmp/refused" ] || fail "the owner was asked to end, and requests were refused: $(head -n 3 "$tmp/refused")"
[ "$(owner)" = $((1 - was)) ] || fail "the other replica does not own the database"
replica "$was"
echo "ok: no request failed while the owner was asked to end, and all $(grep -c . "$tmp/jobs") jobs were completed"

was=$(owner)
under_load "the owner was killed" ends KILL "$was"
replica "$was"
echo "ok: the owner was killed, $(wc -l <"$tmp/refused") requests failed, and all $(grep -c . "$tmp/jobs") jobs were completed"

database stop -m immediate
curl -s -o /dev/null -D "$tmp/headers" -H "$auth" "$BERTH_SERVER/v2/pods"
if ! grep -q ' 503 ' "$tmp/headers" || ! grep -qi '^retry-after:' "$tmp/headers"; then fail "the database is away: $(cat "$tmp/headers")"; fi
database_starts
until_true "requests are answered again" curl -sf -o /dev/null -H "$auth" "$BERTH_SERVER/v2/pods"
echo "ok: 503 with Retry-After while the database is away, and then on by itself"

