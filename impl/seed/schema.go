package seed

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/spec"
)

// Schema gives a JSON Schema of the files of a seed, which editors read. It is made of the documents.
func Schema() ([]byte, error) {
	s := schemas{definitions: map[string]any{}, documents: map[string]any{}}
	properties := map[string]any{}
	for _, l := range lists {
		item, err := s.item(l)
		if err != nil {
			return nil, err
		}
		if properties[l.name] = item; !l.single {
			properties[l.name] = map[string]any{"type": []string{"array", "null"}, "items": item}
		}
	}

	return json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Seed of berth", "type": []string{"object", "null"},
		"properties": properties, "patternProperties": map[string]any{"^x-": true}, "additionalProperties": false, "$defs": s.definitions,
	}, "", "  ")
}

// schemas collects what schemas of the documents refer to.
type schemas struct {
	documents   map[string]any
	definitions map[string]any
}

// item gives the schema of the items of a list: that of the body, and what an item says besides.
func (s schemas) item(l list) (map[string]any, error) {
	name := "rest"
	if strings.HasPrefix(l.body.Path, "/_berth/") {
		name = "controls"
	}
	if s.documents[name] == nil {
		text, err := spec.JSON(name, rest.Editions[0].Name)
		if err != nil {
			return nil, err
		}
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			return nil, err
		}
		s.documents[name] = document
	}

	body := at(s.documents[name], "paths", l.body.Path, strings.ToLower(l.body.Method), "requestBody", "content", "application/json", "schema")
	ref, _ := at(body, "$ref").(string)
	item, is := s.copied(name, at(s.documents[name], "components", "schemas", ref[strings.LastIndexByte(ref, '/')+1:])).(map[string]any)
	properties, has := item["properties"].(map[string]any)
	if !is || !has {
		return nil, fmt.Errorf("spec/%s.yaml: the body of %s %s is no object", name, l.body.Method, l.body.Path)
	}

	for _, member := range l.members {
		properties[member] = memberSchema(l, member)
	}
	if l.key {
		required, _ := item["required"].([]any)
		item["required"] = append(slices.Clone(required), memberKey)
	}
	return item, nil
}

// at gives what stands under the names.
func at(v any, names ...string) any {
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// memberSchema is the schema of a member that no body has.
func memberSchema(l list, member string) map[string]any {
	switch member {
	case memberID:
		size := 14
		if l.key {
			size = 10
		}
		return map[string]any{"type": "string", "pattern": fmt.Sprintf("^[a-z0-9]{%d}$", size), "description": "The id that it gets."}
	case memberKey:
		return map[string]any{"type": "string", "minLength": 16, "maxLength": 200, "pattern": "^[A-Za-z0-9._~-]*$", "description": "The token."}
	case memberDisabled:
		return map[string]any{"type": "boolean", "default": false, "description": "None of its keys is good for anything."}
	case memberState:
		return map[string]any{"enum": []string{"running", "stopped"}, "default": "running"}
	}
	return map[string]any{"type": "string", "minLength": 1, "description": "Whose it is; absent is the owner of the server."}
}

// copied copies a schema of the document, with what it refers to among the definitions.
func (s schemas) copied(document string, v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = s.copied(document, one)
		}
		return list
	case map[string]any:
		object := maps.Clone(v)
		for name, one := range object {
			object[name] = s.copied(document, one)
		}
		if ref, is := v["$ref"].(string); is {
			name := ref[strings.LastIndexByte(ref, '/')+1:]
			defined := document + "." + name
			object["$ref"] = "#/$defs/" + defined
			if _, known := s.definitions[defined]; !known {
				s.definitions[defined] = true // of a schema that refers to itself
				s.definitions[defined] = s.copied(document, at(s.documents[document], "components", "schemas", name))
			}
		}
		return object
	}
	return v
}
