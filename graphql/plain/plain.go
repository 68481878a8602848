// Package plain writes objects of an answer that are values in memory: into one buffer, with the fields of a selection collected once
// for all objects of a list. Gqlgen makes a context, four closures and a marshaler for each field of each object, which of a list of
// 100 pods were three quarters of its processor time. Generated code names the fields (cmd/graphgen).
//
// Whatever is not plain success is not written here: a field that a resolver gives, a null where the schema has none, a part that is
// deferred, a panic. There is no writer then, or it gives up, and gqlgen answers as if this package were not there: with the error,
// its path, and the null as far up as it must go.
package plain

import (
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/graphql/scalar"
)

// Writer appends a value; false: it cannot be written here.
type Writer[T any] func(b []byte, of T) ([]byte, bool)

// Field gives what writes a field as a selection asks for it; nil: nothing here does.
type Field[T any] func(o *graphql.OperationContext, sel ast.SelectionSet) Writer[T]

// Type is a type of objects. T is a pointer to its model.
type Type[T any] struct {
	Name       string
	Implements []string                   // the names of types whose fragments it takes, its own among them
	Field      func(name string) Field[T] // nil: one that is not plain
}

// Object writes an object; nil: it cannot be written here.
func Object[T any](o *graphql.OperationContext, sel ast.SelectionSet, of T, t Type[T]) graphql.Marshaler {
	return written(func() ([]byte, bool) {
		if write := t.writer(o, sel); write != nil {
			return write(nil, of)
		}
		return nil, false
	})
}

// Objects writes a list, whose elements may be null or not; nil: it cannot be written here.
func Objects[T comparable](o *graphql.OperationContext, sel ast.SelectionSet, of []T, t Type[T], nullable bool) graphql.Marshaler {
	return written(func() ([]byte, bool) {
		if write := t.writer(o, sel); write != nil {
			return list(nil, of, write, nullable)
		}
		return nil, false
	})
}

// written gives what was written, if all was.
func written(write func() ([]byte, bool)) (m graphql.Marshaler) {
	defer func() {
		if recover() != nil {
			m = nil // gqlgen meets the same, and makes an error of it
		}
	}()

	b, ok := write()
	if !ok {
		return nil
	}
	return bytes(b)
}

// bytes are JSON.
type bytes []byte

// MarshalGQL is for gqlgen.
func (b bytes) MarshalGQL(w io.Writer) { _, _ = w.Write(b) } // w is a buffer

// writer gives what writes objects as a selection asks for them; nil if a field of it is not plain.
func (t Type[T]) writer(o *graphql.OperationContext, sel ast.SelectionSet) Writer[T] {
	type member struct {
		name  string // as JSON, with what stands around it
		write Writer[T]
	}

	fields := graphql.CollectFields(o, sel, t.Implements)
	members := make([]member, len(fields))
	for i := range fields {
		f := &fields[i]
		field := t.Field(f.Name)
		if f.Name == "__typename" {
			field = Value(func(T) string { return t.Name }, String)
		}
		if field == nil || f.IsDeferred() {
			return nil
		}

		before := ","
		if i == 0 {
			before = "{"
		}
		members[i] = member{before + `"` + f.Alias + `":`, field(o, f.Selections)}
		if members[i].write == nil {
			return nil
		}
	}
	if len(members) == 0 {
		return nil // all of it is skipped
	}

	return func(b []byte, of T) (_ []byte, ok bool) {
		for i := range members {
			b = append(b, members[i].name...)
			if b, ok = members[i].write(b, of); !ok {
				return nil, false
			}
		}
		return append(b, '}'), true
	}
}

// mostAhead is for how many bytes of a list room is made when its first element is known.
const mostAhead = 1 << 20

// list has a pointer as its parameter, as all here that is of objects: so the compiler makes one of all.
func list[V comparable](b []byte, of []V, write Writer[V], nullable bool) (_ []byte, ok bool) {
	var none V
	whole := len(b) == 0
	b = append(b, '[')
	for i, v := range of {
		if i > 0 {
			b = append(b, ',')
		}

		if v != none {
			if b, ok = write(b, v); !ok {
				return nil, false
			}
		} else if b = append(b, "null"...); !nullable {
			return nil, false
		}

		if i == 0 && whole { // the others are about as long, but for one that is much longer
			b = slices.Grow(b, min(len(b)*len(of)*9/8, mostAhead))
		}
	}
	return append(b, ']'), true
}

// Value is a field that always has a value. It is inlined no more than the others below: there are hundreds of calls, each of which would
// have closures of its own.
//
//go:noinline
func Value[T, V any](get func(T) V, write func([]byte, V) []byte) Field[T] {
	return always(func(b []byte, of T) ([]byte, bool) { return write(b, get(of)), true })
}

// Pointer is a field of a value that may be absent, which is null if the schema has it so.
//
//go:noinline
func Pointer[T, V any](get func(T) *V, write func([]byte, V) []byte, nullable bool) Field[T] {
	return always(func(b []byte, of T) ([]byte, bool) {
		if v := get(of); v != nil {
			return write(b, *v), true
		}
		return append(b, "null"...), nullable
	})
}

// Pointers is a field of a list of values, which, as each of its elements, may be null if the schema has it so.
//
//go:noinline
func Pointers[T, V any](get func(T) []*V, write func([]byte, V) []byte, nullable, elements bool) Field[T] {
	return always(func(b []byte, of T) ([]byte, bool) {
		v := get(of)
		if v == nil && nullable {
			return append(b, "null"...), true
		}
		return list(b, v, func(b []byte, v *V) ([]byte, bool) { return write(b, *v), true }, elements)
	})
}

func always[T any](w Writer[T]) Field[T] {
	return func(*graphql.OperationContext, ast.SelectionSet) Writer[T] { return w }
}

// One is a field of an object, which is null if the schema has it so.
//
//go:noinline
func One[T any, V comparable](get func(T) V, t func() Type[V], nullable bool) Field[T] {
	var none V
	return func(o *graphql.OperationContext, sel ast.SelectionSet) Writer[T] {
		write := t().writer(o, sel)
		if write == nil {
			return nil
		}
		return func(b []byte, of T) ([]byte, bool) {
			if v := get(of); v != none {
				return write(b, v)
			}
			return append(b, "null"...), nullable
		}
	}
}

// Many is a field of a list of objects, which, as each of its elements, may be null if the schema has it so.
//
//go:noinline
func Many[T any, V comparable](get func(T) []V, t func() Type[V], nullable, elements bool) Field[T] {
	return func(o *graphql.OperationContext, sel ast.SelectionSet) Writer[T] {
		write := t().writer(o, sel)
		if write == nil {
			return nil
		}
		return func(b []byte, of T) ([]byte, bool) {
			v := get(of)
			if v == nil && nullable {
				return append(b, "null"...), true
			}
			return list(b, v, write, elements)
		}
	}
}

const hex = "0123456789ABCDEF"

// String appends text as JSON, as gqlgen does.
func String(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '\\' && c != '"' {
			continue
		}

		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		case '\n':
			b = append(b, `\n`...)
		case '\\', '"':
			b = append(b, '\\', c)
		default:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&0xf])
		}
	}
	return append(append(b, s[start:]...), '"')
}

// Enum appends a word of an enumeration.
func Enum[V ~string](b []byte, v V) []byte { return String(b, string(v)) }

// Int appends a number.
func Int(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

// Boolean appends true or false.
func Boolean(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// Float appends a number (rule graphql.numbers).
func Float(b []byte, f float64) []byte { return scalar.AppendFloat(b, f) }

// DateTime appends a time as RFC 3339 text in UTC.
func DateTime(b []byte, t time.Time) []byte { return scalar.AppendDateTime(b, t) }
