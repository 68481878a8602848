package validate

import "strconv"

// wrong notes that the next value is of another type, and reads over it.
func (s *Scanner) wrong(want string) {
	s.violate("must be " + want)
	s.Skip()
}

// Null reads a null if there is one.
func (s *Scanner) Null() bool { return s.peek() == 'n' && s.literal("null") }

// RefuseNull refuses a null, where an enum lacks it, and reads over it; false if there is none.
func (s *Scanner) RefuseNull() bool {
	if s.peek() != 'n' {
		return false
	}
	s.violate("must not be null")
	s.literal("null")
	return true
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

// Only reads a boolean that must be the one that is wanted.
func (s *Scanner) Only(want bool) (value, ok bool) {
	value, ok = s.Bool()
	if ok && value != want {
		s.violate("must be " + strconv.FormatBool(want))
	}
	return value, ok
}

// Any reads a value of any kind and gives its text, which aliases the document.
func (s *Scanner) Any() []byte {
	start := s.Start()
	s.Skip()
	return s.Since(start)
}

// Start gives where the next value begins, for Since.
func (s *Scanner) Start() int {
	s.space()
	return s.pos
}

// Since gives the text from start on, which aliases the document; nil if the document is no JSON.
func (s *Scanner) Since(start int) []byte {
	if s.err != nil {
		return nil
	}
	return s.buf[start:s.pos:s.pos]
}

// LooseSince reports whether an integer that was read since start is written with a fraction or an exponent, such as 1.0, which
// encoding/json refuses.
func (s *Scanner) LooseSince(start int) bool { return s.loose > start }

// RawObject is Any for an object.
func (s *Scanner) RawObject() []byte {
	if s.peek() != '{' {
		s.wrong("an object")
		return nil
	}
	return s.Any()
}

// Array begins an array; false if the value is none. Call Item until it is false.
func (s *Scanner) Array() bool { return s.begin('[', "an array") }

// Item moves to the next item of the array; false at the end.
func (s *Scanner) Item() bool { return s.next(']') }

func (s *Scanner) begin(open byte, want string) bool {
	if s.peek() != open {
		s.wrong(want)
		return false
	}
	if !s.enter() {
		return false
	}
	s.pos++
	s.path.push(step{index: -1})
	return true
}

// next moves to the next element of the array or object that was begun last; false at its end.
func (s *Scanner) next(end byte) bool {
	top := s.path.top()
	c := s.peek()
	if c == end {
		s.pos++
	} else if top.index >= 0 && s.err == nil && s.expect(',') && s.peek() == end {
		s.fail(errSyntax) // a comma before the end
	}

	if s.err != nil || c == end {
		s.depth--
		s.path.pop()
		return false
	}

	top.index++
	return true
}

// Items checks how many items an array had; a max of -1 is none.
func (s *Scanner) Items(n, lowest, highest int) { s.note(sizeFault(n, lowest, highest, "item")) }

// Members checks how many members an object had; a max of -1 is none.
func (s *Scanner) Members(n, lowest, highest int) { s.note(sizeFault(n, lowest, highest, "member")) }

func sizeFault(n, lowest, highest int, noun string) string {
	switch {
	case n < lowest:
		return "must have at least " + count(lowest, noun)
	case highest >= 0 && n > highest:
		return "must have at most " + count(highest, noun)
	}
	return ""
}

// Faults counts the violations so far.
func (s *Scanner) Faults() int { return len(s.violations) }

// Unique checks that no two items are equal, unless there were other faults since the count given: an item that is not of
// its type has no value to compare.
func Unique[T comparable](s *Scanner, items []T, faults int) {
	if s.Faults() == faults && !unique(items) {
		s.violate(notUnique)
	}
}

const notUnique = "must have unique items"

func unique[T comparable](items []T) bool {
	seen := make(map[T]bool, len(items))
	for _, i := range items {
		if seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}
