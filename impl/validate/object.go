package validate

import "slices"

// Object begins an object; false if the value is none. Call Member until it is false.
func (s *Scanner) Object() bool { return s.begin('{', "an object") }

// Member moves to the next member of the object; false at the end.
func (s *Scanner) Member() bool {
	if !s.next('}') {
		return false
	}
	name, escaped := s.memberName()
	if s.err != nil {
		s.path.pop()
		return false
	}

	if escaped {
		name, s.nameEnd = unescape(name), 0
	}
	s.name = name
	s.path.top().name = name
	return true
}

// memberName reads a name and the colon after it.
func (s *Scanner) memberName() (name []byte, escaped bool) {
	name, escaped = s.stringToken()
	s.nameEnd = s.pos - 1
	if s.err == nil {
		s.expect(':')
	}
	return name, escaped
}

// Name gives the name of the current member, good until the next.
func (s *Scanner) Name() []byte { return s.name }

// NewName gives the name of the current member to keep.
func (s *Scanner) NewName() string {
	if s.nameEnd > 0 {
		return s.cut(s.name, false, s.nameEnd)
	}
	return string(s.name)
}

// Once notes the member as seen in the mask. A duplicate is a violation, and its value is read over.
func (s *Scanner) Once(seen *uint64, bit uint) bool {
	if *seen&(1<<bit) != 0 {
		s.Twice()
		s.Skip()
		return false
	}
	*seen |= 1 << bit
	return true
}

// Twice refuses a member that was there before.
func (s *Scanner) Twice() { s.violate("appears twice") }

// Unknown refuses the current member.
func (s *Scanner) Unknown() { s.UnknownBut(nil) }

// UnknownBut refuses the current member, and notes which editions have it.
func (s *Scanner) UnknownBut(others Elsewhere) {
	before := len(s.violations)
	s.violate("is not a known member")
	if len(s.violations) > before {
		s.violations[before].Unknown, s.violations[before].In = true, others[string(s.name)]
	}
	s.Skip()
}

// Require notes those of the names whose bits the mask lacks.
func (s *Scanner) Require(seen, want uint64, names []string) {
	if s.err != nil || seen&want == want {
		return
	}
	for bit, name := range names {
		if want&(1<<bit) != 0 && seen&(1<<bit) == 0 {
			s.missing(name)
		}
	}
}

func (s *Scanner) missing(name string) {
	s.path.push(step{name: []byte(name)})
	s.violate("is required")
	s.path.pop()
}

// Branch gives which of the kinds the object's member called name has, by looking ahead; the object itself is still to be
// read. Of anything else it gives an empty string, after noting the fault and reading over the value. A union in a union is
// looked at once for each of the levels, which maxDepth bounds.
func (s *Scanner) Branch(name string, kinds ...string) string {
	if s.peek() != '{' {
		s.wrong("an object")
		return ""
	}
	start, depth := s.pos, s.depth
	kind, found := s.lookAhead(name)
	if s.err != nil {
		return ""
	}

	s.pos, s.depth = start, depth
	switch i := slices.Index(kinds, kind); {
	case i >= 0:
		return kinds[i]
	case found:
		s.path.push(step{name: []byte(name)})
		s.violate(oneOf(kinds, asItIs))
		s.path.pop()
	default:
		s.missing(name)
	}

	s.Skip()
	return ""
}

// lookAhead gives the text of the first member with the name, empty if it is no string.
func (s *Scanner) lookAhead(name string) (text string, found bool) {
	if !s.enter() {
		return "", false
	}
	s.pos++

	for first := true; s.peek() != '}' && s.err == nil; first = false {
		if !first && !s.expect(',') {
			return "", false
		}
		raw, escaped := s.memberName()
		if s.err != nil {
			return "", false
		}

		if escaped {
			raw = unescape(raw)
		}
		if string(raw) != name {
			s.Skip()
			continue
		}
		if s.peek() != '"' {
			return "", true
		}

		raw, escaped = s.stringToken()
		if s.err != nil {
			return "", false
		}
		return s.cut(raw, escaped, s.pos-1), true
	}

	return "", false
}
