package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/spec"
)

// secrets are what is secret in the bodies of an operation.
type secrets struct{ request, response journal.Secrets }

// environments are the members of bodies of REST that hold variables, whose names say which of them are secret, and stores those of the queue
// and of workers that hold the login of an object store. What clients send to their own programs is not looked into.
var (
	environments = []string{"env"}
	stores       = []string{"s3Config"}
)

// record makes the journal, and finds out of the documents what is secret in bodies, which is marked as write-only, and what answers with
// streams.
func (s *Services) record() error {
	if s.Journal == nil {
		s.Journal = journal.New(journal.DefaultBounds())
	}
	s.secrets, s.streams = map[string]secrets{}, map[string]bool{}
	unknown := journal.Secrets{Maps: slices.Concat(environments, stores)}
	for name, of := range map[string][]string{"rest": environments, "queue": stores, "worker": stores} {
		for _, edition := range rest.Editions {
			text, err := spec.JSON(name, edition.Name)
			if err != nil {
				return err
			}
			var document described
			if err := json.Unmarshal(text, &document); err != nil {
				return fmt.Errorf("spec/%s.yaml: %w", name, err)
			}

			for _, id := range document.streams() {
				s.streams[id] = true
			}
			for id, paths := range document.writeOnly() {
				known := s.secrets[id]
				known.request.Paths, known.request.Maps, known.response.Maps = append(known.request.Paths, paths...), of, of
				s.secrets[id] = known
				for _, p := range paths {
					unknown.Names = append(unknown.Names, p[len(p)-1])
				}
			}
		}
	}

	s.secrets[unknownOperation] = secrets{unknown, unknown}
	return nil
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
