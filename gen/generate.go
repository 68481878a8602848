// Package gen holds what is generated from spec/, committed and never edited. The generators of others are pinned in
// tools.mod, apart from the program's go.mod, so that the program does not carry their dependencies.
package gen

// What is wrong with a document is said before any generator trips over it.
//go:generate sh -c "cd .. && go run ./cmd/validgen -check spec/rest.yaml spec/queue.yaml spec/worker.yaml spec/controls.yaml"

//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod oapi-codegen -config gen/rest.oapi-codegen.yaml spec/rest.yaml"
//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod oapi-codegen -config gen/queue.oapi-codegen.yaml spec/queue.yaml"
//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod oapi-codegen -config gen/worker.oapi-codegen.yaml spec/worker.yaml"
//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod oapi-codegen -config gen/controls.oapi-codegen.yaml spec/controls.yaml"
//go:generate sh -c "cd .. && go run ./cmd/validgen -spec spec/rest.yaml -model gen/rest/rest.gen.go -package rest -o gen/rest/validate.gen.go"
//go:generate sh -c "cd .. && go run ./cmd/validgen -spec spec/queue.yaml -model gen/queue/queue.gen.go -package queue -o gen/queue/validate.gen.go"
//go:generate sh -c "cd .. && go run ./cmd/validgen -spec spec/worker.yaml -model gen/worker/worker.gen.go -package worker -o gen/worker/validate.gen.go"
//go:generate sh -c "cd .. && go run ./cmd/validgen -spec spec/controls.yaml -model gen/controls/controls.gen.go -package controls -o gen/controls/validate.gen.go"

//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod gqlgen generate --config gen/graph.gqlgen.yaml"
//go:generate sh -c "awk -f lazyschema.awk graph/graph.gen.go >graph/lazy.tmp && mv graph/lazy.tmp graph/graph.gen.go"
//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod genqlient gen/graphclient.genqlient.yaml"

// The document that uses every keyword, which the tests of validgen compare with an independent validator.
//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod oapi-codegen -config cmd/validgen/testdata/keywords/oapi-codegen.yaml cmd/validgen/testdata/keywords/keywords.yaml"
//go:generate sh -c "cd ../cmd/validgen/testdata/keywords && go run ../.. -spec keywords.yaml -model keywords.gen.go -package keywords -o validate.gen.go"
