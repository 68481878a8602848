package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The keywords that a schema may have, beside those of its type. Annotations check nothing.
var (
	annotations = []string{"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly"}
	structural  = []string{"$ref", "type", "anyOf", "oneOf", "discriminator"}
	ofNumbers   = []string{"enum", "const", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
	ofTypes     = map[string][]string{
		"string":  {"enum", "const", "format", "minLength", "maxLength", "pattern"},
		"integer": ofNumbers,
		"number":  ofNumbers,
		"boolean": {"enum", "const"},
		"array":   {"items", "minItems", "maxItems", "uniqueItems"},
		"object":  {"properties", "additionalProperties", "required", "minProperties", "maxProperties", "dependentRequired"},
	}
	counts = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
	bounds = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
	// formats are those that are checked, or that say no more than the model's type of 64 bits.
	formats = map[string][]string{"string": {"date-time", "uri"}, "number": {"float", "double"}, "integer": {"int64"}}
)

// The extensions, all of operations.
const (
	openQuery      = "x-open-query"       // true: query parameters that it does not know are ignored
	anyContentType = "x-any-content-type" // true: its body is JSON whatever the request says
	maxBodyBytes   = "x-max-body-bytes"   // of its body
)

// schemaHolders are the keys whose value is a schema; schemaMaps those whose value is a mapping of schemas, schemaLists those
// whose value is a sequence of them. What is opaque in a schema, or elsewhere, has no schemas in it. The keys in one of nameMaps are names,
// whatever they are.
var (
	schemaHolders = []string{"schema", "items", "additionalProperties"}
	schemaMaps    = []string{"properties", "schemas"}
	schemaLists   = []string{"anyOf", "oneOf"}
	nameMaps      = []string{"responses", "parameters", "headers", "requestBodies", "securitySchemes", "callbacks"}
	opaque        = []string{"default", "example", "examples", "enum", "const", "required", "type", "dependentRequired", "discriminator"}
	opaqueElse    = []string{"example", "examples", "links", "security"}
)

// checkKeywords walks the whole document: every schema in it, of requests and of answers, and every extension.
func (d *document) checkKeywords() error {
	return walker{d, map[visit]bool{}}.walk(d.root, "#", false)
}

// walker remembers what it has seen: YAML's aliases make one node stand in many places.
type walker struct {
	*document
	seen map[visit]bool
}

type visit struct {
	node   *yaml.Node
	schema bool
}

func (w walker) walk(n *yaml.Node, place string, schema bool) error {
	n = deref(n)
	if w.seen[visit{n, schema}] {
		return nil
	}
	w.seen[visit{n, schema}] = true

	if schema {
		if err := w.schema(n, place); err != nil {
			return err
		}
	}

	if n.Kind == yaml.SequenceNode {
		for i, c := range n.Content {
			if err := w.walk(c, place+"/"+strconv.Itoa(i), false); err != nil {
				return err
			}
		}
	}

	for _, m := range members(n) {
		if err := w.member(m, place, schema); err != nil {
			return err
		}
	}

	return nil
}

// member walks one member of a schema, or of another mapping of the document.
func (w walker) member(m member, place string, schema bool) error {
	key, here := m.key.Value, place+"/"+escape(m.key.Value)
	value := deref(m.value)
	switch {
	case strings.HasPrefix(key, "x-"):
		return w.extension(m, place)
	case schema && slices.Contains(opaque, key), !schema && slices.Contains(opaqueElse, key):
		return nil
	case !schema && slices.Contains(nameMaps, key):
		return w.named(value, here, key == "headers")
	case slices.Contains(schemaMaps, key) && (schema || key == "schemas"):
		for _, s := range members(value) {
			if err := w.walk(s.value, here+"/"+escape(s.key.Value), true); err != nil {
				return err
			}
		}
		return nil
	case slices.Contains(schemaLists, key) && schema:
		for i, s := range value.Content {
			if err := w.walk(s, here+"/"+strconv.Itoa(i), true); err != nil {
				return err
			}
		}
		return nil
	case key == "additionalProperties" && value.Tag == "!!bool":
		return nil
	}

	return w.walk(value, here, slices.Contains(schemaHolders, key))
}

// named walks what has names, or the members of a sequence. Headers may be called like extensions.
func (w walker) named(n *yaml.Node, place string, headers bool) error {
	if n.Kind == yaml.SequenceNode {
		return w.walk(n, place, false)
	}
	for _, m := range members(n) {
		err := error(nil)
		if strings.HasPrefix(m.key.Value, "x-") && !headers {
			err = w.extension(m, place)
		} else {
			err = w.walk(m.value, place+"/"+escape(m.key.Value), false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// extension checks that an extension is known, stands where it is read, and has a value that is.
func (w walker) extension(m member, place string) error {
	key, value := m.key.Value, deref(m.value)
	switch {
	case !slices.Contains([]string{openQuery, anyContentType, maxBodyBytes}, key):
		return w.failf(m.key, place, "unknown keyword %q", key)
	case !strings.HasPrefix(place, "#/paths/") || strings.Count(place, "/") != 3: // the path, the method
		return w.failf(m.key, place, "keyword %q, here, would have no effect: it is one of operations", key)
	case key != maxBodyBytes && value.Tag != "!!bool":
		return w.failf(value, place, "keyword %q: %q is neither true nor false", key, value.Value)
	}
	return nil
}

// schema checks that each keyword is known and means something where it stands.
func (w walker) schema(n *yaml.Node, place string) error {
	if n.Kind != yaml.MappingNode {
		return w.failf(n, place, "a schema must be a mapping")
	}
	kinds := w.kinds(n)

	holder := ""
	for _, k := range []string{"$ref", "anyOf", "oneOf"} {
		if get(n, k) != nil {
			holder = k
		}
	}

	if holder == "oneOf" && text(get(n, "discriminator", "propertyName")) == "" {
		return w.failf(get(n, "oneOf"), place, "keyword \"oneOf\" needs a discriminator: the member, required in every branch, that says which branch a value is")
	}

	for _, m := range members(n) {
		key := m.key.Value
		assertion := slices.Contains(structural, key)
		for _, of := range ofTypes {
			assertion = assertion || slices.Contains(of, key)
		}

		switch {
		case slices.Contains(annotations, key), key == holder, key == "discriminator" && holder == "oneOf":
		case !assertion:
			return w.failf(m.key, place, "unknown keyword %q", key)
		case holder != "":
			return w.failf(m.key, place, "keyword %q is not handled beside %s", key, holder)
		case key == "discriminator":
			return w.failf(m.key, place, "keyword %q needs oneOf", key)
		case key == "type":
		case len(kinds) == 0:
			return w.failf(m.key, place, "keyword %q needs a type", key)
		case !slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(ofTypes[kind], key) }):
			return w.failf(m.key, place, "keyword %q does not apply to type %s", key, strings.Join(kinds, ", "))
		case key == "format" && !slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(formats[kind], text(deref(m.value))) }):
			return w.failf(m.key, place, "keyword \"format\": unknown format %q", text(deref(m.value)))
		case slices.Contains(counts, key):
			if _, err := w.limit(n, key, place, 0); err != nil {
				return err
			}
		case slices.Contains(bounds, key):
			if !isNumber(deref(m.value)) {
				return w.failf(m.key, place, "keyword %q: %s is no decimal number", key, text(deref(m.value)))
			}
		case key == "pattern":
			if _, err := regexp.Compile(text(deref(m.value))); err != nil {
				return w.failf(m.key, place, "keyword \"pattern\": %v", err)
			}
		}
	}

	return nil
}

// kinds gives the types that a schema allows: none means any.
func (d *document) kinds(schema *yaml.Node) []string {
	n := get(schema, "type")
	if n != nil && n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	return list(n)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escape(key string) string { return pointerEscapes.Replace(key) }
