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
	DateTime bool // RFC 3339, without what package time has no value for: a leap second
	URI      bool // absolute

	Elsewhere Elsewhere // the editions that have a value which is not in Enum
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
		if in := t.Elsewhere[text]; in != nil {
			s.violations.of(s.path.pointer(), in)
		}
	}
	return text, true
}

// cut gives a token's text that ends before end: it shares the memory of a short document, or else is copied.
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
	if !ok {
		return at, false
	}
	return DateTime(text) // the check of DateTime notes what is wrong
}

// DateTime reads a date-time. Package time is laxer than RFC 3339 about how it is written, so that is checked first.
func DateTime(text string) (at time.Time, ok bool) {
	const seconds = "0000-00-00T00:00:00"
	if len(text) <= len(seconds) || !written(text[:len(seconds)], seconds) {
		return at, false
	}

	zone := text[len(seconds):]
	if fraction, ok := strings.CutPrefix(zone, "."); ok {
		if zone = strings.TrimLeft(fraction, "0123456789"); len(zone) == len(fraction) {
			return at, false
		}
	}

	if zone != "Z" && (!written(zone, "+00:00") && !written(zone, "-00:00") || zone[1:3] > "23" || zone[4:] > "59") {
		return at, false
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

// written reports whether a text is like a layout, in which 0 stands for any digit.
func written(text, layout string) bool {
	if len(text) != len(layout) {
		return false
	}
	for i := range len(layout) {
		if c := text[i]; c != layout[i] && (layout[i] != '0' || c < '0' || c > '9') {
			return false
		}
	}
	return true
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
		if t.Elsewhere[text] != nil {
			return "is not a known value"
		}
		return oneOf(t.Enum, asItIs)
	}
	if t.Pattern != nil && !t.Pattern.Match(text) {
		return "must match " + t.Pattern.String()
	}

	if t.DateTime {
		if _, ok := DateTime(text); !ok {
			return "must be an RFC 3339 date-time"
		}
	}

	if t.URI && !isURI(text) {
		return "must be an absolute URI"
	}
	return ""
}

// mostNames is how many names a fault lists.
const mostNames = 20

// oneOf is the fault of a value that is none of those, which name writes. Of many it lists the first ones.
func oneOf[T any](values []T, name func([]byte, T) []byte) string {
	b := make([]byte, 0, 128)
	b = append(b, "must be "...)
	if len(values) != 1 {
		b = append(b, "one of "...)
	}

	for i, value := range values[:min(len(values), mostNames)] {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = name(b, value)
	}
	if len(values) > mostNames {
		b = append(b, ", …"...)
	}
	return string(b)
}

// asItIs is the name of a text.
func asItIs(b []byte, text string) []byte { return append(b, text...) }
