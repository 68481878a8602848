package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// operations writes the registry, in the order of the document.
func (g *generator) operations() error {
	g.printf("// Ops has the checks of every operation by its id.\nvar Ops = map[string]validate.Op{\n")
	for _, path := range members(get(g.root, "paths")) {
		for _, m := range members(path.value) {
			place := "#/paths/" + escape(path.key.Value) + "/" + m.key.Value
			switch m.key.Value {
			case "parameters", "summary", "description":
			case "get", "put", "post", "patch", "delete", "head", "options":
				if err := g.operation(path, m, place); err != nil {
					return err
				}
			default:
				return g.failf(m.key, place, "keyword %q of a path is not handled", m.key.Value)
			}
		}
	}
	g.printf("}\n\n")
	return nil
}

func (g *generator) operation(path, m member, place string) error {
	op := deref(m.value)
	id := text(get(op, "operationId"))
	if id == "" {
		return g.failf(m.key, place, "keyword \"operationId\" is missing")
	}
	g.printf("%q: {\nMethod: %q, Path: %q,\n", id, strings.ToUpper(m.key.Value), path.key.Value)
	if body := get(op, "requestBody"); body != nil {
		if err := g.requestBody(op, body, place+"/requestBody"); err != nil {
			return err
		}
	}
	params, err := g.parameters(path, op, place)
	if err != nil {
		return err
	}
	list := "nil"
	if params != "" {
		list = "paramsOf" + strings.ToUpper(id[:1]) + id[1:]
		fmt.Fprintf(&g.vars, "%s = []validate.Param{\n%s}\n", list, params)
	}
	g.printf("Params: func(path func(string) string, query string, header func(string) []string) validate.Violations {\n")
	g.printf("return validate.Params(%s, %t, path, query, header)\n},\n},\n", list, text(get(op, "x-open-query")) == "true")
	return nil
}

// requestBody writes how a body is decoded and checked.
func (g *generator) requestBody(op, n *yaml.Node, place string) error {
	body, _ := g.resolve(n)
	content := members(get(body, "content"))
	if len(content) != 1 || content[0].key.Value != "application/json" {
		return g.failf(n, place, "keyword \"content\": only application/json is handled")
	}
	if text(get(body, "required")) != "true" {
		return g.failf(n, place, "keyword \"required\": a body that may be missing is not handled")
	}
	schema, name := g.resolve(get(content[0].value, "schema"))
	if schema == nil || name == "" {
		return g.failf(n, place, "keyword \"schema\": it must be a $ref to a schema under components")
	}
	model, err := g.models.of(name)
	if err != nil {
		return g.failf(n, place, "%v", err)
	}
	function, err := g.function(schema, name, place)
	if err != nil {
		return err
	}
	limit := "validate.DefaultMaxBody"
	if bytes := get(op, "x-max-body-bytes"); bytes != nil {
		if n, err := strconv.Atoi(bytes.Value); err != nil || n <= 0 {
			return g.failf(bytes, place, "keyword \"x-max-body-bytes\": %s is no count", bytes.Value)
		}
		limit = bytes.Value
	}
	g.printf("MaxBody: %s, HasBody: true, AnyContentType: %t,\n", limit, text(get(op, "x-any-content-type")) == "true")
	g.printf("Decode: func(body []byte) (any, validate.Violations, error) {\n")
	g.printf("s, v := validate.NewScanner(body), new(%s)\n%s(&s, v)\nviolations, err := s.Finish()\nreturn v, violations, err\n},\n", model.name, function)
	return nil
}

// parameters gives the checks of an operation's parameters: those of its path, then its own, which may replace them.
func (g *generator) parameters(path member, op *yaml.Node, place string) (string, error) {
	own := g.parameterList(op)
	var all []*yaml.Node
	for _, p := range g.parameterList(path.value) {
		if !slices.ContainsFunc(own, func(o *yaml.Node) bool {
			return text(get(o, "name")) == text(get(p, "name")) && text(get(o, "in")) == text(get(p, "in"))
		}) {
			all = append(all, p)
		}
	}
	var b strings.Builder
	for i, p := range append(all, own...) {
		param, err := g.parameter(p, place+"/parameters/"+strconv.Itoa(i))
		if err != nil {
			return "", err
		}
		b.WriteString(param)
	}
	return b.String(), nil
}

func (g *generator) parameterList(holder *yaml.Node) (params []*yaml.Node) {
	if n := get(holder, "parameters"); n != nil {
		for _, c := range n.Content {
			p, _ := g.resolve(c)
			params = append(params, p)
		}
	}
	return params
}

// ofParameters are the keywords of a parameter that are handled; the style is the one that it has without the keyword.
var ofParameters = []string{"name", "in", "required", "description", "deprecated", "example", "examples", "schema", "style", "explode"}

func (g *generator) parameter(p *yaml.Node, place string) (string, error) {
	for _, m := range members(p) {
		if !slices.Contains(ofParameters, m.key.Value) {
			return "", g.failf(m.key, place, "keyword %q of a parameter is not handled", m.key.Value)
		}
	}
	in := text(get(p, "in"))
	if !slices.Contains([]string{"path", "query", "header"}, in) {
		return "", g.failf(p, place, "keyword \"in\": %q is not handled", in)
	}
	schema, name := g.resolve(get(p, "schema"))
	if schema == nil {
		return "", g.failf(p, place, "keyword \"$ref\": %q does not exist", name)
	}
	parts := []string{fmt.Sprintf("In: %q, Name: %q, Required: %t", in, text(get(p, "name")), text(get(p, "required")) == "true")}
	list := slices.Equal(g.kinds(schema), []string{"array"}) && in == "query"
	if n := get(p, "explode"); n != nil && !list {
		return "", g.failf(n, place, "keyword \"explode\": only an array in the query has it")
	}
	if n := get(p, "style"); n != nil && (in != "query" || n.Value != "form") {
		return "", g.failf(n, place, "keyword \"style\": only form, in the query, is handled")
	}
	if list {
		items, err := g.parameterItems(schema, text(get(p, "explode")) == "false", place)
		if err != nil {
			return "", err
		}
		parts = append(parts, items)
		if schema, name = g.resolve(get(schema, "items")); schema == nil {
			return "", g.failf(p, place, "keyword \"$ref\": %q does not exist", name)
		}
	}
	check, err := g.parameterCheck(schema, place)
	if err != nil {
		return "", err
	}
	return "{" + strings.Join(append(parts, check...), ", ") + "},\n", nil
}

// parameterItems gives the checks of a query parameter that is given once for each item, or once with commas between them.
func (g *generator) parameterItems(schema *yaml.Node, commas bool, place string) (string, error) {
	lowest, err := g.limit(schema, "minItems", place, 0)
	if err != nil {
		return "", err
	}
	highest, err := g.limit(schema, "maxItems", place, -1)
	if err != nil {
		return "", err
	}
	unique, err := g.unique(schema, place)
	if get(schema, "items") == nil {
		return "", g.failf(schema, place, "keyword \"items\" is missing")
	}
	return fmt.Sprintf("Items: &validate.Items{Min: %d, Max: %d, Unique: %t, Commas: %t}", lowest, highest, unique, commas), err
}

// parameterCheck gives the type of a parameter, or of its items, and what is checked.
func (g *generator) parameterCheck(schema *yaml.Node, place string) ([]string, error) {
	var kind, field, check string
	var err error
	kinds := g.kinds(schema)
	switch strings.Join(kinds, ", ") {
	case "string":
		field = "Text"
		check, err = g.textCheck(schema, place)
	case "integer":
		kind, field = "Kind: validate.IntegerParam", "Integer"
		check, err = g.integerCheck(schema, place)
	case "number":
		kind, field = "Kind: validate.NumberParam", "Number"
		check, err = g.numberCheck(schema, place)
	case "boolean":
		kind, field = "Kind: validate.BooleanParam", "Only"
		if check, err = g.only(schema, place); check != "" {
			check = "validate.Bool(" + check + ")"
		} else {
			check = "nil"
		}
	default:
		return nil, g.failf(schema, place, "keyword \"type\": parameters of type %q are not handled", strings.Join(kinds, ", "))
	}
	var parts []string
	if kind != "" {
		parts = append(parts, kind)
	}
	if check != "nil" {
		parts = append(parts, field+": "+check)
	}
	return parts, err
}
