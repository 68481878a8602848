package bodies_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/journal/bodies"
)

func TestConceal_VariablesAreSecretInWhateverFormAnAnswerHasThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ operation, kind, body, want string }{
		"in pairs of key and value, and in texts": {
			journal.OperationGraphQL, "application/json",
			`{"data":{"t":{"env":[{"key":"HF_TOKEN","value":"hunter22"},{"key":"N","value":"3"}],"pod":{"env":["A_KEY=hunter22","N=3"]},"login":{"apiKey":"hunter22"}}}}`,
			`{"data":{"t":{"env":[{"key":"HF_TOKEN","value":"***"},{"key":"N","value":"3"}],"pod":{"env":["***","N=3"]},"login":{"apiKey":"***"}}}}`,
		},
		"as what a release changed": {
			"listEndpointReleases", "application/json",
			`{"releases":[{"diff":[{"field":"env","old":{"HF_TOKEN":"hunter22"},"new":{"HF_TOKEN":"hunter22","N":"3"}},{"field":"image","old":"c","new":"d"}]}]}`,
			`{"releases":[{"diff":[{"field":"env","old":{"HF_TOKEN":"***"},"new":{"HF_TOKEN":"***","N":"3"}},{"field":"image","old":"c","new":"d"}]}]}`,
		},
		"of a service that does not call it JSON": {
			"getPod", "text/plain", `{"env":{"HF_TOKEN":"hunter22","N":"3"}}`, `{"env":{"HF_TOKEN":"***","N":"3"}}`,
		},
		"but not in what is no JSON": {"getPod", "text/plain", `HF_TOKEN=hunter22`, `HF_TOKEN=hunter22`},
	} {
		e := journal.Exchange{Operation: c.operation, Response: journal.Sent{Headers: map[string][]string{"Content-Type": {c.kind}}}}
		bodies.Known().Conceal(&e, func([]byte) (*journal.Document, []byte, journal.Secrets) { return nil, nil, journal.Secrets{} })
		require.Equal(t, c.want, string(e.Response.Mask([]byte(c.body), false)), name)
	}
}

func TestConceal_WhatIsWriteOnlyIsSecretWhereverARequestHasIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ operation, body, want string }{
		{"createRegistry", `{"name":"r","Password":"hunter22"}`, `{"name":"r","Password":"***"}`},
		{"createRegistry", `[{"password":"hunter22","value":"shown"}]`, `[{"password":"***","value":"shown"}]`},
		{"createSecret", `{"x":{"value":"hunter22"}}`, `{"x":{"value":"***"}}`},
		{"createPod", `{"value":"shown","password":"shown"}`, `{"value":"shown","password":"shown"}`},
	} {
		e := journal.Exchange{Operation: c.operation}
		bodies.Known().Conceal(&e, nil)
		require.Equal(t, c.want, string(e.Request.Mask([]byte(c.body), false)))
		require.Equal(t, c.body, string(e.Response.Mask([]byte(c.body), false)), "answers have none of it")
	}
}

func TestConceal_DocumentsInAddressesAreSecret(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":             "",
		"api_key=k&x=": "api_key=k&x=",
		"query=mutation%7BsecretCreate(input%3A%7Bvalue%3A%22hunter22%22%7D)%7Bid%7D%7D&operationName=o": "query=***&operationName=o",
		"Variables=%7B%22v%22%3A%22hunter22%22%7D&extensions=hunter22":                                   "Variables=***&extensions=***",
		"mutation{secretCreate(input:{value:\"hunter22\"}){id}}":                                         "***",
		"%71uery=hunter22": "***",
	} {
		e := journal.Exchange{Operation: journal.OperationGraphQL, Query: query}
		bodies.Known().Conceal(&e, nil)
		require.Equal(t, want, e.Query)
	}
	e := journal.Exchange{Operation: "listPods", Query: "query=shown"}
	bodies.Known().Conceal(&e, nil)
	require.Equal(t, "query=shown", e.Query)
}

func TestConceal_DocumentsAtAddressesThatAreNearlyRightAreSecret(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/graphql/", "/api/GraphQL"} {
		e := journal.Exchange{Path: path, Query: "query=mutation%7Ba%7D"}
		bodies.Known().Conceal(&e, nil)
		require.Equal(t, "query=***", e.Query)
		require.Equal(t, "***", string(e.Request.Mask([]byte(`{"query":"mutation{secretCreate(input:{value:\"hunter22\"}){id}}"}`), false)))
	}
}

func TestConceal_MisspelledMembersAreAsSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ operation, body, want string }{
		{"createPod", `{"ENV":{"HF_TOKEN":"hunter22","N":"3"}}`, `{"ENV":{"HF_TOKEN":"***","N":"3"}}`},
		{"createPod", `{"env":{"x":{"HF_TOKEN":"hunter22","N":"3"},"y":[{"HF_TOKEN":"shown"}]}}`, `{"env":{"x":{"HF_TOKEN":"***","N":"3"},"y":[{"HF_TOKEN":"shown"}]}}`},
		{"createTemplate", `{"Env":{"DB_PASS":"hunter22"}}`, `{"Env":{"DB_PASS":"***"}}`},
		{"run", `{"S3Config":{"accessSecret":"hunter22"}}`, `{"S3Config":{"accessSecret":"***"}}`},
		{"run", `{"input":{"env":{"HF_TOKEN":"shown"}}}`, `{"input":{"env":{"HF_TOKEN":"shown"}}}`},
	} {
		e := journal.Exchange{Operation: c.operation}
		bodies.Known().Conceal(&e, nil)
		require.Equal(t, c.want, string(e.Request.Mask([]byte(c.body), false)), c.operation)
	}
}

func TestConceal_KeepsTheOutputsOfWebhooks(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"output":{"value":7,"password":"x","env":{"A_KEY":"b"}}}`: `{"output":{"value":7,"password":"x","env":{"A_KEY":"b"}}}`,
		`{"output":{"s3Config":{"accessSecret":"hunter22"}}}`:       `{"output":{"s3Config":{"accessSecret":"***"}}}`,
	} {
		e := journal.Exchange{Operation: "receiveWebhook", Path: "/_berth/inbox/graphql"}
		bodies.Known().Conceal(&e, nil)
		require.Equal(t, want, string(e.Request.Mask([]byte(body), false)))
		require.Equal(t, want, string(e.Response.Mask([]byte(body), false)))
	}
}

func TestConceal_HidesWhatItCannotLookInto(t *testing.T) {
	t.Parallel()
	headers := func(kind string, codings ...string) map[string][]string {
		return map[string][]string{"Content-Type": {kind}, "Content-Encoding": codings}
	}
	graphql := func(body []byte) (*journal.Document, []byte, journal.Secrets) { return nil, body, journal.Secrets{} }
	for name, c := range map[string]struct {
		headers          map[string][]string
		request, answers bool // are hidden
	}{
		"plain":                  {headers("application/json; charset=UTF-8", "identity"), false, false},
		"compressed":             {headers("application/json", "gzip"), true, true},
		"compressed twice":       {headers("application/json", "identity", "br, gzip"), true, true},
		"of another charset":     {headers("application/json; charset=utf-16"), true, true},
		"a compressed problem":   {headers("application/problem+json", "gzip"), true, true},
		"of nobody knows what":   {headers("", "gzip"), true, true},
		"of a wrong type":        {headers("application/json; charset=utf-8; charset=utf-16"), true, true},
		"a compressed page":      {headers("text/html", "gzip"), true, false},
		"an archive, as it is":   {headers("application/gzip"), false, false},
		"without a content type": {nil, false, false},
	} {
		for _, operation := range []string{"run", "createPod", "receiveWebhook", "unknown", journal.OperationGraphQL, journal.OperationProxyPod, journal.OperationProxyEndpoint} {
			e := journal.Exchange{Operation: operation, Request: journal.Sent{Headers: c.headers, Body: []byte("packed")}, Response: journal.Sent{Headers: c.headers}}
			bodies.Known().Conceal(&e, graphql)
			proxied := operation == journal.OperationProxyPod || operation == journal.OperationProxyEndpoint
			hidden := func(mask func([]byte, bool) []byte) bool {
				return string(mask([]byte("packed"), false)) == journal.Masked
			}
			if operation == "unknown" && !c.request { // which may have any secret
				continue
			}
			require.Equal(t, c.request && !proxied, hidden(e.Request.Mask), "%s: %s", operation, name)
			require.Equal(t, c.answers && !proxied, hidden(e.Response.Mask), "%s: %s", operation, name)
		}
	}
}
