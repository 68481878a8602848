#!/bin/sh
# graph.sh makes of the GraphQL schema the models, what runs documents, and what writes plain objects in gen/graph.
set -eu
cd "$(dirname "$0")/.."
go tool -modfile=gen/tools.mod gqlgen generate --config gen/graph.gqlgen.yaml
awk -f gen/lazyschema.awk gen/graph/graph.gen.go >gen/graph/lazy.tmp
mv gen/graph/lazy.tmp gen/graph/graph.gen.go
go run ./cmd/graphgen -exec gen/graph/graph.gen.go -o gen/graph/plain.gen.go
