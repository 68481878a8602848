// Package gen holds what is generated from spec/, committed and never edited: of each OpenAPI document a package with its models, the
// interface of its server, validators and encoders, and of those that something here speaks as a client a package with the client
// alone; of the GraphQL schema its execution, and a client. The generators of others are pinned in tools.mod, apart from the program's
// go.mod, so that the program does not carry their dependencies.
package gen

// What is wrong with anything that a generator reads is reported, with file and line, before one trips over it.
//go:generate sh -c "cd .. && go run ./cmd/validgen -editions spec/editions -check spec/rest.yaml spec/queue.yaml spec/worker.yaml spec/controls.yaml spec/rules.yaml spec/graphql/*.graphqls gen/overlay.yaml gen/graph.gqlgen.yaml conformance/operations/*.graphql"
//go:generate sh -c "cd ../cmd/validgen/testdata/keywords && go run ../.. -check keywords.yaml overlay.yaml"

//go:generate -command oapi-codegen sh oapi-codegen.sh
//go:generate oapi-codegen models,echo-server rest spec/rest.yaml gen/rest/rest.gen.go
//go:generate oapi-codegen models,echo-server queue spec/queue.yaml gen/queue/queue.gen.go
//go:generate oapi-codegen models,echo-server worker spec/worker.yaml gen/worker/worker.gen.go
//go:generate oapi-codegen models,echo-server controls spec/controls.yaml gen/controls/controls.gen.go
//go:generate oapi-codegen client restclient spec/rest.yaml gen/restclient/restclient.gen.go
//go:generate oapi-codegen client queueclient spec/queue.yaml gen/queueclient/queueclient.gen.go
//go:generate oapi-codegen client controlsclient spec/controls.yaml gen/controlsclient/controlsclient.gen.go

//go:generate sh -c "cd .. && go run ./cmd/validgen -spec spec/rest.yaml -editions spec/editions -model gen/rest/rest.gen.go -package rest -o gen/rest/validate.gen.go"
//go:generate sh -c "cd .. && go run ./cmd/validgen -spec spec/queue.yaml -editions spec/editions -model gen/queue/queue.gen.go -package queue -o gen/queue/validate.gen.go"
//go:generate sh -c "cd .. && go run ./cmd/validgen -spec spec/worker.yaml -model gen/worker/worker.gen.go -package worker -o gen/worker/validate.gen.go"
//go:generate sh -c "cd .. && go run ./cmd/validgen -spec spec/controls.yaml -model gen/controls/controls.gen.go -package controls -o gen/controls/validate.gen.go"

//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod gqlgen generate --config gen/graph.gqlgen.yaml"
//go:generate sh -c "awk -f lazyschema.awk graph/graph.gen.go >graph/lazy.tmp && mv graph/lazy.tmp graph/graph.gen.go"
//go:generate sh -c "cd .. && go run ./cmd/graphgen -exec gen/graph/graph.gen.go -o gen/graph/plain.gen.go"
//go:generate sh -c "cd .. && go tool -modfile=gen/tools.mod genqlient gen/graphclient.genqlient.yaml"

// The document that uses every keyword, which the tests of validgen compare with an independent validator.
//go:generate oapi-codegen models keywords cmd/validgen/testdata/keywords/keywords.yaml cmd/validgen/testdata/keywords/keywords.gen.go cmd/validgen/testdata/keywords/overlay.yaml
//go:generate sh -c "cd ../cmd/validgen/testdata/keywords && go run ../.. -spec keywords.yaml -model keywords.gen.go -package keywords -o validate.gen.go"

// The document whose editions the tests of validgen try, among them one that is invented for it.
//go:generate oapi-codegen models editions cmd/validgen/testdata/editions/things.yaml cmd/validgen/testdata/editions/editions.gen.go cmd/validgen/testdata/keywords/overlay.yaml
//go:generate sh -c "cd ../cmd/validgen/testdata/editions && go run ../.. -spec things.yaml -editions editions -model editions.gen.go -package editions -o validate.gen.go"
