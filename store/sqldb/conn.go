package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// Dialect is what differs between engines in the statements of this package.
type Dialect interface {
	// Statement gives a statement in the engine's own words. It is asked once for each on a connection.
	Statement(query string) string
	// IsUnique reports by its code whether err says that a unique value is taken. Such an error must have undone its
	// statement and nothing else.
	IsUnique(err error) bool
}

// Raw is a connection that gives what its driver has, as *sql.Conn does.
type Raw interface {
	Raw(func(driverConn any) error) error
	Close() error
}

// Conn is one connection with its prepared statements: preparing anew each time costs a fifth of the throughput. It is
// for one goroutine at a time.
//
// It speaks with the driver itself: what database/sql does for a statement, and for each row and each column, takes longer than
// SQLite does.
type Conn struct {
	conn    Raw
	dialect Dialect
	stmts   map[string]statement
	values  []any               // room for the arguments of a statement
	args    []driver.NamedValue // of the statement that runs
	row     []driver.Value      // of the query whose rows are read; nil while one is
}

// most is for how many columns there is room: a statement of more makes its own.
const most = 64

// statement is what a driver must give.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// NewConn makes a Conn, which owns the connection from then on.
func NewConn(c Raw, d Dialect) *Conn {
	return &Conn{conn: c, dialect: d, stmts: map[string]statement{}, values: make([]any, most), row: make([]driver.Value, 0, most)}
}

// statement gives a statement, which it prepares on first use, and its arguments as the driver takes them.
func (c *Conn) statement(driverConn any, query string, args []any) (s statement, err error) {
	if s = c.stmts[query]; s == nil {
		if s, err = prepare(driverConn, c.dialect.Statement(query)); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		c.stmts[query] = s
	}

	c.args = c.args[:0]
	for i, a := range args {
		v, err := value(a)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}

	return s, nil
}

// forget forgets so many arguments: they may be large.
func (c *Conn) forget(n int) {
	clear(c.args)
	clear(c.values[:min(n, most)])
}

func prepare(conn any, query string) (statement, error) {
	s, err := conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	return s.(statement), nil
}

// value gives an argument as the driver takes it. Booleans are numbers, as in the columns.
func value(a any) (driver.Value, error) {
	switch a := a.(type) {
	case nil, int64, float64, string, []byte:
		return a, nil
	case int:
		return int64(a), nil
	case bool:
		return bit(a), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(a)
}

// Exec runs a statement that gives no rows. No statement gets a cancellable context: one that was begun is short and is seen
// through, and the driver would start a goroutine for each.
func (c *Conn) Exec(query string, args ...any) (r sql.Result, err error) {
	err = c.conn.Raw(func(driverConn any) error {
		s, err := c.statement(driverConn, query, args)
		if err == nil {
			r, err = s.ExecContext(context.Background(), c.args)
		}
		c.forget(len(args))
		return err
	})
	return r, err
}

// Query runs a statement that gives rows.
func (c *Conn) Query(query string, args ...any) (*Rows, error) {
	r := &Rows{conn: c}
	err := c.conn.Raw(func(driverConn any) error {
		s, err := c.statement(driverConn, query, args)
		if err == nil {
			r.rows, err = s.QueryContext(context.Background(), c.args)
		}
		c.forget(len(args))
		return err
	})
	if err != nil {
		return nil, err
	}

	if r.row, c.row = c.row, nil; r.row == nil { // a query within another one
		r.row = make([]driver.Value, 0, most)
	}
	for n := len(r.rows.Columns()); len(r.row) < n; {
		r.row = append(r.row, nil)
	}

	return r, nil
}

// Rows are those of a query, one after the other. They are closed at the end.
type Rows struct {
	conn *Conn
	rows driver.Rows
	row  []driver.Value
	err  error
}

// Next goes to the next row and reports whether there is one. It asks the driver without Raw, which would take a lock for each row:
// nobody else has the connection.
func (r *Rows) Next() bool {
	if r.err == nil {
		r.err = r.rows.Next(r.row)
	}
	return r.err == nil
}

// Row gives the values of the row, until Next is called: int64, float64, string, []byte or nil. Bytes and strings are the caller's.
func (r *Rows) Row() []driver.Value { return r.row }

// Err gives the error that ended the rows; nil: they were all read.
func (r *Rows) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

// Close ends the reading.
func (r *Rows) Close() error {
	clear(r.row)
	r.conn.row = r.row[:0]
	return r.conn.conn.Raw(func(any) error { return r.rows.Close() })
}

// Close closes the statements and the connection.
func (c *Conn) Close() error {
	_ = c.conn.Raw(func(any) error {
		for _, s := range c.stmts {
			_ = s.Close() // the connection's error says more
		}
		return nil
	})
	return c.conn.Close()
}
