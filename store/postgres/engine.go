package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
	"github.com/berthdev/berth/store/sqldb"
)

var _ groupcommit.Weaver = (*engine)(nil)

// engine is the connection that writes, which is opened again when it was lost.
type engine struct {
	open    func(context.Context) (*session, error)
	on      *session // nil: there is none
	fence   fence
	clock   compute.Clock
	counts  sqldb.Counts  // of the parts that are kept in this transaction
	stepped time.Duration // the time of day, with them
}

// connectTimeout is how long a writer waits for a connection, and who waits for it.
const connectTimeout = 5 * time.Second

func (e *engine) Begin() error {
	commands, err := e.fence.next()
	if err != nil {
		return err
	}
	if e.on != nil {
		if err = e.begin(context.Background(), commands); troubleOf(err) != store.Away {
			return err
		} // it was lost while nobody wrote
		if commands, err = e.fence.next(); err != nil {
			return err
		}
	}

	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	return e.begin(ctx, commands)
}

// BeginLate has the transaction begin with the first statements of the Weave that comes next. It gives false if there is more to be done.
func (e *engine) BeginLate() bool {
	if e.on == nil {
		return false
	}
	id, ok := e.fence.plain()
	if ok {
		e.on.conn.late = &opening{id: id, epoch: e.fence.epoch}
	}
	return ok
}

// begin runs the commands that begin a transaction. A connection on which that fails is given up.
func (e *engine) begin(ctx context.Context, commands string) (err error) {
	if e.on == nil {
		if e.on, err = e.open(ctx); err != nil {
			return err
		}
	}
	if err = e.on.do(ctx, commands); err != nil {
		e.lose()
	}
	return err
}

func (e *engine) Part() groupcommit.Part { return sqldb.NewTx(e.on.Conn, e.clock, e.counts, e.stepped) }

func (e *engine) Keep(p groupcommit.Part) {
	tx := p.(*sqldb.Tx)
	e.counts.Add(tx)
	e.stepped += tx.Stepped()
}

// Commit commits. It fails with an unknown result (store.Unknown) only if it cannot find out what became of the transaction.
func (e *engine) Commit() error {
	e.stepped = 0 // nothing is written before the clock was stepped
	err := e.on.conn.commit(func() error { return e.counts.Flush(e.on.Conn) })
	if _, lost := errors.AsType[*awayError](err); !lost {
		return err // a refusal has undone it
	}
	e.lose()
	return e.resolve(err)
}

func (e *engine) Rollback() {
	clear(e.counts)
	e.stepped = 0
	if e.on == nil {
		return
	}
	if e.on.conn.late != nil { // nothing was sent
		e.on.conn.late = nil
		return
	}
	if e.on.do(context.Background(), rollback) != nil {
		e.lose()
	}
}

// lose closes a connection that is of no use any more.
func (e *engine) lose() {
	_ = e.on.Close() // it is lost
	e.on = nil
}

// Probe writes a row as it is.
func (e *engine) Probe(tx store.Tx) error {
	return tx.(*sqldb.Tx).Exec("UPDATE berth_schema SET version = version")
}

// TroubleOf reports what trouble an error is about.
func (e *engine) TroubleOf(err error) store.Trouble { return troubleOf(err) }

// Untidy is false: PostgreSQL tidies up by itself.
func (e *engine) Untidy() bool { return false }

// Tidy does nothing.
func (e *engine) Tidy() {}

// session is a connection as package sqldb has it.
type session struct {
	*sqldb.Conn
	conn *conn
}

// do runs commands that have no arguments.
func (s *session) do(ctx context.Context, commands string) error {
	return s.conn.do(ctx, commands)
}
