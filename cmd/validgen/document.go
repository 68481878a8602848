package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is the YAML tree of an OpenAPI document.
type document struct {
	file string
	root *yaml.Node
}

func parseDocument(file string, text []byte) (*document, error) {
	var top yaml.Node
	if err := yaml.Unmarshal(text, &top); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(top.Content) == 0 {
		return nil, fmt.Errorf("%s: it is empty", file)
	}
	return &document{file, top.Content[0]}, nil
}

// failf makes an error that names file, line and place.
func (d *document) failf(n *yaml.Node, place, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %s", d.file, n.Line, place, fmt.Sprintf(format, args...))
}

// member is one entry of a mapping, with merged ones resolved.
type member struct {
	key   *yaml.Node
	value *yaml.Node
}

// members gives a mapping's entries in the order of the file; those merged in with << come last, unless overridden.
func members(n *yaml.Node) []member {
	n = deref(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}

	var own, merged []member
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			merged = append(merged, members(n.Content[i+1])...)
			continue
		}
		own = append(own, member{n.Content[i], n.Content[i+1]})
	}

	for _, m := range merged {
		if !slices.ContainsFunc(own, func(o member) bool { return o.key.Value == m.key.Value }) {
			own = append(own, m)
		}
	}

	return own
}

func deref(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// get gives the value at the path of keys, or nil.
func get(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		var found *yaml.Node
		for _, m := range members(n) {
			if m.key.Value == key {
				found = deref(m.value)
			}
		}
		if n = found; n == nil {
			return nil
		}
	}
	return n
}

// maxReferences bounds a chain of references, which may be a circle.
const maxReferences = 32

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

// resolve follows a $ref into the document. name is the last segment of the reference, or empty; target is nil if there is
// nothing.
func (d *document) resolve(n *yaml.Node) (target *yaml.Node, name string) {
	n = deref(n)
	for range maxReferences {
		ref := get(n, "$ref")
		if ref == nil {
			return n, name
		}
		path := strings.Split(strings.TrimPrefix(ref.Value, "#/"), "/")
		for i := range path {
			path[i] = pointerUnescapes.Replace(path[i])
		}
		name = path[len(path)-1]
		n = get(d.root, path...)
	}

	return nil, name
}

func text(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

// limit gives a count, such as minLength, or absent if there is none.
func (d *document) limit(schema *yaml.Node, keyword, place string, absent int) (int, error) {
	n := get(schema, keyword)
	if n == nil {
		return absent, nil
	}
	count, err := strconv.Atoi(n.Value)
	if err != nil || count < 0 {
		return 0, d.failf(n, place, "keyword %q: %s is no count", keyword, n.Value)
	}
	return count, nil
}

func list(n *yaml.Node) []string {
	var values []string
	if n = deref(n); n != nil {
		for _, c := range n.Content {
			values = append(values, deref(c).Value)
		}
	}
	return values
}
