package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// set is a statement that does at once what another one does for each of many lists of arguments: PostgreSQL plans and runs one, in place
// of one for each.
type set struct {
	of       *pgconn.StatementDescription
	types    []uint32 // of the arguments of the other one
	numbered bool     // its rows begin with the number of the list of arguments, from 1, that they are about
}

// forMany gives the set of the statement; nil if there is none.
func (s *statement) forMany() (*set, error) {
	if s.set != nil || s.single {
		return s.set, nil
	}
	query, numbered := setOf(s.of.SQL, s.of.ParamOIDs)
	if query == "" {
		s.single = true
		return nil, nil
	}

	of, err := s.conn.on.Prepare(context.Background(), s.of.Name+"_set", query)
	if err != nil {
		return nil, s.conn.away(fmt.Errorf("prepare a set: %w", err))
	}
	s.set = &set{of: of, types: s.of.ParamOIDs, numbered: numbered}
	return s.set, nil
}

var (
	insertValues = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(INSERT INTO \w+ \([^)]*\)) VALUES \((?:\$\d+(?:, )?)+\)$`)
	})
	updateWhere = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^(UPDATE \w+ SET .*?)\s(WHERE .*?)(?:\sRETURNING (.*))?$`)
	})
	place = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\d+)`) })
)

// arrays are the types of which there are sets.
var arrays = map[uint32]string{pgtype.Int8OID: "bigint[]", pgtype.TextOID: "text[]", pgtype.ByteaOID: "bytea[]", pgtype.Float8OID: "double precision[]"}

// setOf gives the text of the set of a statement, which is an INSERT of one row, in the order of its arguments, or an UPDATE whose WHERE
// names a row by its key: of several lists of arguments that mean the same row one changes it. "" if there is none.
func setOf(query string, types []uint32) (text string, numbered bool) {
	lists, names := make([]string, len(types)), make([]string, len(types))
	for i, t := range types {
		if arrays[t] == "" {
			return "", false
		}
		lists[i] = fmt.Sprintf("$%d::%s", i+1, arrays[t])
		names[i] = "a" + strconv.Itoa(i+1)
	}
	from := "unnest(" + strings.Join(lists, ", ") + ")"

	if m := insertValues().FindStringSubmatch(query); m != nil {
		return m[1] + " SELECT * FROM " + from, false
	}
	m := updateWhere().FindStringSubmatch(query)
	if m == nil {
		return "", false
	}
	named := func(part string) string { return place().ReplaceAllString(part, "of_set.a$1") }
	text = named(m[1]) + " FROM " + from + " WITH ORDINALITY AS of_set (" + strings.Join(names, ", ") + ", nth) " + named(m[2]) + " RETURNING of_set.nth"
	if m[3] != "" {
		text += ", " + named(m[3])
	}
	return text, true
}

// args gives the arguments of the set: an array for each of the other's. It fails on a value that is not of the argument's type.
func (s *set) args(asks []*ask) (all []any, err error) {
	all = make([]any, len(s.types))
	for i, t := range s.types {
		switch t {
		case pgtype.Int8OID:
			all[i], err = column[int64](asks, i)
		case pgtype.Float8OID:
			all[i], err = column[float64](asks, i)
		case pgtype.TextOID:
			all[i], err = column[string](asks, i)
		default:
			all[i], err = column[[]byte](asks, i)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// column gives the argument of each of the functions; nil for NULL.
func column[T any](asks []*ask, i int) ([]*T, error) {
	all := make([]*T, len(asks))
	for n, a := range asks {
		switch v := a.args[i].(type) {
		case nil:
		case T:
			all[n] = &v
		default:
			return nil, fmt.Errorf("argument %d of %q is a %T", i+1, a.of.of.SQL, v)
		}
	}
	return all, nil
}
