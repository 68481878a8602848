package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value writes the code that reads a value of the schema into target, a Go expression of type goType.
func (g *generator) value(n *yaml.Node, goType, target, place string) error {
	schema, name := g.resolve(n)
	if schema == nil {
		return g.failf(n, place, "keyword \"$ref\": %q does not exist", name)
	}
	if branches := get(schema, "anyOf"); branches != nil {
		return g.nullableBranch(schema, branches, goType, target, place)
	}
	kinds := list(get(schema, "type"))
	if len(kinds) == 0 {
		kinds = append(kinds, text(get(schema, "type")))
	}
	if i := slices.Index(kinds, "null"); i >= 0 && len(kinds) == 2 {
		return g.nullable(goType, target, func(inner, into string) error {
			return g.kind(schema, name, kinds[1-i], inner, into, place)
		})
	}
	if len(kinds) != 1 {
		return g.failf(schema, place, "keyword \"type\": %s is not handled", strings.Join(kinds, ", "))
	}
	return g.kind(schema, name, kinds[0], goType, target, place)
}

// nullableBranch reads anyOf of one schema and null.
func (g *generator) nullableBranch(schema, branches *yaml.Node, goType, target, place string) error {
	if len(branches.Content) == 2 {
		for i, b := range branches.Content {
			if text(get(deref(b), "type")) == "null" {
				return g.nullable(goType, target, func(inner, into string) error {
					return g.value(branches.Content[1-i], inner, into, place)
				})
			}
		}
	}
	return g.failf(schema, place, "keyword \"anyOf\": only a schema and null are handled")
}

func (g *generator) nullable(goType, target string, read func(inner, into string) error) error {
	inner := strings.TrimSuffix(strings.TrimPrefix(goType, "nullable.Nullable["), "]")
	g.printf("if s.Null() {\n%s.SetNull()\n} else {\nvar value %s\n", target, inner)
	if err := read(inner, "value"); err != nil {
		return err
	}
	g.printf("%s.Set(value)\n}\n", target)
	return nil
}

// kind writes the code for a value of one type.
func (g *generator) kind(schema *yaml.Node, name, kind, goType, target, place string) error {
	switch kind {
	case "":
		if properties := get(schema, "properties"); properties != nil || get(schema, "enum") != nil || get(schema, "const") != nil {
			return g.failf(schema, place, "keyword \"type\" is missing")
		}
		g.printf("%s = s.Any()\n", target)
	case "string":
		g.scalar("String", g.textCheck(schema), goType, target)
	case "integer":
		g.scalar("Int", g.numberCheck(schema), goType, target)
	case "number":
		g.scalar("Float", g.numberCheck(schema), goType, target)
	case "boolean":
		g.scalar("Bool", "", goType, target)
	case "array":
		return g.array(schema, goType, target, place)
	case "object":
		return g.nested(schema, name, goType, target, place)
	default:
		return g.failf(schema, place, "keyword \"type\": %q is not handled", kind)
	}
	return nil
}

// scalar converts to the field's type, which may be a pointer or a named type.
func (g *generator) scalar(method, check, goType, target string) {
	base := strings.TrimPrefix(goType, "*")
	convert := "x"
	if !slices.Contains([]string{"string", "int64", "float64", "bool"}, base) {
		convert = base + "(x)"
	}
	g.printf("if x, ok := s.%s(%s); ok {\n", method, check)
	if base != goType {
		if convert == "x" {
			g.printf("%s = &x\n}\n", target)
		} else {
			g.printf("y := %s\n%s = &y\n}\n", convert, target)
		}
		return
	}
	g.printf("%s = %s\n}\n", target, convert)
}

func (g *generator) array(schema *yaml.Node, goType, target, place string) error {
	item := strings.TrimPrefix(strings.TrimPrefix(goType, "*"), "[]")
	g.printf("if s.Array() {\nitems := make([]%s, 0, 4)\nfor s.Item() {\nvar item %s\n", item, item)
	if err := g.value(get(schema, "items"), item, "item", place+"/items"); err != nil {
		return err
	}
	g.printf("items = append(items, item)\n}\n")
	lowest, highest := whole(get(schema, "minItems"), 0), whole(get(schema, "maxItems"), -1)
	if lowest > 0 || highest >= 0 {
		g.printf("s.Items(len(items), %d, %d)\n", lowest, highest)
	}
	if text(get(schema, "uniqueItems")) == "true" {
		items, _ := g.resolve(get(schema, "items"))
		if text(get(items, "type")) != "string" && text(get(items, "type")) != "integer" {
			return g.failf(get(schema, "uniqueItems"), place, "keyword \"uniqueItems\": only strings and integers are handled")
		}
		g.printf("s.Unique(validate.AllUnique(items))\n")
	}
	g.printf("%s = items\n}\n", target)
	return nil
}

// nested reads an object: one with properties through its own function, a map, or one that is carried as it is.
func (g *generator) nested(schema *yaml.Node, name, goType, target, place string) error {
	extra := get(schema, "additionalProperties")
	switch {
	case get(schema, "properties") != nil || text(extra) == "false":
		if name == "" {
			return g.failf(schema, place, "keyword \"properties\": give the object a name under components")
		}
		if base := strings.TrimPrefix(goType, "*"); base != goType {
			g.printf("x := &%s{}\n%s(s, x)\n%s = x\n", base, g.function(name), target)
		} else {
			g.printf("%s(s, &%s)\n", g.function(name), target)
		}
	case extra != nil && extra.Kind == yaml.MappingNode:
		item := strings.TrimPrefix(strings.TrimPrefix(goType, "*"), "map[string]")
		g.printf("if s.Object() {\nentries := map[string]%s{}\nfor s.Member() {\nname := string(s.Name())\nif _, twice := entries[name]; twice {\ns.Twice()\ncontinue\n}\nvar entry %s\n", item, item)
		if err := g.value(extra, item, "entry", place+"/additionalProperties"); err != nil {
			return err
		}
		g.printf("entries[name] = entry\n}\n")
		lowest, highest := whole(get(schema, "minProperties"), 0), whole(get(schema, "maxProperties"), -1)
		if lowest > 0 || highest >= 0 {
			g.printf("s.Members(len(entries), %d, %d)\n", lowest, highest)
		}
		g.printf("%s = entries\n}\n", target)
	default:
		g.printf("%s = s.RawObject()\n", target)
	}
	return nil
}

// textCheck gives the expression of a string's checks, shared between equal ones.
func (g *generator) textCheck(schema *yaml.Node) string {
	var parts []string
	if n := whole(get(schema, "minLength"), 0); n > 0 {
		parts = append(parts, fmt.Sprintf("Min: %d", n))
	}
	if n := whole(get(schema, "maxLength"), 0); n > 0 {
		parts = append(parts, fmt.Sprintf("Max: %d", n))
	}
	if enum := slices.Concat(list(get(schema, "enum")), constant(schema)); len(enum) > 0 {
		parts = append(parts, "Enum: []string{"+quoted(enum)+"}")
	}
	if p := get(schema, "pattern"); p != nil {
		parts = append(parts, "Pattern: regexp.MustCompile("+strconv.Quote(p.Value)+")")
	}
	switch text(get(schema, "format")) {
	case "date-time":
		parts = append(parts, "DateTime: true")
	case "uri":
		parts = append(parts, "URI: true")
	}
	return g.shared("validate.Text", parts)
}

func constant(schema *yaml.Node) []string {
	if n := get(schema, "const"); n != nil {
		return []string{n.Value}
	}
	return nil
}

// numberCheck gives the expression of a number's checks, shared between equal ones.
func (g *generator) numberCheck(schema *yaml.Node) string {
	var parts []string
	for _, bound := range [][2]string{{"minimum", "Min"}, {"maximum", "Max"}, {"exclusiveMinimum", "Above"}, {"exclusiveMaximum", "Below"}} {
		if n := get(schema, bound[0]); n != nil {
			parts = append(parts, fmt.Sprintf("%s: validate.Bound(%s)", bound[1], n.Value))
		}
	}
	if enum := slices.Concat(list(get(schema, "enum")), constant(schema)); len(enum) > 0 {
		parts = append(parts, "Enum: []int64{"+strings.Join(enum, ", ")+"}")
	}
	return g.shared("validate.Number", parts)
}

func (g *generator) shared(kind string, parts []string) string {
	if len(parts) == 0 {
		return "nil"
	}
	value := "&" + kind + "{" + strings.Join(parts, ", ") + "}"
	name, ok := g.checks[value]
	if !ok {
		name = "check" + strconv.Itoa(len(g.checks)+1)
		g.checks[value] = name
		fmt.Fprintf(&g.vars, "%s = %s\n", name, value)
	}
	return name
}
