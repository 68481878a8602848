package compute

import (
	"slices"
	"sync"
	"time"
)

var _ Clock = (*SettableClock)(nil)

// SettableClock is a clock that can be frozen and set forward: tests and test controls have it. It never goes back. It is
// safe for concurrent use.
type SettableClock struct {
	mu     sync.Mutex
	system *RunningClock
	ahead  time.Duration // of system, while it runs
	frozen time.Time     // what it shows while it stands still; zero: it runs
	paused time.Duration // of system, when this clock last began to stand still
	missed time.Duration // in pauses of system while this clock stood still before: they are none of its own
	rings  map[*ring]struct{}
	woken  int    // of those who awaited a time, who did not give it up yet
	set    func() // nil: nobody asks
}

// ring is somebody who waits.
type ring struct {
	due  time.Time
	c    chan time.Time
	stop func() bool // of the machine's timer, while the clock runs
	why  reason
}

// reason is why somebody waits.
type reason int

const (
	listens reason = iota // for something else that may come before
	pauses                // for about that time and nothing else
	sleeps                // for that time and nothing else
	awaits                // for something else, and what comes by that time shows
)

// NewSettableClock makes a clock that runs with another one.
func NewSettableClock(with *RunningClock) *SettableClock {
	return &SettableClock{system: with, rings: map[*ring]struct{}{}}
}

// Running gives the clock that it runs with.
func (c *SettableClock) Running() *RunningClock { return c.system }

// NewFrozenClock makes a clock that stands still and shows t.
func NewFrozenClock(t time.Time) *SettableClock { return NewFrozenClockWith(NewRunningClock(), t) }

// NewFrozenClockWith makes a clock that runs with another one once it is resumed, and shows t until then.
func NewFrozenClockWith(with *RunningClock, t time.Time) *SettableClock {
	c := NewSettableClock(with)
	c.frozen, c.paused = t.UTC(), with.Paused()
	return c
}

// Now gives the time that the clock shows.
func (c *SettableClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Wall gives the time of day.
func (c *SettableClock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Add(c.lag())
}

// Lag is how far Now is behind Wall: as far as that of the clock that it runs with, but for pauses while this one stood still.
func (c *SettableClock) Lag() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lag()
}

func (c *SettableClock) lag() time.Duration {
	lag := c.system.Lag() - c.missed
	if !c.frozen.IsZero() {
		lag -= c.system.Paused() - c.paused
	}
	return lag
}

func (c *SettableClock) now() time.Time {
	if !c.frozen.IsZero() {
		return c.frozen
	}
	return c.system.Now().Add(c.ahead)
}

// Frozen reports whether the clock stands still.
func (c *SettableClock) Frozen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.frozen.IsZero()
}

// Watch has f called whenever the clock is set from now on. It is quick, and asks the clock nothing.
func (c *SettableClock) Watch(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = f
}

// tell calls who watches. The caller has the lock.
func (c *SettableClock) tell() {
	if c.set != nil {
		c.set()
	}
}

// Freeze makes the clock stand still.
func (c *SettableClock) Freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen.IsZero() {
		c.frozen = c.now()
		c.paused = c.system.Paused()
	}
	for r := range c.rings {
		r.halt()
	}
	c.tell()
}

// Resume makes the clock run again from where it stood.
func (c *SettableClock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen.IsZero() {
		return
	}
	c.ahead = c.frozen.Sub(c.system.Now())
	c.missed += c.system.Paused() - c.paused
	c.frozen = time.Time{}
	for r := range c.rings {
		c.arm(r)
	}
	c.tell()
}

// Advance sets the clock forward by d, running or not, and rings for all whose time has come.
func (c *SettableClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move(d)
	c.ring(c.isDue)
}

// GoTo is Advance to t, unless the clock shows a later time already, but wakes none of those who Sleep, Pause or Await: Wake does, once what is due at
// that time has been done.
func (c *SettableClock) GoTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move(max(0, t.Sub(c.now())))
	c.ring(func(r *ring) bool { return c.isDue(r) && r.why == listens })
}

// Wake wakes who waits for a time that has come.
func (c *SettableClock) Wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ring(c.isDue)
}

// WakeAll wakes all who wait, whether their time has come or not: they are to end.
func (c *SettableClock) WakeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ring(func(*ring) bool { return true })
}

// isDue reports whether the time has come that somebody waits for. The caller has the lock.
func (c *SettableClock) isDue(r *ring) bool { return !r.due.After(c.now()) }

// move sets the clock forward. The caller has the lock, and rings.
func (c *SettableClock) move(d time.Duration) {
	defer c.tell()
	if !c.frozen.IsZero() {
		c.frozen = c.frozen.Add(d)
		return
	}
	c.ahead += d
	for r := range c.rings {
		r.halt()
		if r.due.After(c.now()) {
			c.arm(r)
		}
	}
}

// ring rings for those, in the order of their times. The caller has the lock.
func (c *SettableClock) ring(those func(r *ring) bool) {
	var due []*ring
	for r := range c.rings {
		if those(r) {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b *ring) int { return a.due.Compare(b.due) })
	for _, r := range due {
		r.halt()
		c.fire(r)
	}
}

// arm has the machine's timer ring. The caller has the lock, and the clock runs.
func (c *SettableClock) arm(r *ring) {
	r.stop = c.system.Call(r.due.Sub(c.now()), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, waits := c.rings[r]; waits && c.frozen.IsZero() {
			c.fire(r)
		}
	})
}

func (c *SettableClock) fire(r *ring) {
	delete(c.rings, r)
	if r.why == awaits {
		c.woken++
	}
	r.c <- c.now()
}

func (r *ring) halt() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// Waiting is who waits on a clock for a time to come.
type Waiting struct {
	Asleep int       // in Sleep or Pause
	Woken  int       // in Await, after their time has come
	First  time.Time // when the first of all those is woken; zero: nobody is
	Exact  time.Time // the same of those who do not Pause
}

// Waiting gives who waits now.
func (c *SettableClock) Waiting() Waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := Waiting{Woken: c.woken}
	for r := range c.rings {
		if r.why == listens {
			continue
		}
		if r.why != awaits {
			w.Asleep++
		}
		if w.First.IsZero() || r.due.Before(w.First) {
			w.First = r.due
		}
		if r.why != pauses && (w.Exact.IsZero() || r.due.Before(w.Exact)) {
			w.Exact = r.due
		}
	}
	return w
}

// After gives a channel that receives once the clock has moved on by d, and a function that gives up on it.
func (c *SettableClock) After(d time.Duration) (<-chan time.Time, func()) { return c.after(d, listens) }

func (c *SettableClock) after(d time.Duration, why reason) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()

	r := &ring{due: c.now().Add(d), c: make(chan time.Time, 1), why: why}
	switch {
	case d <= 0:
		c.fire(r)
	case c.frozen.IsZero():
		c.rings[r] = struct{}{}
		c.arm(r)
	default:
		c.rings[r] = struct{}{}
	}

	return r.c, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		r.halt()
		if _, waits := c.rings[r]; !waits && r.why == awaits {
			c.woken--
		}
		delete(c.rings, r)
	})
}
