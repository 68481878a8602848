package main

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// target is where a value goes, a Go expression and its type, and where its schema stands.
type target struct {
	expr   string
	goType string
	site
}

// site is where a schema stands in the document.
type site struct {
	place     string // for people
	component string // the schema under components that it is, or is a part of
	name      string // of the place, for Go
}

// in gives the site of a part, which Go calls by another word.
func (at site) in(step, word string) site {
	return site{at.place + "/" + step, at.component, at.name + "_" + word}
}

// at gives the site of a schema under components.
func (g *generator) at(schema *yaml.Node, component string) (site, error) {
	at := site{place: "#/components/schemas/" + escape(component), component: component}
	model, err := g.models.of(component)
	if err != nil {
		return at, g.failf(schema, at.place, "%v", err)
	}
	at.name = model.name + g.suffix("components", "schemas", component)
	return at, nil
}

// value writes the code that reads a value of the schema into the target.
func (g *generator) value(n *yaml.Node, to target) error {
	schema, name := g.resolve(n)
	if schema == nil {
		return g.failf(n, to.place, "keyword \"$ref\": %q does not exist", name)
	}

	if name != "" {
		var err error
		if to.site, err = g.at(schema, name); err != nil {
			return err
		}
	}

	switch {
	case get(schema, "anyOf") != nil:
		return g.nullableBranch(schema, to)
	case get(schema, "oneOf") != nil:
		return g.nested(schema, name, to)
	}

	kinds := g.kinds(schema)
	switch i := slices.Index(kinds, "null"); {
	case i >= 0 && len(kinds) == 2:
		return g.nullable(schema, to, func(inner target) error { return g.kind(schema, name, kinds[1-i], inner) })
	case len(kinds) > 1:
		return g.failf(schema, to.place, "keyword \"type\": %s is not handled", strings.Join(kinds, ", "))
	case len(kinds) == 0:
		return g.carried(schema, "Any", to)
	}

	return g.kind(schema, name, kinds[0], to)
}

// nullableBranch reads anyOf of one schema and null.
func (g *generator) nullableBranch(schema *yaml.Node, to target) error {
	branches := get(schema, "anyOf").Content
	if len(branches) == 2 {
		for i, b := range branches {
			if slices.Equal(g.kinds(deref(b)), []string{"null"}) {
				return g.nullable(schema, to, func(inner target) error { return g.value(branches[1-i], inner) })
			}
		}
	}
	return g.failf(schema, to.place, "keyword \"anyOf\": only a schema and null are handled")
}

// nullable reads a null, or what read reads.
func (g *generator) nullable(schema *yaml.Node, to target, read func(inner target) error) error {
	inner, ok := strings.CutPrefix(to.goType, "nullable.Nullable[")
	if !g.fits(ok) {
		return g.failf(schema, to.place, "keyword \"type\": the model's type %s cannot be null", to.goType)
	}
	inner = strings.TrimSuffix(inner, "]")

	if allowsNull(schema) {
		g.printf("if s.Null() {\n%s.SetNull()\n} else {\n", to.expr)
	} else {
		g.printf("if !s.RefuseNull() {\n")
	}

	g.printf("var value %s\n", inner)
	if err := read(target{"value", inner, to.site}); err != nil {
		return err
	}
	g.printf("%s.Set(value)\n}\n", to.expr)
	return nil
}

// kind writes the code for a value of one type.
func (g *generator) kind(schema *yaml.Node, name, kind string, to target) error {
	switch kind {
	case "array":
		return g.array(schema, to)
	case "object":
		return g.nested(schema, name, to)
	case "boolean":
		only, err := g.only(schema, to.place)
		if err != nil {
			return err
		}

		if only != "" {
			g.scalar("Only("+only+")", "bool", to)
		} else {
			g.scalar("Bool()", "bool", to)
		}

		return nil
	}

	check, err := g.check(schema, kind, to.place)
	if err != nil {
		return err
	}
	if check, err = g.declared(schema, to.site, check); err != nil {
		return err
	}

	switch {
	case kind == "integer":
		g.scalar("Int("+check+")", "int64", to)
	case kind == "number":
		g.scalar("Float("+check+")", "float64", to)
	case strings.TrimPrefix(to.goType, "*") == "time.Time":
		g.scalar("Time("+check+")", "time.Time", to)
	default:
		g.scalar("String("+check+")", "string", to)
	}

	return nil
}

// check gives the literal of the checks of a string, an integer or a number.
func (g *generator) check(schema *yaml.Node, kind, place string) (string, error) {
	switch kind {
	case "string":
		return g.textCheck(schema, place)
	case "integer":
		return g.integerCheck(schema, place)
	case "number":
		return g.numberCheck(schema, place)
	}
	return "", g.failf(schema, place, "keyword \"type\": %q is not handled", kind)
}

// scalar calls a method of the scanner that gives a value and whether there was one.
func (g *generator) scalar(call, gives string, to target) {
	g.printf("if x, ok := s.%s; ok {\n", call)
	g.assign(to, "x", gives)
	g.printf("}\n")
}

// assign converts a value to the target's type, which may be a named type or a pointer.
func (g *generator) assign(to target, value, goType string) {
	base, pointer := strings.CutPrefix(to.goType, "*")
	if base != goType && goType != "" {
		value = base + "(" + value + ")"
	}
	if !pointer {
		g.printf("%s = %s\n", to.expr, value)
		return
	}
	room := g.optional(to)
	g.printf("%s = %s\n%s = &%s\n", room, value, to.expr, room)
}

func (g *generator) array(schema *yaml.Node, to target) error {
	goType := g.models.underlying(strings.TrimPrefix(to.goType, "*"))
	item := strings.TrimPrefix(goType, "[]")
	if !g.fits(item != goType) {
		return g.failf(schema, to.place, "keyword \"type\": the model's type %s is no slice", to.goType)
	}
	if get(schema, "items") == nil {
		return g.failf(schema, to.place, "keyword \"items\" is missing")
	}

	lowest, err := g.limit(schema, "minItems", to.place, 0)
	if err != nil {
		return err
	}
	highest, err := g.limit(schema, "maxItems", to.place, -1)
	if err != nil {
		return err
	}

	unique, err := g.unique(schema, to.place)
	if err != nil {
		return err
	}
	g.printf("if s.Array() {\n")
	if unique {
		g.printf("faults := s.Faults()\n")
	}
	room := 4 // for items, at first
	if highest >= 0 {
		room = min(room, highest)
	}
	g.printf("items := make([]%s, 0, %d)\nfor s.Item() {\nvar item %s\n", item, room, item)
	if err := g.value(get(schema, "items"), target{"item", item, to.in("items", "Items")}); err != nil {
		return err
	}

	g.printf("items = append(items, item)\n}\n")
	if unique {
		g.printf("validate.Unique(s, items, faults)\n")
	}
	if lowest > 0 || highest >= 0 {
		g.printf("s.Items(len(items), %d, %d)\n", lowest, highest)
	}
	g.assign(to, "items", "")
	g.printf("}\n")

	return nil
}

// unique reports whether uniqueItems is asked for. Other items than strings, integers and booleans would need a comparison of
// JSON values.
func (g *generator) unique(schema *yaml.Node, place string) (bool, error) {
	n := get(schema, "uniqueItems")
	if text(n) != "true" {
		return false, nil
	}
	items, _ := g.resolve(get(schema, "items"))
	if kinds := g.kinds(items); len(kinds) != 1 || text(get(items, "format")) == "date-time" || !slices.Contains([]string{"string", "integer", "boolean"}, kinds[0]) {
		return false, g.failf(n, place, "keyword \"uniqueItems\": only strings, integers and booleans are handled")
	}
	return true, nil
}

// nested reads an object: one with properties or a union through its own function, a map, or one that is carried as it is.
func (g *generator) nested(schema *yaml.Node, name string, to target) error {
	extra := get(schema, "additionalProperties")
	switch {
	case ownFunction(schema):
		if name == "" {
			keyword := "properties"
			if get(schema, "oneOf") != nil {
				keyword = "oneOf"
			}
			return g.failf(schema, to.place, "keyword %q: give the schema a name under components", keyword)
		}

		function, err := g.function(schema, name, to.place)
		if err != nil {
			return err
		}

		if base, pointer := strings.CutPrefix(to.goType, "*"); pointer {
			room := g.optional(target{to.expr, base, to.site})
			g.printf("%s(s, &%s)\n%s = &%s\n", function, room, to.expr, room)
		} else {
			g.printf("%s(s, &%s)\n", function, to.expr)
		}

		return nil
	case extra != nil && extra.Kind == yaml.MappingNode:
		return g.entries(schema, extra, to)
	}

	for _, keyword := range []string{"required", "dependentRequired", "minProperties", "maxProperties"} {
		if n := get(schema, keyword); n != nil {
			return g.failf(n, to.place, "keyword %q needs properties", keyword)
		}
	}

	return g.carried(schema, "RawObject", to)
}

// carried reads a value as it is written, which only a model's json.RawMessage can hold.
func (g *generator) carried(schema *yaml.Node, method string, to target) error {
	if goType := g.models.underlying(to.goType); !g.fits(goType == "json.RawMessage") {
		return g.failf(schema, to.place, "a value of any shape is carried as it was sent, and the model's type %s cannot: give it x-go-type json.RawMessage in the generator's overlay, gen/overlay.yaml", to.goType)
	}
	g.printf("%s = s.%s()\n", to.expr, method)
	return nil
}

// ownFunction reports whether a function of its own reads the schema.
func ownFunction(schema *yaml.Node) bool {
	return get(schema, "properties") != nil || text(get(schema, "additionalProperties")) == "false" || get(schema, "oneOf") != nil
}

// entries reads an object whose members have any name and one schema.
func (g *generator) entries(schema, extra *yaml.Node, to target) error {
	goType := g.models.underlying(strings.TrimPrefix(to.goType, "*"))
	item := strings.TrimPrefix(goType, "map[string]")
	if !g.fits(item != goType) {
		return g.failf(schema, to.place, "keyword \"additionalProperties\": the model's type %s is no map", to.goType)
	}

	for _, keyword := range []string{"required", "dependentRequired"} {
		if n := get(schema, keyword); n != nil {
			return g.failf(n, to.place, "keyword %q needs properties", keyword)
		}
	}

	lowest, highest, err := g.memberLimits(schema, to.place)
	if err != nil {
		return err
	}
	g.printf("if s.Object() {\nentries := map[string]%s{}\nfor n := 1; s.Member(); n++ {\nname := s.NewName()\nvar entry %s\n", item, item)
	if err := g.value(extra, target{"entry", item, to.in("additionalProperties", "Entries")}); err != nil {
		return err
	}

	g.printf("entries[name] = entry\nif len(entries) < n {\ns.Twice()\nn--\n}\n}\n")
	if lowest > 0 || highest >= 0 {
		g.printf("s.Members(len(entries), %d, %d)\n", lowest, highest)
	}
	g.assign(to, "entries", "")
	g.printf("}\n")

	return nil
}

func (g *generator) memberLimits(schema *yaml.Node, place string) (lowest, highest int, err error) {
	if lowest, err = g.limit(schema, "minProperties", place, 0); err != nil {
		return 0, 0, err
	}
	highest, err = g.limit(schema, "maxProperties", place, -1)
	return lowest, highest, err
}
