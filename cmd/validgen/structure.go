package main

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What the objects of a document that are no schemas may have. Anything else would be read by no generator: an edit of it
// would pass and change nothing, so it stops generation.
var structure = map[string][]string{
	"document":     {"openapi", "info", "servers", "security", "tags", "externalDocs", "paths", "components"},
	"components":   {"securitySchemes", "parameters", "headers", "requestBodies", "responses", "examples", "schemas"},
	"path":         {"get", "put", "post", "patch", "delete", "head", "options", "parameters", "summary", "description"},
	"operation":    {"operationId", "tags", "summary", "description", "externalDocs", "deprecated", "parameters", "requestBody", "responses", "security"},
	"parameter":    {"name", "in", "required", "description", "deprecated", "schema", "style", "explode", "example", "examples"},
	"request body": {"description", "required", "content"},
	"media type":   {"schema", "example", "examples"},
	"response":     {"description", "headers", "content", "links"},
	"header":       {"description", "deprecated", "schema", "example", "examples"},
}

// why says of members that people expect to work what to do instead.
var why = map[string]string{
	"header required":   "the server does not check its own answers; say in the description when the header is there",
	"parameter content": "give the parameter a schema",
}

// checkStructure stops at what would have no effect: a member that is not read, outside schemas, and readOnly and writeOnly where
// they would have to be checked.
func (d *document) checkStructure() error {
	s := structured{d}
	if err := s.object(d.root, "document", "#"); err != nil {
		return err
	}
	components := get(d.root, "components")
	if err := s.object(components, "components", "#/components"); err != nil {
		return err
	}

	for kind, check := range map[string]func(*yaml.Node, string) error{
		"parameters": s.parameter, "headers": s.header, "requestBodies": s.body, "responses": s.response,
	} {
		for _, m := range members(get(components, kind)) {
			if err := check(m.value, "#/components/"+kind+"/"+escape(m.key.Value)); err != nil {
				return err
			}
		}
	}

	for _, path := range members(get(d.root, "paths")) {
		if err := s.path(path.value, "#/paths/"+escape(path.key.Value)); err != nil {
			return err
		}
	}

	return nil
}

// structured checks the objects of a document that are no schemas.
type structured struct{ *document }

// object checks that each member is one that the kind of object may have. A reference is checked where it leads, an extension by the walker.
func (s structured) object(n *yaml.Node, kind, place string) error {
	for _, m := range members(deref(n)) {
		key := m.key.Value
		if key == "$ref" || strings.HasPrefix(key, "x-") || slices.Contains(structure[kind], key) {
			continue
		}
		if reason := why[kind+" "+key]; reason != "" {
			return s.failf(m.key, place, "keyword %q, here in the %s, would have no effect: %s", key, kind, reason)
		}
		return s.failf(m.key, place, "keyword %q, here in the %s, would have no effect", key, kind)
	}
	return nil
}

func (s structured) path(n *yaml.Node, place string) error {
	if err := s.object(n, "path", place); err != nil {
		return err
	}
	for _, m := range members(deref(n)) {
		here := place + "/" + m.key.Value
		switch m.key.Value {
		case "summary", "description":
		case "parameters":
			if err := s.each(m.value, here, s.parameter); err != nil {
				return err
			}
		default:
			if err := s.operation(m.value, here); err != nil {
				return err
			}
		}
	}

	return nil
}

func (s structured) operation(n *yaml.Node, place string) error {
	if err := s.object(n, "operation", place); err != nil {
		return err
	}
	if security := get(n, "security"); security != nil && (security.Kind != yaml.SequenceNode || len(security.Content) > 0) {
		return s.failf(security, place, `keyword "security", here in the operation, would have no effect: every operation asks for the key that the document's security names, but for one with an empty list, which asks for none`)
	}
	if err := s.each(get(n, "parameters"), place+"/parameters", s.parameter); err != nil {
		return err
	}

	if body := get(n, "requestBody"); body != nil {
		if err := s.body(body, place+"/requestBody"); err != nil {
			return err
		}
	} else {
		for _, key := range []string{anyContentType, maxBodyBytes} {
			if of := get(n, key); of != nil {
				return s.failf(of, place, "keyword %q, here in the operation, would have no effect: it has no body", key)
			}
		}
	}

	for _, m := range members(get(n, "responses")) {
		if err := s.response(m.value, place+"/responses/"+m.key.Value); err != nil {
			return err
		}
	}

	return nil
}

// each checks the items of a list.
func (s structured) each(n *yaml.Node, place string, check func(*yaml.Node, string) error) error {
	if n == nil {
		return nil
	}
	for _, item := range deref(n).Content {
		if err := check(item, place); err != nil {
			return err
		}
	}
	return nil
}

func (s structured) parameter(n *yaml.Node, place string) error {
	return s.object(n, "parameter", place)
}

func (s structured) header(n *yaml.Node, place string) error { return s.object(n, "header", place) }

func (s structured) body(n *yaml.Node, place string) error {
	if err := s.object(n, "request body", place); err != nil {
		return err
	}
	return s.content(get(n, "content"), place, "readOnly", "no server would refuse or leave out what a request has there: take the member out of the request's schema")
}

func (s structured) response(n *yaml.Node, place string) error {
	if err := s.object(n, "response", place); err != nil {
		return err
	}
	for _, m := range members(get(n, "headers")) {
		if err := s.header(m.value, place+"/headers/"+m.key.Value); err != nil {
			return err
		}
	}
	return s.content(get(n, "content"), place, "writeOnly", "it would be answered all the same: take the member out of the answer's schema")
}

// content checks the media types of a body, whose schemas must not have the annotation anywhere.
func (s structured) content(n *yaml.Node, place, annotation, reason string) error {
	for _, m := range members(n) {
		here := place + "/content/" + escape(m.key.Value)
		if err := s.object(m.value, "media type", here); err != nil {
			return err
		}
		if err := s.without(get(m.value, "schema"), here+"/schema", annotation, reason, map[*yaml.Node]bool{}); err != nil {
			return err
		}
	}
	return nil
}

// without checks that neither the schema nor one that it leads to has the annotation.
func (s structured) without(n *yaml.Node, place, annotation, reason string, seen map[*yaml.Node]bool) error {
	schema, _ := s.resolve(n)
	if schema == nil || seen[schema] {
		return nil
	}
	seen[schema] = true
	if mark := get(schema, annotation); text(mark) == "true" {
		return s.failf(mark, place, "keyword %q would have no effect: %s", annotation, reason)
	}

	below := func(n *yaml.Node, step string) error {
		return s.without(n, place+"/"+step, annotation, reason, seen)
	}
	for _, key := range schemaHolders {
		if held := get(schema, key); held != nil && held.Kind == yaml.MappingNode {
			if err := below(held, key); err != nil {
				return err
			}
		}
	}

	for _, p := range members(get(schema, "properties")) {
		if err := below(p.value, "properties/"+escape(p.key.Value)); err != nil {
			return err
		}
	}

	for _, key := range schemaLists {
		if err := s.each(get(schema, key), place+"/"+key, func(n *yaml.Node, _ string) error { return below(n, key) }); err != nil {
			return err
		}
	}

	return nil
}
