package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxMembers is how many members the mask of those seen has bits for.
const maxMembers = 64

// function gives the name of the function that reads a schema, and has it written.
func (g *generator) function(schema *yaml.Node, name, place string) (string, error) {
	model, err := g.models.of(name)
	if err != nil {
		return "", g.failf(schema, place, "%v", err)
	}
	function := "read" + model.name + g.suffix("components", "schemas", name)
	if !g.written[function] {
		g.written[function] = true
		g.pending = append(g.pending, name)
	}
	return function, nil
}

// schema writes the function of a schema under components.
func (g *generator) schema(name string) error {
	schema, _ := g.resolve(get(g.root, "components", "schemas", name))
	at, err := g.at(schema, name)
	if err != nil {
		return err
	}

	model, _ := g.models.of(name) // at found it

	g.printf("func read%s(s *validate.Scanner, v *%s) {\n", at.name, model.name)
	switch {
	case get(schema, "oneOf") != nil:
		err = g.union(schema, model, at.place)
	case ownFunction(schema):
		err = g.object(schema, model, at)
	default:
		err = g.value(schema, target{"*v", model.name, at})
	}

	g.printf("}\n\n")
	return err
}

// optionals collects what the pointers of a model point at: it is allocated at once.
type optionals struct {
	together bool // there are several
	fields   bytes.Buffer
}

// optional gives a variable for what the target, a pointer in a model, is to point at.
func (g *generator) optional(to target) string {
	base := strings.TrimPrefix(to.goType, "*")
	field, isField := strings.CutPrefix(to.expr, "v.")
	if !isField || !g.optionals.together {
		g.printf("var to %s\n", base)
		return "to"
	}
	fmt.Fprintf(&g.optionals.fields, "%s %s\n", field, base)
	return "optional." + field
}

// object writes the body of the function of a schema with properties.
func (g *generator) object(schema *yaml.Node, model modelType, at site) error {
	place := at.place
	properties := members(get(schema, "properties"))
	if len(properties) > maxMembers {
		return g.failf(schema, place, "keyword \"properties\": more than %d are not handled", maxMembers)
	}
	if extra := get(schema, "additionalProperties"); extra != nil && extra.Kind != yaml.ScalarNode {
		return g.failf(extra, place, "keyword \"additionalProperties\": a schema beside properties is not handled")
	}

	lowest, highest, err := g.memberLimits(schema, place)
	if err != nil {
		return err
	}

	pointers := 0
	for _, p := range properties {
		if strings.HasPrefix(model.fields[p.key.Value].goType, "*") {
			pointers++
		}
	}

	before := g.body
	g.body, g.optionals = bytes.Buffer{}, &optionals{together: pointers > 1}
	err = g.cases(properties, model, at)
	cases := g.body
	g.body = before
	if err != nil {
		return err
	}

	g.bits(properties, model)
	g.printf("if !s.Object() {\nreturn\n}\n")
	if fields := g.optionals.fields.String(); fields != "" {
		g.printf("optional := new(struct { // what the pointers of v point at, in one allocation\n%s})\n", fields)
	}
	counted := lowest > 0 || highest >= 0
	if len(properties) > 0 {
		g.printf("var seen uint64\n")
	}
	if counted {
		g.printf("n := 0\n")
	}
	g.printf("for s.Member() {\n")
	if counted {
		g.printf("n++\n")
	}

	rest := "s.Skip()\n"
	if text(get(schema, "additionalProperties")) == "false" {
		rest = "s.Unknown()\n"
		if others := g.others(g.edition, "components", "schemas", at.component, "properties"); others != "" && at.place == "#/components/schemas/"+escape(at.component) {
			fmt.Fprintf(&g.section(at.component).checks, "var othersOf%s = validate.Elsewhere{\n%s}\n\n", at.name, others)
			rest = "s.UnknownBut(othersOf" + at.name + ")\n"
		}
	}

	if len(properties) > 0 {
		g.printf("switch string(s.Name()) {\n%sdefault:\n%s}\n}\n", cases.String(), rest)
	} else {
		g.printf("%s}\n", rest)
	}

	if counted {
		g.printf("s.Members(n, %d, %d)\n", lowest, highest)
	}
	return g.required(schema, properties, model, at)
}

// bits names the bits of seen after the members, so that one more member moves no other.
func (g *generator) bits(properties []member, model modelType) {
	if len(properties) == 0 {
		return
	}
	g.printf("const ( // the bits of seen\n")
	for i, p := range properties {
		g.printf("%s", bitOf(model, p.key.Value))
		if i == 0 {
			g.printf(" = iota")
		}
		g.printf("\n")
	}
	g.printf(")\n")
}

// bitOf is the name of a member's bit.
func bitOf(model modelType, property string) string { return "bit" + model.fields[property].name }

// cases writes how each member is read.
func (g *generator) cases(properties []member, model modelType, at site) error {
	ofField := map[string]string{} // by the name of their field
	for _, p := range properties {
		field, ok := model.fields[p.key.Value]
		if g.models == nil {
			field.name = p.key.Value
		}
		here := at.in("properties/"+escape(p.key.Value), field.name)
		if !g.fits(ok) {
			return g.failf(p.key, here.place, "type %s has no field for it", model.name)
		}
		if other, taken := ofField[field.name]; taken {
			return g.failf(p.key, here.place, "its Go name %s is that of property %q too: rename one", field.name, other)
		}

		ofField[field.name] = p.key.Value

		g.printf("case %q:\nif s.Once(&seen, %s) {\n", p.key.Value, bitOf(model, p.key.Value))
		if err := g.value(p.value, target{"v." + field.name, field.goType, here}); err != nil {
			return err
		}
		g.printf("}\n")
	}

	return nil
}

// required writes the check of the members that must be there: always, or because another one is.
func (g *generator) required(schema *yaml.Node, properties []member, model modelType, at site) error {
	var names []string
	for _, p := range properties {
		names = append(names, p.key.Value)
	}

	mask := func(n *yaml.Node, keyword string, wanted ...string) (string, error) {
		var bits []string
		for _, name := range wanted {
			if !slices.Contains(names, name) {
				return "", g.failf(n, at.place, "keyword %q: %q is no property", keyword, name)
			}
			bits = append(bits, "1<<"+bitOf(model, name))
		}
		return strings.Join(bits, "|"), nil
	}

	required := get(schema, "required")
	want, err := mask(required, "required", list(required)...)
	if err != nil {
		return err
	}

	dependent := members(get(schema, "dependentRequired"))
	if want == "" && len(dependent) == 0 {
		return nil
	}

	if len(dependent) > 0 {
		g.printf("want := uint64(%s)\n", cmp.Or(want, "0"))
		want = "want"
	}

	for _, d := range dependent {
		given, err := mask(d.key, "dependentRequired", d.key.Value)
		if err != nil {
			return err
		}
		needs, err := mask(d.key, "dependentRequired", list(d.value)...)
		if err != nil {
			return err
		}
		g.printf("if seen&(%s) != 0 {\nwant |= %s\n}\n", given, needs)
	}

	fmt.Fprintf(&g.section(at.component).checks, "var membersOf%s = []string{%s}\n\n", at.name, quoted(names))
	g.printf("s.Require(seen, %s, membersOf%s)\n", want, at.name)
	return nil
}

// union writes the body of the function of oneOf: the discriminator says which branch reads the value, which is kept as JSON, as
// oapi-codegen's model of a union does. Where an integer in it is written as 1.0, which the decoder of the model would refuse, that
// JSON is made from what was read. Each branch must require the discriminator and allow it the one value, so that exactly one
// branch can match.
func (g *generator) union(schema *yaml.Node, model modelType, place string) error {
	name := text(get(schema, "discriminator", "propertyName")) // checkKeywords saw it
	if !model.union {
		return g.failf(schema, place, "keyword \"oneOf\": the model %s is no union", model.name)
	}

	kinds := map[string]string{} // by schema
	for _, m := range members(get(schema, "discriminator", "mapping")) {
		branch := text(deref(m.value))
		branch = branch[strings.LastIndex(branch, "/")+1:]
		if kinds[branch] != "" {
			return g.failf(m.key, place, "keyword \"mapping\": several values for %s are not handled", branch)
		}
		kinds[branch] = m.key.Value
	}

	var all []string
	before := g.body
	g.body = bytes.Buffer{}
	for _, b := range get(schema, "oneOf").Content {
		branch, branchName := g.resolve(b)
		if branch == nil || branchName == "" || get(branch, "properties") == nil {
			return g.failf(b, place, "keyword \"oneOf\": a branch must be a $ref to an object with properties")
		}
		kind := kinds[branchName]
		if kind == "" {
			kind = branchName
		}
		property, _ := g.resolve(get(branch, "properties", name))
		values, err := g.allowed(property, place, func(*yaml.Node) bool { return true })
		if err != nil {
			return err
		}
		if !slices.Contains(list(get(branch, "required")), name) || !slices.Equal(values, []string{kind}) || slices.Contains(all, kind) {
			return g.failf(b, place, "keyword \"oneOf\": %s must require %s, with the one value %q", branchName, name, kind)
		}

		all = append(all, kind)
		of, err := g.models.of(branchName)
		if err != nil {
			return g.failf(b, place, "%v", err)
		}

		function, err := g.function(branch, branchName, place)
		if err != nil {
			return err
		}
		g.printf("case %q:\nvar branch %s\n%s(s, &branch)\nif v.union = s.Since(start); s.LooseSince(start) {\n_ = v.From%s(branch)\n}\n", kind, of.name, function, of.name)
	}

	cases := g.body
	g.body = before
	g.printf("start := s.Start()\nswitch s.Branch(%q, %s) {\n%s}\n", name, quoted(all), cases.String())
	return nil
}
