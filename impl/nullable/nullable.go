// Package nullable has the type of members of JSON that may be absent, null or there. The generated models are made for
// oapi-codegen's package of this name. Its values are maps, which were half of the memory that a list of pods took.
package nullable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Nullable is nil where the member is absent, else one entry. So omitempty leaves out what is absent and nothing else.
type Nullable[T any] []entry[T]

type entry[T any] struct {
	value T
	null  bool
}

var errNone = errors.New("nullable: there is no value")

// NewNullableWithValue gives a member with a value.
func NewNullableWithValue[T any](v T) Nullable[T] { return Nullable[T]{{value: v}} }

// NewNullNullable gives null.
func NewNullNullable[T any]() Nullable[T] { return Nullable[T]{{null: true}} }

// IsSpecified reports whether the member is there, be it null.
func (n Nullable[T]) IsSpecified() bool { return len(n) > 0 }

// IsNull reports whether the member is there and null.
func (n Nullable[T]) IsNull() bool { return len(n) > 0 && n[0].null }

// Pointer gives where the value is, nil where it is null or absent.
func (n Nullable[T]) Pointer() *T {
	if len(n) == 0 || n[0].null {
		return nil
	}
	return &n[0].value
}

// String gives the value as fmt prints it; empty where it is null or absent.
func (n Nullable[T]) String() string {
	if p := n.Pointer(); p != nil {
		return fmt.Sprint(*p)
	}
	return ""
}

// Get gives the value, and an error where it is null or absent.
func (n Nullable[T]) Get() (T, error) {
	if p := n.Pointer(); p != nil {
		return *p, nil
	}
	var zero T
	return zero, errNone
}

// MustGet gives the value, and panics where it is null or absent.
func (n Nullable[T]) MustGet() T {
	v, err := n.Get()
	if err != nil {
		panic(err)
	}
	return v
}

// Set makes v the value.
func (n *Nullable[T]) Set(v T) { *n = NewNullableWithValue(v) }

// SetNull makes the member null.
func (n *Nullable[T]) SetNull() { *n = NewNullNullable[T]() }

// MarshalJSON gives null for what is absent, where omitempty is missing.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // whoever encodes what this is in decides
	err := encoder.Encode(n.Pointer())
	return text.Bytes(), err
}

// UnmarshalJSON reads null or a value.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	var p *T
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	n.SetNull()
	if p != nil {
		n.Set(*p)
	}
	return nil
}
