package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// unescape reads a step of a JSON Pointer.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// holds reports whether the request has the value.
func (v Value) holds(e *Entry) bool {
	at, why := v.in(e)
	if why != "" {
		return false
	}
	expected, err := decoded(v.Equals)
	return err == nil && reflect.DeepEqual(at, expected)
}

// found says what the request has instead.
func (v Value) found(e *Entry) string {
	at, why := v.in(e)
	if why != "" {
		return why
	}
	text, err := json.Marshal(at)
	if err != nil {
		return "a value that cannot be shown"
	}
	return shortened(string(text))
}

// in gives what the request has at the place, or why there is nothing.
func (v Value) in(e *Entry) (at any, why string) {
	b := e.Request.Body
	switch {
	case b.Truncated:
		return nil, fmt.Sprintf("a body of %d bytes, of which the journal keeps %d", b.Length, len(b.Text))
	case b.Length == 0:
		return nil, "no body"
	case b.Base64:
		return nil, "a body that is no text"
	}

	at, err := decoded([]byte(b.Text))
	if err != nil {
		return nil, "a body that is not JSON"
	}
	if v.Pointer == "" {
		return at, ""
	}
	for _, step := range strings.Split(v.Pointer, "/")[1:] {
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

// decoded gives a JSON document as maps, lists and scalars, whose numbers have one form for each value.
func decoded(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
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
