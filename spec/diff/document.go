package diff

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/overlay"
)

// object is a YAML or JSON mapping.
type object = map[string]any

// Document is an OpenAPI document, as a tree.
type Document struct {
	root    object
	schemas map[uintptr]schema // that were made, by the node that they were made of
}

// schema is a schema without what only people read, its allOf merged into it as far as nothing is lost.
type schema struct {
	keywords object
	name     string // of the component that it is; "" if it is none
	node     object // that it was made of, kept so that no other one gets its identity
}

// Load reads a document from a file of YAML or JSON: OpenAPI, the facts form, or an overlay over a file of one of these, which its
// extends names.
func Load(path string) (Document, error) {
	root, err := parse(path)
	if err != nil {
		return Document{}, err
	}
	d, err := document(root)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return d, err
}

// parse reads a file, and applies an overlay to what it extends.
func parse(path string) (*yaml.Node, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var whole yaml.Node
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(whole.Content) == 0 {
		return &whole, nil
	}

	root := whole.Content[0]
	extends := overlay.Get(root, "extends")
	if overlay.Get(root, "overlay") == nil || extends == nil {
		return root, nil
	}
	base := filepath.Join(filepath.Dir(path), extends.Value)
	if base == filepath.Clean(path) {
		return nil, fmt.Errorf("%s: it extends itself", path)
	}
	under, err := parse(base)
	if err != nil {
		return nil, fmt.Errorf("%s: extends: %w", path, err)
	}
	under = overlay.Plain(under)
	if err := overlay.Apply(under, root); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return under, nil
}

// Parse reads a document from YAML or JSON, and fails at a reference that leads nowhere.
func Parse(text []byte) (Document, error) {
	var whole yaml.Node
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return Document{}, err
	}
	return document(&whole)
}

func document(root *yaml.Node) (Document, error) {
	d := Document{schemas: map[uintptr]schema{}}
	textKeys(root)
	if err := root.Decode(&d.root); err != nil {
		return d, err
	}
	if _, ok := d.root["operations"].(object); ok {
		var err error
		if d.root, err = openAPI(d.root); err != nil {
			return d, err
		}
	}
	if _, ok := d.root["paths"].(object); !ok {
		return d, fmt.Errorf("it has no paths: it is no OpenAPI document")
	}
	if err := d.checkReferences(d.root); err != nil {
		return d, err
	}
	return d, d.checkPaths()
}

// textKeys makes text of the keys of all mappings, as JSON has them: a status without quotes is a number in YAML, and its mapping would be no
// object. What an alias leads to is not changed where it stands as a value.
func textKeys(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			textKeys(child)
			continue
		}
		if child.Kind == yaml.AliasNode {
			child = child.Alias
		}
		if child.Kind == yaml.ScalarNode && child.ShortTag() != "!!merge" {
			n.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: child.Value, Line: child.Line, Column: child.Column}
		}
	}
}

// checkPaths fails at what would be passed over as if it were not there: a path, an operation or its responses that are no object.
func (d Document) checkPaths() error {
	for path, item := range d.root["paths"].(object) {
		if isExtension(path) {
			continue
		}
		operations, _ := d.resolve(item)
		if operations == nil {
			return fmt.Errorf("paths: %s: it is to be an object", path)
		}
		for method, op := range operations {
			fields, ok := op.(object)
			if !ok && isMethod(method) {
				return fmt.Errorf("paths: %s: %s: it is to be an object", path, method)
			}
			responses := fields["responses"]
			if _, ok := responses.(object); !ok && responses != nil && isMethod(method) {
				return fmt.Errorf("paths: %s: %s: responses: it is to be an object", path, method)
			}
		}
	}
	return nil
}

// isMethod reports whether the member of a path is an operation by its name.
func isMethod(name string) bool {
	return slices.Contains([]string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}, strings.ToLower(name))
}

func isExtension(name string) bool { return strings.HasPrefix(name, "x-") }

// Part parts the paths for which of gives true from the others.
func (d Document) Part(of func(path string) bool) (part, others Document) {
	paths := [2]object{{}, {}}
	for path, item := range d.root["paths"].(object) {
		if of(path) {
			paths[0][path] = item
		} else {
			paths[1][path] = item
		}
	}
	with := func(paths object) Document {
		root := maps.Clone(d.root)
		root["paths"] = paths
		return Document{root: root, schemas: map[uintptr]schema{}}
	}
	return with(paths[0]), with(paths[1])
}

// Version gives the version of the document, which of one of ours is its edition of the contract.
func (d Document) Version() string {
	info, _ := d.root["info"].(object)
	version, _ := info["version"].(string)
	return version
}

func (d Document) checkReferences(node any) error {
	switch node := node.(type) {
	case object:
		if ref, ok := node["$ref"].(string); ok && d.target(ref) == nil {
			return fmt.Errorf("reference %s leads nowhere", ref)
		}
		for _, child := range node {
			if err := d.checkReferences(child); err != nil {
				return err
			}
		}
	case []any:
		for _, child := range node {
			if err := d.checkReferences(child); err != nil {
				return err
			}
		}
	}

	return nil
}

// pointerText gives a part of a JSON Pointer as it was.
var pointerText = strings.NewReplacer("~1", "/", "~0", "~")

// target gives what a reference within the document leads to, nil for nothing.
func (d Document) target(ref string) object {
	var node any = d.root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := node.(object)
		node = m[pointerText.Replace(part)]
	}
	m, _ := node.(object)
	return m
}

// resolve follows references, and gives the name of the last one, "" where there was none.
func (d Document) resolve(node any) (m object, name string) {
	m, _ = node.(object)
	for range 100 { // a reference to itself leads nowhere
		ref, ok := m["$ref"].(string)
		if !ok {
			return m, name
		}
		m, name = d.target(ref), ref[strings.LastIndex(ref, "/")+1:]
	}
	return object{}, name
}

// schema gives the schema of a node, the same one each time.
func (d Document) schema(node any) schema {
	m, _ := node.(object)
	key := identity(m)
	s, made := d.schemas[key]
	if !made {
		d.schemas[key] = schema{node: m} // an allOf that leads to itself ends here
		s = d.makeSchema(m)
		s.node = m
		d.schemas[key] = s
	}
	return s
}

// identity is the same for two nodes only if they are one.
func identity(m object) uintptr { return reflect.ValueOf(m).Pointer() }

// makeSchema makes the schema of a node. What stands beside a reference adds to it, as the parts of an allOf do. Parts that say of one
// thing something else than those before them stay apart, in an allOf.
func (d Document) makeSchema(node object) schema {
	m := structure(node)
	parts, _ := m["allOf"].([]any)
	delete(m, "allOf")
	if ref, ok := m["$ref"]; ok {
		delete(m, "$ref")
		if len(m)+len(parts) == 0 {
			target, name := d.resolve(node)
			return schema{keywords: d.makeSchema(target).keywords, name: name}
		}
		parts = slices.Concat([]any{object{"$ref": ref}}, parts)
	}

	if len(parts) == 1 && len(m) == 0 {
		return d.schema(parts[0])
	}
	normalize(m)

	var apart []any
	for _, part := range parts {
		if keywords := d.schema(part).keywords; mergeable(m, keywords) {
			merge(m, keywords)
		} else {
			apart = append(apart, part)
		}
	}

	if apart != nil {
		m["allOf"] = apart
	}
	return schema{keywords: m}
}

// normalize says the same in fewer words, and leaves out what is so anyway.
func normalize(m object) {
	if closed, ok := m["unevaluatedProperties"]; ok && m["additionalProperties"] == nil {
		delete(m, "unevaluatedProperties")
		m["additionalProperties"] = closed
	}
	if one, ok := m["const"]; ok && m["enum"] == nil {
		delete(m, "const")
		m["enum"] = []any{one}
	}

	for key, value := range map[string]any{
		"minLength": 0, "minItems": 0, "minProperties": 0, "uniqueItems": false, "readOnly": false, "writeOnly": false, "additionalProperties": true, "items": true,
	} {
		if given, ok := m[key]; ok && text(given) == text(value) {
			delete(m, key)
		}
	}
}

// groups are the keywords that mean something together: of two parts, those of one are not those of the other.
var groups = [][]string{
	{"if", "then", "else"}, {"contains", "minContains", "maxContains"}, {"items", "prefixItems", "unevaluatedItems"}, {"oneOf", "anyOf", "discriminator"},
	{"additionalProperties", "unevaluatedProperties", "patternProperties"}, {"dependentRequired"}, {"dependentSchemas"}, {"allOf"},
}

// mergeable reports whether a part of an allOf can be added without loss.
func mergeable(into, part object) bool {
	for _, group := range groups {
		has := func(m object) bool { return slices.ContainsFunc(group, func(key string) bool { return m[key] != nil }) }
		if has(into) && has(part) {
			return false
		}
	}

	for key, value := range part {
		have, there := into[key]
		if there && key != "properties" && key != "required" && text(have) != text(value) {
			return false
		}
	}

	return true
}

// merge adds what a part of an allOf says: members of objects and lists add up.
func merge(into, part object) {
	for key, value := range part {
		have, there := into[key]
		switch {
		case !there:
			into[key] = value
		case key == "properties":
			properties, _ := value.(object)
			before, _ := have.(object)
			both := both(properties, nil)
			for name, property := range before {
				if first, ok := both[name]; ok {
					property = object{"allOf": []any{property, first}}
				}
				both[name] = property
			}
			into[key] = both
		case key == "required":
			before, _ := have.([]any)
			all := slices.Clone(before)
			names, _ := value.([]any)
			for _, name := range names {
				if !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
			into[key] = all
		}
	}
}

// prose are the members of an object that only people read.
var prose = []string{"description", "summary", "title", "example", "examples", "externalDocs", "deprecated", "tags", "$comment"}

// structure copies an object without prose and extensions.
func structure(m object) object {
	plain := object{}
	for key, value := range m {
		if !slices.Contains(prose, key) && !isExtension(key) {
			plain[key] = value
		}
	}
	return plain
}

// Operation is what a document says of a request.
type Operation struct {
	Method, Path, ID string
	Query            map[string]any // the schemas of the parameters, by name
	Body             map[string]any // the schema of the body, nil for none
}

// Operations gives the operations in the order of their paths and methods. Schemas stand in full, but for those that hold themselves,
// which are empty inside.
func (d Document) Operations() (all []Operation) {
	operations := d.operations()
	for _, at := range slices.Sorted(maps.Keys(operations)) {
		op := operations[at].(object)
		o := Operation{Query: object{}}
		o.Method, o.Path, _ = strings.Cut(at, " ")
		o.ID, _ = op["operationId"].(string)
		for name, p := range d.parameters(op) {
			if query, ok := strings.CutPrefix(name, "query."); ok {
				o.Query[query] = d.whole(p.(object)["schema"], nil)
			}
		}

		body, _ := d.resolve(op["requestBody"])
		content, _ := body["content"].(object)
		if media, ok := content["application/json"].(object); ok {
			o.Body, _ = d.whole(media["schema"], nil).(object)
		}
		all = append(all, o)
	}
	return all
}

// whole writes a schema out. within are the schemas that it is in.
func (d Document) whole(node any, within []uintptr) any {
	switch node := node.(type) {
	case object:
		s := d.schema(node)
		at := identity(s.keywords)
		if slices.Contains(within, at) {
			return object{}
		}

		full := object{}
		for key, value := range s.keywords {
			full[key] = value
			if properties, ok := value.(object); ok && key == "properties" {
				members := object{}
				for name, property := range properties {
					members[name] = d.whole(property, append(within, at))
				}
				full[key] = members
			} else if _, ok := value.(object); ok && key == "items" {
				full[key] = d.whole(value, append(within, at))
			} else if branches, ok := value.([]any); ok && (key == "oneOf" || key == "anyOf") {
				list := make([]any, len(branches))
				for i, branch := range branches {
					list[i] = d.whole(branch, append(within, at))
				}
				full[key] = list
			}
		}

		return full
	default:
		return node
	}
}
