// Package encode is what the generated encoders call. Each function appends the JSON of a value, exactly as encoding/json
// has it without escaping < > &.
package encode

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
)

// Appender is what has a generated encoder.
type Appender interface {
	// AppendJSON appends the value to dst.
	AppendJSON(dst []byte) []byte
}

// String appends a string.
func String(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			return Any(dst, s)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// Int appends a whole number.
func Int(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// Bool appends true or false.
func Bool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

// Float appends a number. Very large and very small ones have an exponent; those are for Any.
func Float(dst []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && !(a >= 1e-6 && a < 1e21) {
		return Any(dst, f)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// Time appends a time.
func Time(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst, err := t.AppendText(dst)
	if err != nil {
		panic("encode: " + err.Error())
	}
	return append(dst, '"')
}

// Raw appends JSON, without the white space in it.
func Raw(dst []byte, text json.RawMessage) []byte {
	if text == nil {
		return append(dst, "null"...)
	}
	b := bytes.NewBuffer(dst)
	if err := json.Compact(b, text); err != nil {
		panic("encode: " + err.Error())
	}
	return b.Bytes()
}

// Any appends a value of any type by encoding/json.
func Any(dst []byte, v any) []byte {
	b := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("encode: " + err.Error()) // a number that is none, JSON that is none: the value is wrong
	}
	return b.Bytes()[:b.Len()-1] // without the end of the line
}

// Names gives the names of an object in their order.
func Names[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// End ends an object or an array, each value of which a comma follows.
func End(dst []byte, bracket byte) []byte {
	if last := len(dst) - 1; dst[last] == ',' {
		dst[last] = bracket
		return dst
	}
	return append(dst, bracket)
}
