// Package gen holds what is generated from spec/, committed and never edited: of each OpenAPI document a package with its models, the
// interface of its server, validators and encoders, and of those that something here speaks as a client a package with the client
// alone; of the GraphQL schema its execution, and a client. The generators of others are pinned in tools.mod, apart from the program's
// go.mod, so that the program does not carry their dependencies.
package gen

// What is wrong with anything that a generator reads is reported, with file and line, before one trips over it.
//go:generate sh -c "cd .. && go run ./cmd/validgen -editions spec/editions -same spec/worker.yaml,spec/controls.yaml -check spec/rest.yaml spec/queue.yaml spec/worker.yaml spec/controls.yaml spec/rules.yaml spec/graphql/*.graphqls gen/overlay.yaml gen/graph.gqlgen.yaml conformance/operations/*.graphql"
//go:generate sh -c "cd ../cmd/validgen/testdata/keywords && go run ../.. -check keywords.yaml overlay.yaml"

// A stage runs if something that it reads or writes is not as it was after the last time.
//go:generate -command stage sh stage.sh
//go:generate stage rest "spec/rest.yaml spec/editions" "gen/rest gen/restclient" sh gen/document.sh rest client spec/editions
//go:generate stage queue "spec/queue.yaml spec/editions" "gen/queue gen/queueclient" sh gen/document.sh queue client spec/editions
//go:generate stage worker "spec/worker.yaml spec/editions" "gen/worker" sh gen/document.sh worker - -
//go:generate stage controls "spec/controls.yaml spec/editions" "gen/controls gen/controlsclient" sh gen/document.sh controls client -

//go:generate stage graph "spec/graphql graphql/scalar" "gen/graph" sh gen/graph.sh
//go:generate stage graphclient "spec/graphql conformance/operations" "gen/graphclient" go tool -modfile=gen/tools.mod genqlient gen/graphclient.genqlient.yaml

// The document that uses every keyword, which the tests of validgen compare with an independent validator.
//go:generate stage keywords "cmd/validgen/testdata/keywords" "" sh cmd/validgen/testdata/generate.sh keywords keywords.yaml
// The document whose editions the tests of validgen try, among them one that is invented for it.
//go:generate stage editions "cmd/validgen/testdata/editions cmd/validgen/testdata/keywords/overlay.yaml" "" sh cmd/validgen/testdata/generate.sh editions things.yaml -editions editions
