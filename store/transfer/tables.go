package transfer

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the type of a column.
type Kind string

// The kinds, which every engine has.
const (
	Integer Kind = "integer" // of 64 bits
	Real    Kind = "real"    // of 64 bits
	Text    Kind = "text"    // any bytes, those that are no UTF-8 too
	Bytes   Kind = "bytes"
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	Null bool // it may be NULL
}

// Table is a table, as its engine describes it.
type Table struct {
	Name    string
	Columns []Column // by name
	Key     []string // the columns of the primary key, in its order
	Parents []string // the tables that its rows hang on, by name
}

// Names gives the names of the columns, quoted and separated by commas, as a statement has them.
func (t Table) Names() string {
	var quoted []string
	for _, c := range t.Columns {
		quoted = append(quoted, `"`+c.Name+`"`)
	}
	return strings.Join(quoted, ", ")
}

// String describes all but the name.
func (t Table) String() string {
	text := fmt.Sprintf("key (%s)", strings.Join(t.Key, ", "))
	if len(t.Parents) > 0 {
		text += ", hangs on " + strings.Join(t.Parents, ", ")
	}
	return text
}

// String describes the column.
func (c Column) String() string {
	if c.Null {
		return c.Name + " " + string(c.Kind) + " or NULL"
	}
	return c.Name + " " + string(c.Kind)
}

// Difference names what one list of tables has otherwise than the other.
func Difference(from, to []Table) (differ []error) {
	for _, t := range from {
		i := slices.IndexFunc(to, func(other Table) bool { return other.Name == t.Name })
		if i < 0 {
			differ = append(differ, fmt.Errorf("the source has a table %s, the target does not", t.Name))
			continue
		}

		if t.String() != to[i].String() {
			differ = append(differ, fmt.Errorf("table %s: %s in the source, %s in the target", t.Name, t, to[i]))
		}
		for _, c := range t.Columns {
			if !slices.Contains(to[i].Columns, c) {
				differ = append(differ, fmt.Errorf("table %s: the source has a column %s, the target does not", t.Name, c))
			}
		}
		for _, c := range to[i].Columns {
			if !slices.Contains(t.Columns, c) {
				differ = append(differ, fmt.Errorf("table %s: the target has a column %s, the source does not", t.Name, c))
			}
		}
	}

	for _, t := range to {
		if !slices.ContainsFunc(from, func(other Table) bool { return other.Name == t.Name }) {
			differ = append(differ, fmt.Errorf("the target has a table %s, the source does not", t.Name))
		}
	}

	return differ
}

// parentsFirst gives the tables so that each comes after those that its rows hang on.
func parentsFirst(tables []Table) (sorted []Table) {
	left := slices.Clone(tables)
	for len(left) > 0 {
		i := max(0, slices.IndexFunc(left, func(t Table) bool {
			return !slices.ContainsFunc(left, func(other Table) bool { return other.Name != t.Name && slices.Contains(t.Parents, other.Name) })
		})) // of a circle, which there is none of, the engine says what it thinks
		sorted = append(sorted, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return sorted
}

// Filled is a query for the names of the tables that have rows, which every engine understands.
func Filled(tables []Table) string {
	var each []string
	for _, t := range tables {
		each = append(each, fmt.Sprintf(`SELECT '%s' WHERE EXISTS (SELECT 1 FROM "%s")`, t.Name, t.Name))
	}
	return strings.Join(each, " UNION ALL ")
}

// NotEmpty is the error of a target that has rows already.
type NotEmpty struct{ Tables []string }

func (e *NotEmpty) Error() string {
	has := "have"
	if len(e.Tables) == 1 {
		has = "has"
	}
	return fmt.Sprintf("it is not empty: %s %s rows", strings.Join(e.Tables, ", "), has)
}

// AddColumn adds a column to the last of the tables, or to a new one if that has another name. Place is its place in the primary key,
// from 1; 0: it is in none.
func AddColumn(to []Table, table string, c Column, place int) []Table {
	if len(to) == 0 || to[len(to)-1].Name != table {
		to = append(to, Table{Name: table})
	}
	t := &to[len(to)-1]
	t.Columns = append(t.Columns, c)
	if place > 0 {
		for len(t.Key) < place {
			t.Key = append(t.Key, "")
		}
		t.Key[place-1] = c.Name
	}
	return to
}

// AddParent adds a table that the rows of another one hang on.
func AddParent(to []Table, table, parent string) {
	for i := range to {
		if to[i].Name == table {
			to[i].Parents = append(to[i].Parents, parent)
		}
	}
}

// CheckVersion refuses a source whose schema is not the one of the program, which is not to be changed.
func CheckVersion(source, program int) error {
	switch {
	case source > program:
		return fmt.Errorf("a newer berth wrote it: its schema is version %d, this program knows %d; run the newer one", source, program)
	case source < program:
		return fmt.Errorf("an older berth wrote it: its schema is version %d, and this program's %d; start a server of this version on it once, which brings it up to date, and stop it", source, program)
	}
	return nil
}
