#!/usr/bin/env bash
# Runs the test suites that public client libraries ship, as they come from their registries, against one server: that of the Python
# SDK with the client that it uses (tests/e2e), that of gpuhunt (src/integrity_tests), and the tests of the JavaScript SDK (examples).
# They know the public names of the API alone, so they run in a network of their own where these names lead to the server. Before each
# suite the server goes back to suites/seed.yaml; after it, its journal is held against what the suite must have sent. What of the
# suites is not run is in suites/excluded.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
berth=${BERTH:-$(cd "$here/../.." && pwd)/bin/berth}

# unpacked NAME: the source of a library at the version of its requirements, with its tests, as the directory NAME.
unpacked() {
	"$tmp/venv-$1/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: -d "$tmp/sources" "$(grep "^$1==" "$here/suites/requirements-$1.txt")"
	mkdir "$tmp/$1"
	tar xf "$tmp/sources/$1"-*.tar.gz -C "$tmp/$1" --strip-components 1
}

python_suite() {
	python3 -m venv "$tmp/venv-$1"
	"$tmp/venv-$1/bin/pip" install --quiet --disable-pip-version-check -r "$here/suites/requirements-$1.txt"
	unpacked "$1"
}

javascript_suite() {
	mkdir "$tmp/js"
	cp "$here"/suites/package*.json "$tmp/js"
	npm --prefix "$tmp/js" ci --no-audit --no-fund --loglevel=error
}

if [ -z "${INSIDE:-}" ]; then
	own=(--net --mount)
	[ "$(id -u)" = 0 ] || own+=(--user --map-root-user)
	if ! unshare "${own[@]}" true 2>/dev/null; then
		echo "SKIPPED: suites of clients with fixed names need a network namespace, which this machine does not permit"
		exit 0
	fi

	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	python_suite runpod & runpod=$!
	python_suite gpuhunt & gpuhunt=$!
	javascript_suite & javascript=$!
	wait $runpod
	wait $gpuhunt
	wait $javascript
	INSIDE=$tmp unshare "${own[@]}" "$0"
	exit
fi

tmp=$INSIDE
ip link set lo up
echo "nameserver 127.0.0.1" >"$tmp/resolv.conf"
mount --bind "$tmp/resolv.conf" "$(realpath /etc/resolv.conf)"
names=DNS:api.runpod.io,DNS:api.runpod.ai
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=berth" -addext "subjectAltName=$names" \
	-keyout "$tmp/edge.key" -out "$tmp/edge.pem" 2>/dev/null

# gpuhunt asks for every type of GPU in each number that any type has, with a version of CUDA, and takes every word for stock as an offer,
# the documented None too. So this catalog has types with CUDA alone, all in the same numbers, and there is never none.
python3 - "$here/../../impl/control/catalog.json" >"$tmp/catalog.json" <<'PYTHON'
import json, sys

catalog = json.load(open(sys.argv[1]))
catalog["gpus"] = [gpu for gpu in catalog["gpus"] if gpu["manufacturer"] == "NVIDIA"]
for gpu in catalog["gpus"]:
    for cloud in "secure", "community":
        if gpu.get(cloud):
            gpu[cloud]["maxCount"] = 8
print(json.dumps(catalog))
PYTHON

trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
: >"$tmp/ready"
: >"$tmp/edge.ready"
"$berth" serve --json --contract public --test-controls --seed "$here/suites/seed.yaml" --catalog "$tmp/catalog.json" --listen 127.0.0.1:0 \
	--data "$tmp/data" >"$tmp/ready" 2>"$tmp/log" &
server=$!
until [ -s "$tmp/ready" ]; do
	kill -0 $server 2>/dev/null || {
		cat "$tmp/log"
		exit 1
	}
	sleep 0.1
done
field() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$tmp/ready" "$1"; }
url=$(field url) controls=$(field controlsKey)
python3 "$here/python/edge.py" "$tmp/edge.pem" "$tmp/edge.key" "${url##*:}" >"$tmp/edge.ready" &
edge=$!
until [ -s "$tmp/edge.ready" ]; do kill -0 $edge 2>/dev/null || exit 1; sleep 0.1; done

export SSL_CERT_FILE=$tmp/edge.pem REQUESTS_CA_BUNDLE=$tmp/edge.pem NODE_EXTRA_CA_CERTS=$tmp/edge.pem
export RUNPOD_API_KEY=the-key-of-the-suites PYTHONDONTWRITEBYTECODE=1 HOME=$tmp

controlled() { BERTH_KEY=$controls "$berth" "$@" --server "$url"; }
failed() {
	echo "FAILED: $*"
	tail -n 100 "$tmp/output" "$tmp/log"
	exit 1
}

# suite NAME TESTS COMMAND...: runs a suite from the seed on; the last line that it prints says that so many tests passed and no other.
suite() {
	name=$1 tests=$2
	shift 2
	curl -sSf -o "$tmp/output" -X POST -H "Authorization: Bearer $controls" "$url/_berth/reset"
	for endpoint in eqam4ya2iazibb gwp4kx5yd3nur1; do controlled script set "$endpoint" "$here/suites/script.json" >"$tmp/output"; done

	timeout 600 "$@" >"$tmp/output" 2>&1 || failed "the suite of $name ($?)"
	tail -n 1 "$tmp/output" | grep -Eq "^$tests passed in " || failed "the suite of $name did not pass $tests tests"
	controlled journal verify "$here/suites/$name.expected.json" || failed "the suite of $name sent something else"
	echo "ok: the suite of $name, $tests tests"
}

# The tests of the Python SDK make endpoints of the public image runpod/mock-worker; machine.py is the machines that have it.
runpod() {
	export PATH="$tmp/venv-runpod/bin:$PATH" PYTHONPATH=$tmp/runpod
	cd "$tmp/runpod"
	mkdir -p "$tmp/workers"
	TMPDIR=$tmp/workers python "$here/suites/machine.py" "$url" "$RUNPOD_API_KEY" >"$tmp/machine.log" 2>&1 &
	machine=$!
	# As in the SDK's own checks the options of its unit tests are off; its client says by a warning that its successor is there.
	code=0
	python -m pytest -q -p no:cacheprovider -o addopts= -o asyncio_default_fixture_loop_scope=function -W "ignore:Flash is moving:FutureWarning" \
		tests/e2e/test_mock_worker.py || code=$?
	kill $machine
	wait $machine || { cat "$tmp/machine.log"; code=1; }
	return $code
}

gpuhunt() {
	cd "$tmp/gpuhunt/src"
	mkdir -p "$tmp/offers"
	"$tmp/venv-gpuhunt/bin/python" -m gpuhunt runpod --output "$tmp/offers/runpod.csv"
	CATALOG_DIR=$tmp/offers "$tmp/venv-gpuhunt/bin/python" -m pytest -q -p no:cacheprovider integrity_tests/test_runpod.py
}

# The tests of the JavaScript SDK are programs that print what they were answered, and end with an error if a call fails.
javascript() {
	cd "$tmp/js/node_modules/runpod-sdk/examples"
	export ENDPOINT_ID=eqam4ya2iazibb
	for test in test purge-queue stream errors; do
		node "$test.js" >"$tmp/printed.$test" || return 1
		cat "$tmp/printed.$test"
	done

	for test in test stream; do # what stream.js says that it expects
		[ "$(sed -n 's/^  "output": "\(.\)"$/\1/p' "$tmp/printed.$test" | tr -d '\n')" = abcdefg ] || return 1
	done
	for status in IN_QUEUE CANCELLED COMPLETED FAILED IN_PROGRESS; do
		grep -q "status: '$status'" "$tmp/printed.test" || return 1
	done
	echo "4 passed in all"
}

export -f runpod gpuhunt javascript
export here tmp url
suite runpod 1 bash -euo pipefail -c runpod
suite gpuhunt 19 bash -euo pipefail -c gpuhunt
suite javascript 4 bash -euo pipefail -c javascript
echo "SKIPPED: $(grep -c "^[a-z]" "$here/suites/excluded.txt") parts of the suites, each with its reason in conformance/clients/suites/excluded.txt"
