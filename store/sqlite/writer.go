package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqldb"
)

// call is one Write on its way.
type call struct {
	ctx      context.Context
	f        func(store.Tx) error
	sure     bool        // f fails before it changes anything, if at all
	claimed  atomic.Bool // by the writer, which will answer, or by the caller, who withdraws: whoever is first
	answered chan struct{}

	// Of the writer until answered is closed:
	err      error
	panicked any  // what f panicked with
	exited   bool // f called runtime.Goexit, as a failing test does
}

// errUnwound undoes a closure that did not return. Its caller never sees it.
var errUnwound = errors.New("sqlite: the function did not return")

// writer runs calls on the only connection that writes. One that comes while nothing is written is run by its caller, which
// spares two changes of goroutine: a third of the time of a small write. What comes meanwhile waits for the loop, which runs
// it all for one commit; no call that somebody waits for waits for company, which would only cost time: callers form groups by
// themselves while a commit is under way. Of 64 callers of /run, half wait for their commit at any time, and one in a hundred for
// a lock. Commits that are paced, one a millisecond, take as much processor time and answer later.
type writer struct {
	conn    *sqldb.Conn
	clock   compute.Clock
	limit   int
	moment  time.Duration // that a commit which nobody waits for waits for company
	calls   chan *call
	turn    chan struct{} // holds one while somebody uses the connection
	untidy  chan struct{} // a caller left work for shrink
	left    chan struct{} // a caller leaves the turn, and its group that may linger, to the loop
	long    chan struct{} // the log is to be brought into the file
	stopped chan struct{}

	mu     sync.RWMutex // held for reading while a call is put in line
	closed bool

	// Of whoever has the turn:
	group  []*call      // claimed, to be answered together
	begun  bool         // a database transaction is open
	urgent bool         // somebody waits for the group's commit
	kept   int          // calls of the group whose changes are in it
	counts sqldb.Counts // of the kept ones
	loose  bool         // jobs were deleted: the file may have become too large
	shrunk bool         // since the log last went into the file
	pages  int          // about so many came into the log since a checkpoint was called for

	// Of the loop alone:
	working bool // it has the turn
	over    bool

	changed bool // the group has written something
	refused int  // calls that failed since the trouble began

	trouble  atomic.Pointer[error]                // nil: none
	ill      chan struct{}                        // a trouble began
	observed func(writes int, took time.Duration) // of commits; nil: nobody looks
	watched  func(trouble error, failed int)      // see DB.Watch; nil: nobody looks
}

func newWriter(c *sqldb.Conn, clock compute.Clock, limit int) *writer {
	w := &writer{
		conn: c, clock: clock, limit: limit, moment: time.Millisecond, calls: make(chan *call, limit), turn: make(chan struct{}, 1),
		untidy: make(chan struct{}, 1), left: make(chan struct{}), long: make(chan struct{}, 1), stopped: make(chan struct{}), counts: sqldb.Counts{},
		ill: make(chan struct{}, 1),
	}
	go w.loop()
	return w
}

func (w *writer) write(ctx context.Context, sure bool, f func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{ctx: ctx, f: f, sure: sure, answered: make(chan struct{})}
	alone, err := w.line(c)
	if err != nil {
		return err
	}
	if alone {
		w.runAlone(c)
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

// line puts a call in line, unless its ctx ends first or the writer was stopped. If nobody writes, it gives the caller the
// turn instead.
func (w *writer) line(c *call) (alone bool, err error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return false, errClosed()
	}
	if len(w.calls) == 0 {
		select {
		case w.turn <- struct{}{}:
			return true, nil
		default:
		}
	}
	select {
	case w.calls <- c:
		return false, nil
	case <-c.ctx.Done():
		return false, c.ctx.Err()
	}
}

// runAlone runs and commits one call for its caller, who has the turn. If it may linger, the loop commits it.
func (w *writer) runAlone(c *call) {
	defer func() { // also when f panics or exits
		if w.begun && !w.urgent {
			select {
			case w.left <- struct{}{}:
				return
			case <-w.stopped:
			}
		}
		w.commit()
		if w.loose {
			select {
			case w.untidy <- struct{}{}:
			default:
			}
		}
		<-w.turn
	}()
	w.run(c)
}

// stop refuses new calls and waits for those in line.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed = true
	close(w.calls)
	w.mu.Unlock()
	<-w.stopped
	w.turn <- struct{}{} // the last one that runs alone has ended
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
		if !w.working {
			var c *call
			select {
			case next, ok := <-w.calls:
				if !ok {
					w.over = true
					return
				}
				c = next
			case <-w.untidy:
			case <-w.left:
				w.working = true
			}
			if !w.working {
				select {
				case w.turn <- struct{}{}:
				case <-w.left:
				}
				w.working = true
			}
			if c != nil {
				w.run(c)
			}
		}
		w.linger()
		w.fill()
		w.commit()
		w.shrink()
		w.working = false
		<-w.turn
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

// linger runs calls for a moment, until one of them is waited for.
func (w *writer) linger() {
	if !w.begun || w.urgent {
		return
	}
	passed, stop := compute.SystemClock{}.After(w.moment)
	defer stop()
	for w.begun && !w.urgent && len(w.group) < w.limit {
		select {
		case c, ok := <-w.calls:
			if !ok {
				return
			}
			w.run(c)
		case <-passed:
			return
		}
	}
}

// fill runs what waits, for the same commit.
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
	nested := w.kept > 0 && !c.sure
	if nested {
		if _, err := w.conn.Exec("SAVEPOINT one"); err != nil {
			w.abort(fmt.Errorf("begin to write: %w", err))
			return
		}
	}
	tx := sqldb.NewTx(w.conn, w.clock, w.counts)
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
	w.urgent = w.urgent || err != nil || !tx.Lingers()
	if err == nil {
		if nested {
			if _, err := w.conn.Exec("RELEASE one"); err != nil {
				w.abort(fmt.Errorf("write: %w", err))
				return
			}
		}
		w.counts.Add(tx)
		w.kept++
		w.changed = w.changed || tx.Changed()
		w.loose = w.loose || tx.Deleted()
		return
	}
	err = w.failed(err)
	c.err = err
	if w.kept > 0 && !nested {
		if tx.Changed() {
			w.abort(fmt.Errorf("write: undone with another that failed after it changed something: %w", err))
		}
		return
	}
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
			err = w.commitConn()
		}
		if err != nil {
			w.abort(fmt.Errorf("commit: %w", err))
			return
		}
		w.begun = false
		w.grew(w.kept)
		if w.changed {
			w.succeeded()
		}
	}
	w.answer()
}

// commitConn commits, and tells who looks how many writes that were and how long it took: by the machine's clock, since no
// file is written on one that a test has set.
func (w *writer) commitConn() error {
	if w.observed == nil {
		_, err := w.conn.Exec("COMMIT")
		return err
	}
	start := compute.SystemClock{}.Now()
	_, err := w.conn.Exec("COMMIT")
	if err == nil {
		w.observed(w.kept, compute.SystemClock{}.Now().Sub(start))
	}
	return err
}

// abort undoes everything and answers the whole group with err: even a call that failed by itself may have seen what
// another one wrote.
func (w *writer) abort(err error) {
	_, _ = w.conn.Exec("ROLLBACK") // fails if SQLite did so already
	w.begun = false
	err = w.failed(err)
	for _, c := range w.group {
		c.err = err
	}
	w.answer()
}

// refuseAll gives err to the group and to all who wait: they have waited as long as the database was locked, and each
// would wait as long again.
func (w *writer) refuseAll(err error) {
	defer func() { w.abort(err) }()
	for waiting := len(w.calls); waiting > 0; waiting-- {
		select {
		case c, ok := <-w.calls:
			if ok && c.claimed.CompareAndSwap(false, true) {
				w.group = append(w.group, c)
			}
		default:
			return
		}
	}
}

func (w *writer) answer() {
	for _, c := range w.group {
		if store.TroubleOf(c.err) != "" {
			w.refused++
		}
		close(c.answered)
	}
	clear(w.group)
	w.group, w.kept, w.urgent, w.changed = w.group[:0], 0, false, false
	clear(w.counts)
}
