package validate

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Text are the checks of a string. A Max of zero means no maximum.
type Text struct {
	Min, Max int // code points
	Enum     []string
	Pattern  *Pattern
	DateTime bool // RFC 3339, as package time reads it: no leap second
	URI      bool // absolute
}

// String reads a string and checks it; ok is false if there was none.
func (s *Scanner) String(t *Text) (text string, ok bool) {
	if s.peek() != '"' {
		s.wrong("a string")
		return "", false
	}
	raw, escaped := s.stringToken()
	if s.err != nil {
		return "", false
	}
	text = s.cut(raw, escaped, s.pos-1)
	if t != nil {
		s.note(t.check(text))
	}
	return text, true
}

// cut gives a token's text that ends before end: out of the one copy of a short document, or else copied by itself.
func (s *Scanner) cut(raw []byte, escaped bool, end int) string {
	switch {
	case escaped:
		return string(unescape(raw))
	case s.text != "":
		return s.text[end-len(raw) : end]
	}
	return string(raw)
}

// Time reads a string that is a date-time and checks it; ok is false if there was none.
func (s *Scanner) Time(t *Text) (at time.Time, ok bool) {
	text, ok := s.String(t)
	if !ok || at.UnmarshalText([]byte(text)) != nil { // the check of DateTime has said so
		return time.Time{}, false
	}
	return at, true
}

func (t *Text) check(text string) string {
	if t.Min > 0 || t.Max > 0 {
		switch n := utf8.RuneCountInString(text); {
		case n < t.Min:
			return "must have at least " + count(t.Min, "character")
		case t.Max > 0 && n > t.Max:
			return "must have at most " + count(t.Max, "character")
		}
	}
	if t.Enum != nil && !slices.Contains(t.Enum, text) {
		return oneOf(t.Enum)
	}
	if t.Pattern != nil && !t.Pattern.Match(text) {
		return "must match " + t.Pattern.String()
	}
	if t.DateTime {
		var at time.Time
		if at.UnmarshalText([]byte(text)) != nil {
			return "must be an RFC 3339 date-time"
		}
	}
	if t.URI && !isURI(text) {
		return "must be an absolute URI"
	}
	return ""
}

// oneOf is the fault of a value that is none of the names.
func oneOf(names []string) string {
	if len(names) == 1 {
		return "must be " + names[0]
	}
	return "must be one of " + strings.Join(names, ", ")
}
