# A berth server for one test in bash, on a new database, with its faults, journal and clock in the test's hand. Source it.
set -euo pipefail
berth=${BERTH:-berth} # the program
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# start ARGS: starts a server with what is below seeds/ for the test, until the script ends. Then url, and BERTH_KEY for commands.
start() {
	directory=$(mktemp -d)
	"$berth" serve --test-controls --json --listen 127.0.0.1:0 --data "$directory/data" --seed "$here/seeds/$(basename "$0" .sh).yaml" "$@" \
		>"$directory/ready" 2>"$directory/log" &
	server=$!
	trap stop EXIT
	until [ -s "$directory/ready" ]; do kill -0 $server 2>/dev/null || exit 1; sleep 0.1; done
	url=$(said url) controls_key=$(said controlsKey)
	export BERTH_SERVER=$url
}
said() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$directory/ready" "$1"; }
stop() {
	code=$?
	[ $code = 0 ] || cat "$directory/log"
	kill $server 2>/dev/null || true
	wait $server || true
	rm -rf "$directory"
	exit $code
}

# controls COMMAND: a command of the test controls, such as controls clock advance 1h.
controls() { BERTH_KEY=$controls_key "$berth" "$@"; }

# expect WHAT WANTED GOT: ends the test if the two are not the same.
expect() {
	[ "$2" = "$3" ] || {
		echo "FAILED: $1: expected $2, got $3"
		exit 1
	}
}
