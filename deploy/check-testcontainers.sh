#!/usr/bin/env bash
# Packs bin/berth into an image, and has it started by the modules for testcontainers of Go and of Python. Needs a Docker Engine and Python;
# the image and what is installed are removed.
set -euo pipefail
cd "$(dirname "$0")/.."
name=berth-testcontainers-$$
tmp=$(mktemp -d)
remove() {
	docker image rm "$name" >/dev/null 2>&1 || true
	rm -rf "$tmp"
}
trap remove EXIT

deploy/image.sh "$name" check
export BERTH_IMAGE=$name TESTCONTAINERS_RYUK_DISABLED=true # its image would be pulled; the tests end what they start
(cd deploy/testcontainers && go vet ./... && go test -count=1 ./...)

cp -r deploy/pytest-berth "$tmp/pytest-berth" # setuptools writes beside the sources
cp LICENSE "$tmp/pytest-berth"
python3 -m venv "$tmp/venv"
pip=("$tmp/venv/bin/pip" --quiet --disable-pip-version-check)
"${pip[@]}" install -r deploy/pytest-berth/tests/requirements.txt
BERTH_BINARY= BERTH_VERSION=v0.0.1 "${pip[@]}" install --no-build-isolation --no-deps "$tmp/pytest-berth"
PYTHONDONTWRITEBYTECODE=1 "$tmp/venv/bin/python" -m pytest -q -p no:cacheprovider --basetemp "$tmp/pytest" deploy/pytest-berth/container
left=$(docker ps --all --quiet --filter "ancestor=$name")
[ -z "$left" ] || { echo "FAILED: containers are left: $left"; exit 1; }
