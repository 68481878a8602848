// Package record keeps the exchanges of clients with a service, answers from them, and sends them again to see where two services answer
// differently. It stands outside the server, and knows a service by its interfaces alone. Secrets are masked, as in the journal, before
// anything is kept or shown. Gqlgen's parser and the validator of spec/answers are those that the server and its rules use.
package record

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/journal/bodies"
	"github.com/berthdev/berth/spec/answers"
)

// Exchange is a request and its answer, as a recording has them: a line of it. Secrets are masked.
type Exchange struct {
	Number    int64     `json:"number"` // in the order in which requests came, from 1
	At        time.Time `json:"at"`
	HeadMs    float64   `json:"headMs"` // until the head of the answer was there
	TookMs    float64   `json:"tookMs"` // until the last of it came
	Operation string    `json:"operation"`
	Fields    []string  `json:"fields,omitempty"` // of a document of GraphQL: those of Query or Mutation that it asks for
	Method    string    `json:"method"`
	Path      string    `json:"path"` // as it was sent
	Query     string    `json:"query,omitempty"`
	Key       int       `json:"key"` // which of the keys that were sent, in the order in which they were first; 0: none was
	Request   Message   `json:"request"`
	Status    int       `json:"status"`
	Response  Message   `json:"response"`
}

// Message is a request or an answer.
type Message struct {
	Headers   []Header `json:"headers,omitempty"` // by their names
	Body      string   `json:"body,omitempty"`
	Base64    bool     `json:"base64,omitempty"` // Body is in base64: it is no UTF-8
	Length    int64    `json:"length"`           // bytes that were sent
	Truncated bool     `json:"truncated,omitempty"`
}

// bytes gives the body as it was sent.
func (m *Message) bytes() ([]byte, error) {
	if m.Base64 {
		return base64.StdEncoding.DecodeString(m.Body)
	}
	return []byte(m.Body), nil
}

// Header is a header with one of its values.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Header gives the first value of a header; empty: there is none.
func (m *Message) Header(name string) string {
	for _, h := range m.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// contractHeader names the edition of the contract that a request is of, and that an answer was given in.
const contractHeader = "Berth-Contract"

// The operations of exchanges that are in no document.
const unknownOperation = "unknown"

// graphqlPath ends the path of GraphQL.
const graphqlPath = "/graphql"

// graphqlBody is how many bytes of a document of GraphQL are looked at, which must be read as a whole to know what is secret in it.
const graphqlBody = 1 << 20

// interfaces are what the documents say of requests: which operation they are for, and what is secret in them.
type interfaces struct {
	editions []*answers.Documents // the strict one first
	bodies   *bodies.Bodies
}

// loadInterfaces reads the documents, once: they are embedded.
var loadInterfaces = sync.OnceValues(func() (*interfaces, error) {
	i := &interfaces{bodies: bodies.Known()}
	for _, e := range rest.Editions {
		documents, err := answers.Load(e.Name)
		if err != nil {
			return nil, err
		}
		i.editions = append(i.editions, documents)
	}
	return i, nil
})

// in gives the documents of an edition; those of the strict one where it is not known.
func (i *interfaces) in(edition string) (*answers.Documents, string) {
	for at, e := range rest.Editions {
		if e.Name == edition || e.Alias != "" && e.Alias == edition {
			return i.editions[at], e.Name
		}
	}
	return i.editions[0], rest.Editions[0].Name
}

// operation gives the operation of a request in any edition; nil: none.
func (i *interfaces) operation(method, path string) *answers.Operation {
	for _, documents := range i.editions {
		if o := documents.Find(method, path); o != nil {
			return o
		}
	}
	return nil
}

func isGraphQL(path string) bool {
	return strings.HasSuffix(path, graphqlPath) && !strings.HasPrefix(path, "/v2/")
}

// named gives the operation's name, and the document that it is of, which is graphql for that.
func (i *interfaces) named(method, path string) (operation, document string) {
	if isGraphQL(path) {
		return journal.OperationGraphQL, journal.OperationGraphQL
	}
	if o := i.operation(method, path); o != nil {
		return o.ID, o.Document
	}
	for _, other := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
		if o := i.operation(other, path); o != nil { // a method that the path does not know
			return unknownOperation, o.Document
		}
	}
	return unknownOperation, ""
}

// sent is an exchange as it was sent, secrets included.
type sent struct {
	method   string
	url      *url.URL
	request  journal.Sent
	status   int
	response journal.Sent
	keys     []string
}

// seen is how many bytes of a body are looked at, of which so many are kept.
func seen(path string, kept int) int {
	if isGraphQL(path) {
		return max(graphqlBody, kept+journal.Slack)
	}
	return kept + journal.Slack
}

// masked gives an exchange without its secrets, with at most that many bytes of each body.
func (i *interfaces) masked(s sent, most int) Exchange {
	operation, _ := i.named(s.method, s.url.Path)
	x := journal.Exchange{
		Method: s.method, Path: s.url.EscapedPath(), Query: s.url.RawQuery, Operation: operation, Credentials: s.keys,
		Request: s.request, Response: s.response, Status: s.status,
	}
	i.bodies.Conceal(&x, func(body []byte) (*journal.Document, []byte, journal.Secrets) {
		return graphql.Recorded(body, graphql.Limits{}.WithDefaults())
	})
	e := x.Masked(most)
	made := Exchange{
		Operation: operation, Method: e.Method, Path: e.Path, Query: e.Query, Status: e.Status,
		Request: messageOf(e.Request, fromClients), Response: messageOf(e.Response, fromServices),
	}
	if e.Document != nil {
		made.Fields = e.Document.Fields
	}
	return made
}

// Headers that say something of the connection or of the client's program, and nothing of the exchange. Whoever sends it again has its own.
var (
	ofConnections = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Date"}
	fromClients   = slices.Concat(ofConnections, []string{"Accept-Encoding", "User-Agent", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded"})
	fromServices  = ofConnections
)

func messageOf(m journal.Message, without []string) Message {
	made := Message{Body: m.Body.Text, Base64: m.Body.Base64, Length: m.Body.Length, Truncated: m.Body.Truncated}
	for _, h := range m.Headers {
		if !slices.ContainsFunc(without, func(name string) bool { return strings.EqualFold(name, h.Name) }) {
			made.Headers = append(made.Headers, Header(h))
		}
	}
	return made
}

// MaskedQuery gives the query of an address as that of an exchange is kept: parameters that carry a key are masked.
func MaskedQuery(raw string) string { return journal.Query(raw) }

// address is the path and the query, as they were sent.
func (x *Exchange) address() string {
	if x.Query == "" {
		return x.Path
	}
	return x.Path + "?" + x.Query
}
