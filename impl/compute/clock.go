package compute

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Clock is the one source of time. Tests and test controls replace it. docs/architecture.md says what goes by which of its two
// readings.
type Clock interface {
	// Now gives the time that decides, in UTC: whatever falls due after a while goes by it. It neither steps nor goes back, and
	// does not count a pause of the server.
	Now() time.Time
	// Wall gives the time of day, in UTC: what people read, and what they set to a time of day. It follows the machine's, which
	// may step.
	Wall() time.Time
	// After gives a channel that receives once d has passed, and a function that gives up on it.
	After(d time.Duration) (<-chan time.Time, func())
}

// Sleep returns once d has passed on the clock, or with the error of a context that ends before. A SettableClock counts who sleeps, and stops
// for each on its way.
func Sleep(ctx context.Context, c Clock, d time.Duration) error { return SleepNoted(ctx, c, d, nil) }

// SleepNoted is Sleep that has it noted: asleep is called once a SettableClock counts who sleeps, and what it gives once they sleep no more.
// Nil: nobody notes it.
func SleepNoted(ctx context.Context, c Clock, d time.Duration, asleep func() (awake func())) error {
	return pass(ctx, c, d, sleeps, asleep)
}

// Pause is Sleep for whom it does not matter when exactly the time is over: a SettableClock that is set forward by so much does not stop for it.
func Pause(ctx context.Context, c Clock, d time.Duration) error { return pass(ctx, c, d, pauses, nil) }

func pass(ctx context.Context, c Clock, d time.Duration, why reason, begun func() (over func())) error {
	if d <= 0 {
		return ctx.Err()
	}
	passed, stop := after(c, d, why)
	defer stop()
	if begun != nil {
		defer begun()()
	}

	select {
	case <-passed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Await is After for a request that is answered when d has passed, if not before. A SettableClock stops for it on its way, and counts it as woken from
// then on until it is given up: once its answer is known.
func Await(c Clock, d time.Duration) (<-chan time.Time, func()) { return after(c, d, awaits) }

func after(c Clock, d time.Duration, why reason) (<-chan time.Time, func()) {
	if settable, ok := c.(*SettableClock); ok {
		return settable.after(d, why)
	}
	return c.After(d)
}

// Lag is how far the time that decides is behind the time of day. It changes by the pauses of the server and by the steps of the
// machine's clock, and by nothing else.
func Lag(c Clock) time.Duration {
	if exact, ok := c.(interface{ Lag() time.Duration }); ok {
		return exact.Lag()
	}
	return c.Wall().Sub(c.Now())
}

// began is when this process began, with a reading of the monotonic clock.
var began = time.Now()

// SystemClock is the machine's clock, for what is no business of a server's clock.
type SystemClock struct{}

// Now gives the time of day at which the process began, and what has passed since on the machine's monotonic clock.
func (SystemClock) Now() time.Time { return began.Add(time.Since(began)).UTC() }

// Wall gives the machine's time of day.
func (SystemClock) Wall() time.Time { return time.Now().UTC() }

// After waits on the machine's monotonic clock.
func (SystemClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// Call calls f once d has passed, unless the function that it gives is called before.
func (SystemClock) Call(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// MostBetweenLooks is how much time is counted between two looks at a RunningClock: of a longer pause no more than this. It is
// far more than a server that runs leaves between two looks, and far less than anything that it decides takes.
const MostBetweenLooks = time.Second

// LeastStep is the least difference from the machine's time of day that counts as a step. Less is as good as none to people.
const LeastStep = time.Second

var _ Clock = (*RunningClock)(nil)

// RunningClock is the clock of a server. It counts on the machine's monotonic clock from a time of day, its anchor; so a step of
// the machine's time of day changes nothing until Adjust moves the anchor, which moves Wall and leaves Now. Once Look was called,
// which the server does all the time from then on, a long distance between two readings is a pause of the process, of which Now
// counts MostBetweenLooks. A pause of the whole machine is not counted either, since its monotonic clock stands still with it
// or, where that counts, since nobody looks. It is safe for concurrent use.
type RunningClock struct {
	SystemClock

	machine func() (wall time.Time, elapsed time.Duration)
	stepped atomic.Int64 // nanoseconds, by Step
	applied atomic.Int64 // of stepped, what Adjust was called after

	anchor  atomic.Int64 // of Wall, in nanoseconds since 1970: the time of day when elapsed was 0
	base    atomic.Int64 // of Now, likewise
	paused  atomic.Int64 // nanoseconds in all
	seen    atomic.Int64 // elapsed at the last look; 0: nobody looks
	pausing sync.Mutex
}

// NewRunningClock makes a clock that shows the machine's time of day.
func NewRunningClock() *RunningClock {
	return newRunningClock(func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(began)
	})
}

func newRunningClock(machine func() (time.Time, time.Duration)) *RunningClock {
	c := &RunningClock{machine: machine}
	wall, elapsed := machine()
	c.anchor.Store(wall.Add(-elapsed).UnixNano())
	c.base.Store(c.anchor.Load())
	return c
}

// Now gives the time that decides.
func (c *RunningClock) Now() time.Time {
	for {
		base := c.base.Load()
		_, elapsed := c.machine()
		seen := c.seen.Load()
		switch {
		case seen == 0:
		case elapsed-time.Duration(seen) > MostBetweenLooks:
			c.pause()
		case elapsed > time.Duration(seen):
			c.seen.CompareAndSwap(seen, int64(elapsed)) // or somebody who looked later did
		}

		if c.base.Load() == base { // or there was a pause between the two readings
			return at(base, elapsed)
		}
	}
}

// pause takes a pause out of what is counted.
func (c *RunningClock) pause() {
	c.pausing.Lock()
	defer c.pausing.Unlock()
	_, elapsed := c.machine()
	if paused := elapsed - time.Duration(c.seen.Load()) - MostBetweenLooks; paused > 0 {
		c.paused.Add(int64(paused))
		c.base.Add(int64(-paused))
		c.seen.Store(int64(elapsed)) // last: who sees it sees the base, too
	}
}

// Wall gives the time of day.
func (c *RunningClock) Wall() time.Time {
	_, elapsed := c.machine()
	return at(c.anchor.Load(), elapsed)
}

func at(base int64, elapsed time.Duration) time.Time { return time.Unix(0, base+int64(elapsed)).UTC() }

// Look looks at the clock. The server calls it often; from the first time on a pause is noticed.
func (c *RunningClock) Look() {
	_, elapsed := c.machine()
	c.seen.CompareAndSwap(0, max(1, int64(elapsed)))
	c.Now()
}

// Lag is how far Now is behind Wall.
func (c *RunningClock) Lag() time.Duration { return time.Duration(c.anchor.Load() - c.base.Load()) }

// Paused is how much time was not counted so far.
func (c *RunningClock) Paused() time.Duration { return time.Duration(c.paused.Load()) }

// SetLag has the time that decides go on from where that of an earlier run would be: so far behind the time of day. It is set
// before the first reading.
func (c *RunningClock) SetLag(lag time.Duration) { c.base.Store(c.anchor.Load() - int64(lag)) }

// Stepped gives by how much the machine's time of day has stepped since the anchor was set; 0 for less than LeastStep. A step by
// Step is exact: the machine's time of day, which is corrected little by little, does not blur it.
func (c *RunningClock) Stepped() time.Duration {
	wall, elapsed := c.machine()
	stepped := c.stepped.Load()

	step := time.Duration(wall.UnixNano() + stepped - c.anchor.Load() - int64(elapsed))
	if byTest := time.Duration(stepped - c.applied.Load()); (step - byTest).Abs() < LeastStep {
		step = byTest
	}
	if step.Abs() < LeastStep {
		return 0
	}
	return step
}

// Adjust moves the anchor, and so Wall alone.
func (c *RunningClock) Adjust(step time.Duration) {
	c.applied.Store(c.stepped.Load())
	c.anchor.Add(int64(step))
}

// Step has the clock see the machine's time of day stepped by so much, for tests.
func (c *RunningClock) Step(by time.Duration) { c.stepped.Add(int64(by)) }
