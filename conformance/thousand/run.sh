#!/usr/bin/env bash
# Runs tests in Go and in pytest, each with a server of its own, says how long one takes, and fails if anything is left of the servers:
# run.sh 1000. BERTH is the program, PYTHON an interpreter with what requirements.txt has; without it one is made, and removed.
set -euo pipefail
cd "$(dirname "$0")"
export BERTH=${BERTH:-$PWD/../../bin/berth} BERTH_TESTS=${1:-1000} PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD/../../deploy/pytest-berth/src:$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

echo "in Go:"
go test -pgo=off -count=1 -timeout 20m -v -run OneForEachTest . >"$tmp/go" 2>&1 || { tail -n 60 "$tmp/go"; exit 1; }
sed -n 's/^ *thousand_test.go:[0-9]*: /  /p' "$tmp/go"

echo "in pytest, two at a time:"
if [ -z "${PYTHON:-}" ]; then
	python3 -m venv "$tmp/venv"
	PYTHON=$tmp/venv/bin/python
	"$PYTHON" -m pip install --quiet --disable-pip-version-check -r requirements.txt
fi
"$PYTHON" -m pytest -p pytest_berth.plugin -p times -p no:cacheprovider --basetemp "$tmp/pytest" -n 2 -q . >"$tmp/python" 2>&1 || { tail -n 60 "$tmp/python"; exit 1; }
grep -E 'tests with a server each|nothing is left|passed' "$tmp/python" | sed 's/^/  /'
grep -q 'nothing is left of' "$tmp/python" || { echo "the run does not say that nothing is left"; exit 1; }
