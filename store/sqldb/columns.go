package sqldb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// millis gives a time as it is stored: milliseconds since 1970, NULL for the zero time.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// instant reads such a column into a time in UTC.
type instant struct{ to *time.Time }

func (i instant) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*i.to = time.Time{}
	case int64:
		*i.to = time.UnixMilli(v).UTC()
	default:
		return fmt.Errorf("a time of type %T", v)
	}
	return nil
}

// span reads a column of milliseconds into a duration.
type span struct{ to *time.Duration }

func (s span) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a duration of type %T", v)
	}
	*s.to = time.Duration(n) * time.Millisecond
	return nil
}

// blob gives JSON as it is stored: its bytes, NULL for nil.
func blob(b json.RawMessage) any {
	if b == nil {
		return nil
	}
	return []byte(b)
}

// text gives a value of strings as JSON text. Nothing but maps and slices of strings may come here: they cannot fail, and
// hold no field names that a renaming would lose.
func text[T map[string]string | []string](v T) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("sqldb: strings are always JSON: " + err.Error())
	}
	return string(b)
}

// words reads such a column.
type words[T map[string]string | []string] struct{ to *T }

func (w words[T]) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("JSON text of type %T", v)
	}
	return json.Unmarshal([]byte(s), w.to)
}

// optional reads a column that may be NULL.
type optional[T any] = sql.Null[T]
