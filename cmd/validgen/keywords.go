package main

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The keywords that a schema may have. Annotations check nothing.
var (
	annotations = []string{"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly"}
	assertions  = []string{
		"$ref", "type", "enum", "const", "anyOf", "properties", "additionalProperties", "required", "minProperties", "maxProperties",
		"items", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "format",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	}
	formats    = []string{"date-time", "uri", "float", "double", "int32", "int64"}
	extensions = []string{"x-open-query", "x-any-content-type", "x-max-body-bytes"}
)

// checkKeywords walks the whole document: every schema in it, of requests and of answers, and every extension.
func (d *document) checkKeywords() error { return d.walk(d.root, "#", false) }

// schemaHolders are the keys whose value is a schema; schemaMaps those whose value is a mapping of schemas.
var (
	schemaHolders = []string{"schema", "items", "additionalProperties"}
	schemaMaps    = []string{"properties", "schemas"}
	opaque        = []string{"default", "example", "examples", "enum", "const", "links", "security"}
)

func (d *document) walk(n *yaml.Node, place string, schema bool) error {
	if n.Kind == yaml.AliasNode {
		return nil // walked where it is anchored
	}
	if n.Kind == yaml.SequenceNode {
		for i, c := range n.Content {
			if err := d.walk(c, place+"/"+itoa(i), schema); err != nil {
				return err
			}
		}
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for _, m := range members(n) {
		key, here := m.key.Value, place+"/"+escape(m.key.Value)
		if schema && !slices.Contains(annotations, key) && !slices.Contains(assertions, key) {
			return d.failf(m.key, place, "unknown keyword %q", key)
		}
		if strings.HasPrefix(key, "x-") && !slices.Contains(extensions, key) {
			return d.failf(m.key, place, "unknown keyword %q", key)
		}
		if schema && key == "format" && !slices.Contains(formats, m.value.Value) {
			return d.failf(m.key, place, "keyword \"format\": unknown format %q", m.value.Value)
		}
		switch {
		case slices.Contains(opaque, key):
		case slices.Contains(schemaMaps, key) && (schema || key == "schemas"):
			for _, s := range members(m.value) {
				if err := d.walk(s.value, here+"/"+escape(s.key.Value), true); err != nil {
					return err
				}
			}
		default:
			inside := slices.Contains(schemaHolders, key) || schema && key == "anyOf"
			if err := d.walk(m.value, here, inside); err != nil {
				return err
			}
		}
	}
	return nil
}

func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }
