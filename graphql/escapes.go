package graphql

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/berthdev/berth/impl/compute"
)

// withoutSurrogates gives a document with those escapes in its texts as characters that its parser would take for something else: a pair of
// surrogates, which JSON writes for a character beyond the first 65,536, and \u{1F600}. Rejected for half a pair, which is no character.
func withoutSurrogates(document string) (string, error) {
	if !strings.Contains(document, `\u`) {
		return document, nil
	}

	var b strings.Builder
	for rest := document; rest != ""; {
		kind, token := tokenOf(rest)
		rest = rest[len(token):]
		if kind != text {
			b.WriteString(token)
			continue
		}
		if err := writeText(&b, token); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// kind is what a part of a document is.
type kind int

const (
	other   kind = iota // nothing in which a backslash means anything
	text                // in quotes
	block               // in three quotes each, where only \""" is an escape
	comment             // to the end of its line
)

// tokenOf gives what a document begins with. What is not closed goes to the end: the parser refuses it.
func tokenOf(document string) (kind, string) {
	switch {
	case strings.HasPrefix(document, `"""`):
		for i := 3; i < len(document); i++ {
			switch {
			case strings.HasPrefix(document[i:], `\"""`):
				i += 3
			case strings.HasPrefix(document[i:], `"""`):
				end := i + 3
				for end < len(document) && document[end] == '"' { // the last three of a run end it
					end++
				}
				return block, document[:end]
			}
		}
		return block, document

	case document[0] == '"':
		for i := 1; i < len(document); i++ {
			switch document[i] {
			case '\\':
				i++
			case '"':
				return text, document[:i+1]
			case '\n', '\r':
				return other, document[:i]
			}
		}
		return other, document

	case document[0] == '#':
		if end := strings.IndexAny(document, "\r\n"); end >= 0 {
			return comment, document[:end]
		}
		return comment, document
	}

	if end := strings.IndexAny(document, `"#`); end >= 0 {
		return other, document[:end]
	}
	return other, document
}

// writeText writes a text with its quotes.
func writeText(b *strings.Builder, token string) error {
	for i := 0; i < len(token); {
		if token[i] != '\\' || i+1 == len(token) {
			b.WriteByte(token[i])
			i++
			continue
		}
		if token[i+1] != 'u' {
			b.WriteString(token[i : i+2])
			i += 2
			continue
		}

		r, length := escaped(token[i:])
		switch {
		case length == 0: // the parser refuses it
			b.WriteString(token[i : i+2])
			i += 2
			continue
		case utf16.IsSurrogate(r):
			low, more := escaped(token[i+length:])
			if r = utf16.DecodeRune(r, low); more != 6 || length != 6 || r == '\uFFFD' {
				return compute.Errorf(compute.Rejected, "the document has half a pair of surrogates in a text: %s", token[i:i+length])
			}
			length += more
			b.WriteRune(r)
		case token[i+2] != '{': // as the parser knows it
			b.WriteString(token[i : i+length])
		default:
			writeRune(b, r)
		}
		i += length
	}
	return nil
}

// writeRune writes a character as it may stand in a text.
func writeRune(b *strings.Builder, r rune) {
	if r < ' ' || r == '"' || r == '\\' {
		b.WriteString(`\u00` + strconv.FormatInt(int64(r)+0x100, 16)[1:])
		return
	}
	b.WriteRune(r)
}

// escaped gives the character of an escape, \u and four digits or \u and digits in braces, and how long it is. 0: it is none.
func escaped(s string) (r rune, length int) {
	digits := ""
	if len(s) >= 6 && strings.HasPrefix(s, `\u`) {
		digits, length = s[2:6], 6
	}
	if rest, ok := strings.CutPrefix(s, `\u{`); ok {
		inner, _, closed := strings.Cut(rest, "}")
		if !closed || len(inner) > 8 {
			return 0, 0
		}
		digits, length = inner, len(`\u{}`)+len(inner)
	}
	n, err := strconv.ParseUint(digits, 16, 31)
	if err != nil || n > '\U0010FFFF' {
		return 0, 0
	}
	return rune(n), length
}
