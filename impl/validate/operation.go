package validate

import (
	"net/url"
	"strings"
)

// DefaultMaxBody is the limit of a body whose operation does not set x-max-body-bytes, in bytes.
const DefaultMaxBody = 1 << 20

// Op is what the edge needs to check a request of one operation.
type Op struct {
	Method         string
	Path           string // as in the document, with {parameters}
	MaxBody        int64  // bytes
	HasBody        bool
	AnyContentType bool // the body is JSON whatever its content type says
	// Decode reads the body into a new model, which it gives as a pointer. The error says why the body is no JSON.
	Decode func(body []byte) (model any, violations Violations, err error)
	// Params checks the parameters: path and header give their values, query is the raw query.
	Params func(path func(name string) string, query string, header func(name string) []string) Violations
}

// Kind is the type of a parameter.
type Kind int

// The types of parameters.
const (
	StringParam Kind = iota
	IntParam
	BoolParam
)

// Param is one parameter of an operation.
type Param struct {
	In, Name string
	Required bool
	Kind     Kind
	Text     *Text
	Number   *Number
}

// Params checks the parameters of a request. Unknown query parameters are violations unless open is true.
func Params(params []Param, open bool, path func(string) string, query string, header func(string) []string) Violations {
	var violations Violations
	values, err := url.ParseQuery(query)
	if err != nil {
		violations = append(violations, Violation{"query", "cannot be parsed"})
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
		if fault := p.check(given); fault != "" {
			violations = append(violations, Violation{p.In + "." + p.Name, fault})
		}
	}
	if open || known == len(values) {
		return violations
	}
	return append(violations, unknownQuery(params, query)...)
}

// unknownQuery gives the query parameters that no operation knows, in the order of the query.
func unknownQuery(params []Param, query string) Violations {
	var violations Violations
	seen := map[string]bool{}
	for _, p := range params {
		if p.In == "query" {
			seen[p.Name] = true
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err == nil && name != "" && !seen[name] {
			seen[name] = true
			violations = append(violations, Violation{"query." + name, "is not a known parameter"})
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
	case len(given) > 1:
		return "must be given once"
	}
	switch p.Kind {
	case IntParam:
		digits := strings.TrimPrefix(given[0], "-")
		if digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > 1 && digits[0] == '0' {
			return "must be an integer"
		}
		_, fault := parseInt([]byte(given[0]), true, p.Number)
		return fault
	case BoolParam:
		if given[0] != "true" && given[0] != "false" {
			return "must be true or false"
		}
	default:
		if p.Text != nil {
			return p.Text.check([]byte(given[0]))
		}
	}
	return ""
}
