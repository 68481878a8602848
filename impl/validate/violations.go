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
}

// String gives the line that errors shows.
func (v Violation) String() string { return v.Where + ": " + v.Message }

// Violations are all of one request, in the order of the document, at most 100.
type Violations []Violation

// names tells whether one of them is about that place.
func (all Violations) names(where string) bool {
	return slices.ContainsFunc(all, func(v Violation) bool { return v.Where == where })
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
	s.violations = append(s.violations, Violation{s.path.pointer(), message})
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// isURI tells an absolute URI from anything else. Go's parser is laxer than RFC 3986 about what a URI may consist of.
func isURI(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(text)
	return err == nil && u.IsAbs()
}
