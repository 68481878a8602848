package postgres

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// rows are what a statement gave.
type rows struct {
	conn   *conn
	of     *pgconn.StatementDescription
	answer pgx.Rows // as it comes; nil: it was read
	all    [][]any
	count  int64 // how many rows the statement changed, or gave
}

// read reads all rows.
func (r *rows) read() error {
	for {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			r.answer = nil
			return nil
		}
		if err != nil {
			return err
		}
		r.all = append(r.all, row)
	}
}

// next reads a row from the connection; io.EOF at the end.
func (r *rows) next() ([]any, error) {
	if !r.answer.Next() {
		r.answer.Close()
		r.count = r.answer.CommandTag().RowsAffected()
		if err := r.answer.Err(); err != nil {
			return nil, r.conn.away(err)
		}
		return nil, io.EOF
	}

	row, err := r.answer.Values()
	if err != nil {
		return nil, err
	}
	for i := range row {
		if row[i], err = value(row[i]); err != nil {
			return nil, fmt.Errorf("column %s: %w", r.answer.FieldDescriptions()[i].Name, err)
		}
	}
	return row, nil
}

// value gives a value as package sqldb reads it, where text is as it was before it was stored.
func value(v any) (driver.Value, error) {
	switch v := v.(type) {
	case nil, int64, float64, []byte:
		return v, nil
	case string:
		return plain(v)
	case int32: // the length of something
		return int64(v), nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case pgtype.Numeric: // a sum
		n, err := v.Int64Value()
		return n.Int64, err
	}
	return nil, fmt.Errorf("values of the type %T are not read", v)
}

// Columns gives their names.
func (r *rows) Columns() []string {
	names := make([]string, len(r.of.Fields))
	for i, f := range r.of.Fields {
		names[i] = f.Name
	}
	return names
}

// Next reads the next row.
func (r *rows) Next(row []driver.Value) (err error) {
	var next []any
	switch {
	case r.answer != nil:
		if next, err = r.next(); err != nil {
			return err
		}
	case len(r.all) == 0:
		return io.EOF
	default:
		next, r.all = r.all[0], r.all[1:]
	}

	for i, v := range next {
		row[i] = v
	}
	return nil
}

// Close ends the reading.
func (r *rows) Close() error {
	if r.answer != nil {
		r.answer.Close()
	}
	r.all = nil
	return nil
}
