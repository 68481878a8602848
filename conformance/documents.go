package conformance

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/spec/answers"
)

// Documents holds answers against the published documents and counts what they showed.
type Documents struct {
	*answers.Documents
	edition string
	mu      sync.Mutex
	seen    map[string]bool // "operationId status"
}

const eventStream = answers.EventStream

// LoadDocuments reads the embedded documents as an edition of the contract has them; empty: as they are.
func LoadDocuments(edition string) (*Documents, error) {
	loaded, err := answers.Load(edition)
	return &Documents{Documents: loaded, edition: cmp.Or(edition, rest.Editions[0].Name), seen: map[string]bool{}}, err
}

// contractHeader names the edition of the contract that a request is of, and that an answer was given in.
const contractHeader = "Berth-Contract"

// editions are the documents of other editions than those of the run, in which some answers are given.
var editions sync.Map // of names: func() (*Documents, error)

// of gives the documents of the edition that the answer was given in. A server that names none knows one alone.
func (d *Documents) of(c require.TestingT, a Answer) *Documents {
	name := a.Header.Get(contractHeader)
	if name == "" || name == d.edition {
		return d
	}
	load, _ := editions.LoadOrStore(name, sync.OnceValues(func() (*Documents, error) { return LoadDocuments(name) }))
	other, err := load.(func() (*Documents, error))()
	require.NoError(c, err)
	return other
}

// plain gives the properties of a schema of the REST document that are of a single type and bound by nothing else, with it.
func (d *Documents) plain(schema string) map[string]string {
	types := map[string]string{}
	for name, property := range d.Schemas("rest")[schema].(map[string]any)["properties"].(map[string]any) {
		p := property.(map[string]any)
		if kind, single := p["type"].(string); single && p["enum"] == nil && p["pattern"] == nil && p["format"] != "date-time" {
			types[name] = kind
		}
	}
	return types
}

// Seen reports whether an answer of that status to the operation was seen.
func (d *Documents) Seen(operation string, status int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen[operation+" "+strconv.Itoa(status)]
}

// Pairs gives each operation with the statuses that it documents.
func (d *Documents) Pairs() map[string][]int {
	pairs := map[string][]int{}
	for _, o := range d.Documents.Operations() {
		pairs[o.ID] = o.Statuses()
	}
	return pairs
}

// Operation is one operation of the documents, with a path in which each parameter's name stands for its value.
type Operation struct {
	Method, Path  string
	Template      string // the path with its parameters in braces
	Document      string // rest, queue, worker, controls
	Body, AnyType bool   // has a body; of whatever content type
	OpenQuery     bool   // ignores unknown query parameters
	Open          bool   // asks for no key
	MaxBody       int    // bytes; 0: the default
}

// Operations gives every operation of the documents.
func (d *Documents) Operations() []Operation {
	var operations []Operation
	for _, o := range d.Documents.Operations() {
		most, _ := o.Fields["x-max-body-bytes"].(float64)
		_, open := o.Fields["security"] // an empty list: the generator reads no other
		operations = append(operations, Operation{
			MaxBody: int(most), Method: o.Method, Template: o.Template, Path: strings.NewReplacer("{", "", "}", "").Replace(o.Template), Document: o.Document,
			Body: o.Fields["requestBody"] != nil, AnyType: o.Fields["x-any-content-type"] == true, OpenQuery: o.Fields["x-open-query"] == true, Open: open,
		})
	}
	return operations
}

// Check fails unless the operation documents the status and the body satisfies its schema. Where the documents know no
// operation, a refusal is a problem all the same.
func (d *Documents) Check(c require.TestingT, r *http.Request, a Answer) {
	var body any
	err := json.Unmarshal(a.Body, &body)
	d.check(c, r, a, body, err)
}

// check is Check with the body as JSON, or why it is none: decoding takes most of the time where bodies are large.
func (d *Documents) check(c require.TestingT, r *http.Request, a Answer, body any, notJSON error) {
	d = d.of(c, a)
	op := d.Find(r.Method, r.URL.Path)
	if op == nil && strings.HasSuffix(r.URL.Path, graphqlPath) && !strings.HasPrefix(r.URL.Path, "/v2/") {
		checkGraphQL(c, a)
		return
	}

	if op == nil {
		if a.Status >= http.StatusBadRequest {
			require.Equal(c, "application/problem+json", a.Header.Get("Content-Type"), "%s %s", r.Method, r.URL.Path)
		}
		return
	}

	if op.Documents(a.Status) {
		d.mu.Lock()
		d.seen[op.ID+" "+strconv.Itoa(a.Status)] = true
		d.mu.Unlock()
	}
	require.NoError(c, op.Check(a.Status, a.Header.Get("Content-Type"), a.Body, body, notJSON), "%s", a.Body)
}
