package validate

import "errors"

// ErrValues says that a document has more values than are taken.
var ErrValues = errors.New("too many values")

// Check checks a document of which no schema is known: it is JSON, nested no deeper than any other, no member appears twice, and
// it has most values at most, those that hold others and their members counted. It takes memory by the number of members in
// one object, whatever their names and places are. The error says why the document is no JSON, or is ErrValues.
func Check(text []byte, most int) (Violations, error) {
	s := NewScanner(text)
	s.distinct(&most)
	return s.Finish()
}

// distinct reads over the next value, of which left values may still come.
func (s *Scanner) distinct(left *int) {
	if *left--; *left < 0 {
		s.fail(ErrValues)
		return
	}

	switch s.peek() {
	case '{':
		var seen map[string]bool
		for ok := s.Object(); ok && s.Member(); {
			if seen[string(s.name)] {
				s.Twice()
			} else if seen == nil {
				seen = map[string]bool{}
			}
			seen[s.NewName()] = true
			s.distinct(left)
		}
	case '[':
		for ok := s.Array(); ok && s.Item(); {
			s.distinct(left)
		}
	default:
		s.Skip()
	}
}
