package main

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/overlay"
)

// document is the YAML tree of an OpenAPI document.
type document struct {
	file    string
	root    *yaml.Node
	overlay string              // the file of what an overlay made of it; "": it is as its own file has it
	own     map[*yaml.Node]bool // nodes of the file, where others are the overlay's
}

func parseDocument(file string, text []byte) (*document, error) {
	var top yaml.Node
	if err := yaml.Unmarshal(text, &top); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(top.Content) == 0 {
		return nil, fmt.Errorf("%s: it is empty", file)
	}
	spell(top.Content[0])
	return &document{file: file, root: top.Content[0]}, nil
}

// spell writes each boolean as the generator looks for it: YAML has True and TRUE for true, too.
func spell(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		n.Value = strings.ToLower(n.Value)
	}
	for _, c := range n.Content {
		spell(c)
	}
}

// failf makes an error that names file, line and place.
func (d *document) failf(n *yaml.Node, place, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %s", d.where(n), place, fmt.Sprintf(format, args...))
}

// where gives the file and the line of a node.
func (d *document) where(n *yaml.Node) string {
	if d.overlay != "" && !d.own[n] {
		return fmt.Sprintf("%s:%d", d.overlay, n.Line)
	}
	return fmt.Sprintf("%s:%d", d.file, n.Line)
}

// member is one entry of a mapping, with merged ones resolved.
type member struct {
	key   *yaml.Node
	value *yaml.Node
}

// members gives a mapping's entries in the order of the file; those merged in with << come last, unless overridden.
func members(n *yaml.Node) []member {
	var all []member
	for _, m := range overlay.Members(n) {
		all = append(all, member{m.Key, m.Value})
	}
	return all
}

func deref(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// get gives the value at the path of keys, or nil.
func get(n *yaml.Node, path ...string) *yaml.Node { return overlay.Get(n, path...) }

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
