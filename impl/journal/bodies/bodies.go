// Package bodies says what is secret in the bodies of the published interfaces, so that whoever keeps exchanges keeps none of it: what the
// documents mark as write-only, and the variables of environments whose names say so.
package bodies

import (
	"bytes"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/validate"
)

// GraphQL reads what a body of GraphQL asks for, and gives it without what is secret in it, and what is secret in its answer beside what always is.
type GraphQL func(body []byte) (asked *journal.Document, masked []byte, answer journal.Secrets)

// Bodies know what is secret in the bodies of each operation. They do not change, and are safe for concurrent use.
type Bodies struct {
	secrets map[string]secrets
	unknown secrets // of operations that no document has
	streams map[string]bool
}

// secrets are what is secret in the bodies of an operation.
type secrets struct{ request, response journal.Secrets }

// environments are the members of bodies of REST that hold variables, whose names say which of them are secret, and stores those of the queue
// and of workers that hold the login of an object store: any member is taken there, and one whose name is misspelled is as secret. What clients
// send to their own programs is not looked into.
var (
	environments = []string{"env"}
	stores       = []string{"s3Config"}
)

// inbox is the operation that takes webhooks, which have the outputs of jobs. It is one of the controls, and in no published document.
const inbox = "receiveWebhook"

// Known gives what known.go has of the documents, in all editions: what is secret in bodies, and what answers with streams. A server that
// starts reads no document for it.
var Known = sync.OnceValue(func() *Bodies {
	b := &Bodies{secrets: map[string]secrets{}, streams: map[string]bool{}}
	unknown := journal.Secrets{Maps: environments, Whole: stores}
	for id, o := range operations {
		of := journal.Secrets{Whole: stores}
		if o.document == "rest" {
			of = journal.Secrets{Maps: environments}
		}
		if id == "listEndpointReleases" { // a difference has what the environment was, and is
			of.Objects = []string{"old", "new"}
		}
		var names []string // of what is write-only: not where, since who misplaces it sends it all the same
		for _, p := range o.writeOnly {
			names = append(names, p[len(p)-1])
		}
		b.secrets[id] = secrets{journal.Secrets{Names: names, Maps: of.Maps, Whole: of.Whole}, of}
		b.streams[id] = o.streams
		unknown.Names = append(unknown.Names, names...)
	}

	ofJobs := journal.Secrets{Whole: stores}
	b.secrets[inbox] = secrets{ofJobs, ofJobs}

	slices.Sort(unknown.Names)
	unknown.Names = slices.Compact(unknown.Names)
	b.unknown = secrets{unknown, unknown}
	return b
})

// operation is what known.go has of an operation.
type operation struct {
	document  string     // rest, queue or worker
	writeOnly [][]string // places in the body of a request
	streams   bool       // it answers with a stream of events alone
}

// Streams reports whether the operation answers with a stream of events alone.
func (b *Bodies) Streams(operation string) bool { return b.streams[operation] }

const problemJSON = "application/problem+json"

// Conceal says what is secret in the bodies of an exchange by its operation, and of a document of GraphQL what it asks for. Without graphql,
// documents are bodies of an unknown operation.
func (b *Bodies) Conceal(e *journal.Exchange, graphql GraphQL) {
	if e.Operation == journal.OperationProxyPod || e.Operation == journal.OperationProxyEndpoint {
		e.Request.Mask, e.Response.Mask = ofJSON(b.unknown.request), ofJSON(b.unknown.response)
		return
	}

	if e.Operation == journal.OperationGraphQL {
		e.Query = withoutDocument(e.Query)
	}
	if e.Operation == journal.OperationGraphQL && graphql != nil {
		asked, masked, answer := graphql(e.Request.Body)
		e.Document = asked
		e.Request.Mask = func([]byte, bool) []byte { return masked }
		answer.Maps, answer.Whole, answer.Pairs = append(answer.Maps, environments...), append(answer.Whole, "apiKey"), true
		e.Response.Mask = answer.Mask
	} else {
		b.byOperation(e)
	}

	if encoded(e.Request.Headers) {
		e.Request.Mask = journal.Hide
	}
	if encoded(e.Response.Headers) && perhapsJSON(e.Response.Headers) {
		e.Response.Mask = journal.Hide
	}
}

// byOperation says what is secret in bodies that are no documents of GraphQL.
func (b *Bodies) byOperation(e *journal.Exchange) {
	secrets, ok := b.secrets[e.Operation]
	if !ok {
		secrets = b.unknown
		if strings.Contains(strings.ToLower(e.Path), "graphql") { // a document that was sent to a slightly other address
			e.Query, e.Request.Mask = withoutDocument(e.Query), journal.Hide
		}
	}
	if e.Request.Mask == nil {
		e.Request.Mask = secrets.request.Mask
	}
	kind := http.Header(e.Response.Headers).Get("Content-Type")
	if validate.ContentType(kind) == "" || strings.HasPrefix(kind, problemJSON) {
		e.Response.Mask = secrets.response.Mask
	} else {
		e.Response.Mask = ofJSON(secrets.response) // of a service that calls it otherwise
	}
}

// encoded reports whether a body is compressed, or not in UTF-8: nobody looks for what is secret in it.
func encoded(h http.Header) bool {
	return validate.ContentEncoding(h.Values("Content-Encoding")) != "" || validate.Charset(h.Get("Content-Type")) != ""
}

// perhapsJSON reports whether a body is JSON, as far as its content type says.
func perhapsJSON(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind == "" || strings.HasSuffix(kind, "json")
}

// documents are the parameters by which other servers of GraphQL take what is asked for. Here such a request is refused.
var documents = []string{"query", "variables", "extensions"}

// plainName is of a parameter, and no document that was sent in the place of one.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w.-]*$`) })

// withoutDocument gives the query of an address without what it asks for, which may be a mutation with a secret.
func withoutDocument(query string) string {
	if query == "" {
		return ""
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if !plainName().MatchString(name) {
			pairs[i] = journal.Masked
		} else if value != "" && slices.ContainsFunc(documents, func(one string) bool { return strings.EqualFold(one, name) }) {
			pairs[i] = name + "=" + journal.Masked
		}
	}
	return strings.Join(pairs, "&")
}

// ofJSON masks what is secret in a body that seems to be JSON. Any other one is shown: no document says what is in it.
func ofJSON(secrets journal.Secrets) func(body []byte, cut bool) []byte {
	return func(body []byte, cut bool) []byte {
		if text := bytes.TrimSpace(body); len(text) == 0 || text[0] != '{' && text[0] != '[' {
			return body
		}
		return secrets.Mask(body, cut)
	}
}

// Credentials are the keys that a request carries, wherever it may.
func Credentials(r *http.Request) (all []string) {
	for _, value := range slices.Concat(r.Header.Values("Authorization"), r.Header.Values("X-Api-Key")) {
		if fields := strings.Fields(value); len(fields) > 0 {
			all = append(all, fields[len(fields)-1])
		}
	}
	return append(all, r.URL.Query()["api_key"]...)
}
