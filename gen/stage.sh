#!/bin/sh
# stage.sh NAME INPUTS OUTPUTS COMMAND… runs a command that makes the outputs of the inputs, from the repository root, unless the inputs, the
# outputs, the generators and the command are, byte for byte, what they were when it last ran. What they were stands in gen/.made, which is not
# committed: a clean clone runs all. GENERATE=all runs it in any case. Inputs and outputs are files and directories.
set -eu
cd "$(dirname "$0")/.."
name=$1 inputs=$2 outputs=$3
shift 3

sum() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }
# state COMMAND: all that the outputs depend on, and the outputs.
state() {
	echo "$@"
	go version
	# shellcheck disable=SC2086 # words
	for file in $(find gen/*.* cmd/graphgen/*.go cmd/validgen/*.go spec/overlay/*.go go.mod $inputs $outputs -type f | LC_ALL=C sort -u); do sum "$file"; done
}

made=gen/.made/$name
mkdir -p gen/.made
if [ "${GENERATE:-}" != all ] && state "$@" | cmp -s - "$made"; then exit; fi
rm -f "$made"
"$@"
state "$@" >"$made"
