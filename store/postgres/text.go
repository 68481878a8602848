package postgres

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// PostgreSQL's text holds neither the character 0 nor bytes that are no UTF-8, which SQLite's does, and what clients and workers send
// may have both. Each such byte is kept as a mark and two hexadecimal digits, and a mark as itself and two hyphens. It is U+10FFFF, which
// is no character and never will be one.
const mark = "\U0010FFFF"

// kept gives a text as it is stored: other texts are other ones then, too.
func kept(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 && !strings.Contains(text, mark) {
		return text
	}

	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch part := text[i : i+size]; {
		case r == 0, r == utf8.RuneError && size == 1:
			b.WriteString(mark + hex.EncodeToString([]byte(part)))
		case part == mark:
			b.WriteString(mark + "--")
		default:
			b.WriteString(part)
		}
		i += size
	}

	return b.String()
}

// plain gives back the text that was stored as kept says.
func plain(stored string) (string, error) {
	first, rest, marked := strings.Cut(stored, mark)
	if !marked {
		return stored, nil
	}

	var b strings.Builder
	b.WriteString(first)
	for part := range strings.SplitSeq(rest, mark) {
		if len(part) < 2 {
			break // the beginning of a text that a statement cut here, as lists do with errors
		}
		if part[:2] == "--" {
			b.WriteString(mark)
		} else {
			lost, err := hex.DecodeString(part[:2])
			if err != nil {
				return "", fmt.Errorf("the text %q: %w", stored, err)
			}
			b.Write(lost)
		}
		b.WriteString(part[2:])
	}

	return b.String(), nil
}
