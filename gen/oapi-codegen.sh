#!/bin/sh
# oapi-codegen.sh PARTS PACKAGE DOCUMENT FILE [OVERLAY] has oapi-codegen write parts of a document (models, echo-server, client) to a
# file; paths are relative to the repository root.
set -eu
cd "$(dirname "$0")/.."
parts=$1 package=$2 document=$3 file=$4 overlay=${5:-gen/overlay.yaml}

# A client has no types of its own: it uses those of the models.
own=true
[ "$parts" != client ] || own=false

config=$(mktemp)
trap 'rm -f "$config"' EXIT
sed -e "s|gen/overlay.yaml|$overlay|" -e "s|\(types-for-anonymous-schemas\): true|\1: $own|" gen/oapi-codegen.yaml >"$config"
go tool -modfile=gen/tools.mod oapi-codegen -config "$config" -generate "$parts" -package "$package" -o "$file" "$document"
