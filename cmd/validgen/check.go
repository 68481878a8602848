package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

// checkFiles checks what generators read. What a file is, its content says, and of GraphQL its ending; the overlays are for the
// documents among the files, the operations and gqlgen's configuration for the schema. The overlays in the directory of the editions are for
// those documents that are not the same in every edition.
func checkFiles(paths []string, editions string, same ...string) error {
	var documents, overlays, configurations, rules []*document
	known := map[string]bool{} // editions
	var schema, operations []string
	for _, path := range paths {
		switch filepath.Ext(path) {
		case ".graphqls":
			schema = append(schema, path)
			continue
		case ".graphql":
			operations = append(operations, path)
			continue
		}

		text, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			return err
		}
		d, err := parseDocument(path, text)
		if err != nil {
			return err
		}

		switch {
		case get(d.root, "overlay") != nil:
			overlays = append(overlays, d)
		case get(d.root, "exec") != nil:
			configurations = append(configurations, d)
		case d.root.Kind == yaml.SequenceNode:
			rules = append(rules, d)
		default:
			d, err = checkDocument(path, editions, known)
			documents = append(documents, d)
		}
		if err != nil {
			return err
		}
	}

	if err := checkEditions(editions, documents, same); err != nil {
		return err
	}
	for _, d := range rules {
		if err := d.checkRules(known); err != nil {
			return err
		}
	}
	for _, overlay := range overlays {
		if err := overlay.checkOverlay(documents); err != nil {
			return err
		}
	}

	return checkGraphQL(schema, operations, configurations)
}

// checkDocument checks a document and its editions, whose names it adds to those that are known, and gives the document that has what
// any of them has.
func checkDocument(path, dir string, known map[string]bool) (*document, error) {
	editions, err := loadEditions(path, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range editions {
		known[e.name] = true
	}
	return union(editions)
}

// load reads a document and checks it.
func load(spec string) (*document, error) {
	text, err := os.ReadFile(filepath.Clean(spec))
	if err != nil {
		return nil, err
	}
	doc, err := parseDocument(spec, text)
	if err != nil {
		return nil, err
	}
	return doc, doc.check(text)
}

// check checks all that can be checked without models. It is done before any generator runs, whose own complaint about the same fault
// would name neither file nor line.
func (d *document) check(text []byte) error {
	if err := d.checkKeywords(); err != nil {
		return err
	}
	if err := d.checkStructure(); err != nil {
		return err
	}
	if err := d.checkReferences(d.root, "#"); err != nil {
		return err
	}

	loader := openapi3.NewLoader()
	loader.IncludeOrigin = true
	loaded, err := loader.LoadFromData(text)
	if err == nil {
		err = loaded.Validate(context.Background())
	}
	if err != nil {
		n, place := d.blamed(err)
		return d.failf(n, place, "%v", innermost(err))
	}

	return dry(d)
}

// checkReferences checks that everything that is referred to is there: kin-openapi does not say where it is referred to.
func (d *document) checkReferences(n *yaml.Node, place string) error {
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			if err := d.checkReferences(c, place); err != nil {
				return err
			}
		}
	}

	if n.Kind != yaml.MappingNode { // what an alias stands for is checked where it is
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Value == "$ref" && value.Kind == yaml.ScalarNode {
			if target, _ := d.resolve(n); target == nil || !strings.HasPrefix(value.Value, "#/") {
				return d.failf(value, place, "keyword \"$ref\": there is no %s in the document", value.Value)
			}
			continue
		}

		if err := d.checkReferences(value, place+"/"+escape(key.Value)); err != nil {
			return err
		}
	}

	return nil
}

// buckets are the members of components by what kin-openapi calls what is in them, if that is more than a plural.
var buckets = map[string]string{"request body": "requestBodies", "security scheme": "securitySchemes"}

// blamed gives the node of what an error of kin-openapi is about, as far as the error knows, and its place.
func (d *document) blamed(err error) (*yaml.Node, string) {
	at, place := member{d.root, d.root}, "#"
	into := func(keys ...string) {
		for _, key := range keys {
			all := members(at.value)
			if i := slices.IndexFunc(all, func(m member) bool { return m.key.Value == key }); i >= 0 {
				at, place = all[i], place+"/"+escape(key)
			}
		}
	}

	for ; err != nil; err = errors.Unwrap(err) {
		switch e := err.(type) { //nolint:errorlint // each error of the chain is looked at
		case *openapi3.SectionValidationError:
			into(e.Section)
		case *openapi3.PathValidationError:
			into(e.Path)
		case *openapi3.OperationValidationError:
			into(strings.ToLower(e.Method))
		case *openapi3.ComponentValidationError:
			into(cmp.Or(buckets[e.Section], e.Section+"s"), e.Name)
		case *openapi3.PathParametersError:
			into(e.Path, strings.ToLower(e.Method))
		case *openapi3.DuplicateOperationIDError:
			if e.Origin != nil && e.Origin.Key != nil {
				at.key = &yaml.Node{Line: e.Origin.Key.Line}
			}
		}
	}

	return at.key, place
}

// innermost gives what an error of kin-openapi says beyond where it is.
func innermost(err error) error {
	for {
		switch err.(type) { //nolint:errorlint // each error of the chain is looked at
		case *openapi3.SectionValidationError, *openapi3.PathValidationError, *openapi3.OperationValidationError, *openapi3.ComponentValidationError:
			err = errors.Unwrap(err)
		default:
			return err
		}
	}
}

// ofRules are the members of a rule, and whether each must be there.
var ofRules = map[string]bool{"id": true, "says": true, "source": true, "kind": true, "open": false, "editions": false}

// checkRules checks the list of the documented rules. known are the editions of the contract.
func (d *document) checkRules(known map[string]bool) error {
	ids := map[string]int{}
	for _, rule := range d.root.Content {
		id := text(get(rule, "id"))
		for _, m := range members(rule) {
			if _, known := ofRules[m.key.Value]; !known {
				return d.failf(m.key, id, "unknown member %q", m.key.Value)
			}
		}

		for _, name := range []string{"id", "says", "source", "kind"} {
			if text(get(rule, name)) == "" {
				return d.failf(rule, id, "%q is missing", name)
			}
		}

		if kind := get(rule, "kind"); !slices.Contains([]string{"documented", "decided"}, kind.Value) {
			return d.failf(kind, id, "kind %q is neither documented nor decided", kind.Value)
		}
		for _, edition := range list(get(rule, "editions")) {
			if !known[edition] {
				return d.failf(get(rule, "editions"), id, "there is no edition %q", edition)
			}
		}
		if line, taken := ids[id]; taken {
			return d.failf(rule, id, "it is in line %d too", line)
		}

		ids[id] = rule.Line
	}

	return nil
}
