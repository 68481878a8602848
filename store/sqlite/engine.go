package sqlite

import (
	"fmt"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
	"github.com/berthdev/berth/store/sqldb"
)

var _ groupcommit.Engine = (*engine)(nil)

// engine is the only connection that writes.
type engine struct {
	conn  *sqldb.Conn
	clock compute.Clock
	long  chan struct{} // the log is to be brought into the file

	follows func() bool // somebody follows the log, and has to read it before a checkpoint

	counts  sqldb.Counts  // of the parts that are kept in this transaction
	stepped time.Duration // the time of day, with them
	parts   int           // that are kept in it
	loose   bool          // jobs were deleted: the file may have become too large
	shrunk  bool          // since the log last went into the file
	pages   int           // about so many came into the log since a checkpoint was called for
}

func newEngine(c *sqldb.Conn, clock compute.Clock) *engine {
	return &engine{conn: c, clock: clock, long: make(chan struct{}, 1), follows: func() bool { return false }, counts: sqldb.Counts{}}
}

func (e *engine) Begin() error {
	_, err := e.conn.Exec("BEGIN IMMEDIATE")
	return err
}

func (e *engine) Part() groupcommit.Part { return sqldb.NewTx(e.conn, e.clock, e.counts, e.stepped) }

func (e *engine) Keep(p groupcommit.Part) {
	tx := p.(*sqldb.Tx)
	e.counts.Add(tx)
	e.stepped += tx.Stepped()
	e.parts++
	e.loose = e.loose || tx.Deleted()
}

func (e *engine) Commit() error {
	if err := e.counts.Flush(e.conn); err != nil {
		return err
	}
	if _, err := e.conn.Exec("COMMIT"); err != nil {
		return store.Unknown(err)
	}
	e.grew(e.parts)
	e.parts, e.stepped = 0, 0
	return nil
}

func (e *engine) Rollback() {
	_, _ = e.conn.Exec("ROLLBACK") // fails if SQLite did so already, as it does when the disk is full
	clear(e.counts)
	e.parts, e.stepped = 0, 0
}

// Probe writes a page of the file as it is.
func (e *engine) Probe(tx store.Tx) error {
	version, err := number(e.conn, "PRAGMA user_version")
	if err != nil {
		return err
	}
	return tx.(*sqldb.Tx).Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
}

// Untidy reports whether the file may have become too large.
func (e *engine) Untidy() bool { return e.loose }

// Tidy gives unused pages back. The log goes into the file at the end: only that cuts the file.
func (e *engine) Tidy() {
	if e.loose = shrink(e.conn); e.loose {
		e.shrunk = true
	} else if e.shrunk {
		e.shrunk = false
		if e.follows() {
			e.call()
			return
		}
		_, _ = number(e.conn, "PRAGMA wal_checkpoint") // or the next one does it
	}
}
