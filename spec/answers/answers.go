// Package answers holds answers against the published documents. It uses an independent validator of JSON Schema 2020-12 that is cheap
// to link: what is checked must not rest on the validators that the documents generate.
package answers

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/berthdev/berth/spec"
)

// EventStream is the media type of streams of events, whose bodies are held against their schema as one text.
const EventStream = "text/event-stream"

// Documents are the published documents of an edition. They do not change, and are safe for concurrent use.
type Documents struct {
	documents  []document
	operations []*Operation    // by document, template and method
	resources  map[string]bool // what stands in paths of resources where those of the queue have the id of an endpoint
}

type document struct {
	name      string
	responses map[string]any // of its components
	schemas   map[string]any // of its components
	answers   *jsonschema.Resolved
}

// Operation is an operation of a document.
type Operation struct {
	ID       string // its operationId
	Method   string // in capitals
	Template string // its path, with parameters in braces
	Document string // rest, queue, worker, controls
	Fields   map[string]any

	of        *document
	responses map[string]any
	steps     []string // of the template
	slashed   bool     // the last of them takes slashes too
}

// Load reads the embedded documents as an edition of the contract has them; empty: as they are.
func Load(edition string) (*Documents, error) {
	d := &Documents{resources: map[string]bool{}}
	for _, name := range []string{"rest", "queue", "worker", "controls"} {
		text, err := spec.JSON(name, edition)
		if err != nil {
			return nil, err
		}
		var whole struct {
			Paths      map[string]map[string]any `json:"paths"`
			Components struct {
				Responses map[string]any `json:"responses"`
				Schemas   map[string]any `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(text, &whole); err != nil {
			return nil, fmt.Errorf("spec/%s.yaml: %w", name, err)
		}

		doc := &document{name: name, responses: whole.Components.Responses, schemas: whole.Components.Schemas}
		operations := doc.operations(whole.Paths)
		for _, o := range operations {
			if len(o.steps) > 2 && o.steps[1] == "v2" && !strings.HasPrefix(o.steps[2], "{") {
				d.resources[o.steps[2]] = true
			}
		}
		if doc.answers, err = doc.resolve(operations); err != nil {
			return nil, fmt.Errorf("spec/%s.yaml: %w", name, err)
		}
		d.documents, d.operations = append(d.documents, *doc), append(d.operations, operations...)
	}
	return d, nil
}

// operations gives the operations of the document.
func (d *document) operations(paths map[string]map[string]any) (all []*Operation) {
	for template, item := range paths {
		for method, op := range item {
			fields, ok := op.(map[string]any)
			if !ok {
				continue // what a path has besides, such as parameters
			}
			id, _ := fields["operationId"].(string)
			responses, _ := fields["responses"].(map[string]any)
			all = append(all, &Operation{ID: id, Method: strings.ToUpper(method), Template: template, Document: d.name, Fields: fields, of: d, responses: responses,
				steps: strings.Split(template, "/"), slashed: strings.HasSuffix(template, slashed)})
		}
	}
	slices.SortFunc(all, func(a, b *Operation) int { return strings.Compare(a.Template+" "+a.Method, b.Template+" "+b.Method) })
	return all
}

// Operations gives every operation of the documents.
func (d *Documents) Operations() []*Operation { return d.operations }

// Schemas gives the components of the document of that name.
func (d *Documents) Schemas(document string) map[string]any {
	for _, one := range d.documents {
		if one.name == document {
			return one.schemas
		}
	}
	return nil
}

// Find gives the operation of a request; nil: the documents have none. A template without parameters goes before one with.
func (d *Documents) Find(method, path string) (found *Operation) {
	best, steps := -1, strings.Split(path, "/")
	for _, o := range d.operations {
		if o.Method != method || len(steps) > 2 && len(o.steps) > 2 && strings.HasPrefix(o.steps[2], "{") && d.resources[steps[2]] {
			continue // no endpoint has the name of a resource
		}
		if fixed := o.match(steps); fixed > best {
			found, best = o, fixed
		}
	}
	return found
}

// Statuses gives the statuses that the operation documents.
func (o *Operation) Statuses() (all []int) {
	for status := range o.responses {
		if code, err := strconv.Atoi(status); err == nil {
			all = append(all, code)
		}
	}
	return all
}

// key gives the name under which the operation documents the status; empty: it does not. What the router refuses, and failures of the
// server, have no status of their own in the documents.
func (o *Operation) key(status int) string {
	for _, key := range []string{strconv.Itoa(status), "default"} {
		if _, ok := o.responses[key]; ok && (key != "default" || status == http.StatusMethodNotAllowed || status >= http.StatusInternalServerError) {
			return key
		}
	}
	return ""
}

// Documents reports whether the operation documents the status.
func (o *Operation) Documents(status int) bool { return o.key(status) != "" }

// Check holds an answer against the operation: its status, its media type, and its body by the schema. The body is given as JSON, or why it
// is none, since decoding takes most of the time where bodies are large.
func (o *Operation) Check(status int, contentType string, body []byte, value any, notJSON error) error {
	key := o.key(status)
	if key == "" {
		return fmt.Errorf("%s does not document %d", o.ID, status)
	}
	content := o.of.content(o.responses[key])
	if content == nil {
		if len(body) > 0 {
			return fmt.Errorf("%s %d documents no body", o.ID, status)
		}
		return nil
	}

	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("%s %d: the content type %q: %w", o.ID, status, contentType, err)
	}
	if _, ok := content[kind]; !ok {
		return fmt.Errorf("%s %d does not document the content type %s", o.ID, status, kind)
	}

	if kind == EventStream {
		value = string(body)
	} else if notJSON != nil {
		return fmt.Errorf("%s %d: the body is not JSON: %w", o.ID, status, notJSON)
	}
	if err := o.of.answers.Validate(map[string]any{answerName(o.ID, key, kind): value}); err != nil {
		return fmt.Errorf("%s %d: %w", o.ID, status, err)
	}
	return nil
}

// slashed is the parameter at the end of a path that takes slashes too.
const slashed = "/{route}"

// match counts the literal segments of the template that the path matches; -1 if it does not match.
func (o *Operation) match(have []string) int {
	want := o.steps
	if o.slashed && len(have) > len(want) {
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
