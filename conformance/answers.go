package conformance

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// resolve makes one schema of all answers of the document: of an object with a property for each, so that references are
// resolved once.
func (d document) resolve(components map[string]any) (*jsonschema.Resolved, error) {
	answers := map[string]any{}
	for _, item := range d.paths {
		for _, op := range item.(map[string]any) {
			fields, ok := op.(map[string]any)
			if !ok {
				continue
			}
			for status, response := range fields["responses"].(map[string]any) {
				for kind, media := range d.content(response) {
					answers[answerName(fields["operationId"].(string), status, kind)] = plainSchema(media.(map[string]any)["schema"])
				}
			}
		}
	}

	text, err := json.Marshal(map[string]any{"$defs": plainSchema(components), "properties": answers, "additionalProperties": false})
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
func (d document) content(response any) map[string]any {
	fields := response.(map[string]any)
	if ref, ok := fields["$ref"].(string); ok {
		fields = d.responses[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
	}
	content, _ := fields["content"].(map[string]any)
	return content
}

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
