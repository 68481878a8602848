#!/usr/bin/env bash
# berth conformance beside targets that it did not make: a default server with a plain echo worker, where every rule must hold or
# be SKIPPED with a reason and nothing be left behind; a mock of the document that checks bodies and keeps nothing, where they fare as
# mock.golden has it; and wrong arguments. Needs bin/berth, Python for the JUnit files, and Node for the mock: npm ci takes it at the version of the lock file.
set -euo pipefail
cd "$(dirname "$0")/.."

berth=$PWD/bin/berth
rules=$(grep '^- {id: ' spec/rules.yaml | grep -c -v 'editions: \[[^]]*public' || true) # of the strict edition
tmp=$(mktemp -d)
server= mock=
finish() {
	for pid in $server $mock; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
	rm -rf "$tmp"
}
trap finish EXIT

fail() { printf 'FAILED: %s\n' "$*"; exit 1; }

# started ARGS...: starts a server on a new directory and sets url, key, echo.
started() {
	"$berth" serve --json --listen 127.0.0.1:0 --data "$tmp/data" --endpoint "echo=$berth worker --handler echo" "$@" >"$tmp/ready.json" 2>"$tmp/log.txt" &
	server=$!
	until [ -s "$tmp/ready.json" ]; do kill -0 $server || fail "the server did not start: $(cat "$tmp/log.txt")"; sleep 0.1; done
	of() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" "$tmp/ready.json"; }
	url=$(of url) key=$(of key) echo=$(of echo)
}

# everything lists what the owner of the key has, a line a list.
everything() {
	for path in 'pods?includeClusterPods=true' clusters serverless templates network-volumes global-volumes registries registries/delegations account/ssh-keys; do
		curl -fsS -H "Authorization: Bearer $key" "$url/v2/$path"
		echo
	done
	curl -fsS -H "Authorization: Bearer $key" "$url/v2/$echo/health" | sed 's/,"workers".*//' # of the jobs
	echo
}

# judged NAME CODE RULES ARGS...: runs the rules, and sees the exit code and that the JUnit file has so many rules, each with a time
# and, if it failed or was skipped, with a reason; nothing that was printed is a stack.
judged() {
	local name=$1 want=$2 count=$3 code=0
	shift 3
	"$berth" conformance --junit "$tmp/$name.xml" "$@" >"$tmp/$name.txt" 2>&1 || code=$?
	[ $code = "$want" ] || { grep -aA12 '^FAIL' "$tmp/$name.txt" || cat "$tmp/$name.txt"; fail "$name: exit code $code instead of $want"; }
	if grep -aE 'goroutine [0-9]|^panic|\.go:[0-9]' "$tmp/$name.txt"; then fail "$name: a stack"; fi
	python3 - "$tmp/$name.xml" "$count" <<-'PY' || fail "$name: the JUnit file"
		import sys
		import xml.etree.ElementTree as ET

		suite = ET.parse(sys.argv[1]).getroot()
		cases = suite.findall("testcase")
		failed = [c for c in cases if c.find("failure") is not None]
		skipped = [c for c in cases if c.find("skipped") is not None]
		assert len(cases) == int(sys.argv[2]) == int(suite.get("tests")), len(cases)
		assert len(failed) == int(suite.get("failures")) and len(skipped) == int(suite.get("skipped"))
		assert all(c.get("name") and float(c.get("time")) >= 0 for c in cases)
		assert all(c.find("failure").get("message") and c.find("failure").text for c in failed)
		assert all(c.find("skipped").get("message") for c in skipped)
		print(f"{len(cases) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
	PY
}

# golden JUNIT FILE: holds how the rules fared against the list that is kept; with GOLDEN=write it writes the list anew.
golden() {
	python3 - "$1" "$(sed -n 's/.*"@stoplight\/prism-cli": "\(.*\)".*/\1/p' conformance/bench/peer/prism/package.json)" >"$tmp/golden.txt" <<-'PY'
		import sys
		import xml.etree.ElementTree as ET

		print(f"# How the rules of edition 2.0.0 fare beside prism {sys.argv[2]}, a mock of spec/rest.yaml that checks bodies and keeps nothing.")
		print("# Those of mock.skip are left out. make judge compares; make judge GOLDEN=write writes this file anew.")
		for case in ET.parse(sys.argv[1]).getroot().findall("testcase"):
		    skipped = case.find("skipped")
		    if skipped is not None:
		        print("SKIPPED", case.get("name") + ":", skipped.get("message"))
		    else:
		        print("PASS" if case.find("failure") is None else "FAIL", case.get("name"))
	PY
	if [ "${GOLDEN:-}" = write ]; then
		cp "$tmp/golden.txt" "$2"
	elif ! diff -u "$2" "$tmp/golden.txt"; then
		fail "rules fare otherwise than $2 has it; if they should: make judge GOLDEN=write"
	fi
}

if command -v node >/dev/null && command -v npm >/dev/null; then
	cp conformance/bench/peer/prism/{package.json,package-lock.json,.npmrc} "$tmp"
	# Not npm ci: it fails where a registry lacks an optional package of another platform. The lock file holds for this, too.
	(cd "$tmp" && npm install --no-audit --no-fund --loglevel=error >/dev/null)
	"$berth" spec show rest >"$tmp/rest.json"
	# One that nobody listens at, below those that the system gives to who asks for any: it is used later.
	port=$(python3 -c 'import random, socket
while True:
    try: s = socket.create_server(("127.0.0.1", random.randrange(20000, 30000)))
    except OSError: continue
    print(s.getsockname()[1])
    break')
	node "$tmp/node_modules/@stoplight/prism-cli/dist/index.js" mock --host 127.0.0.1 --port "$port" --verboseLevel silent "$tmp/rest.json" >/dev/null 2>&1 &
	mock=$!
else
	echo "SKIPPED: the mock of the document: it needs Node and npm"
fi

started
echo "== a default server with a plain echo worker, and a key that is exempt from limits"
exempt=$("$berth" keys create --exempt --data "$tmp/data" --json | sed 's/.*"key":"\([^"]*\)".*/\1/')
before=$(everything)
begun=$SECONDS
judged default 0 "$rules" --target "$url" --key "$key" --exempt-key "$exempt" --managed-endpoint "$echo" --wait 30s --patience 3m --html "$tmp/default.html"
echo "took $((SECONDS - begun)) s; meant to be under 90 s where nothing else runs"
grep -a '^SKIPPED' "$tmp/default.txt" | sed 's/^[^:]*: /SKIPPED: /' | sort | uniq -c
grep -q '</html>' "$tmp/default.html" || fail "the page is not whole"
[ "$before" = "$(everything)" ] || { diff <(echo "$before") <(everything); fail "something is left behind"; }

echo "== in a random order, of the rules of one kind, and its own endpoint named as the one of the rules"
judged shuffled 0 "$(grep -cE '^- \{id: (queue|openai)\.' spec/rules.yaml)" --target "$url" --key "$key" --endpoint "$echo" --area queue,openai --shuffle $$

echo "== wrong arguments"
judged short 3 "$rules" --target "$url" --key x
judged wrong 3 "$rules" --target "$url" --key "${key%????}aaaa"
judged unknown 3 "$rules" --target "$url" --key "$key" --endpoint nosuchendpoint
judged dead 4 "$rules" --target http://127.0.0.1:1 --key "$key"
code=0
"$berth" conformance --target "$url" --key 'two words' >"$tmp/malformed.txt" 2>&1 || code=$?
[ $code = 2 ] || fail "a malformed key: exit code $code"
[ "$before" = "$(everything)" ] || fail "something is left behind"

echo "== limits of requests are waited for, with the key that the server printed"
kill $server && wait $server || true
rm -r "$tmp/data" "$tmp/ready.json"
started --quota-minute 60
judged limited 0 "$(grep -c '^- {id: volumes\.' spec/rules.yaml)" --target "$url" --key "$key" --area volumes
grep -a "waiting" "$tmp/limited.txt" || fail "nothing was waited for"

if [ -n "$mock" ]; then
	echo "== a mock of the document"
	until curl -s -o /dev/null "http://127.0.0.1:$port/"; do kill -0 $mock || fail "the mock did not start"; sleep 0.2; done
	names=$(sed -n '/^[a-z]/ s/ .*//p' conformance/mock.skip)
	of_edition=$(grep '^- {id: ' spec/rules.yaml | grep -v 'editions: \[[^]]*public')
	left_out=$(grep -cE "^- \{id: ($(echo "$names" | sed 's/[.]/[.]/g' | paste -sd '|'))[.,]" <<<"$of_edition")
	judged mock 1 $((rules - left_out)) --target "http://127.0.0.1:$port" --key any-key --endpoint any --patience 1ms --skip "$(echo "$names" | paste -sd ,)"
	golden "$tmp/mock.xml" conformance/mock.golden
fi
