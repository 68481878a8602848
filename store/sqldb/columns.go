package sqldb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
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
	if len(v) == 0 { // as most are
		return empty(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic("sqldb: strings are always JSON: " + err.Error())
	}
	return string(b)
}

func empty(v any) string {
	switch v := v.(type) {
	case []string:
		if v != nil {
			return "[]"
		}
	case map[string]string:
		if v != nil {
			return "{}"
		}
	}
	return "null"
}

// words reads such a column.
type words[T map[string]string | []string] struct{ to *T }

func (w words[T]) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("JSON text of type %T", v)
	}
	if strings.ContainsRune(s, '\\') || s == "null" {
		var v T
		err := json.Unmarshal([]byte(s), &v)
		*w.to = v
		return err
	}
	// Nothing is escaped, so what stands between each two quotation marks is a string, and a tenth of the time is enough.
	next := func() (string, bool) {
		_, rest, more := strings.Cut(s, `"`)
		var one string
		one, s, _ = strings.Cut(rest, `"`)
		return one, more
	}
	switch to := any(w.to).(type) {
	case *[]string:
		*to = make([]string, 0, strings.Count(s, `"`)/2)
		for one, more := next(); more; one, more = next() {
			*to = append(*to, one)
		}
	case *map[string]string:
		*to = make(map[string]string, strings.Count(s, `"`)/4)
		for name, more := next(); more; name, more = next() {
			(*to)[name], _ = next()
		}
	}
	return nil
}

// joined reads a column that concat_ws made of several, in their order. The driver asks for the name and the type of each
// column of each answer: a read of seven columns takes 0.9 of the processor time of one of eighteen.
type joined struct {
	separator string
	each      func(*parts)
}

func (j joined) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("joined columns of type %T", v)
	}
	p := parts{rest: text, separator: j.separator}
	j.each(&p)
	return p.err
}

// parts are joined columns. err is of the last one that was no number.
type parts struct {
	rest, separator string
	err             error
}

func (p *parts) text() (part string) {
	part, p.rest, _ = strings.Cut(p.rest, p.separator)
	return part
}

func (p *parts) number() int64 {
	n, err := strconv.ParseInt(p.text(), 10, 64)
	if err != nil {
		p.err = err
	}
	return n
}

// instant is a time as millis gives it, with 0 for NULL.
func (p *parts) instant() time.Time {
	ms := p.number()
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// optional reads a column that may be NULL.
type optional[T any] = sql.Null[T]
