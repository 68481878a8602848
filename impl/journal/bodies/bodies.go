// Package bodies says what is secret in the bodies of the published interfaces, so that whoever keeps exchanges keeps none of it: what the
// documents mark as write-only, and the variables of environments whose names say so.
package bodies

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/validate"
	"github.com/berthdev/berth/spec"
)

// GraphQL reads what a body of GraphQL asks for, and gives it without what is secret in it.
type GraphQL func(body []byte) (*journal.Document, []byte)

// Bodies know what is secret in the bodies of each operation. They do not change, and are safe for concurrent use.
type Bodies struct {
	secrets map[string]secrets
	unknown secrets // of operations that no document has
	streams map[string]bool
}

// secrets are what is secret in the bodies of an operation.
type secrets struct{ request, response journal.Secrets }

// environments are the members of bodies of REST that hold variables, whose names say which of them are secret, and stores those of the queue
// and of workers that hold the login of an object store. What clients send to their own programs is not looked into.
var (
	environments = []string{"env"}
	stores       = []string{"s3Config"}
)

// Load finds out of the documents, in all editions, what is secret in bodies, and what answers with streams.
func Load() (*Bodies, error) {
	b := &Bodies{secrets: map[string]secrets{}, streams: map[string]bool{}}
	unknown := journal.Secrets{Maps: slices.Concat(environments, stores)}
	for name, of := range map[string][]string{"rest": environments, "queue": stores, "worker": stores} {
		for _, edition := range rest.Editions {
			text, err := spec.JSON(name, edition.Name)
			if err != nil {
				return nil, err
			}
			var document described
			if err := json.Unmarshal(text, &document); err != nil {
				return nil, fmt.Errorf("spec/%s.yaml: %w", name, err)
			}

			for _, id := range document.streams() {
				b.streams[id] = true
			}
			for id, paths := range document.writeOnly() {
				known := b.secrets[id]
				known.request.Paths, known.request.Maps, known.response.Maps = append(known.request.Paths, paths...), of, of
				b.secrets[id] = known
				for _, p := range paths {
					unknown.Names = append(unknown.Names, p[len(p)-1])
				}
			}
		}
	}

	b.unknown = secrets{unknown, unknown}
	return b, nil
}

// Streams reports whether the operation answers with a stream of events alone.
func (b *Bodies) Streams(operation string) bool { return b.streams[operation] }

const problemJSON = "application/problem+json"

// Conceal says what is secret in the bodies of an exchange by its operation, and of a document of GraphQL what it asks for. Without graphql,
// documents are bodies of an unknown operation.
func (b *Bodies) Conceal(e *journal.Exchange, graphql GraphQL) {
	if e.Operation == journal.OperationGraphQL && graphql != nil {
		var masked []byte
		e.Document, masked = graphql(e.Request.Body)
		e.Request.Mask = func([]byte, bool) []byte { return masked }
		e.Response.Mask = journal.Secrets{Pairs: true}.Mask
		return
	}

	secrets, ok := b.secrets[e.Operation]
	if !ok {
		secrets = b.unknown
	}
	e.Request.Mask = secrets.request.Mask
	kind := http.Header(e.Response.Headers).Get("Content-Type")
	if validate.ContentType(kind) == "" || strings.HasPrefix(kind, problemJSON) {
		e.Response.Mask = secrets.response.Mask
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

// described is what is read of an OpenAPI document.
type described struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

// schema is what is read of a schema.
type schema struct {
	Ref        string             `json:"$ref"`
	WriteOnly  bool               `json:"writeOnly"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Additional json.RawMessage    `json:"additionalProperties"`
	OneOf      []*schema          `json:"oneOf"`
	AnyOf      []*schema          `json:"anyOf"`
	AllOf      []*schema          `json:"allOf"`
}

// writeOnly gives the places of bodies that are marked so, by operation.
func (d *described) writeOnly() map[string][][]string {
	places := map[string][][]string{}
	for _, operations := range d.Paths {
		for method, text := range operations {
			var op struct {
				ID      string `json:"operationId"`
				Request struct {
					Content map[string]struct {
						Schema *schema `json:"schema"`
					} `json:"content"`
				} `json:"requestBody"`
			}
			if !slices.Contains(methods, strings.ToUpper(method)) || json.Unmarshal(text, &op) != nil {
				continue // what is no operation, such as parameters
			}

			places[op.ID] = nil
			for _, kind := range slices.Sorted(maps.Keys(op.Request.Content)) {
				d.find(op.Request.Content[kind].Schema, nil, func(place []string) { places[op.ID] = append(places[op.ID], place) })
			}
		}
	}
	return places
}

// streams gives the operations that answer with a stream of events alone.
func (d *described) streams() (ids []string) {
	for _, operations := range d.Paths {
		for method, text := range operations {
			var op struct {
				ID        string `json:"operationId"`
				Responses map[string]struct {
					Content map[string]json.RawMessage `json:"content"`
				} `json:"responses"`
			}
			if !slices.Contains(methods, strings.ToUpper(method)) || json.Unmarshal(text, &op) != nil {
				continue
			}

			kinds := op.Responses["200"].Content
			if _, ok := kinds["text/event-stream"]; ok && len(kinds) == 1 {
				ids = append(ids, op.ID)
			}
		}
	}
	return ids
}

var methods = []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete}

// deepest bounds how deep schemas are looked into that refer to themselves.
const deepest = 10

// find calls found with the place of each part of a schema that is write-only.
func (d *described) find(s *schema, at []string, found func([]string)) {
	if s == nil || len(at) > deepest {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		d.find(d.Components.Schemas[name], at, found)
		return
	}
	if s.WriteOnly && len(at) > 0 {
		found(slices.Clone(at))
		return
	}

	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		d.find(s.Properties[name], append(slices.Clone(at), name), found)
	}
	d.find(s.Items, append(slices.Clone(at), "*"), found)
	var additional schema
	if json.Unmarshal(s.Additional, &additional) == nil { // it may be a boolean
		d.find(&additional, append(slices.Clone(at), "*"), found)
	}
	for _, one := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		d.find(one, at, found)
	}
}
