package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// unescape reads a step of a JSON Pointer.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// check gives the check of the value in bodies, which are read by b.
func (v Value) check(b *body) check {
	expected, err := Decode(v.Equals)
	return check{
		member: strings.TrimSuffix("body "+v.Pointer, " "), expected: shortened(string(v.Equals)),
		holds: func(e *Entry) bool {
			at, why := b.of(e).At(v.Pointer)
			return why == "" && err == nil && reflect.DeepEqual(at, expected)
		},
		found: func(e *Entry) string { return b.of(e).shows(v.Pointer) },
	}
}

// Holds reports whether the document has the value.
func (v Value) Holds(d JSON) bool {
	expected, err := Decode(v.Equals)
	at, why := d.At(v.Pointer)
	return why == "" && err == nil && reflect.DeepEqual(at, expected)
}

// Difference gives how the document differs from the value, if it does: the member is the place.
func (v Value) Difference(d JSON) Difference {
	return Difference{v.Pointer, shortened(string(v.Equals)), d.shows(v.Pointer)}
}

// JSON is a document as values are held against it.
type JSON struct {
	value any
	why   string // there is none; empty: there is
}

// NewJSON reads a document.
func NewJSON(text []byte) JSON {
	value, err := Decode(text)
	if err != nil {
		return JSON{why: "a body that is not JSON"}
	}
	return JSON{value: value}
}

// NoJSON is a document that is not looked at, for that reason.
func NoJSON(why string) JSON { return JSON{why: why} }

// At gives what is at the place, as maps, lists, texts, booleans, nil and json.Number, or why there is nothing.
func (d JSON) At(pointer string) (at any, why string) {
	if d.why != "" || pointer == "" {
		return d.value, d.why
	}

	at = d.value
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = unescape.Replace(step)
		var ok bool
		switch in := at.(type) {
		case map[string]any:
			at, ok = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(in) && strconv.Itoa(i) == step; ok {
				at = in[i]
			}
		}
		if !ok {
			return nil, "nothing"
		}
	}

	return at, ""
}

// shows gives what is at the place for people.
func (d JSON) shows(pointer string) string {
	at, why := d.At(pointer)
	if why != "" {
		return why
	}
	text, err := json.Marshal(at)
	if err != nil {
		return "a value that cannot be shown"
	}
	return shortened(string(text))
}

// body is the body of a request, which is read once for all values of an expectation.
type body struct {
	entry *Entry
	JSON
}

// of gives the body of the entry.
func (b *body) of(e *Entry) JSON {
	if b.entry == e {
		return b.JSON
	}
	b.entry = e
	switch sent := e.Request.Body; {
	case sent.Truncated:
		b.JSON = NoJSON(fmt.Sprintf("a body of %d bytes, of which the journal keeps %d", sent.Length, len(sent.Text)))
	case sent.Length == 0:
		b.JSON = NoJSON("no body")
	case sent.Base64:
		b.JSON = NoJSON("a body that is no text")
	default:
		b.JSON = NewJSON([]byte(sent.Text))
	}
	return b.JSON
}

// Decode gives a JSON document as maps, lists and scalars, whose numbers have one form for each value.
func Decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document")
	}
	return normal(v), nil
}

// normal gives the value with numbers in one form.
func normal(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.Number(normalNumber(string(v)))
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = normal(v[name])
		}
	}
	return v
}

// normalNumber gives a number of JSON as an integer if it is a short one, else as digits and a power of ten. It keeps every digit, which a float
// would not.
func normalNumber(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	power, err := strconv.ParseInt("0"+strings.TrimLeft(strings.TrimPrefix(exponent, "+"), "-"), 10, 64)
	if err != nil || power > 1<<40 {
		return text
	}
	if strings.HasPrefix(exponent, "-") {
		power = -power
	}

	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	power -= int64(len(fraction))
	short := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(short))
	if short == "" {
		return "0"
	}

	sign := ""
	if negative {
		sign = "-"
	}
	if power >= 0 && power <= 20 {
		return sign + short + strings.Repeat("0", int(power))
	}
	if power < 0 && -power < int64(len(short)) {
		at := len(short) + int(power)
		return sign + short[:at] + "." + short[at:]
	}
	return sign + short + "e" + strconv.FormatInt(power, 10)
}
