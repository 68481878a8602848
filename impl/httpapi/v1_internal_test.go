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

func TestV1_KnowsItsOperationsByMethodAndPath(t *testing.T) {
	t.Parallel()
	get, post := retired{method: "GET", path: "/pods/{id}"}, retired{method: "POST", path: "/pods/{id}/update"}
	for _, c := range []struct {
		of           retired
		method, path string
		id           string
		takes        bool
	}{
		{get, "GET", "/pods/a-Z_9", "a-Z_9", true},
		{get, "HEAD", "/pods/a", "a", true},
		{get, "DELETE", "/pods/a", "", false},
		{get, "GET", "/pods/", "", false},
		{get, "GET", "/pods", "", false},
		{get, "GET", "/pods/a/b", "", false},
		{get, "GET", "/templates/a", "", false},
		{get, "GET", "/pods/a b", "", false},
		{get, "GET", "/pods/a>", "", false},
		{post, "POST", "/pods/a/update", "a", true},
		{post, "HEAD", "/pods/a/update", "", false},
		{post, "POST", "/pods/a/change", "", false},
	} {
		id, takes := c.of.takes(c.method, c.path)
		require.Equal(t, c.takes, takes, "%s %s", c.method, c.path)
		require.Equal(t, c.id, id, "%s %s", c.method, c.path)
	}
}

func TestV1_RefusalSaysWhatIsCalledOtherwise(t *testing.T) {
	t.Parallel()
	e := retired{
		method: "POST", path: "/pods/{id}/stop", id: "podAction", with: `{"action":"stop"}`,
		body: []changed{{"gpuCount", "gpu.count"}, {"locked", ""}, {"query.grouping", ""}}, answer: []changed{{"desiredStatus", "status"}, {"machineId", ""}},
	}.refusal()
	require.Equal(t, `version 1 of the REST interface has ended: in place of POST /v1/pods/{id}/stop there is POST /v2/pods/{id}/action (podAction) with the body {"action":"stop"}`, e.Error())
	require.Equal(t, []string{
		"/gpuCount: is /gpu/count", "/locked: is not in version 2", "query.grouping: is not in version 2", "answer: desiredStatus is status", "answer: machineId is not there any more",
	}, e.lines)
	plain := retired{method: "GET", path: "/pods", id: "listPods"}.refusal()
	require.NotContains(t, plain.Error(), "with the body")
	require.Empty(t, plain.lines)
}
