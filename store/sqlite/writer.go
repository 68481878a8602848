package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqldb"
)

// call is one Write on its way.
type call struct {
	ctx      context.Context
	f        func(store.Tx) error
	claimed  atomic.Bool // by the writer, which will answer, or by the caller, who withdraws: whoever is first
	answered chan struct{}

	// Of the writer until answered is closed:
	err      error
	panicked any  // what f panicked with
	exited   bool // f called runtime.Goexit, as a failing test does
}

// errUnwound undoes a closure that did not return. Its caller never sees it.
var errUnwound = errors.New("sqlite: the function did not return")

// writer runs calls on the only connection that writes. What waits when one was run joins its commit; nothing waits for
// company, which would only cost time: callers form groups by themselves while a commit is under way.
type writer struct {
	conn    *sqldb.Conn
	clock   compute.Clock
	limit   int
	calls   chan *call
	stopped chan struct{}

	mu     sync.RWMutex // held for reading while a call is put in line
	closed bool

	// Of the loop alone:
	group  []*call      // claimed, to be answered together
	begun  bool         // a database transaction is open
	kept   int          // calls of the group whose changes are in it
	counts sqldb.Counts // of the kept ones
	loose  bool         // jobs were deleted: the file may have become too large
	shrunk bool         // since the log last went into the file
	over   bool
}

func newWriter(c *sqldb.Conn, clock compute.Clock, limit int) *writer {
	w := &writer{
		conn: c, clock: clock, limit: limit, calls: make(chan *call, limit), stopped: make(chan struct{}), counts: sqldb.Counts{},
	}
	go w.loop()
	return w
}

func (w *writer) write(ctx context.Context, f func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{ctx: ctx, f: f, answered: make(chan struct{})}
	if err := w.line(c); err != nil {
		return err
	}
	select {
	case <-c.answered:
	case <-ctx.Done():
		if c.claimed.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-c.answered // begun: seen through
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	if c.exited {
		runtime.Goexit()
	}
	return c.err
}

// line puts a call in line, unless its ctx ends first or the writer was stopped.
func (w *writer) line(c *call) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed()
	}
	select {
	case w.calls <- c:
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

// stop refuses new calls and waits for those in line.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed = true
	close(w.calls)
	w.mu.Unlock()
	<-w.stopped
}

func (w *writer) loop() {
	defer func() {
		if w.over {
			close(w.stopped)
		} else {
			go w.loop() // a closure ended this goroutine; the group goes on in the next one
		}
	}()
	for {
		if len(w.group) == 0 {
			w.shrink()
			c, ok := <-w.calls
			if !ok {
				w.over = true
				return
			}
			w.run(c)
		}
		w.fill()
		w.commit()
	}
}

// shrink gives unused pages back as long as nobody waits. The log goes into the file at the end: only that cuts the file.
func (w *writer) shrink() {
	for w.loose && len(w.calls) == 0 {
		if w.loose = shrink(w.conn); w.loose {
			w.shrunk = true
		} else if w.shrunk {
			w.shrunk = false
			_, _ = number(w.conn, "PRAGMA wal_checkpoint") // or the next one does it
		}
	}
}

// fill runs what waits.
func (w *writer) fill() {
	for len(w.group) > 0 && len(w.group) < w.limit {
		select {
		case c, ok := <-w.calls:
			if !ok {
				return
			}
			w.run(c)
		default:
			return
		}
	}
}

// run claims a call and runs its closure as one of the group.
func (w *writer) run(c *call) {
	if !c.claimed.CompareAndSwap(false, true) {
		return // withdrawn
	}
	if err := c.ctx.Err(); err != nil {
		c.err = err
		close(c.answered)
		return
	}
	w.group = append(w.group, c)
	if !w.begun {
		if _, err := w.conn.Exec("BEGIN IMMEDIATE"); err != nil {
			w.refuseAll(fmt.Errorf("begin to write: %w", err))
			return
		}
		w.begun = true
	}
	// The first one needs no savepoint: there is nothing else to undo.
	nested := w.kept > 0
	if nested {
		if _, err := w.conn.Exec("SAVEPOINT one"); err != nil {
			w.abort(fmt.Errorf("begin to write: %w", err))
			return
		}
	}
	tx := sqldb.NewTx(w.conn, w.clock.Now(), w.counts)
	err := errUnwound
	returned := false
	defer func() { // after a Goexit, too, which only deferred calls outlive
		if !returned {
			c.panicked = recover()
			c.exited = c.panicked == nil
		}
		w.settle(c, tx, nested, err)
	}()
	err = c.f(tx)
	returned = true
}

// settle keeps what the closure did, or undoes it alone.
func (w *writer) settle(c *call, tx *sqldb.Tx, nested bool, err error) {
	if failed := tx.End(); err == nil {
		err = failed // f overlooked it
	}
	if err == nil {
		if nested {
			if _, err := w.conn.Exec("RELEASE one"); err != nil {
				w.abort(fmt.Errorf("write: %w", err))
				return
			}
		}
		w.counts.Add(tx)
		w.kept++
		w.loose = w.loose || tx.Deleted()
		return
	}
	c.err = err
	undo := []string{"ROLLBACK"}
	if nested {
		undo = []string{"ROLLBACK TO one", "RELEASE one"}
	}
	for _, query := range undo {
		if _, e := w.conn.Exec(query); e != nil {
			// SQLite undid the whole transaction by itself, as it does when the disk is full.
			w.abort(fmt.Errorf("write: undone with another that failed: %w", errors.Join(err, e)))
			return
		}
	}
	w.begun = nested
}

// commit puts the group on disk and answers it.
func (w *writer) commit() {
	if w.begun {
		err := w.counts.Flush(w.conn)
		if err == nil {
			_, err = w.conn.Exec("COMMIT")
		}
		if err != nil {
			w.abort(fmt.Errorf("commit: %w", err))
			return
		}
		w.begun = false
	}
	w.answer()
}

// abort undoes everything and answers the whole group with err: even a call that failed by itself may have seen what
// another one wrote.
func (w *writer) abort(err error) {
	_, _ = w.conn.Exec("ROLLBACK") // fails if SQLite did so already
	w.begun = false
	for _, c := range w.group {
		c.err = err
	}
	w.answer()
}

// refuseAll gives err to the group and to all who wait: they have waited as long as the database was locked, and each
// would wait as long again.
func (w *writer) refuseAll(err error) {
	for waiting := len(w.calls); waiting > 0; waiting-- {
		c := <-w.calls // only this goroutine receives, and a closed channel counts what is left in it
		if c.claimed.CompareAndSwap(false, true) {
			w.group = append(w.group, c)
		}
	}
	w.abort(err)
}

func (w *writer) answer() {
	for _, c := range w.group {
		close(c.answered)
	}
	clear(w.group)
	w.group, w.kept = w.group[:0], 0
	clear(w.counts)
}
