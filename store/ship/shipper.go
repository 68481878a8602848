package ship

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/sqlite"
)

const (
	// mostPending is how many bytes of the log may wait for the target, in memory.
	mostPending = 128 << 20
	// segmentBytes is about how many a segment has at most, before they are compressed.
	segmentBytes = 8 << 20
	// partBytes is how many bytes of the file are in a part of a base.
	partBytes = 16 << 20
	// baseAge is after how long another base is made, if anything was written, and baseShare after how many times the file's size of log, of
	// which there must be baseLeast bytes: both bound how long it takes to restore.
	baseAge   = 24 * time.Hour
	baseShare = 4
	baseLeast = 1 << 30
	// keepTick is how often it is looked for what need not be kept.
	keepTick = time.Hour
	// firstWait and longestWait are between two tries, of which each waits twice as long as the one before.
	firstWait   = 250 * time.Millisecond
	longestWait = 15 * time.Second
)

// Source is a database whose log can be followed.
type Source interface {
	Follow(ctx context.Context, now func() time.Time, taken func(sqlite.Piece)) (*sqlite.Tail, error)
}

// Options are how a database is shipped.
type Options struct {
	Source Source
	Target Target
	Every  time.Duration // how often what was written is shipped
	Keep   time.Duration // for how long one can go back
	Key    []byte        // what is shipped as the key of what is sealed; nil: nothing
	Clock  compute.Clock
	Log    *slog.Logger
	Random func() string   // gives what makes the name of a generation its own
	Reach  func(time.Time) // has Clock tell no moment before that one from now on; nil: it cannot

	most  int64 // bytes that may wait; 0: mostPending
	least int64 // bytes of log after which another base is made, if that is some times the file's too; 0: baseLeast
}

// Status is how the shipping stands.
type Status struct {
	Target     string
	Began      time.Time // when the shipping did
	Generation string    // empty: none has begun
	Shipped    time.Time // all that was acknowledged before is in the target, with a base; zero: nothing is
	Bytes      int64     // that the target took since the start
	Failures   int64     // of requests to the target, since the start
	Pending    int64     // bytes that wait
	Broken     int64     // generations that ended before the server did
}

// Shipper ships a database until it is closed.
type Shipper struct {
	o      Options
	cancel context.CancelFunc
	closed chan struct{}
	stop   chan struct{} // closed when the last is to be shipped
	left   error         // why something is not there; read once closed is

	stopped sync.Once
	pruning atomic.Bool // what need not be kept is being removed

	mu     sync.Mutex
	status Status
}

// Start begins to ship. It returns at once: what fails is tried again until Close.
func Start(o Options) *Shipper {
	if o.most == 0 {
		o.most = mostPending
	}
	if o.least == 0 {
		o.least = baseLeast
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Shipper{o: o, cancel: cancel, closed: make(chan struct{}), stop: make(chan struct{}), status: Status{Target: o.Target.String(), Began: o.Clock.Now()}}
	go s.run(ctx)
	return s
}

// Close ships what there is yet, for as long as that may take, and ends. The error says that something was left. Closing twice does no harm.
func (s *Shipper) Close(within time.Duration) error {
	s.stopped.Do(func() { close(s.stop) })
	over, release := s.o.Clock.After(within)
	defer release()
	defer s.cancel()
	select {
	case <-s.closed:
		if s.left != nil {
			return fmt.Errorf("the last of what was written is not in %s: %w", s.o.Target, s.left)
		}
		return nil
	case <-over:
		return fmt.Errorf("the last of what was written is not in %s: that took longer than %s", s.o.Target, within)
	}
}

// Status tells how the shipping stands.
func (s *Shipper) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

func (s *Shipper) change(f func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.status)
}

// stopping reports whether the server ends.
func (s *Shipper) stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// run ships one generation after the other.
func (s *Shipper) run(ctx context.Context) {
	defer close(s.closed)
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		g := &generation{s: s, more: make(chan struct{}, 1), room: make(chan struct{}, 1), full: make(chan struct{})}
		err := g.ship(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		if s.stopping() {
			s.left = err
			return
		}
		if g.whole {
			wait = firstWait
		}
		s.change(func(t *Status) { t.Broken++ })
		s.o.Log.Error("a generation of the continuous backup ends; another begins", "generation", g.id, "error", err)
		if !s.pause(ctx, wait) {
			s.left = err
			return
		}
	}
}

// pause waits, unless the server ends first.
func (s *Shipper) pause(ctx context.Context, wait time.Duration) bool {
	over, release := s.o.Clock.After(wait)
	defer release()
	select {
	case <-over:
		return true
	case <-s.stop:
	case <-ctx.Done():
	}
	return false
}

// generation is one that is being shipped.
type generation struct {
	s    *Shipper
	id   string
	tail *sqlite.Tail
	more chan struct{} // something came
	room chan struct{} // something was taken away

	reading sync.Mutex // one at a time, for whom there is room
	mu      sync.Mutex
	pending []sqlite.Piece
	bytes   int64         // of them
	taken   int64         // pieces, so far
	seen    time.Time     // all that was acknowledged before came
	full    chan struct{} // closed when more waits than may
	over    bool          // it is

	// Of the one that ships:
	number   int    // of the last segment
	sum      string // of that
	shipped  int64  // pieces
	since    int64  // bytes of the log, since the last base was begun
	logBegan int    // segment with which the last log began
	bases    int
	based    time.Time // when the last base was begun
	copy     *copying  // a base that is being made; nil: none is
	whole    bool      // there is a base
	kept     time.Time // when it was last looked for what need not be kept
	failing  bool      // the target took nothing the last time
}

// take takes a piece from the tail.
func (g *generation) take(p sqlite.Piece) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over { // what comes after is of no use without this
		return
	}
	g.pending = append(g.pending, p)
	g.bytes += int64(len(p.Bytes))
	g.taken++
	g.s.change(func(t *Status) { t.Pending = g.bytes })
	if g.bytes > g.s.o.most {
		g.over = true
		close(g.full)
	}
	g.wake()
}

func (g *generation) wake() {
	select {
	case g.more <- struct{}{}:
	default:
	}
}

// errFull ends a generation.
var errFull = errors.New("the target takes less than is written, or nothing")

// ship ships a generation. It gives nil when the server ends and all of it is there.
func (g *generation) ship(ctx context.Context) (err error) {
	if err := g.try(ctx, func() error { return g.name(ctx) }); err != nil {
		return err
	}
	g.seen = g.s.o.Clock.Now()
	if g.tail, err = g.s.o.Source.Follow(ctx, g.s.o.Clock.Now, g.take); err != nil {
		return err
	}
	defer g.tail.Close()
	g.s.change(func(t *Status) { t.Generation = g.id })
	g.based, g.copy = g.s.o.Clock.Now(), newCopying(1, 1)
	beside, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- g.read(ctx) }()
	if err := g.try(ctx, func() error { return g.s.o.Target.Begin(ctx, g.id) }); err != nil {
		return err
	}
	if g.s.o.Key != nil {
		if err := g.store(ctx, nameKey(g.id), header{Kind: kindKey}, g.s.o.Key); err != nil {
			return err
		}
	}

	for {
		select {
		case err := <-ended:
			return g.end(ctx, err)
		default:
		}
		if err := g.put(ctx); err != nil {
			return err
		}
		if g.copy != nil {
			if err := g.copyPart(ctx); err != nil {
				return err
			}
			continue
		}

		if err := g.keep(beside); err != nil {
			return err
		}
		select {
		case <-g.more:
		case err := <-ended:
			return g.end(ctx, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// end ships what was read, of which err is why there is no more, and the rest of the first base.
func (g *generation) end(ctx context.Context, err error) error {
	for {
		if failed := g.put(ctx); failed != nil {
			return errors.Join(err, failed)
		}
		if err != nil || g.copy == nil || g.whole {
			return err
		}
		if failed := g.copyPart(ctx); failed != nil {
			return failed
		}
	}
}

// read reads the log as often as is asked for, and all of it when the server ends.
func (g *generation) read(ctx context.Context) error {
	for {
		last := g.s.stopping()
		all, _, _, err := g.readNow()
		if err != nil || last && all {
			return err
		}
		var stop, room <-chan struct{} = g.s.stop, nil
		if last {
			stop = nil
		}
		if !all {
			room = g.room
		}

		over, release := g.s.o.Clock.After(g.s.o.Every)
		select {
		case <-over:
		case <-room:
		case <-stop:
		case <-g.full:
			g.tail.Close() // the log is not kept
			release()
			return errFull
		case <-g.tail.Ended():
		case <-ctx.Done():
			release()
			return ctx.Err()
		}
		release()
	}
}

// readNow reads the log, as far as there is room: if that is all, all that was acknowledged before seen is there then, in the pieces taken so far,
// and nothing else.
func (g *generation) readNow() (all bool, taken int64, seen time.Time, err error) {
	g.reading.Lock()
	defer g.reading.Unlock()
	g.mu.Lock()
	room := g.s.o.most - g.bytes
	g.mu.Unlock()
	now := g.s.o.Clock.Now()
	if all, err = g.tail.Read(room); err != nil || !all {
		return false, 0, seen, err
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return false, 0, seen, errFull
	}
	g.seen = now
	g.wake()
	return true, g.taken, now, nil
}

// next gives what the next segment has, with how many pieces that is; none: nothing waits, and all that came before seen is there.
func (g *generation) next() (p sqlite.Piece, pieces int, seen time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pending) == 0 {
		return p, 0, g.seen
	}
	p, pieces = g.pending[0], 1
	size := len(p.Bytes)
	for _, n := range g.pending[1:] {
		if n.Log != p.Log || n.Offset == 0 || size+len(n.Bytes) > segmentBytes {
			break
		}
		size += len(n.Bytes)
		p.At, p.Latest = n.At, n.Latest
		pieces++
	}
	if pieces > 1 {
		p.Bytes = make([]byte, 0, size)
		for _, n := range g.pending[:pieces] {
			p.Bytes = append(p.Bytes, n.Bytes...)
		}
	}
	return p, pieces, g.seen
}

// done forgets pieces that the target took.
func (g *generation) done(pieces int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.pending[:pieces] {
		g.bytes -= int64(len(p.Bytes))
	}
	g.pending = append([]sqlite.Piece(nil), g.pending[pieces:]...)
	g.s.change(func(t *Status) { t.Pending = g.bytes })
	select {
	case g.room <- struct{}{}:
	default:
	}
}

// put ships what waits, and not what comes meanwhile: however much is written, a base is copied beside it.
func (g *generation) put(ctx context.Context) error {
	g.mu.Lock()
	until := g.taken
	g.mu.Unlock()
	for {
		p, pieces, seen := g.next()
		if pieces == 0 {
			g.tell(seen)
			return nil
		}
		if g.shipped >= until {
			return nil
		}

		h := header{Kind: kindSegment, Number: g.number + 1, At: p.At, Latest: p.Latest, Log: p.Log, Offset: p.Offset, Previous: g.sum}
		object, sum, err := g.seal(h, p.Bytes)
		if err != nil {
			return err
		}
		if err := g.send(ctx, nameSegment(g.id, h.Number, h.At), object); err != nil {
			return err
		}

		g.number, g.sum = h.Number, sum
		if p.Offset == 0 {
			g.logBegan = h.Number
		}
		g.done(pieces)
		g.shipped += int64(pieces)
		g.since += int64(len(p.Bytes))
		g.tell(p.At)
		if err := g.endCopy(ctx); err != nil {
			return err
		}
	}
}

// tell tells what is there.
func (g *generation) tell(at time.Time) {
	g.s.change(func(t *Status) {
		if g.whole && at.After(t.Shipped) {
			t.Shipped = at
		}
	})
}

func (g *generation) seal(h header, content []byte) (object []byte, sum string, err error) {
	h.Generation = g.id
	return seal(h, content)
}

// store stores an object.
func (g *generation) store(ctx context.Context, name string, h header, content []byte) error {
	object, _, err := g.seal(h, content)
	if err != nil {
		return err
	}
	return g.send(ctx, name, object)
}

// send tries until the target takes an object.
func (g *generation) send(ctx context.Context, name string, object []byte) error {
	err := g.try(ctx, func() error { return g.s.o.Target.Put(ctx, name, object) })
	if err == nil {
		g.s.change(func(t *Status) { t.Bytes += int64(len(object)) })
	}
	return err
}

// try asks the target until it does what it is asked for, or has lost what it has of the generation.
func (g *generation) try(ctx context.Context, ask func() error) error {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := ask()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			if g.failing {
				g.s.o.Log.Info("the continuous backup goes on", "target", g.s.o.Target.String())
			}
			g.failing = false
			return nil
		}
		if errors.Is(err, errGone) {
			return err
		}

		if g.s.change(func(t *Status) { t.Failures++ }); !g.failing {
			g.failing = true
			g.s.o.Log.Warn("the continuous backup waits for its target", "target", g.s.o.Target.String(), "error", err)
		}
		over, release := g.s.o.Clock.After(wait)
		select {
		case <-over:
		case <-ctx.Done():
		}
		release()
	}
}
