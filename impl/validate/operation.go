package validate

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DefaultMaxBody is the limit of a body whose operation does not set x-max-body-bytes, in bytes.
const DefaultMaxBody = 1 << 20

// Op is what the edge needs to check a request of one operation.
type Op struct {
	Method         string
	Path           string // as in the document, with {parameters}
	MaxBody        int64  // bytes
	HasBody        bool
	Open           bool // it asks for no key
	AnyContentType bool // the body is JSON whatever its content type says
	// Decode reads the body, which must not change any more, into a new model, which it gives as a pointer. The error says why
	// the body is no JSON.
	Decode func(body []byte) (model any, violations Violations, err error)
	// Params checks the parameters: path and header give their values, query is the raw query.
	Params func(path func(name string) string, query string, header func(name string) []string) Violations
}

// Edition is one of the contract: the document itself, or what an overlay makes of it.
type Edition struct {
	Name  string
	Alias string // another name for it; empty: none
	Ops   map[string]Op
}

// unknownParameter says of a query parameter that the operation does not know it.
const unknownParameter = "is not a known parameter"

// Kind is the type of a parameter, or of its items.
type Kind int

// The types of parameters.
const (
	StringParam Kind = iota
	IntegerParam
	NumberParam
	BooleanParam
)

// Param is one parameter of an operation.
type Param struct {
	In, Name string
	Required bool
	Kind     Kind
	Text     *Text
	Integer  *Integer
	Number   *Number
	Only     *bool  // the one boolean that is allowed
	Items    *Items // of a query parameter that is a list
}

// Items are the checks of how many values a parameter has. A Max of -1 means no maximum.
type Items struct {
	Min, Max int
	Unique   bool
	Commas   bool // it is given once, with commas between the values; otherwise once for each value
}

// Bool gives a pointer to a boolean, for generated code.
func Bool(b bool) *bool { return &b }

// Params checks the parameters of a request. Unknown query parameters are violations unless open is true.
func Params(params []Param, open bool, path func(string) string, query string, header func(string) []string) Violations {
	var violations Violations
	values, err := url.ParseQuery(query)
	if err != nil {
		violations = unreadable(query)
	}

	known := 0
	for i := range params {
		p := &params[i]
		var given []string
		switch p.In {
		case "path":
			given = []string{path(p.Name)}
		case "header":
			given = header(p.Name)
		default:
			given = values[p.Name]
			if given != nil {
				known++
			}
		}

		if given == nil && err != nil && violations.names(p.In+"."+p.Name) {
			continue
		}
		if fault := p.check(given); fault != "" {
			violations = append(violations, Violation{Where: p.In + "." + p.Name, Message: fault, In: p.elsewhere(given)})
		}
	}

	if open || known == len(values) {
		return violations
	}
	return append(violations, unknownQuery(params, query)...)
}

// elsewhere gives the editions that have the one value which this one does not know.
func (p *Param) elsewhere(given []string) []string {
	if p.Text == nil || len(given) != 1 {
		return nil
	}
	return p.Text.Elsewhere[given[0]]
}

// unreadable gives the parameters of a query that cannot be read, at most maxViolations.
func unreadable(query string) Violations {
	var violations Violations
	for pair := range strings.SplitSeq(query, "&") {
		if len(violations) == maxViolations {
			break
		}
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil {
			plain = name
		}
		_, wrong := url.QueryUnescape(value)

		switch where := "query." + plain; {
		case strings.Contains(pair, ";"):
			violations = append(violations, Violation{Where: where, Message: "has a ; that is not written as %3B"})
		case err != nil || wrong != nil:
			violations = append(violations, Violation{Where: where, Message: "has a % without two hexadecimal digits after it"})
		}
	}

	if violations == nil { // there are more parameters than anybody reads
		return Violations{{Where: "query", Message: "cannot be parsed"}}
	}
	return violations
}

// unknownQuery gives the query parameters that no operation knows, in the order of the query, at most maxViolations.
func unknownQuery(params []Param, query string) Violations {
	var violations Violations
	seen := map[string]bool{}
	for _, p := range params {
		if p.In == "query" {
			seen[p.Name] = true
		}
	}

	for pair := range strings.SplitSeq(query, "&") {
		if len(violations) == maxViolations {
			break
		}
		if pair == "" { // as between two ampersands
			continue
		}
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err == nil && !seen[name] {
			seen[name] = true
			violations = append(violations, Violation{Where: "query." + name, Message: unknownParameter})
		}
	}

	return violations
}

func (p *Param) check(given []string) string {
	switch {
	case len(given) == 0 && p.Required:
		return "is required"
	case len(given) == 0:
		return ""
	case (p.Items == nil || p.Items.Commas) && len(given) > 1:
		return "must be given once"
	case p.Items != nil && p.Items.Commas:
		given = strings.Split(given[0], ",")
	}

	for _, text := range given {
		if fault := p.checkOne(text); fault != "" {
			return fault
		}
	}

	if p.Items == nil {
		return ""
	}
	if p.Items.Unique && !unique(given) {
		return notUnique
	}

	return sizeFault(len(given), p.Items.Min, p.Items.Max, "item")
}

func (p *Param) checkOne(text string) (fault string) {
	if !utf8.ValidString(text) {
		return "must be UTF-8"
	}
	switch p.Kind {
	case IntegerParam:
		if plain, ok := isNumber(text); !ok || !plain {
			return "must be an integer"
		}
		_, fault = parseInt(text, p.Integer)
	case NumberParam:
		if _, ok := isNumber(text); !ok {
			return "must be a number"
		}
		_, fault = parseFloat(text, p.Number)
	case BooleanParam:
		switch {
		case text != "true" && text != "false":
			return "must be true or false"
		case p.Only != nil && text != strconv.FormatBool(*p.Only):
			return "must be " + strconv.FormatBool(*p.Only)
		}
	default:
		if p.Text != nil {
			return p.Text.check(text)
		}
	}

	return fault
}

// isNumber reports whether a text is one JSON number, and one without fraction and exponent.
func isNumber(text string) (plain, ok bool) {
	if text == "" {
		return false, false
	}
	s := Scanner{buf: []byte(text)}
	_, plain = s.numberToken()
	return plain, s.err == nil && s.pos == len(text)
}
