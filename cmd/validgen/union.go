package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/overlay"
)

// union gives one document that has what any edition has, of which the models are made: a member that one edition requires and
// another does not is optional in it. What two editions would give one Go name and two types stops it.
func union(editions []edition) (*document, error) {
	first := editions[0]
	u := &document{file: first.file, root: overlay.Plain(first.root)}
	for _, e := range editions[1:] {
		if e.document == first.document {
			continue
		}
		m := merger{u, e}
		if err := m.components(); err != nil { // which paths refer to
			return nil, err
		}
		if err := m.paths(); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// merger merges one edition into the union.
type merger struct {
	union *document
	edition
}

// conflict reports a node of the edition that cannot be one with that of the union.
func (m merger) conflict(here, there *yaml.Node, place, what string) error {
	return m.failf(here, place, "%s in edition %s, and otherwise in %s: both would have one Go type", what, m.name, m.union.where(there))
}

// keyword gives where a schema has a keyword, or the schema.
func keyword(schema *yaml.Node, name string) *yaml.Node {
	if n := get(schema, name); n != nil {
		return n
	}
	return schema
}

func (m merger) paths() error {
	return m.each("paths", func(path member, here, there *yaml.Node, place string) error {
		if err := m.parameters(here, there, place+"/parameters"); err != nil {
			return err
		}
		for _, op := range members(here) {
			have, at := get(there, op.key.Value), place+"/"+op.key.Value
			switch {
			case op.key.Value == "parameters":
			case have == nil:
				put(there, op)
			case have.Kind == yaml.MappingNode:
				if err := m.operation(deref(op.value), have, at); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// each merges the members of a mapping: what the union does not have is put there.
func (m merger) each(where string, merge func(one member, here, there *yaml.Node, place string) error) error {
	place := "#/" + where
	steps := strings.Split(where, "/")
	there := get(m.union.root, steps...)
	for _, one := range members(get(m.root, steps...)) {
		have := get(there, one.key.Value)
		if have == nil {
			if there == nil {
				return m.failf(one.key, place, "no edition before %s has %s", m.name, where)
			}
			put(there, one)
			continue
		}
		if err := merge(one, deref(one.value), have, place+"/"+escape(one.key.Value)); err != nil {
			return err
		}
	}
	return nil
}

// put adds a copy of a member to a mapping.
func put(to *yaml.Node, m member) {
	to.Content = append(to.Content, overlay.Plain(m.key), overlay.Plain(m.value))
}

func (m merger) operation(here, there *yaml.Node, place string) error {
	if id := get(here, "operationId"); text(id) != text(get(there, "operationId")) {
		return m.conflict(here, there, place, "the operation is "+text(id))
	}

	if err := m.parameters(here, there, place+"/parameters"); err != nil {
		return err
	}

	body, have := get(here, "requestBody"), get(there, "requestBody")
	switch {
	case (body == nil) != (have == nil):
		return m.conflict(here, there, place, "it has a body or none")
	case body != nil:
		if err := m.holder(body, have, place+"/requestBody"); err != nil {
			return err
		}
	}

	responses := get(there, "responses")
	for _, r := range members(get(here, "responses")) {
		if have := get(responses, r.key.Value); have == nil {
			put(responses, r)
		} else if err := m.holder(deref(r.value), have, place+"/responses/"+r.key.Value); err != nil {
			return err
		}
	}
	return nil
}

// parameters merges the parameters of two operations, or of two paths. One that an edition lacks is optional.
func (m merger) parameters(here, there *yaml.Node, place string) error {
	list, have := get(here, "parameters"), get(there, "parameters")
	if list == nil && have == nil {
		return nil
	}
	if list == nil {
		list = &yaml.Node{}
	}
	if have == nil {
		have = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		there.Content = append(there.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "parameters"}, have)
	}

	lacked := slices.Clone(have.Content) // by the one or the other
	for _, n := range list.Content {
		p, _ := m.resolve(n)
		at := slices.IndexFunc(have.Content, func(other *yaml.Node) bool {
			o, _ := m.union.resolve(other)
			return text(get(o, "name")) == text(get(p, "name")) && text(get(o, "in")) == text(get(p, "in"))
		})
		if at < 0 {
			n = overlay.Plain(n)
			have.Content, lacked = append(have.Content, n), append(lacked, n)
			continue
		}
		if err := m.holder(deref(n), have.Content[at], place); err != nil {
			return err
		}
		lacked = slices.DeleteFunc(lacked, func(one *yaml.Node) bool { return one == have.Content[at] })
	}

	for _, n := range lacked {
		m.optional(n)
	}
	return nil
}

// optional makes a parameter optional, unless it is a part of the path. One under components becomes so wherever it is referred to.
func (m merger) optional(n *yaml.Node) {
	p, _ := m.union.resolve(n)
	if required := get(p, "required"); required != nil && text(get(p, "in")) != "path" {
		required.Value = "false"
	}
}

// holder merges what holds schemas: a parameter, a body, an answer, a header.
func (m merger) holder(here, there *yaml.Node, place string) error {
	if is := get(here, "$ref"); text(is) != text(get(there, "$ref")) {
		a, _ := m.resolve(here)
		b, _ := m.union.resolve(there)
		if get(a, "content") == nil && get(b, "content") == nil && get(a, "schema") == nil {
			return nil // answers without a body
		}
		if is != nil {
			here = is // the line that names the other one
		}
		return m.conflict(here, there, place, "it is "+or(text(is), "described here"))
	} else if is != nil {
		return nil
	}
	if required := get(there, "required"); required != nil && required.Value != text(get(here, "required")) && text(get(here, "in")) != "path" {
		required.Value = "false"
	}

	if schema := get(here, "schema"); schema != nil {
		if err := m.schema(schema, get(there, "schema"), place+"/schema", false); err != nil {
			return err
		}
	}
	for _, c := range members(get(here, "content")) {
		have := get(there, "content", c.key.Value)
		if have == nil {
			return m.conflict(c.key, there, place, "it has "+c.key.Value)
		}
		if err := m.schema(get(c.value, "schema"), get(have, "schema"), place+"/content/"+escape(c.key.Value)+"/schema", false); err != nil {
			return err
		}
	}
	return nil
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (m merger) components() error {
	for _, kind := range members(get(m.root, "components")) {
		if get(m.union.root, "components", kind.key.Value) == nil {
			put(get(m.union.root, "components"), kind)
			continue
		}
		err := m.each("components/"+kind.key.Value, func(_ member, here, there *yaml.Node, place string) error {
			switch kind.key.Value {
			case "schemas":
				return m.schema(here, there, place, true)
			case "parameters", "requestBodies", "responses", "headers":
				return m.holder(here, there, place)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// schema merges two schemas, of which the named ones, under components, may have other properties.
func (m merger) schema(here, there *yaml.Node, place string, named bool) error {
	here, there = deref(here), deref(there)
	if there == nil || here == nil {
		return m.failf(m.root, place, "a schema that only one edition has")
	}
	if text(get(here, "$ref")) != text(get(there, "$ref")) {
		return m.conflict(here, there, place, "it is "+or(text(get(here, "$ref")), "described here"))
	}
	kinds, others := m.kinds(here), m.union.kinds(there)
	slices.Sort(kinds)
	slices.Sort(others)
	if !slices.Equal(kinds, others) {
		return m.conflict(keyword(here, "type"), there, place, "type "+or(strings.Join(kinds, ", "), "any"))
	}
	if format := text(get(here, "format")); format != text(get(there, "format")) {
		return m.conflict(keyword(here, "format"), there, place, "format "+or(format, "none"))
	}

	if err := m.properties(here, there, place, named); err != nil {
		return err
	}
	if err := m.parts(here, there, place); err != nil {
		return err
	}
	m.values(here, there)
	return nil
}

// nameIt says what to do about an object without a name that has other properties in another edition.
const nameIt = "give the object one, under components"

// properties merges the properties of two schemas. What both require is required.
func (m merger) properties(here, there *yaml.Node, place string, named bool) error {
	properties := get(there, "properties")
	if (properties == nil) != (get(here, "properties") == nil) {
		return m.conflict(here, there, place, "it has properties or none")
	}
	for _, p := range members(get(here, "properties")) {
		at := place + "/properties/" + escape(p.key.Value)
		if have := get(properties, p.key.Value); have != nil {
			if err := m.schema(p.value, have, at, false); err != nil {
				return err
			}
			continue
		}
		if !named {
			return m.failf(p.key, at, "a property of edition %s in an object without a name: "+nameIt, m.name)
		}
		put(properties, p)
	}
	for _, p := range members(properties) {
		if !named && get(here, "properties", p.key.Value) == nil { // encoders know by its name what to leave out
			at := place + "/properties/" + escape(p.key.Value)
			return m.failf(keyword(here, "properties"), at, "a property that edition %s lacks in an object without a name: "+nameIt, m.name)
		}
	}

	wanted := list(get(here, "required"))
	if required := get(there, "required"); required != nil {
		required.Content = slices.DeleteFunc(required.Content, func(n *yaml.Node) bool { return !slices.Contains(wanted, n.Value) })
	}
	return nil
}

// parts merges the schemas that two schemas hold.
func (m merger) parts(here, there *yaml.Node, place string) error {
	for _, key := range []string{"items", "additionalProperties"} {
		a, b := get(here, key), get(there, key)
		switch {
		case a == nil && b == nil:
		case a == nil || b == nil || a.Kind != b.Kind:
			return m.conflict(here, there, place, "keyword \""+key+"\"")
		case a.Kind == yaml.MappingNode:
			if err := m.schema(a, b, place+"/"+key, false); err != nil {
				return err
			}
		}
	}

	a, b := get(here, "anyOf"), get(there, "anyOf")
	if (a == nil) != (b == nil) || a != nil && len(a.Content) != len(b.Content) {
		return m.conflict(here, there, place, "keyword \"anyOf\"")
	}
	for i := range list(a) {
		if err := m.schema(a.Content[i], b.Content[i], fmt.Sprintf("%s/anyOf/%d", place, i), false); err != nil {
			return err
		}
	}

	a, b = get(here, "oneOf"), get(there, "oneOf")
	if (a == nil) != (b == nil) {
		return m.conflict(here, there, place, "keyword \"oneOf\"")
	}
	if a == nil {
		return nil
	}
	for _, branch := range a.Content {
		if !slices.ContainsFunc(b.Content, func(n *yaml.Node) bool { return text(get(n, "$ref")) == text(get(branch, "$ref")) }) {
			b.Content = append(b.Content, overlay.Plain(branch))
		}
	}
	mapping := get(there, "discriminator", "mapping")
	for _, one := range members(get(here, "discriminator", "mapping")) {
		if mapping != nil && get(mapping, one.key.Value) == nil {
			put(mapping, one)
		}
	}
	return nil
}

// values merges the lists of values that two schemas allow.
func (m merger) values(here, there *yaml.Node) {
	enum := get(there, "enum")
	if enum == nil || get(here, "enum") == nil {
		return
	}
	have := list(enum)
	for _, value := range get(here, "enum").Content {
		if !slices.Contains(have, value.Value) {
			enum.Content = append(enum.Content, overlay.Plain(value))
		}
	}
}
