package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema" // an independent 2020-12 validator, cheap to link: the checks must not rest on our own
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/spec"
)

// Documents holds answers against the published documents and counts what they showed.
type Documents struct {
	edition   string
	documents []document
	mu        sync.Mutex
	seen      map[string]bool // "operationId status"
}

type document struct {
	name      string
	paths     map[string]any
	responses map[string]any // of its components
	schemas   map[string]any // of its components
	answers   *jsonschema.Resolved
}

const eventStream = "text/event-stream"

// LoadDocuments reads the embedded documents as an edition of the contract has them; empty: as they are.
func LoadDocuments(edition string) (*Documents, error) {
	d := &Documents{edition: cmp.Or(edition, rest.Editions[0].Name), seen: map[string]bool{}}
	for _, name := range []string{"rest", "queue", "worker", "controls"} {
		text, err := spec.JSON(name, edition)
		if err != nil {
			return nil, err
		}
		var whole map[string]any
		if err := json.Unmarshal(text, &whole); err != nil {
			return nil, err
		}

		doc := document{name: name, paths: whole["paths"].(map[string]any)}
		components := whole["components"].(map[string]any)
		doc.responses = components["responses"].(map[string]any)
		doc.schemas = components["schemas"].(map[string]any)
		if doc.answers, err = doc.resolve(doc.schemas); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}

		d.documents = append(d.documents, doc)
	}

	return d, nil
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
	for name, property := range d.documents[0].schemas[schema].(map[string]any)["properties"].(map[string]any) {
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
	for _, doc := range d.documents {
		for _, item := range doc.paths {
			for _, op := range item.(map[string]any) {
				fields, ok := op.(map[string]any)
				if !ok {
					continue
				}

				for status := range fields["responses"].(map[string]any) {
					if code, err := strconv.Atoi(status); err == nil {
						id := fields["operationId"].(string)
						pairs[id] = append(pairs[id], code)
					}
				}
			}
		}
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
	for _, doc := range d.documents {
		for template, item := range doc.paths {
			for method, op := range item.(map[string]any) {
				fields, ok := op.(map[string]any)
				if !ok {
					continue
				}
				most, _ := fields["x-max-body-bytes"].(float64)
				_, open := fields["security"] // an empty list: the generator reads no other
				operations = append(operations, Operation{
					MaxBody: int(most), Method: strings.ToUpper(method), Template: template, Path: strings.NewReplacer("{", "", "}", "").Replace(template), Document: doc.name,
					Body: fields["requestBody"] != nil, AnyType: fields["x-any-content-type"] == true, OpenQuery: fields["x-open-query"] == true, Open: open,
				})
			}
		}
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
	doc, op := d.find(r)
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

	id := op["operationId"].(string)
	responses := op["responses"].(map[string]any)
	key := strconv.Itoa(a.Status)

	// What the router refuses, and failures of the server, have no status of their own in the documents.
	if _, ok := responses[key]; !ok && (a.Status == http.StatusMethodNotAllowed || a.Status >= http.StatusInternalServerError) {
		key = "default"
	}
	require.Contains(c, responses, key, "%s does not document %d", id, a.Status)

	d.mu.Lock()
	d.seen[id+" "+strconv.Itoa(a.Status)] = true
	d.mu.Unlock()
	content := doc.content(responses[key])
	if content == nil {
		require.Empty(c, a.Body, "%s %d documents no body", id, a.Status)
		return
	}

	kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	require.NoError(c, err)
	require.Contains(c, content, kind, "%s %d", id, a.Status)

	decoded := body
	if kind == eventStream { // text
		decoded = string(a.Body)
	} else {
		require.NoError(c, notJSON, "%s", a.Body)
	}

	answer := map[string]any{answerName(id, key, kind): decoded}
	require.NoError(c, doc.answers.Validate(answer), "%s %d: %s", id, a.Status, a.Body)
}

// find gives the operation of the request; a template without parameters goes before one with.
func (d *Documents) find(r *http.Request) (doc document, op map[string]any) {
	best := -1
	for _, candidate := range d.documents {
		for template, item := range candidate.paths {
			found, ok := item.(map[string]any)[strings.ToLower(r.Method)].(map[string]any)
			if fixed := match(template, r.URL.Path); ok && fixed > best {
				doc, op, best = candidate, found, fixed
			}
		}
	}
	return doc, op
}

// slashed is the parameter at the end of a path that takes slashes too.
const slashed = "/{route}"

// match counts the literal segments of the template that the path matches; -1 if it does not match.
func match(template, path string) int {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	if strings.HasSuffix(template, slashed) && len(have) > len(want) {
		have = have[:len(want)]
	}
	if len(want) != len(have) {
		return -1
	}

	fixed := 0
	for i := range want {
		switch {
		case strings.HasPrefix(want[i], "{"):
			if have[i] == "" {
				return -1
			}
		case want[i] == have[i]:
			fixed++
		default:
			return -1
		}
	}

	return fixed
}
