package validate

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"
)

// Text are the checks of a string. A zero Max means no maximum.
type Text struct {
	Min, Max int // code points
	Enum     []string
	Pattern  *regexp.Regexp
	DateTime bool // RFC 3339
	URI      bool // absolute
}

// Number are the checks of an integer or a number. Nil bounds are none; Enum is of integers.
type Number struct {
	Min, Max, Above, Below *float64
	Enum                   []int64
}

// Bound gives a pointer to a bound, for generated code.
func Bound(f float64) *float64 { return &f }

// Null reads a null if there is one.
func (s *Scanner) Null() bool { return s.peek() == 'n' && s.literal("null") }

// wrong notes that the next value is of another type, and reads over it.
func (s *Scanner) wrong(want string) {
	s.violate("must be " + want)
	s.Skip()
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
	if escaped {
		raw = unescape(raw)
	}
	if t != nil {
		s.note(t.check(raw))
	}
	if end := s.pos - 1; !escaped && s.text != "" {
		return s.text[end-len(raw) : end], true
	}
	return string(raw), true
}

func (t *Text) check(raw []byte) string {
	if t.Min > 0 || t.Max > 0 {
		switch n := utf8.RuneCount(raw); {
		case n < t.Min:
			return "must have at least " + count(t.Min, "character")
		case t.Max > 0 && n > t.Max:
			return "must have at most " + count(t.Max, "character")
		}
	}
	if t.Enum != nil && !oneOf(t.Enum, raw) {
		return "must be one of " + join(t.Enum)
	}
	if t.Pattern != nil && !t.Pattern.Match(raw) {
		return "must match " + t.Pattern.String()
	}
	if t.DateTime {
		if _, err := time.Parse(time.RFC3339, string(raw)); err != nil {
			return "must be an RFC 3339 date-time"
		}
	}
	if t.URI && !isURI(string(raw)) {
		return "must be an absolute URI"
	}
	return ""
}

// Int reads an integer and checks it. A fraction or an exponent is refused even where the value is whole: it could not be
// bound exactly.
func (s *Scanner) Int(n *Number) (value int64, ok bool) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.wrong("an integer")
		return 0, false
	}
	raw, whole := s.numberToken()
	if s.err != nil {
		return 0, false
	}
	value, fault := parseInt(raw, whole, n)
	s.note(fault)
	return value, fault == ""
}

// parseInt is Int for a text, of a body or of a parameter.
func parseInt(raw []byte, whole bool, n *Number) (int64, string) {
	if !whole {
		return 0, "must be an integer"
	}
	value, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		// Beyond 64 bits: a bound that it breaks says more than that.
		value = math.MaxInt64
		if raw[0] == '-' {
			value = math.MinInt64
		}
		if fault := n.check(float64(value)); fault != "" {
			return 0, fault
		}
		return 0, "must be an integer of 64 bits"
	}
	if fault := n.check(float64(value)); fault != "" {
		return value, fault
	}
	if n != nil && n.Enum != nil {
		for _, e := range n.Enum {
			if e == value {
				return value, ""
			}
		}
		var names []string
		for _, e := range n.Enum {
			names = append(names, strconv.FormatInt(e, 10))
		}
		return value, "must be one of " + join(names)
	}
	return value, ""
}

// Float reads a number and checks it.
func (s *Scanner) Float(n *Number) (value float64, ok bool) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.wrong("a number")
		return 0, false
	}
	raw, _ := s.numberToken()
	if s.err != nil {
		return 0, false
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		s.note("must be a number of 64 bits")
		return 0, false
	}
	fault := n.check(value)
	s.note(fault)
	return value, fault == ""
}

func (n *Number) check(v float64) string {
	format := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case n == nil:
	case n.Min != nil && v < *n.Min:
		return "must be >= " + format(*n.Min)
	case n.Max != nil && v > *n.Max:
		return "must be <= " + format(*n.Max)
	case n.Above != nil && v <= *n.Above:
		return "must be > " + format(*n.Above)
	case n.Below != nil && v >= *n.Below:
		return "must be < " + format(*n.Below)
	}
	return ""
}

// Bool reads a boolean; ok is false if there was none.
func (s *Scanner) Bool() (value, ok bool) {
	switch s.peek() {
	case 't':
		return true, s.literal("true")
	case 'f':
		return false, s.literal("false")
	}
	s.wrong("a boolean")
	return false, false
}

// Any reads a value of any kind and gives its text, which aliases the document.
func (s *Scanner) Any() []byte {
	s.space()
	start := s.pos
	s.Skip()
	if s.err != nil {
		return nil
	}
	return s.buf[start:s.pos:s.pos]
}

// RawObject is Any for an object.
func (s *Scanner) RawObject() []byte {
	if s.peek() != '{' {
		s.wrong("an object")
		return nil
	}
	return s.Any()
}

// Object begins an object; false if the value is none. Call Member until it is false.
func (s *Scanner) Object() bool { return s.begin('{', "an object") }

// Array begins an array; false if the value is none. Call Item until it is false.
func (s *Scanner) Array() bool { return s.begin('[', "an array") }

func (s *Scanner) begin(open byte, want string) bool {
	if s.peek() != open {
		s.wrong(want)
		return false
	}
	if !s.enter() {
		return false
	}
	s.pos++
	s.path = append(s.path, segment{index: -1})
	return true
}

// next moves to the next element of the array or object that was begun last; false at its end.
func (s *Scanner) next(end byte) bool {
	top := &s.path[len(s.path)-1]
	c := s.peek()
	if s.err == nil && c == end {
		s.pos++
	} else if top.index >= 0 && s.err == nil && s.expect(',') && s.peek() == end {
		s.fail(errSyntax) // a comma before the end
	}
	if s.err != nil || c == end {
		s.depth--
		s.path = s.path[:len(s.path)-1]
		return false
	}
	top.index++
	return true
}

// Member moves to the next member of the object; false at the end.
func (s *Scanner) Member() bool {
	if !s.next('}') {
		return false
	}
	if s.peek() != '"' {
		s.fail(errSyntax)
	}
	name, escaped := s.stringToken()
	if escaped && s.err == nil {
		name = unescape(name)
	}
	if s.err != nil || !s.expect(':') {
		s.path = s.path[:len(s.path)-1]
		return false
	}
	s.name = name
	s.path[len(s.path)-1].name = name
	return true
}

// Name gives the name of the current member.
func (s *Scanner) Name() []byte { return s.name }

// Once notes the member as seen in the mask. A duplicate is a violation, and its value is read over.
func (s *Scanner) Once(seen *uint64, bit uint) bool {
	if *seen&(1<<bit) != 0 {
		s.Twice()
		return false
	}
	*seen |= 1 << bit
	return true
}

// Unknown refuses the current member.
func (s *Scanner) Unknown() {
	s.violate("is not a known member")
	s.Skip()
}

// Require notes those of the names whose bits the mask lacks.
func (s *Scanner) Require(seen, want uint64, names []string) {
	if s.err != nil || seen&want == want {
		return
	}
	for bit, name := range names {
		if want&(1<<bit) != 0 && seen&(1<<bit) == 0 {
			s.path = append(s.path, segment{name: []byte(name)})
			s.violate("is required")
			s.path = s.path[:len(s.path)-1]
		}
	}
}

// Item moves to the next item of the array; false at the end.
func (s *Scanner) Item() bool { return s.next(']') }

// Items checks how many items an array had; a max of -1 is none.
func (s *Scanner) Items(n, lowest, highest int) { s.size(n, lowest, highest, "item") }

// Members checks how many members an object had; a max of -1 is none.
func (s *Scanner) Members(n, lowest, highest int) { s.size(n, lowest, highest, "member") }

func (s *Scanner) size(n, lowest, highest int, noun string) {
	switch {
	case s.err != nil:
	case n < lowest:
		s.violate("must have at least " + count(lowest, noun))
	case highest >= 0 && n > highest:
		s.violate("must have at most " + count(highest, noun))
	}
}

// Unique notes that an item equals an earlier one.
func (s *Scanner) Unique(unique bool) {
	if !unique && s.err == nil {
		s.violate("must have unique items")
	}
}

// AllUnique tells whether no two texts of string items are equal.
func AllUnique[T comparable](items []T) bool {
	seen := make(map[T]bool, len(items))
	for _, i := range items {
		if seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}

func oneOf(enum []string, raw []byte) bool {
	for _, e := range enum {
		if bytes.Equal([]byte(e), raw) {
			return true
		}
	}
	return false
}

// Twice refuses a member of a map that was there before.
func (s *Scanner) Twice() {
	s.violate("appears twice")
	s.Skip()
}
