package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// operations writes the registry, in the order of the document.
func (g *generator) operations(name string) error {
	of := "its id"
	if e := g.editions[g.edition]; g.edition > 0 {
		of += ", as the edition " + e.name + " has it"
	}
	g.printf("// %s has the checks of every operation by %s.\nvar %[1]s = map[string]validate.Op{\n", name, of)
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

	if first := g.of(g.edition, "paths", path.key.Value, m.key.Value); first != g.edition && g.editionHas(first, path, id) {
		g.printf("%q: Ops%s[%[1]q],\n", id, g.editions[first].suffix)
		return nil
	}

	g.printf("%q: {\nMethod: %q, Path: %q,\n", id, strings.ToUpper(m.key.Value), path.key.Value)
	if get(op, "security") != nil { // an empty list: checkStructure has seen to it
		g.printf("Open: true,\n")
	}
	if body := get(op, "requestBody"); body != nil {
		if err := g.requestBody(op, body, place+"/requestBody"); err != nil {
			return err
		}
	}

	params, err := g.operationParameters(path, op, place)
	if err != nil {
		return err
	}
	list := "nil"
	if params != "" {
		list = "paramsOf" + strings.ToUpper(id[:1]) + id[1:] + g.editions[g.edition].suffix
		fmt.Fprintf(&g.parameters, "var %s = []validate.Param{\n%s}\n\n", list, params)
	}
	g.printf("Params: func(path func(string) string, query string, header func(string) []string) validate.Violations {\n")
	call := fmt.Sprintf("validate.Params(%s, %t, path, query, header)", list, text(get(op, openQuery)) == "true")
	if others := g.otherParameters(path.key.Value, m.key.Value); others != "" {
		name := "othersOf" + strings.ToUpper(id[:1]) + id[1:] + g.editions[g.edition].suffix
		fmt.Fprintf(&g.parameters, "var %s = validate.Elsewhere{\n%s}\n\n", name, others)
		call = name + ".Query(" + call + ")"
	}
	g.printf("return %s\n},\n},\n", call)

	return nil
}

// editionHas reports whether an operation is all the same in an edition: also the parameters of its path, with all that they refer to.
func (g *generator) editionHas(edition int, path member, id string) bool {
	shared := []string{"paths", path.key.Value, "parameters"}
	if g.closure(edition, shared) != g.closure(g.edition, shared) {
		return false
	}
	there := get(g.editions[edition].root, "paths", path.key.Value)
	return slices.ContainsFunc(members(there), func(m member) bool { return text(get(m.value, "operationId")) == id })
}

// otherParameters gives the query parameters of an operation that only other editions have, for the generated code.
func (g *generator) otherParameters(path, method string) string {
	query := func(e edition) (names []string) {
		item := get(e.root, "paths", path)
		for _, p := range append(e.parameterList(item), e.parameterList(get(item, method))...) {
			if text(get(p.Node, "in")) == "query" {
				names = append(names, text(get(p.Node, "name")))
			}
		}
		return names
	}

	here := query(g.editions[g.edition])
	var names []string
	in := map[string][]string{}
	for _, e := range g.editions {
		for _, name := range query(e) {
			if slices.Contains(here, name) {
				continue
			}
			if in[name] == nil {
				names = append(names, name)
			}
			in[name] = append(in[name], e.name)
		}
	}

	return othersOf(names, in)
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
	if bytes := get(op, maxBodyBytes); bytes != nil {
		if n, err := strconv.Atoi(bytes.Value); err != nil || n <= 0 {
			return g.failf(bytes, place, "keyword %q: %s is no count", maxBodyBytes, bytes.Value)
		}
		limit = bytes.Value
	}

	g.printf("MaxBody: %s, HasBody: true, AnyContentType: %t,\n", limit, text(get(op, anyContentType)) == "true")
	g.printf("Decode: func(body []byte) (any, validate.Violations, error) {\n")
	g.printf("s, v := validate.NewScanner(body), new(%s)\n%s(&s, v)\nviolations, err := s.Finish()\nreturn v, violations, err\n},\n", model.name, function)
	return nil
}

// parameter is one of an operation's.
type parameter struct {
	*yaml.Node
	name string // that it has under components, or none
}

// operationParameters gives the checks of an operation's parameters. One under components is declared there, once.
func (g *generator) operationParameters(path member, op *yaml.Node, place string) (string, error) {
	var b strings.Builder
	for i, p := range g.parametersOf(path.value, op) {
		here := place + "/parameters/" + strconv.Itoa(i)
		if p.name != "" {
			here = "#/components/parameters/" + escape(p.name)
		}
		code, err := g.parameter(p.Node, here)
		if err != nil {
			return "", err
		}
		if p.name == "" {
			b.WriteString(code + ",\n")
			continue
		}

		suffix := g.suffix("components", "parameters", p.name)
		name := "parameter" + strings.ToUpper(p.name[:1]) + strings.Map(letters, p.name[1:]) + suffix
		switch place, taken := g.checks[name]; {
		case taken && place != here:
			return "", g.failf(p.Node, here, "its Go name %s is that of %s too: rename one", name, place)
		case !taken:
			g.checks[name] = here
			g.common[p.name] += fmt.Sprintf("var %s = validate.Param%s\n\n", name, code)
		}

		b.WriteString(name + ",\n")
	}

	return b.String(), nil
}

// parametersOf gives the parameters of an operation: those of its path, then its own, which may replace them.
func (d *document) parametersOf(path, op *yaml.Node) (all []parameter) {
	own := d.parameterList(op)
	for _, p := range d.parameterList(path) {
		if !slices.ContainsFunc(own, p.same) {
			all = append(all, p)
		}
	}
	return append(all, own...)
}

// same reports whether both are one parameter to who sends it.
func (p parameter) same(other parameter) bool {
	return text(get(p.Node, "name")) == text(get(other.Node, "name")) && text(get(p.Node, "in")) == text(get(other.Node, "in"))
}

// letters leaves out what no Go name has.
func letters(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
		return r
	}
	return -1
}

func (d *document) parameterList(holder *yaml.Node) (params []parameter) {
	if n := get(holder, "parameters"); n != nil {
		for _, c := range n.Content {
			p, name := d.resolve(c)
			params = append(params, parameter{p, name})
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

	check, err := g.parameterCheck(schema, name, place)
	if err != nil {
		return "", err
	}
	return "{" + strings.Join(append(parts, check...), ", ") + "}", nil
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

// parameterCheck gives the type of a parameter, or of its items, and what is checked: in place, or as the schema under components
// that it refers to has it.
func (g *generator) parameterCheck(schema *yaml.Node, name, place string) ([]string, error) {
	kind := strings.Join(g.kinds(schema), ", ")
	param := map[string][2]string{ // the kind, and the field of the checks
		"string":  {"", "Text"},
		"integer": {"Kind: validate.IntegerParam", "Integer"},
		"number":  {"Kind: validate.NumberParam", "Number"},
		"boolean": {"Kind: validate.BooleanParam", "Only"},
	}

	as, ok := param[kind]
	if !ok {
		return nil, g.failf(schema, place, "keyword \"type\": parameters of type %q are not handled", kind)
	}

	check := "nil"
	if kind == "boolean" {
		only, err := g.only(schema, place)
		if err != nil {
			return nil, err
		}
		if only != "" {
			check = "validate.Bool(" + only + ")"
		}
	} else {
		var err error
		if check, err = g.check(schema, kind, place); err != nil {
			return nil, err
		}

		if name != "" {
			at, err := g.at(schema, name)
			if err != nil {
				return nil, err
			}
			if check, err = g.declared(schema, at, check); err != nil {
				return nil, err
			}
		}
	}

	var parts []string
	if as[0] != "" {
		parts = append(parts, as[0])
	}
	if check != "nil" {
		parts = append(parts, as[1]+": "+check)
	}

	return parts, nil
}
