#!/bin/sh
# oapi-codegen.sh PARTS PACKAGE DOCUMENT FILE [OVERLAY] has oapi-codegen write parts of a document (models, echo-server, client) to a
# file; paths are relative to the repository root. What it reads has what any edition of the document has: the overlays in the directory
# editions beside it make them.
set -eu
cd "$(dirname "$0")/.."
parts=$1 package=$2 document=$3 file=$4 overlay=${5:-gen/overlay.yaml}

# A client has no types of its own: it uses those of the models.
own=true
[ "$parts" != client ] || own=false

config=$(mktemp) union=$(mktemp)
trap 'rm -f "$config" "$union"' EXIT
editions=$(dirname "$document")/editions
[ -d "$editions" ] || editions= # a document without editions
go run ./cmd/validgen -union -spec "$document" -editions "$editions" -o "$union"
sed -e "s|gen/overlay.yaml|$overlay|" -e "s|\(types-for-anonymous-schemas\): true|\1: $own|" gen/oapi-codegen.yaml >"$config"
go tool -modfile=gen/tools.mod oapi-codegen -config "$config" -generate "$parts" -package "$package" -o "$file" "$union"
