package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The facts form of a document has what it describes without its words: operations by method and path, each with its id, its
// parameters by place and name, the schema of its body and its answers; answers that several share; and schemas. A name in place of a
// schema, or of an answer, is one of those. README.md shows it.

// ofFacts are the members of the form, of an operation and of an answer.
var (
	ofFacts     = []string{"facts", "version", "operations", "answers", "schemas"}
	ofOperation = []string{"id", "parameters", "body", "answers"}
	ofAnswer    = map[string]string{"json": "application/json", "problem": "application/problem+json", "events": "text/event-stream"}
)

// openAPI gives the OpenAPI document that the facts are of.
func openAPI(facts object) (object, error) {
	if err := knows("the facts", facts, ofFacts...); err != nil {
		return nil, err
	}
	paths, answers := object{}, object{}
	named, _ := facts["answers"].(object)
	for name, a := range named {
		answer, err := answerOf(a, nil)
		if err != nil {
			return nil, fmt.Errorf("answers/%s: %w", name, err)
		}
		answers[name] = answer
	}

	operations, _ := facts["operations"].(object)
	for at, fact := range operations {
		method, path, ok := strings.Cut(at, " ")
		op, isObject := fact.(object)
		if !ok || !isObject {
			return nil, fmt.Errorf("operations/%s: it is to be a method and a path, with an object", at)
		}
		described, err := operationOf(op, named)
		if err != nil {
			return nil, fmt.Errorf("operations/%s: %w", at, err)
		}
		item, _ := paths[path].(object)
		paths[path] = both(item, object{strings.ToLower(method): described})
	}

	schemas, _ := facts["schemas"].(object)
	return object{
		"openapi": "3.1.0", "info": object{"title": facts["facts"], "version": facts["version"]}, "paths": paths,
		"components": object{"schemas": longRefs(schemas), "responses": answers},
	}, nil
}

// operationOf gives an operation of the facts as OpenAPI has it.
func operationOf(op, named object) (object, error) {
	if err := knows("an operation", op, ofOperation...); err != nil {
		return nil, err
	}
	described := object{"operationId": op["id"], "responses": object{}}
	given, _ := op["parameters"].(object)
	var parameters []any
	for at, s := range given {
		in, name, ok := strings.Cut(at, ".")
		schema, isObject := longRefs(s).(object)
		if !ok || !isObject {
			return nil, fmt.Errorf("parameters/%s: it is to be a place and a name, with a schema", at)
		}
		p := object{"in": in, "name": name}
		for _, key := range []string{"required", "explode"} {
			if v, is := schema[key].(bool); is {
				schema = maps.Clone(schema)
				delete(schema, key)
				p[key] = v
			}
		}
		p["schema"] = schema
		parameters = append(parameters, p)
	}
	described["parameters"] = parameters

	if body, ok := op["body"]; ok {
		described["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": schemaOf(body)}}}
	}
	answers, _ := op["answers"].(object)
	for status, a := range answers {
		answer, err := answerOf(a, named)
		if err != nil {
			return nil, fmt.Errorf("answers/%s: %w", status, err)
		}
		described["responses"].(object)[status] = answer
	}
	return described, nil
}

// answerOf gives an answer of the facts, or the reference that its name is.
func answerOf(fact any, named object) (object, error) {
	if name, ok := fact.(string); ok {
		if named[name] == nil {
			return nil, fmt.Errorf("there is no answer %q", name)
		}
		return object{"$ref": "#/components/responses/" + name}, nil
	}
	a, ok := fact.(object)
	if !ok {
		return nil, fmt.Errorf("it is to be an object, or a name")
	}

	content, headers := object{}, object{}
	for key, v := range a {
		media, isMedia := ofAnswer[key]
		switch {
		case isMedia:
			content[media] = object{"schema": schemaOf(v)}
		case key == "limits" && v == true:
			for _, name := range []string{"RateLimit", "RateLimit-Policy"} {
				headers[name] = object{"schema": object{"type": "string"}}
			}
		case key == "headers":
			more, _ := v.(object)
			for name, s := range more {
				headers[name] = object{"schema": schemaOf(s)}
			}
		default:
			return nil, fmt.Errorf("unknown member %q", key)
		}
	}
	return object{"content": content, "headers": headers}, nil
}

func knows(what string, m object, names ...string) error {
	for key := range m {
		if !slices.Contains(names, key) {
			return fmt.Errorf("unknown member %q of %s", key, what)
		}
	}
	return nil
}

// schemaOf gives a schema, or the reference that its name is.
func schemaOf(v any) any {
	if name, ok := v.(string); ok {
		return object{"$ref": "#/components/schemas/" + name}
	}
	return longRefs(v)
}

// longRefs writes references to schemas as OpenAPI does.
func longRefs(v any) any {
	switch v := v.(type) {
	case object:
		long := object{}
		for key, child := range v {
			name, isName := child.(string)
			if mapping, ok := child.(object); ok && key == "mapping" {
				child = longMapping(mapping)
			} else if key == "$ref" && isName && !strings.HasPrefix(name, "#") {
				child = "#/components/schemas/" + name
			} else {
				child = longRefs(child)
			}
			long[key] = child
		}
		return long
	case []any:
		long := make([]any, len(v))
		for i, child := range v {
			long[i] = longRefs(child)
		}
		return long
	default:
		return v
	}
}

func longMapping(mapping object) object {
	long := object{}
	for value, name := range mapping {
		long[value] = "#/components/schemas/" + text(name)
	}
	return long
}
