package httpapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/spec"
)

// openAPI is what the test reads of a document.
type openAPI struct {
	Paths      map[string]map[string]json.RawMessage // methods, and what the path has besides
	Components struct{ Schemas map[string]schemaOfDocument }
}

type operationOfDocument struct {
	OperationID string
	RequestBody struct {
		Content map[string]struct{ Schema schemaOfDocument }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema schemaOfDocument }
	}
}

type schemaOfDocument struct {
	Ref          string `json:"$ref"`
	Properties   map[string]schemaOfDocument
	OneOf, AnyOf []schemaOfDocument
	Items        *schemaOfDocument
}

// has reports whether the schema has the member, whose name may lead into others.
func (d openAPI) has(s schemaOfDocument, names []string) bool {
	if s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	if len(names) == 0 {
		return true
	}
	for _, branch := range append(s.OneOf, s.AnyOf...) {
		if d.has(branch, names) {
			return true
		}
	}
	next, ok := s.Properties[names[0]]
	return ok && d.has(next, names[1:])
}

// TestV1_WhatTakesItsPlaceExists holds the table against the documents of all editions.
func TestV1_WhatTakesItsPlaceExists(t *testing.T) {
	t.Parallel()
	var documents []openAPI
	for _, e := range rest.Editions {
		text, err := spec.JSON("rest", e.Name)
		require.NoError(t, err)
		var d openAPI
		require.NoError(t, json.Unmarshal(text, &d))
		documents = append(documents, d)
	}

	// hasMember reports whether the body or the answer of the operation has the member in an edition. Of a list its items may.
	hasMember := func(r retired, member string, answer bool) bool {
		names := strings.Split(member, ".")
		for _, d := range documents {
			var op operationOfDocument
			require.NoError(t, json.Unmarshal(d.Paths[rest.Ops[r.id].Path][strings.ToLower(rest.Ops[r.id].Method)], &op))
			schemas := []schemaOfDocument{op.RequestBody.Content["application/json"].Schema}
			if answer {
				schemas = []schemaOfDocument{op.Responses["200"].Content["application/json"].Schema, op.Responses["201"].Content["application/json"].Schema}
				for _, s := range schemas {
					for _, list := range d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]].Properties {
						if list.Items != nil {
							schemas = append(schemas, *list.Items)
						}
					}
				}
			}
			for _, s := range schemas {
				if d.has(s, names) {
					return true
				}
			}
		}
		return false
	}

	seen := map[string]bool{}
	for _, r := range v1 {
		require.False(t, seen[r.method+r.path], "%s %s stands twice", r.method, r.path)
		seen[r.method+r.path] = true
		require.Contains(t, rest.Ops, r.id)
		for _, m := range r.body {
			require.True(t, m.is == "" || hasMember(r, m.is, false), "%s %s: %s of %s", r.method, r.path, m.is, r.id)
			require.False(t, !strings.HasPrefix(m.was, "query.") && hasMember(r, m.was, false), "%s has %s itself", r.id, m.was)
		}
		for _, m := range r.answer {
			require.True(t, m.is == "" || hasMember(r, m.is, true), "%s %s: %s of the answer of %s", r.method, r.path, m.is, r.id)
		}
	}
}
