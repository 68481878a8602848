#!/bin/sh
# document.sh NAME CLIENT EDITIONS makes of the document spec/NAME.yaml the models, the interface of its server and the validators in gen/NAME;
# with CLIENT (client or -) also gen/NAMEclient. EDITIONS is the directory of its further editions, or -.
set -eu
cd "$(dirname "$0")/.."
name=$1
sh gen/oapi-codegen.sh models,echo-server "$name" "spec/$name.yaml" "gen/$name/$name.gen.go"
[ "$2" != client ] || sh gen/oapi-codegen.sh client "${name}client" "spec/$name.yaml" "gen/${name}client/${name}client.gen.go"
[ "$3" = - ] && set -- || set -- -editions "$3"
go run ./cmd/validgen -spec "spec/$name.yaml" "$@" -model "gen/$name/$name.gen.go" -package "$name" -o "gen/$name/validate.gen.go"
