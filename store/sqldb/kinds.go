package sqldb

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// This file says how each type of a field is stored. There are four types of columns, and every engine has them: 64-bit integers,
// 64-bit floating-point numbers, text, and bytes.

// read takes a value of a type that the engine gives.
func read[V any](v driver.Value) (V, error) {
	value, ok := v.(V)
	if !ok {
		return value, fmt.Errorf("it is a %T and no %T", v, value)
	}
	return value, nil
}

// text is a column of text.
func text[T any, F ~string](name string, field func(*T) *F) column[T] {
	return column[T]{
		name:  name,
		write: func(t *T) any { return string(*field(t)) },
		read: func(t *T, v driver.Value) error {
			s, err := read[string](v)
			*field(t) = F(s)
			return err
		},
	}
}

// whole is a column of integers.
func whole[T any, F ~int | ~int64](name string, field func(*T) *F) column[T] {
	return column[T]{
		name:  name,
		write: func(t *T) any { return int64(*field(t)) },
		read: func(t *T, v driver.Value) error {
			n, err := read[int64](v)
			*field(t) = F(n)
			return err
		},
	}
}

// real is a column of floating-point numbers.
func real[T any](name string, field func(*T) *float64) column[T] {
	return column[T]{
		name:  name,
		write: func(t *T) any { return *field(t) },
		read: func(t *T, v driver.Value) (err error) {
			*field(t), err = read[float64](v)
			return err
		},
	}
}

// flag is a column of integers, 1 or 0.
func flag[T any](name string, field func(*T) *bool) column[T] {
	return column[T]{
		name:  name,
		write: func(t *T) any { return bit(*field(t)) },
		read: func(t *T, v driver.Value) error {
			n, err := read[int64](v)
			*field(t) = n != 0
			return err
		},
	}
}

func bit(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// instant is a column of times, as millis gives them.
func instant[T any](name string, field func(*T) *time.Time) column[T] {
	return column[T]{
		name:  name,
		write: func(t *T) any { return millis(*field(t)) },
		read: func(t *T, v driver.Value) error {
			if v == nil {
				*field(t) = time.Time{}
				return nil
			}
			ms, err := read[int64](v)
			*field(t) = time.UnixMilli(ms).UTC()
			return err
		},
	}
}

// millis gives a time as it is stored: milliseconds since 1970, NULL for the zero time.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// span is a column of durations, in milliseconds.
func span[T any](name string, field func(*T) *time.Duration) column[T] {
	return column[T]{
		name:  name,
		write: func(t *T) any { return field(t).Milliseconds() },
		read: func(t *T, v driver.Value) error {
			ms, err := read[int64](v)
			*field(t) = time.Duration(ms) * time.Millisecond
			return err
		},
	}
}

// blob is a column of bytes, such as JSON that is given back as it came; NULL for nil.
func blob[T any, F ~[]byte](name string, field func(*T) *F) column[T] {
	return column[T]{
		name:  name,
		write: func(t *T) any { return raw(*field(t)) },
		read: func(t *T, v driver.Value) error {
			if v == nil {
				*field(t) = nil
				return nil
			}
			b, err := read[[]byte](v)
			*field(t) = b
			return err
		},
	}
}

func raw[F ~[]byte](b F) any {
	if b == nil {
		return nil
	}
	return []byte(b)
}

// words is a column of a list of strings, as JSON text.
func words[T any, F ~string](name string, field func(*T) *[]F) column[T] {
	return custom(name, func(t *T) string { return wordsText(*field(t)) }, func(t *T, s string) (err error) {
		*field(t), err = wordsOf[F](s)
		return err
	})
}

// wordMap is a column of strings by their names, as JSON text.
func wordMap[T any](name string, field func(*T) *map[string]string) column[T] {
	return custom(name, func(t *T) string { return wordMapText(*field(t)) }, func(t *T, s string) (err error) {
		*field(t), err = wordMapOf(s)
		return err
	})
}

// custom is a column of text of a form of its own.
func custom[T any](name string, write func(*T) string, take func(*T, string) error) column[T] {
	return column[T]{
		name:  name,
		write: func(t *T) any { return write(t) },
		read: func(t *T, v driver.Value) error {
			s, err := read[string](v)
			if err != nil {
				return err
			}
			return take(t, s)
		},
	}
}

// wordsText gives a list of strings as JSON text.
func wordsText[F ~string](list []F) string {
	switch {
	case list == nil:
		return "null"
	case len(list) == 0: // as most are
		return "[]"
	}
	return jsonOf(list)
}

func wordMapText(m map[string]string) string {
	switch {
	case m == nil:
		return "null"
	case len(m) == 0:
		return "{}"
	}
	return jsonOf(m)
}

// jsonOf gives strings as JSON. They cannot fail, and have no names of fields that a renaming would lose.
func jsonOf(strings any) string {
	b, err := json.Marshal(strings)
	if err != nil {
		panic("sqldb: strings are always JSON: " + err.Error())
	}
	return string(b)
}

// wordsOf reads what wordsText wrote.
func wordsOf[F ~string](s string) (list []F, err error) {
	if !plain(s) {
		err = json.Unmarshal([]byte(s), &list)
		return list, err
	}
	list = make([]F, 0, strings.Count(s, `"`)/2)
	for one, rest, more := nextWord(s); more; one, rest, more = nextWord(rest) {
		list = append(list, F(one))
	}
	return list, nil
}

// wordMapOf reads what wordMapText wrote.
func wordMapOf(s string) (m map[string]string, err error) {
	if !plain(s) {
		err = json.Unmarshal([]byte(s), &m)
		return m, err
	}
	m = make(map[string]string, strings.Count(s, `"`)/4)
	for name, rest, more := nextWord(s); more; name, rest, more = nextWord(rest) {
		m[name], rest, _ = nextWord(rest)
	}
	return m, nil
}

// plain reports whether nothing is escaped: what stands between each two quotation marks is a string then, and a tenth of the time of
// a decoder is enough.
func plain(s string) bool { return !strings.ContainsRune(s, '\\') && s != "null" }

// nextWord gives what stands between the next two quotation marks, and what comes after them.
func nextWord(s string) (word, rest string, more bool) {
	_, rest, more = strings.Cut(s, `"`)
	word, rest, _ = strings.Cut(rest, `"`)
	return word, rest, more
}
