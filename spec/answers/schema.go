package answers

import (
	"encoding/json"
	"mime"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// resolve makes one schema of all answers of the document: of an object with a property for each, so that references are
// resolved once.
func (d *document) resolve(operations []*Operation) (*jsonschema.Resolved, error) {
	answers := map[string]any{}
	for _, o := range operations {
		for status, response := range o.responses {
			for kind, media := range d.content(response) {
				answers[answerName(o.ID, status, kind)] = plainSchema(media.(map[string]any)["schema"])
			}
		}
	}

	text, err := json.Marshal(map[string]any{"$defs": plainSchema(d.schemas), "properties": answers, "additionalProperties": false})
	if err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}

	return schema.Resolve(nil)
}

// content gives the bodies that a response has by their media types; nil for none.
func (d *document) content(response any) map[string]any {
	fields := response.(map[string]any)
	if ref, ok := fields["$ref"].(string); ok {
		fields = d.responses[lastStep(ref)].(map[string]any)
	}
	content, _ := fields["content"].(map[string]any)
	return content
}

func lastStep(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

func answerName(operation, status, kind string) string { return operation + " " + status + " " + kind }

// formats are the formats of strings, as patterns: a validator need not check formats.
var formats = map[string]string{
	"date-time": `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`,
	"uri":       `^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$`,
}

// plainSchema gives a schema of OpenAPI as one of JSON Schema alone, where components are $defs and formats are patterns.
func plainSchema(schema any) any {
	switch s := schema.(type) {
	case map[string]any:
		made := map[string]any{}
		for name, value := range s {
			made[name] = plainSchema(value)
		}
		if ref, ok := s["$ref"].(string); ok {
			made["$ref"] = strings.Replace(ref, "#/components/schemas/", "#/$defs/", 1)
		}
		if format, ok := s["format"].(string); ok && formats[format] != "" {
			all, _ := made["allOf"].([]any)
			made["allOf"] = append(all, map[string]any{"pattern": formats[format]})
		}

		return made
	case []any:
		made := make([]any, len(s))
		for i, value := range s {
			made[i] = plainSchema(value)
		}
		return made
	}

	return schema
}

// Schema is what the documents say of a value. The zero value is that of a value that they say nothing of.
type Schema struct {
	of  *document
	all []map[string]any // of which any may hold
}

// Schema gives the schema of an answer's body.
func (o *Operation) Schema(status int, contentType string) Schema {
	key := o.key(status)
	if key == "" {
		return Schema{}
	}
	kind, _, _ := mime.ParseMediaType(contentType)
	media, _ := o.of.content(o.responses[key])[kind].(map[string]any)
	return Schema{of: o.of}.with(media["schema"], 0)
}

// deepest bounds how often schemas may refer to others before there is a value.
const deepest = 20

// with adds a schema, and those that it refers to or is made of.
func (s Schema) with(schema any, depth int) Schema {
	fields, ok := schema.(map[string]any)
	if !ok || depth > deepest {
		return s
	}
	if ref, ok := fields["$ref"].(string); ok {
		return s.with(s.of.schemas[lastStep(ref)], depth+1)
	}
	s.all = append(s.all, fields)
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := fields[word].([]any)
		for _, one := range list {
			s = s.with(one, depth+1)
		}
	}
	return s
}

// Member gives what is said of a member of an object.
func (s Schema) Member(name string) (m Schema) {
	m.of = s.of
	for _, fields := range s.all {
		properties, _ := fields["properties"].(map[string]any)
		if property, ok := properties[name]; ok {
			m = m.with(property, 0)
		} else {
			m = m.with(fields["additionalProperties"], 0)
		}
	}
	return m
}

// Element gives what is said of the elements of a list.
func (s Schema) Element() (e Schema) {
	e.of = s.of
	for _, fields := range s.all {
		e = e.with(fields["items"], 0)
	}
	return e
}

// Format gives the format of a string; empty: none is said.
func (s Schema) Format() string {
	for _, fields := range s.all {
		if format, ok := fields["format"].(string); ok {
			return format
		}
	}
	return ""
}
