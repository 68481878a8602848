package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/berthdev/berth/impl/compute"
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

	asked     asked
	exec, ask func(driverConn any) error // run what is asked; made once, or each statement would allocate one with all that it uses

	jobs   room[compute.Job] // that are inserted
	inputs room[jobInput]
}

// asked is the statement that runs, and what it gave.
type asked struct {
	query  string
	args   []any
	result sql.Result
	rows   driver.Rows
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
	conn := &Conn{conn: c, dialect: d, stmts: map[string]statement{}, values: make([]any, most), row: make([]driver.Value, 0, most)}
	conn.exec = func(driverConn any) error {
		s, err := conn.statement(driverConn)
		if err != nil {
			return err
		}
		r, err := s.ExecContext(context.Background(), conn.args)
		conn.asked.result = r
		return err
	}
	conn.ask = func(driverConn any) error {
		s, err := conn.statement(driverConn)
		if err != nil {
			return err
		}
		r, err := s.QueryContext(context.Background(), conn.args)
		conn.asked.rows = r
		return err
	}
	return conn
}

// statement gives the statement that is asked for, which it prepares on first use, and its arguments as the driver takes them.
func (c *Conn) statement(driverConn any) (s statement, err error) {
	query := c.asked.query
	if s = c.stmts[query]; s == nil {
		if s, err = prepare(driverConn, c.dialect.Statement(query)); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		c.stmts[query] = s
	}

	c.args = c.args[:0]
	for i, a := range c.asked.args {
		v, err := value(a)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}

	return s, nil
}

// run runs a statement, by exec or by ask, and gives what it gave. It forgets the arguments: they may be large. While the database is
// asked, an engine may have others run side by side: what is asked is read before that, and what it gave is written after it.
func (c *Conn) run(by func(driverConn any) error, query string, args []any) (sql.Result, driver.Rows, error) {
	c.asked = asked{query: query, args: args}
	err := c.conn.Raw(by)
	gave := c.asked
	c.asked = asked{}
	clear(c.args)
	clear(c.values[:min(len(args), most)])
	return gave.result, gave.rows, err
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
func (c *Conn) Exec(query string, args ...any) (sql.Result, error) {
	r, _, err := c.run(c.exec, query, args)
	return r, err
}

// Query runs a statement that gives rows.
func (c *Conn) Query(query string, args ...any) (*Rows, error) {
	_, rows, err := c.run(c.ask, query, args)
	if err != nil {
		return nil, err
	}

	r := &Rows{conn: c, rows: rows}
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
