// Package scalar says how the scalars of the GraphQL interface are written and read. What comes in has been held against
// its type before (rule graphql.variables).
package scalar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// MarshalFloat writes a number without an exponent, and without a decimal point where it is whole: clients read sizes into
// integers (rule graphql.numbers).
func MarshalFloat(f float64) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(AppendFloat(nil, f)) })
}

// AppendFloat appends a number as MarshalFloat writes it.
func AppendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0 // JSON has no such number
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// UnmarshalFloat reads a number.
func UnmarshalFloat(v any) (float64, error) { return graphql.UnmarshalFloat(v) }

// MarshalPort writes a port.
func MarshalPort(p string) graphql.Marshaler { return graphql.MarshalString(p) }

// UnmarshalPort reads a number or text.
func UnmarshalPort(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	}
	return "", fmt.Errorf("a port is a number or text, not %T", v)
}

// MarshalVoid writes null, whatever it is given: the generator knows no result without a value.
func MarshalVoid(bool) graphql.Marshaler { return graphql.Null }

// UnmarshalVoid refuses: nothing takes it.
func UnmarshalVoid(any) (bool, error) { return false, errors.New("void is not an input") }

// MarshalDateTime writes a time as RFC 3339 text in UTC.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(AppendDateTime(nil, t)) })
}

// AppendDateTime appends a time as MarshalDateTime writes it.
func AppendDateTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

// UnmarshalDateTime reads RFC 3339 text.
func UnmarshalDateTime(v any) (time.Time, error) {
	text, ok := v.(string)
	if !ok {
		return time.Time{}, fmt.Errorf("a time is RFC 3339 text, not %T", v)
	}
	return time.Parse(time.RFC3339Nano, text)
}
