package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
)

// Dialect is what differs between databases.
type Dialect interface {
	// IsUnique tells by its code whether err says that a unique value is taken. Such an error must have undone its
	// statement and nothing else.
	IsUnique(err error) bool
}

// Conn is one connection with its prepared statements: preparing anew each time costs a fifth of the throughput. It is
// for one goroutine at a time.
type Conn struct {
	conn    *sql.Conn
	dialect Dialect
	stmts   map[string]*sql.Stmt
	execs   map[string]execStmt
	values  []driver.NamedValue // of the statement that runs
}

// execStmt is what a driver must give for a statement without rows.
type execStmt interface {
	driver.Stmt
	driver.StmtExecContext
}

// NewConn makes a Conn, which owns the connection from then on.
func NewConn(c *sql.Conn, d Dialect) *Conn {
	return &Conn{conn: c, dialect: d, stmts: map[string]*sql.Stmt{}, execs: map[string]execStmt{}}
}

// stmt prepares query on first use. No statement gets a cancellable context: one that was begun is short and is seen
// through, and the driver would start a goroutine for each.
func (c *Conn) stmt(query string) (*sql.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	c.stmts[query] = s
	return s, nil
}

// Exec runs a statement that gives no rows. It hands the arguments to the driver itself: a sql.Stmt locks four times and makes a
// copy of them, which was a tenth of the bytes that the server allocated under load.
func (c *Conn) Exec(query string, args ...any) (r sql.Result, err error) {
	err = c.conn.Raw(func(conn any) (err error) {
		s := c.execs[query]
		if s == nil {
			if s, err = prepare(conn, query); err != nil {
				return fmt.Errorf("prepare: %w", err)
			}
			c.execs[query] = s
		}
		c.values = c.values[:0]
		for i, a := range args {
			v, err := driver.DefaultParameterConverter.ConvertValue(a)
			if err != nil {
				return fmt.Errorf("argument %d: %w", i+1, err)
			}
			c.values = append(c.values, driver.NamedValue{Ordinal: i + 1, Value: v})
		}
		r, err = s.ExecContext(context.Background(), c.values)
		clear(c.values)
		return err
	})
	return r, err
}

func prepare(conn any, query string) (execStmt, error) {
	s, err := conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	return s.(execStmt), nil
}

// Query runs a statement that gives rows.
func (c *Conn) Query(query string, args ...any) (*sql.Rows, error) {
	s, err := c.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.Background(), args...)
}

// Close closes the statements and the connection.
func (c *Conn) Close() error {
	for _, s := range c.stmts {
		_ = s.Close() // the connection's error says more
	}
	_ = c.conn.Raw(func(any) error {
		for _, s := range c.execs {
			_ = s.Close()
		}
		return nil
	})
	return c.conn.Close()
}
