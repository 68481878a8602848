// Package validate is the run-time of the generated validators: a scanner that reads JSON straight into the generated
// models, and the texts of what can be wrong with it. It uses the standard library only.
package validate

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Violation is one way in which a request breaks its schema.
type Violation struct {
	Where   string // a JSON Pointer, empty for the whole body, or query.name, path.name, header.name
	Message string
	Unknown bool     // it is about a member that there is not
	In      []string // the editions of the contract that know it, where this one does not; nil: it is another fault, or none does
}

// String gives the line that errors shows.
func (v Violation) String() string { return v.Where + ": " + v.Message }

// Of is String as the edition of the request has it: what only other editions know is refused with their names.
func (v Violation) Of(edition string) string {
	if v.In == nil {
		return v.String()
	}
	return v.String() + " of " + OtherEditions(edition, v.In)
}

// OtherEditions says that an edition lacks what others have, and how to ask for them.
func OtherEditions(edition string, others []string) string {
	has := " has it"
	if len(others) > 1 {
		has = " have it"
	}
	return "edition " + edition + "; " + strings.Join(others, " and ") + has + " (--contract, or the header Berth-Contract)"
}

// Elsewhere names, for what an edition does not know, the editions that do.
type Elsewhere map[string][]string

// Query notes for each query parameter that is unknown which editions know it.
func (e Elsewhere) Query(violations Violations) Violations {
	for i := range violations {
		if name, isQuery := strings.CutPrefix(violations[i].Where, "query."); isQuery && violations[i].Message == unknownParameter {
			violations[i].In = e[name]
		}
	}
	return violations
}

// Violations are all of one request, in the order of the document, at most 100.
type Violations []Violation

// names reports whether one of them is about that place.
func (all Violations) names(where string) bool {
	return slices.ContainsFunc(all, func(v Violation) bool { return v.Where == where })
}

// of notes which editions know what the last violation is about, if it is one of that place.
func (all Violations) of(where string, in []string) {
	if last := len(all) - 1; last >= 0 && all[last].Where == where {
		all[last].In = in
	}
}

// note adds a violation at the current place, unless the fault is empty.
func (s *Scanner) note(fault string) {
	if fault != "" {
		s.violate(fault)
	}
}

// violate adds a violation at the current place.
func (s *Scanner) violate(message string) {
	if s.err != nil || len(s.violations) >= maxViolations {
		return
	}
	if s.violations == nil {
		s.violations = make(Violations, 0, 8)
	}
	s.violations = append(s.violations, Violation{Where: s.path.pointer(), Message: message})
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// isURI reports whether the text is an absolute URI. Go's parser is laxer than RFC 3986 about what a URI may consist of.
func isURI(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(text)
	return err == nil && u.IsAbs()
}
