#!/usr/bin/env bash
# Builds pytest-berth and berth-test with the program of this tree inside, installs them from the built files into empty places, and runs their
# tests there. What is installed goes to a directory that is removed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export BERTH_BINARY=${BERTH:-$here/../bin/berth} BERTH_VERSION=v0.0.1 PYTHONDONTWRITEBYTECODE=1
unset BERTH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

# python: the wheel, built in a copy, since setuptools writes beside the sources.
python() {
	cp -r "$here/pytest-berth" "$tmp/pytest-berth"
	cp "$here/../LICENSE" "$tmp/pytest-berth"
	python3 -m venv "$tmp/venv"
	pip=("$tmp/venv/bin/pip" --quiet --disable-pip-version-check)
	"${pip[@]}" install -r "$here/pytest-berth/tests/requirements.txt"
	"${pip[@]}" wheel --no-build-isolation --no-deps --wheel-dir "$tmp/wheels" "$tmp/pytest-berth"
	BERTH_BINARY= "${pip[@]}" wheel --no-build-isolation --no-deps --wheel-dir "$tmp/wheels" "$tmp/pytest-berth"
	[ -f "$tmp/wheels/pytest_berth-0.0.1-py3-none-any.whl" ] || fail "there is no wheel without the program"
	if BERTH_BINARY=$here/check-packages.sh "${pip[@]}" wheel --no-build-isolation --no-deps --wheel-dir "$tmp/wheels" "$tmp/pytest-berth" >"$tmp/refused" 2>&1; then
		fail "a wheel has a script as its program"
	fi
	grep -q "is no program of Linux or macOS" "$tmp/refused" || fail "$(cat "$tmp/refused")"

	"${pip[@]}" install --no-deps "$tmp"/wheels/pytest_berth-0.0.1-py3-none-m*.whl
	"$tmp/venv/bin/mypy" --strict --cache-dir "$tmp/mypy" --package pytest_berth
	cd "$here/pytest-berth/tests"
	timeout 900 "$tmp/venv/bin/python" -m pytest -q -p no:cacheprovider --basetemp "$tmp/pytest" -n 2
}

# javascript: the package of npm.
javascript() {
	packed=$(node "$here/npm/build.mjs" "$tmp")
	if BERTH_BINARY=$here/check-packages.sh node "$here/npm/build.mjs" "$tmp" >"$tmp/refused-npm" 2>&1; then fail "a package has a script as its program"; fi
	grep -q "is no program of Linux or macOS" "$tmp/refused-npm" || fail "$(cat "$tmp/refused-npm")"

	mkdir "$tmp/javascript"
	cp -r "$here/npm/test" "$tmp/javascript"
	cd "$tmp/javascript"
	cp test/package.json test/package-lock.json .
	npm ci --no-audit --no-fund --loglevel=error
	npm install --no-save --no-audit --no-fund --loglevel=error "$packed"
	npx --no-install tsc --project test
	timeout 900 node --test --test-reporter=dot test/*.test.mjs
}

python >"$tmp/python.out" 2>&1 &
of_python=$!
javascript || failed=1
wait $of_python || failed=1
cat "$tmp/python.out"
[ -z "${failed:-}" ] || exit 1
