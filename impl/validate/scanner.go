package validate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// maxDepth bounds how deep a document may nest; maxViolations how many faults of one document are collected.
const (
	maxDepth      = 512
	maxViolations = 100
)

// Those of documents that other readers take.
var (
	ErrUTF8 = errors.New("invalid UTF-8")
	ErrDeep = errors.New("nested too deeply")
	errHalf = fmt.Errorf("%w: half of a surrogate pair", ErrUTF8)
)

// maxShared is the longest document, in bytes, whose memory the strings of the model share; of a longer one each string is
// copied, so that a short string does not keep a long document in memory.
const maxShared = 16 << 10

// The faults that make a document no JSON at all. They end the scan.
var (
	errSyntax = errors.New("syntax error")
	errEnd    = errors.New("unexpected end")
	errTail   = errors.New("text after the value")
	errEmpty  = errors.New("it is empty")
)

// NoJSON reports whether an error of a scan says that the document is no JSON, to other readers, too.
func NoJSON(err error) bool {
	return errors.Is(err, errSyntax) || errors.Is(err, errEnd) || errors.Is(err, errTail) || errors.Is(err, errEmpty)
}

// Scanner reads one JSON document in one pass, collecting violations with their JSON Pointers. Generated code drives it. A
// document that is no JSON ends the scan: every method then reports nothing more, and Finish gives the error.
type Scanner struct {
	buf        []byte
	text       string // the same memory as buf, if that is not over maxShared
	pos        int
	loose      int // after the last integer that is written as 1.0 or 1e0
	depth      int
	name       []byte // of the current member, unescaped
	nameEnd    int    // where it ends in buf; 0 if it had escapes
	violations Violations
	err        error
	path       path
}

// NewScanner scans buf, which must not change any more: raw values, and the strings of a short document, share its memory.
// Copying it would be a third of all the memory that a request of half a kilobyte takes here.
func NewScanner(buf []byte) Scanner {
	s := Scanner{buf: buf}
	if len(buf) <= maxShared {
		s.text = unsafe.String(unsafe.SliceData(buf), len(buf)) //nolint:gosec // nobody writes to the body of a request
	}
	return s
}

// Finish checks that nothing follows the value.
func (s *Scanner) Finish() (Violations, error) {
	if s.err == nil {
		s.space()
		if s.pos < len(s.buf) {
			s.fail(errTail)
		}
	}
	return s.violations, s.err
}

func (s *Scanner) fail(err error) {
	if s.err == nil {
		if len(s.buf) == 0 {
			err = errEmpty
		}
		s.err = err
	}
	s.pos = len(s.buf)
}

func (s *Scanner) space() {
	for s.pos < len(s.buf) {
		switch s.buf[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek gives the first byte of the next token, or 0 at the end.
func (s *Scanner) peek() byte {
	if s.pos < len(s.buf) && s.buf[s.pos] > ' ' {
		return s.buf[s.pos]
	}
	return s.peekPastSpace()
}

func (s *Scanner) peekPastSpace() byte {
	s.space()
	if s.pos >= len(s.buf) {
		s.fail(errEnd)
		return 0
	}
	return s.buf[s.pos]
}

func (s *Scanner) expect(c byte) bool {
	if s.peek() != c {
		s.fail(errSyntax)
		return false
	}
	s.pos++
	return true
}

func (s *Scanner) literal(word string) bool {
	if len(s.buf)-s.pos < len(word) || string(s.buf[s.pos:s.pos+len(word)]) != word {
		s.fail(errSyntax)
		return false
	}
	s.pos += len(word)
	return true
}

// stringToken reads a string and gives its text between the quotes, and whether it has escapes.
func (s *Scanner) stringToken() (text []byte, escaped bool) {
	if !s.expect('"') {
		return nil, false
	}

	start, high := s.pos, false
	for i := plain(s.buf, s.pos); i < len(s.buf); i = plain(s.buf, i) {
		switch c := s.buf[i]; {
		case c == '"':
			text = s.buf[start:i]
			s.pos = i + 1
			if high && !utf8.Valid(text) {
				s.fail(ErrUTF8)
			}
			return text, escaped
		case c == '\\':
			escaped = true
			n := s.escape(i)
			if n == 0 {
				s.fail(errSyntax)
				return nil, false
			}
			i += n
		case c < 0x20:
			s.fail(errSyntax)
			return nil, false
		default: // not ASCII
			high = true
			i++
		}
	}

	s.fail(errEnd)
	return nil, false
}

// plain gives the first place from i on that is not plain text of a string: a quote, a backslash, a control character or
// part of a character that is not ASCII. It looks at eight bytes at a time: the highest bit of each byte of odd reports whether
// that byte is one of them; a borrow can only make bytes after the first one wrong.
func plain(buf []byte, i int) int {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(buf); i += 8 {
		w := binary.LittleEndian.Uint64(buf[i:])
		odd := (w | (w - each*0x20) | ((w ^ each*'"') - each) | ((w ^ each*'\\') - each)) & highest
		if odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(buf) && buf[i] >= 0x20 && buf[i] < utf8.RuneSelf && buf[i] != '"' && buf[i] != '\\' {
		i++
	}
	return i
}

// escape gives the length of the escape sequence at i, or 0 if it is none. A surrogate must come as a pair.
func (s *Scanner) escape(i int) int {
	if i+1 >= len(s.buf) {
		return 0
	}
	switch s.buf[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		r, ok := hex4(s.buf, i+2)
		switch {
		case !ok:
			return 0
		case r < 0xd800 || r > 0xdfff:
			return 6
		}

		if low, ok := hex4(s.buf, i+8); r < 0xdc00 && ok && s.buf[i+6] == '\\' && s.buf[i+7] == 'u' && low >= 0xdc00 && low <= 0xdfff {
			return 12
		}
		s.fail(errHalf)
	}

	return 0
}

func hex4(b []byte, i int) (rune, bool) {
	if i+4 > len(b) {
		return 0, false
	}

	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}

	return r, true
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape resolves the escapes of a text that stringToken accepted.
func unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		i++
		if text[i] != 'u' {
			out = append(out, escapes[text[i]])
			continue
		}

		r, _ := hex4(text, i+1)
		i += 4
		if r >= 0xd800 && r <= 0xdbff {
			low, _ := hex4(text, i+3)
			r = (r-0xd800)<<10 | (low - 0xdc00) + 0x10000
			i += 6
		}

		out = utf8.AppendRune(out, r)
	}

	return out
}

// numberToken reads a number; plain reports that it has neither fraction nor exponent.
func (s *Scanner) numberToken() (text []byte, plain bool) {
	i := s.pos
	if s.buf[i] == '-' {
		i++
	}
	end := digits(s.buf, i)
	ok := end == i+1 || end > i && s.buf[i] != '0'
	i, plain = end, true

	if i < len(s.buf) && s.buf[i] == '.' {
		plain = false
		end = digits(s.buf, i+1)
		ok = ok && end > i+1
		i = end
	}

	if i < len(s.buf) && s.buf[i]|0x20 == 'e' {
		plain = false
		i++
		if i < len(s.buf) && (s.buf[i] == '+' || s.buf[i] == '-') {
			i++
		}
		end = digits(s.buf, i)
		ok = ok && end > i
		i = end
	}

	if !ok {
		s.fail(errSyntax)
		return nil, false
	}
	text = s.buf[s.pos:i]
	s.pos = i

	return text, plain
}

// digits gives the end of the digits at i.
func digits(buf []byte, i int) int {
	for i < len(buf) && '0' <= buf[i] && buf[i] <= '9' {
		i++
	}
	return i
}

// Skip reads over the next value of whatever kind, checking that it is JSON.
func (s *Scanner) Skip() {
	switch c := s.peek(); c {
	case '"':
		s.stringToken()
	case '{', '[':
		s.skipNested(c)
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	case 0:
	default:
		if c != '-' && (c < '0' || c > '9') {
			s.fail(errSyntax)
			return
		}
		s.numberToken()
	}
}

func (s *Scanner) skipNested(open byte) {
	if !s.enter() {
		return
	}
	s.pos++

	end := open + 2 // ']' and '}' stand two after their openers
	for first := true; s.err == nil; first = false {
		if c := s.peek(); c == end {
			s.pos++
			s.depth--
			return
		}

		if !first && !s.expect(',') {
			return
		}
		if open == '{' {
			if s.peek() != '"' {
				s.fail(errSyntax)
				return
			}
			s.stringToken()
			if s.err != nil || !s.expect(':') {
				return
			}
		} else if !first && s.peek() == ']' {
			s.fail(errSyntax) // a comma before the end
			return
		}

		s.Skip()
	}
}

func (s *Scanner) enter() bool {
	s.depth++
	if s.depth > maxDepth {
		s.fail(ErrDeep)
		return false
	}
	return true
}
