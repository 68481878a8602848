#!/bin/sh
# generate.sh NAME DOCUMENT ARGS… makes the models and the validators of a document of the tests, in the directory NAME; what validgen says names
# files as they stand in it.
set -eu
cd "$(dirname "$0")"
name=$1 document=$2
shift 2
here=cmd/validgen/testdata
sh ../../../gen/oapi-codegen.sh models "$name" "$here/$name/$document" "$here/$name/$name.gen.go" "$here/keywords/overlay.yaml"
cd "$name"
go run ../../../../cmd/validgen -spec "$document" "$@" -model "$name.gen.go" -package "$name" -o validate.gen.go
