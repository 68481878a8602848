package sqldb

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
)

// column is one column of a table whose rows are read into a T and written from one: the only place that names it. Lists of columns
// give the lists of names in statements, their arguments, and how a row is read, so that none of these can miss a column, or have it
// at another place than the others. A column is made by a function for the type of its field: text, whole, instant and so on.
type column[T any] struct {
	name     string
	selected string                       // what a SELECT lists in its place; empty: the name
	write    func(*T) any                 // its value in a statement; nil: it is read only
	read     func(*T, driver.Value) error // takes its value from a row; nil: it is written only
}

// columns are some of one table, in any order.
type columns[T any] []column[T]

// all gives the columns of all lists.
func all[T any](lists ...columns[T]) columns[T] { return slices.Concat(lists...) }

// only gives the columns of the names. It panics at a name that is none of them.
func (c columns[T]) only(names ...string) columns[T] {
	some := make(columns[T], 0, len(names))
	for _, name := range names {
		i := slices.IndexFunc(c, func(one column[T]) bool { return one.name == name })
		if i < 0 {
			panic("sqldb: there is no column " + name)
		}
		some = append(some, c[i])
	}
	return some
}

// from gives the columns as they are named where their table has another name.
func (c columns[T]) from(table string) columns[T] {
	named := slices.Clone(c)
	for i := range named {
		if named[i].selected == "" {
			named[i].selected = table + `."` + named[i].name + `"`
		}
	}
	return named
}

// list is what a SELECT or a RETURNING lists: columns in double quotes, which stand nowhere else, so that an engine can find them.
func (c columns[T]) list() string {
	var names []string
	for _, one := range c {
		switch {
		case one.read == nil:
		case one.selected != "":
			names = append(names, one.selected)
		default:
			names = append(names, `"`+one.name+`"`)
		}
	}
	return strings.Join(names, ", ")
}

// names are those of the columns that are written.
func (c columns[T]) names() string { return c.format("%s") }

// marks are the places of their values.
func (c columns[T]) marks() string { return c.format("?") }

// set is what an UPDATE sets.
func (c columns[T]) set() string { return c.format("%s = ?") }

// format gives the columns that are written, each by the pattern.
func (c columns[T]) format(pattern string) string {
	var parts []string
	for _, one := range c {
		if one.write != nil {
			parts = append(parts, strings.ReplaceAll(pattern, "%s", one.name))
		}
	}
	return strings.Join(parts, ", ")
}

// insert is a statement that writes a row.
func (c columns[T]) insert(table string) string {
	return "INSERT INTO " + table + " (" + c.names() + ") VALUES (" + c.marks() + ")"
}

// values appends the arguments of a statement that writes the columns, and after them more.
func (c columns[T]) values(to []any, of *T, more ...any) []any {
	for i := range c {
		if c[i].write != nil {
			to = append(to, c[i].write(of))
		}
	}
	return append(to, more...)
}

// room is for one row at a time while its columns are written: columns are functions, so each row is allocated that they are given.
type room[T any] struct{ of T }

// values is that of the columns, of a row that it puts into the room meanwhile.
func (r *room[T]) values(to []any, c columns[T], of T) []any {
	r.of = of
	to = c.values(to, &r.of)
	r.of = *new(T) // it may be large
	return to
}

// scan takes the values of a row that list asked for.
func (c columns[T]) scan(r row, into *T) error {
	n := 0
	for i := range c {
		if c[i].read == nil {
			continue
		}
		if n == len(r) {
			return fmt.Errorf("%s: the row has no more than %d columns", c[i].name, n)
		}
		if err := c[i].read(into, r[n]); err != nil {
			return fmt.Errorf("%s: %w", c[i].name, err)
		}

		n++
	}

	return nil
}

// written makes a column that only a statement writes: what it has follows from other fields, and serves to find the row.
func written[T any](name string, value func(*T) any) column[T] {
	return column[T]{name: name, write: value}
}

// computed makes what is read only: an expression in the place of a column of that kind.
func computed[T any](expression string, c column[T]) column[T] {
	c.selected, c.write = expression, nil
	return c
}

// itself is the field of a row of one column.
func itself[T any](t *T) *T { return t }

// embedded gives the columns of a part of T.
func embedded[T, P any](part func(*T) *P, of columns[P]) columns[T] {
	mine := make(columns[T], len(of))
	for i, c := range of {
		mine[i] = column[T]{name: c.name, selected: c.selected}
		if c.write != nil {
			mine[i].write = func(t *T) any { return c.write(part(t)) }
		}
		if c.read != nil {
			mine[i].read = func(t *T, v driver.Value) error { return c.read(part(t), v) }
		}
	}
	return mine
}

// optional gives the columns of a part that not every T has: they are all NULL then.
func optional[T, P any](part func(*T) **P, of columns[P]) columns[T] {
	mine := make(columns[T], len(of))
	for i, c := range of {
		mine[i] = column[T]{name: c.name, selected: c.selected}
		if c.write != nil {
			mine[i].write = func(t *T) any {
				if p := *part(t); p != nil {
					return c.write(p)
				}
				return nil
			}
		}

		if c.read != nil {
			mine[i].read = func(t *T, v driver.Value) error {
				if v == nil {
					return nil
				}
				p := part(t)
				if *p == nil {
					*p = new(P)
				}
				return c.read(*p, v)
			}
		}
	}

	return mine
}
