package httpapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// literals are the words of Python that JSON has others for.
var literals = strings.NewReplacer("None", "null", "True", "true", "False", "false")

// fromLiteral gives the JSON of an object that stands as a Python literal. The worker SDK makes the error object that a
// generator yields a text in this way, so that its code would be lost without it (rule openai.error.literal). ok is false
// for any other text.
func fromLiteral(text string) (object json.RawMessage, ok bool) {
	if !strings.HasPrefix(text, "{'") {
		return nil, false
	}

	var b bytes.Buffer
	for text != "" {
		i := strings.IndexAny(text, `'"`)
		if i < 0 {
			i = len(text)
		}
		b.WriteString(literals.Replace(text[:i]))
		if text = text[i:]; text == "" {
			break
		}

		word, rest, ok := literalString(text)
		if !ok || writeJSON(&b, word) != nil {
			return nil, false
		}
		text = rest
	}

	return b.Bytes(), json.Valid(b.Bytes())
}

// literalString reads the string at the beginning of text, whose first byte is the quote that ends it.
func literalString(text string) (word, rest string, ok bool) {
	quote := text[0]
	text = text[1:]
	var b strings.Builder
	for text != "" {
		if text[0] == quote {
			return b.String(), text[1:], true
		}

		r, _, tail, err := strconv.UnquoteChar(text, quote)
		if err != nil { // a quote of the other kind is not escaped in Go but may be in Python
			if len(text) < 2 || text[0] != '\\' || text[1] != '\'' && text[1] != '"' {
				return "", "", false
			}
			r, tail = rune(text[1]), text[2:]
		}

		b.WriteRune(r) // of \xNN too: in Python it is a character, in Go a byte
		text = tail
	}

	return "", "", false
}
