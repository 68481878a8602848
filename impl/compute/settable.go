package compute

import (
	"cmp"
	"maps"
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
	set    func() // nil: nobody asks
}

// ring is somebody who waits.
type ring struct {
	due  time.Time
	c    chan time.Time
	stop func() bool // of the machine's timer, while the clock runs

	sleeps bool // it waits for the time alone, and so the clock may go on for it
}

// NewSettableClock makes a clock that runs with another one.
func NewSettableClock(with *RunningClock) *SettableClock {
	return &SettableClock{system: with, rings: map[*ring]struct{}{}}
}

// Running gives the clock that it runs with.
func (c *SettableClock) Running() *RunningClock { return c.system }

// NewFrozenClock makes a clock that stands still and shows t.
func NewFrozenClock(t time.Time) *SettableClock {
	c := NewSettableClock(NewRunningClock())
	c.frozen = t.UTC()
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
	c.advance(d)
}

// AdvanceTo is Advance to t, unless the clock shows a later time already.
func (c *SettableClock) AdvanceTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(max(0, t.Sub(c.now())))
}

func (c *SettableClock) advance(d time.Duration) {
	if c.frozen.IsZero() {
		c.ahead += d
	} else {
		c.frozen = c.frozen.Add(d)
	}
	c.tell()

	for _, r := range slices.SortedFunc(maps.Keys(c.rings), func(a, b *ring) int { return cmp.Compare(a.due.UnixNano(), b.due.UnixNano()) }) {
		r.halt()
		if r.due.After(c.now()) {
			if c.frozen.IsZero() {
				c.arm(r)
			}
			continue
		}
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
	r.c <- c.now()
}

func (r *ring) halt() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// Sleepers gives how many wait in Sleep, and when the first of them is to wake.
func (c *SettableClock) Sleepers() (count int, first time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.rings {
		if !r.sleeps {
			continue
		}
		if count++; count == 1 || r.due.Before(first) {
			first = r.due
		}
	}
	return count, first
}

// After gives a channel that receives once the clock has moved on by d, and a function that gives up on it.
func (c *SettableClock) After(d time.Duration) (<-chan time.Time, func()) { return c.after(d, false) }

func (c *SettableClock) after(d time.Duration, sleeps bool) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()

	r := &ring{due: c.now().Add(d), c: make(chan time.Time, 1), sleeps: sleeps}
	switch {
	case d <= 0:
		r.c <- c.now()
		return r.c, func() {}
	case c.frozen.IsZero():
		c.rings[r] = struct{}{}
		c.arm(r)
	default:
		c.rings[r] = struct{}{}
	}

	return r.c, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		r.halt()
		delete(c.rings, r)
	}
}
