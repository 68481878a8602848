package storetest

import (
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var _ compute.Clock = (*Clock)(nil)

// Clock is a compute.Clock that stands still until it is told to go on. It is safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[chan time.Time]time.Time // when each is due
}

// NewClock makes a clock that shows t.
func NewClock(t time.Time) *Clock {
	return &Clock{now: t.UTC(), timers: map[chan time.Time]time.Time{}}
}

// Now gives the time last set.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance sets the clock forward and rings what is due by then.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for ring, due := range c.timers {
		if !due.After(c.now) {
			ring <- c.now
			delete(c.timers, ring)
		}
	}
}

// After rings once the clock was advanced by d, at once if d is not positive.
func (c *Clock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ring := make(chan time.Time, 1)
	if d <= 0 {
		ring <- c.now
		return ring, func() {}
	}
	c.timers[ring] = c.now.Add(d)
	return ring, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, ring)
	}
}
