package main

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// textCheck gives the literal of a string's checks, "nil" for none.
func (g *generator) textCheck(schema *yaml.Node, place string) (string, error) {
	var parts []string
	lowest, err := g.limit(schema, "minLength", place, 0)
	if err != nil {
		return "", err
	}

	if lowest > 0 {
		parts = append(parts, fmt.Sprintf("Min: %d", lowest))
	}
	highest, err := g.limit(schema, "maxLength", place, -1)
	if err != nil {
		return "", err
	}

	switch {
	case highest == 0:
		return "", g.failf(get(schema, "maxLength"), place, "keyword \"maxLength\": 0 is not handled, say const: ''")
	case highest > 0:
		parts = append(parts, fmt.Sprintf("Max: %d", highest))
	}

	allowed, err := g.allowed(schema, place, func(n *yaml.Node) bool { return n.Tag == "!!str" })
	if err != nil {
		return "", err
	}
	if allowed != nil {
		parts = append(parts, "Enum: []string{"+quoted(allowed)+"}")
		if elsewhere := g.otherValues(g.edition, schema, place, allowed); elsewhere != "" {
			parts = append(parts, "Elsewhere: validate.Elsewhere{"+elsewhere+"}")
		}
	}

	if p := get(schema, "pattern"); p != nil {
		literal := strconv.Quote(p.Value)
		if strconv.CanBackquote(p.Value) {
			literal = "`" + p.Value + "`"
		}
		parts = append(parts, "Pattern: validate.MustPattern("+literal+")")
	}

	switch text(get(schema, "format")) {
	case "date-time":
		parts = append(parts, "DateTime: true")
	case "uri":
		parts = append(parts, "URI: true")
	}

	return literal("validate.Text", parts), nil
}

// allowed gives the values of const and enum, or nil for any. Null is left out: who reads a nullable value asks for it.
func (g *generator) allowed(schema *yaml.Node, place string, isOfType func(*yaml.Node) bool) ([]string, error) {
	var values []string
	enum, constant := get(schema, "enum"), get(schema, "const")
	if enum != nil && constant != nil {
		return nil, g.failf(constant, place, "keyword \"const\" is not handled beside enum")
	}

	nodes := []*yaml.Node{constant}
	if enum != nil {
		nodes = enum.Content
	}

	for _, n := range nodes {
		if n = deref(n); n == nil || n.Tag == "!!null" && nullable(g.kinds(schema)) {
			continue
		}
		if n.Kind != yaml.ScalarNode || !isOfType(n) {
			return nil, g.failf(n, place, "keyword \"enum\" or \"const\": %q is not of type %s", n.Value, strings.Join(g.kinds(schema), ", "))
		}
		if !slices.Contains(values, n.Value) {
			values = append(values, n.Value)
		}
	}

	if values == nil && (enum != nil || constant != nil) {
		return nil, g.failf(schema, place, "keyword \"enum\": it allows no value")
	}
	return values, nil
}

func nullable(kinds []string) bool { return slices.Contains(kinds, "null") }

// allowsNull reports whether null is among the values of enum or const, if the schema has one.
func allowsNull(schema *yaml.Node) bool {
	enum, constant := get(schema, "enum"), get(schema, "const")
	if enum == nil {
		return constant == nil || constant.Tag == "!!null"
	}
	return slices.ContainsFunc(enum.Content, func(n *yaml.Node) bool { return deref(n).Tag == "!!null" })
}

// isDecimal reports whether a number is in JSON's notation: YAML knows others, such as 0x10 and .5.
var isDecimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`).MatchString

func isNumber(n *yaml.Node) bool {
	return (n.Tag == "!!int" || n.Tag == "!!float") && isDecimal(n.Value)
}
func isInteger(n *yaml.Node) bool { return isNumber(n) && n.Tag == "!!int" }

// bound gives a bound of a number, or nil.
func (g *generator) bound(schema *yaml.Node, keyword, place string) (*big.Rat, string, error) {
	n := get(schema, keyword)
	if n == nil {
		return nil, "", nil
	}
	if !isNumber(n) {
		return nil, "", g.failf(n, place, "keyword %q: %s is no decimal number", keyword, n.Value)
	}
	r, _ := new(big.Rat).SetString(n.Value)
	return r, n.Value, nil
}

// numberCheck gives the literal of a number's checks, "nil" for none.
func (g *generator) numberCheck(schema *yaml.Node, place string) (string, error) {
	var parts []string
	for _, bound := range [][2]string{{"minimum", "Min"}, {"maximum", "Max"}, {"exclusiveMinimum", "Above"}, {"exclusiveMaximum", "Below"}} {
		r, decimal, err := g.bound(schema, bound[0], place)
		if err != nil {
			return "", err
		}
		if r != nil {
			parts = append(parts, fmt.Sprintf("%s: validate.Bound(%q)", bound[1], decimal))
		}
	}

	allowed, err := g.allowed(schema, place, isNumber)
	if err != nil {
		return "", err
	}

	if allowed != nil {
		for i := range allowed {
			allowed[i] = fmt.Sprintf("validate.Dec(%q)", allowed[i])
		}
		parts = append(parts, "Enum: []validate.Decimal{"+strings.Join(allowed, ", ")+"}")
	}

	return literal("validate.Number", parts), nil
}

// integerCheck gives the literal of an integer's checks, "nil" for none. Bounds become inclusive integers.
func (g *generator) integerCheck(schema *yaml.Node, place string) (string, error) {
	lowest, highest := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	bounded := false
	for _, keyword := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
		r, _, err := g.bound(schema, keyword, place)
		if err != nil {
			return "", err
		}
		if r == nil {
			continue
		}

		bounded = true
		n := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: the floor
		exclusive := strings.HasPrefix(keyword, "exclusive")
		if strings.HasSuffix(keyword, "inimum") {
			if exclusive || !r.IsInt() {
				n.Add(n, big.NewInt(1))
			}
			if n.Cmp(lowest) > 0 {
				lowest = n
			}
		} else {
			if exclusive && r.IsInt() {
				n.Sub(n, big.NewInt(1))
			}
			if n.Cmp(highest) < 0 {
				highest = n
			}
		}
	}

	if lowest.Cmp(highest) > 0 || !lowest.IsInt64() || !highest.IsInt64() {
		return "", g.failf(schema, place, "keyword \"minimum\": no integer of 64 bits is within the bounds")
	}
	allowed, err := g.allowed(schema, place, isInteger)
	if err != nil {
		return "", err
	}
	if !bounded && allowed == nil {
		return "nil", nil
	}

	parts := []string{"Min: " + integerLiteral(lowest), "Max: " + integerLiteral(highest)}
	if allowed != nil {
		parts = append(parts, "Enum: []int64{"+strings.Join(allowed, ", ")+"}")
	}
	return literal("validate.Integer", parts), nil
}

func integerLiteral(n *big.Int) string {
	switch n.Int64() {
	case math.MinInt64:
		return "math.MinInt64"
	case math.MaxInt64:
		return "math.MaxInt64"
	}
	return n.String()
}

// only gives the one boolean that a schema allows, or an empty string for both.
func (g *generator) only(schema *yaml.Node, place string) (string, error) {
	allowed, err := g.allowed(schema, place, func(n *yaml.Node) bool { return n.Value == "true" || n.Value == "false" })
	if err != nil || len(allowed) != 1 {
		return "", err
	}
	return allowed[0], nil
}

// literal writes what is checked, "nil" for nothing.
func literal(kind string, parts []string) string {
	if len(parts) == 0 {
		return "nil"
	}
	return "&" + kind + "{" + strings.Join(parts, ", ") + "}"
}

// declared gives the variable of a schema's checks, which has the name of the place where the schema stands: a change of one schema
// changes its own line, and what several places share is what they refer to.
func (g *generator) declared(schema *yaml.Node, at site, check string) (string, error) {
	if check == "nil" {
		return check, nil
	}
	name := "check" + at.name
	switch place, taken := g.checks[name]; {
	case taken && place != at.place:
		return "", g.failf(schema, at.place, "its Go name %s is that of %s too: rename one", name, place)
	case !taken:
		g.checks[name] = at.place
		fmt.Fprintf(&g.section(at.component).checks, "var %s = %s\n\n", name, check)
	}
	return name, nil
}
