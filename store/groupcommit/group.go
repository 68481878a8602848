// Package groupcommit lets concurrent writes share one transaction and one wait for the disk, whatever the engine is.
//
// A Group owns the only part of an engine that writes. A write that comes while nothing is written is run by its caller, which
// spares two changes of goroutine. What comes meanwhile waits for the group's own goroutine, which runs all of it in one
// transaction: callers form groups by themselves while a commit is under way. Each is answered only after the commit.
//
// A write that fails undoes itself alone: the transaction is rolled back and the others of the group are run again, so a
// write may run more than once and must touch nothing but the transaction. What is to happen once it is on disk it leaves with
// the transaction (store.Tx.AfterCommit): the effects of all writes run in the order of their commits, or never.
package groupcommit

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Part is the part of one write in the transaction of its group.
type Part interface {
	store.Tx
	// End makes the part useless and gives the error of the first statement that failed otherwise than by a guard or a taken
	// value: nothing of the part may be committed then.
	End() error
	// Changed reports whether a statement changed something, or may have.
	Changed() bool
	// Effects gives what is to be done after the commit.
	Effects() []func()
}

// Engine is what a Group writes to. It is used by one goroutine at a time.
type Engine interface {
	Begin() error
	// Part begins the part of the next write.
	Part() Part
	// Keep takes in a part that ended well.
	Keep(Part)
	// Commit returns once everything kept since Begin is on disk. If it fails nothing of that is, unless the error says that
	// nobody knows (store.Unknown).
	Commit() error
	// Rollback undoes everything since Begin, if that was not done already.
	Rollback()
	// Probe writes something that changes nothing, to find out whether the storage takes writes.
	Probe(store.Tx) error
	// TroubleOf gives the trouble that an error is about; empty: none.
	TroubleOf(error) store.Trouble
	// Untidy reports whether there is something to do that can wait until nobody writes.
	Untidy() bool
	// Tidy does a small piece of that.
	Tidy()
}

// Weaver is an Engine to which each statement is a way there and back, and which can send those of several writes together.
type Weaver interface {
	// BeginLate has the transaction begin with the first statements of Weave, which comes next. If it gives false Begin must begin it.
	BeginLate() bool
	// Weave runs the functions, each of which is one part of the transaction, side by side: while one of them waits for a statement
	// the others go on to theirs. After an error nothing of the transaction may be committed.
	Weave([]func()) error
}

// Call is a write.
type Call struct {
	// Run does the write. It may run again.
	Run func(store.Tx) error
	// Guarded says that each statement of Run believes nothing that another call may change between two of them: it is guarded by
	// itself, or its row is Run's own. Such calls may run side by side.
	Guarded bool
	// Bind, unless it is nil, is called once, before Run runs first: when the call comes into a group, which is as late as can be.
	Bind func()
	// Early, unless it is nil, is called once, after Run first succeeded and before the commit. If it gives true nobody waits for
	// the commit yet: it may come a moment later, if another call comes meanwhile that can share it.
	Early func() (patient bool)
}

// Options are what may be chosen for a Group; the zero value is what is usual.
type Options struct {
	// Most is how many calls may share a commit; 0: Most.
	Most int
	// Moment is how long a commit that nobody waits for waits for company; 0: Moment.
	Moment time.Duration
	// Observe, unless it is nil, is notified of each commit: how many writes shared it and how long it took. It must be quick.
	Observe func(writes int, took time.Duration)
	// Watch, unless it is nil, is called with why writes begin to fail, and with nil once they succeed again, with how many failed. It must
	// be quick.
	Watch func(trouble error, failed int)
}

// What is usual of a Group.
const (
	// Most is how many calls may share a commit: 16 are slower by a quarter, more than 256 gain nothing.
	Most = 256
	// Moment is how long a commit that nobody waits for waits for company.
	Moment = time.Millisecond
)

// call is a Call on its way.
type call struct {
	Call
	ctx      context.Context
	claimed  atomic.Bool // by the group, which will answer, or by the caller, who withdraws: whoever is first
	answered chan struct{}

	// Of the group until answered is closed:
	effects  []func()
	early    bool // Early was called
	spoiled  bool // it failed after it changed something
	err      error
	panicked any  // what Run or an effect panicked with
	exited   bool // Run called runtime.Goexit, as a failing test does
}

// Group is safe for concurrent use.
type Group struct {
	engine  Engine
	weaver  Weaver // the engine; nil: it is none
	options Options
	calls   chan *call
	turn    chan struct{} // holds one while somebody uses the engine
	untidy  chan struct{} // a caller left work for Tidy
	left    chan struct{} // a caller leaves the turn, and its group that may wait, to the loop
	stopped chan struct{}

	mu     sync.RWMutex // held for reading while a call is put in line
	closed bool
	quit   chan struct{} // closed with it

	// Of whoever has the turn:
	group   []*call // claimed, to be answered together
	kept    int     // calls of the group whose changes are in the transaction
	begun   bool    // a transaction is open
	urgent  bool    // somebody waits for the group's commit
	full    bool    // the group takes no more calls
	changed bool    // the group has written something
	refused int     // calls that failed since the trouble began

	// Of the loop alone:
	working bool // it has the turn
	over    bool

	trouble atomic.Pointer[error] // nil: none
	ill     chan struct{}         // a trouble began
	tried   chan struct{}         // closed when nobody tries to write any more
}

// New makes a Group. The engine is the Group's from then on.
func New(e Engine, o Options) *Group {
	o.Most, o.Moment = cmp.Or(o.Most, Most), cmp.Or(o.Moment, Moment)
	g := &Group{
		engine: e, options: o, calls: make(chan *call, o.Most), turn: make(chan struct{}, 1), quit: make(chan struct{}),
		untidy: make(chan struct{}, 1), left: make(chan struct{}), stopped: make(chan struct{}), ill: make(chan struct{}, 1), tried: make(chan struct{}),
	}
	g.weaver, _ = e.(Weaver)
	go g.loop()
	go g.tryAgain()
	return g
}

// Do runs a write and returns once it is on disk, with its error as it is. A panic in it is raised again here. A ctx that ends
// before it began withdraws it: Do returns the error of ctx, and it never runs. Unavailable once the group is closed.
func (g *Group) Do(ctx context.Context, what Call) error { return g.do(&call{Call: what, ctx: ctx}) }

// do is Do for a call that is new.
func (g *Group) do(c *call) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	c.answered = make(chan struct{})
	alone, err := g.line(c)
	if err != nil {
		return err
	}

	if alone {
		g.runAlone(c)
	}

	select {
	case <-c.answered:
	case <-c.ctx.Done():
		if c.claimed.CompareAndSwap(false, true) {
			return c.ctx.Err()
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

// line puts a call in line, unless its ctx ends first or the group was closed. If nobody writes, it gives the caller the
// turn instead.
func (g *Group) line(c *call) (alone bool, err error) {
	g.mu.RLock()
	defer g.mu.RUnlock()

	if g.closed {
		return false, ErrClosed()
	}
	if len(g.calls) == 0 {
		select {
		case g.turn <- struct{}{}:
			return true, nil
		default:
		}
	}

	select {
	case g.calls <- c:
		return false, nil
	case <-c.ctx.Done():
		return false, c.ctx.Err()
	}
}

// closedRetry is when who was refused by a store that is closed may try again: another server may have taken the place of this one by then.
const closedRetry = time.Second

// ErrClosed is the error of a call to a store that is closed.
func ErrClosed() error {
	return &compute.Error{Code: compute.Unavailable, Detail: "the store is closed", RetryAfter: closedRetry}
}

// Exclude runs f while nothing is written, unless the group is closed first.
func (g *Group) Exclude(f func()) {
	select {
	case <-g.quit:
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
		f()
	}
}

// Close refuses new calls and waits for those in line.
func (g *Group) Close() {
	g.mu.Lock()
	g.closed = true
	close(g.quit)
	close(g.calls)
	g.mu.Unlock()
	<-g.stopped
	<-g.tried
	g.turn <- struct{}{} // the last one that runs alone has ended
}

// runAlone runs and commits one call for its caller, who has the turn. If its commit may wait, the loop makes it.
func (g *Group) runAlone(c *call) {
	defer func() { // also when Run panics or exits
		if g.begun && !g.urgent {
			select {
			case g.left <- struct{}{}:
				return
			case <-g.stopped:
			}
		}

		g.commit()
		if g.engine.Untidy() {
			select {
			case g.untidy <- struct{}{}:
			default:
			}
		}

		<-g.turn
	}()

	g.runOne(c)
}

// loop runs what waits.
func (g *Group) loop() {
	defer func() {
		if g.over {
			close(g.stopped)
		} else {
			go g.loop() // a write ended this goroutine; the group goes on in the next one
		}
	}()

	for {
		if !g.working {
			c, ok := g.next()
			if !ok {
				return
			}
			if c != nil {
				g.runWith(c)
			}
		}

		g.linger()
		g.fill()
		g.commit()
		g.tidy()
		g.working = false
		<-g.turn
	}
}

// next waits for something to do and takes the turn. It gives the first call, if it was one, and false when all is over.
func (g *Group) next() (c *call, ok bool) {
	select {
	case c, ok = <-g.calls:
		if !ok {
			g.over = true
			return nil, false
		}
	case <-g.untidy:
	case <-g.left:
		g.working = true
		return nil, true
	}

	select {
	case g.turn <- struct{}{}:
	case <-g.left: // with the turn
	}
	g.working = true
	return c, true
}

// tidy lets the engine do what can wait as long as nobody does.
func (g *Group) tidy() {
	for len(g.calls) == 0 && g.engine.Untidy() {
		g.engine.Tidy()
	}
}

// linger runs calls for a moment, until one of them is waited for.
func (g *Group) linger() {
	if !g.begun || g.urgent {
		return
	}
	passed, stop := compute.SystemClock{}.After(g.options.Moment)
	defer stop()

	for g.begun && !g.urgent && len(g.group) < g.options.Most {
		select {
		case c, ok := <-g.calls:
			if !ok {
				return
			}
			g.runWith(c)
		case <-passed:
			return
		}
	}
}

// fill runs what waits, for the same commit.
func (g *Group) fill() {
	for len(g.group) > 0 && len(g.group) < g.options.Most && !g.full {
		c := g.waiting()
		if c == nil {
			return
		}
		g.runWith(c)
	}
}

// waiting gives the next call that waits; nil: none does.
func (g *Group) waiting() *call {
	select {
	case c := <-g.calls:
		return c // nil if they are closed
	default:
		return nil
	}
}
