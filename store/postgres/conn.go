package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5" // the driver that is kept, and the fastest
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/berthdev/berth/store/sqldb"
)

// conn is a connection as package sqldb has one, whose statements keep what it promises: one that is refused undoes itself alone, and
// text comes back as it was.
type conn struct {
	on       *pgx.Conn
	prepared int
	commands map[string]*pgconn.StatementDescription // that are prepared, by their texts
	late     *opening                                // of the transaction that begins with the next statement; nil: none does
	last     *pipe                                   // takes the statements that go with the commit; nil: statements are run
	weave    *weave                                  // nil: statements run one after the other
	warning  string                                  // the last one, in the server's language
}

var (
	_ sqldb.Raw                 = (*conn)(nil)
	_ driver.ConnPrepareContext = (*conn)(nil)
)

func connect(ctx context.Context, config *pgx.ConnConfig) (*conn, error) {
	c := &conn{commands: map[string]*pgconn.StatementDescription{}}
	config = config.Copy()
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			c.warning = n.Message
		}
	}
	var err error
	if c.on, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("connect: %w", &awayError{err})
	}
	return c, nil
}

// Raw gives the connection.
func (c *conn) Raw(f func(driverConn any) error) error { return f(c) }

// Close closes the connection.
func (c *conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return c.on.Close(ctx)
}

// refusable reports whether a unique value may refuse a statement. PostgreSQL ends the transaction with a statement that fails: such ones get
// a savepoint. Another one that is refused is a failure of the program.
func refusable(query string) bool {
	return strings.HasPrefix(query, "INSERT INTO ") && !ownKey().MatchString(query) || changesUnique().MatchString(query)
}

var (
	// ownKey is what has a key that nothing else has.
	ownKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^INSERT INTO (chunks|job_inputs|job_pieces|webhooks) `)
	})
	changesUnique = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^UPDATE (pods|endpoints|secrets) `) })
)

// PrepareContext prepares a statement.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.prepared++
	s, err := c.on.Prepare(ctx, "berth"+strconv.Itoa(c.prepared), query)
	if err != nil {
		return nil, c.away(err)
	}
	return &statement{conn: c, of: s, refusable: refusable(query), inserts: insertValues().MatchString(query), loads: loads()[query]}, nil
}

// The rest of driver.Conn, which nobody asks for.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}
func (c *conn) Begin() (driver.Tx, error) { return nil, driver.ErrSkip }

// do runs commands that have no arguments. An INSERT of nothing as the last one says that another replica is the owner.
func (c *conn) do(ctx context.Context, commands string) error {
	c.warning = ""
	results, err := c.on.PgConn().Exec(ctx, commands).ReadAll()
	if err != nil {
		return c.away(err)
	}
	last := results[len(results)-1].CommandTag
	if last.Insert() && last.RowsAffected() == 0 {
		return errMoved
	}
	if commands == commit {
		return c.committed(last)
	}
	return nil
}

// committed judges by its tag what a commit did. One with a warning is one whose wait for a standby was cancelled: whether it is where an
// acknowledged one must be is as unknown as without an answer.
func (c *conn) committed(tag pgconn.CommandTag) error {
	switch {
	case tag.String() != commit:
		return fmt.Errorf("the transaction was over: %s", tag)
	case c.warning != "":
		return &awayError{errors.New(c.warning)}
	}
	return nil
}

// away says of an error that it lost the connection, if it did.
func (c *conn) away(err error) error {
	if c.on.IsClosed() {
		return &awayError{err}
	}
	return err
}

// awayError is the error of a call for which there is no connection, or none any more.
type awayError struct{ cause error }

func (e *awayError) Error() string { return e.cause.Error() }

func (e *awayError) Unwrap() error { return e.cause }

// The commands around statements.
const (
	begin     = "BEGIN"
	beginRead = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	commit    = "COMMIT"
	rollback  = "ROLLBACK"
	save      = "SAVEPOINT refusable"
	keep      = "RELEASE SAVEPOINT refusable"
	unhurried = "SET LOCAL statement_timeout = 0"
	undo      = "ROLLBACK TO SAVEPOINT refusable; RELEASE SAVEPOINT refusable"
)

// statement is a prepared statement.
type statement struct {
	conn      *conn
	of        *pgconn.StatementDescription
	refusable bool
	inserts   bool // a row, and does nothing else
	loads     bool // all there is of what may be millions
	set       *set // for many at once; nil: it was not asked for, or there is none
	single    bool // there is none
}

var (
	_ driver.StmtExecContext  = (*statement)(nil)
	_ driver.StmtQueryContext = (*statement)(nil)
)

// ExecContext runs the statement.
func (s *statement) ExecContext(_ context.Context, args []driver.NamedValue) (driver.Result, error) {
	found, err := s.run(args)
	if err == nil && found.answer != nil {
		err = found.read()
	}
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(found.count), nil
}

// QueryContext runs the statement and gives its rows.
func (s *statement) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	found, err := s.run(args)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// run runs the statement so that it undoes itself alone if a unique value refuses it. Side by side with others it cannot: all are undone.
func (s *statement) run(args []driver.NamedValue) (found *rows, err error) {
	switch {
	case s.conn.last != nil:
		return &rows{conn: s.conn, of: s.of}, s.conn.last.add(s.of, stored(args))
	case s.conn.weave != nil:
		return s.conn.weave.ask(s, stored(args))
	}

	if err := s.conn.begin(); err != nil {
		return nil, err
	}
	if s.loads { // no owner would ever become ready if what it takes over were too much; a server that is silent is given up all the same
		if err := s.conn.do(context.Background(), unhurried); err != nil {
			return nil, err
		}
	}
	if !s.refusable {
		return s.send(stored(args))
	}
	if err := s.conn.do(context.Background(), save); err != nil {
		return nil, err
	}
	if found, err = s.send(stored(args)); err == nil {
		err = found.read()
	}
	if err != nil {
		return nil, errors.Join(err, s.conn.do(context.Background(), undo))
	}
	return found, s.conn.do(context.Background(), keep)
}

// send sends the statement, whose rows follow.
func (s *statement) send(args []any) (*rows, error) {
	answer, err := s.conn.on.Query(context.Background(), s.of.Name, args...)
	if err != nil {
		return nil, s.conn.away(err)
	}
	return &rows{conn: s.conn, of: s.of, answer: answer}, nil
}

// Close does nothing: a statement ends with its connection, which is closed next. To tell a server that does not answer would take long.
func (s *statement) Close() error { return nil }

// NumInput is how many arguments it has.
func (s *statement) NumInput() int { return len(s.of.ParamOIDs) }

// The rest of driver.Stmt, which nobody asks for.
func (s *statement) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (s *statement) Query([]driver.Value) (driver.Rows, error)  { return nil, driver.ErrSkip }

// stored gives the arguments as they are stored.
func stored(args []driver.NamedValue) []any {
	all := make([]any, len(args))
	for i := range args {
		all[i] = args[i].Value
		if text, ok := all[i].(string); ok {
			all[i] = kept(text)
		}
	}
	return all
}
