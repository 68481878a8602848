package loop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Auto has a clock go to the next thing that is due by itself, whenever everything waits: no request is under way but those that are held
// or sleep, no worker of the outside runs a job, and who was answered last had time to ask for more. Meanwhile the clock stands still, or
// runs while a worker of the outside runs a job. It is safe for concurrent use.
type Auto struct {
	Clock   *compute.SettableClock
	Work    []Due
	Held    func() int  // requests that are held now
	Working func() bool // a worker of the outside runs a job
	Log     *slog.Logger

	machine compute.SystemClock
	wake    chan struct{} // has one element if there may be something to do

	mu       sync.Mutex
	on       bool
	until    time.Time     // where it stops; zero: nowhere
	settle   time.Duration // of the machine's time, in which who was answered may ask for more
	requests int           // under way
	active   time.Time     // on the machine's clock: when something happened last that makes somebody ask for more
}

// NewAuto makes one that is off.
func NewAuto(clock *compute.SettableClock, work []Due, held func() int, working func() bool, log *slog.Logger) *Auto {
	return &Auto{Clock: clock, Work: work, Held: held, Working: working, Log: log, wake: make(chan struct{}, 1)}
}

// Begin has the clock go by itself from now on, by at most so much; 0: without a bound. settle is how long, in the machine's time, nothing
// comes before it goes on.
func (a *Auto) Begin(most, settle time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Clock.Freeze()
	a.on, a.until, a.settle, a.active = true, time.Time{}, settle, a.machine.Now()
	if most > 0 {
		a.until = a.Clock.Now().Add(most)
	}
	a.hint()
}

// End has the clock stand still, or run with the machine's.
func (a *Auto) End(runs bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.on = false
	if runs {
		a.Clock.Resume()
	} else {
		a.Clock.Freeze()
	}
}

// On reports whether the clock goes by itself, and for how long yet, if there is a bound.
func (a *Auto) On() (on bool, left time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.on && !a.until.IsZero() {
		left = a.until.Sub(a.Clock.Now())
	}
	return a.on, left
}

// Request counts a request that is under way until over is called.
func (a *Auto) Request() (over func()) {
	a.count(1)
	return func() { a.count(-1) }
}

func (a *Auto) count(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests += n
	if a.on {
		a.active = a.machine.Now()
		a.hint()
	}
}

// hint has Run look. The caller has the lock.
func (a *Auto) hint() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Pauses between two looks, in the machine's time.
const (
	busyPause = time.Millisecond       // while a request is worked at or a worker works
	idlePause = 100 * time.Millisecond // while nothing is due
)

// Run moves the clock while it is on, until ctx ends.
func (a *Auto) Run(ctx context.Context) {
	for ctx.Err() == nil {
		var timeout <-chan time.Time
		stop := func() {}
		if pause, on := a.step(ctx); on {
			timeout, stop = a.machine.After(pause)
		}

		select {
		case <-timeout:
		case <-a.wake:
		case <-ctx.Done():
		}
		stop()
	}
}

// step goes to what is due next if everything waits, and does it. It gives how long to wait before the next step.
func (a *Auto) step(ctx context.Context) (pause time.Duration, on bool) {
	if pause, on = a.waits(); !on || pause > 0 {
		return pause, on
	}

	err := doAll(ctx, a.Work)
	next, nextErr := earliest(ctx, a.Work)
	if err == nil {
		err = nextErr
	}
	if err != nil {
		if ctx.Err() == nil {
			a.Log.Error("the clock cannot go on by itself: it is tried again", "error", err)
		}
		return idlePause, true
	}

	if !a.move(next) {
		return idlePause, true
	}
	if err := doAll(ctx, a.Work); err != nil && ctx.Err() == nil {
		a.Log.Error("what is due failed while the clock goes by itself", "error", err)
	}
	return 0, true
}

// waits reports whether it is on, and how long to wait before everything may wait; 0: everything does.
func (a *Auto) waits() (pause time.Duration, on bool) {
	working, held := a.Working(), a.Held()
	a.mu.Lock()
	defer a.mu.Unlock()

	sleepers, _ := a.Clock.Sleepers()
	switch {
	case !a.on:
		return 0, false
	case !a.until.IsZero() && !a.Clock.Now().Before(a.until):
		a.on = false
		a.Clock.Freeze()
		return 0, false
	case working:
		a.Clock.Resume()
		return busyPause, true
	}

	a.Clock.Freeze()
	if a.requests > held+sleepers {
		return busyPause, true
	}
	return max(0, a.settle-a.machine.Now().Sub(a.active)), true
}

// move sets the clock forward to the first of what is due next, who sleeps and the end, if it is on still and there is any.
func (a *Auto) move(next time.Time) bool {
	held := a.Held()
	a.mu.Lock()
	defer a.mu.Unlock()

	_, wakes := a.Clock.Sleepers()
	next = soonerOf(soonerOf(next, wakes), a.until)
	if !a.on || next.IsZero() {
		return false
	}
	if least := a.Clock.Now().Add(stage); next.Before(least) && (a.until.IsZero() || least.Before(a.until)) {
		next = least
	}

	a.Clock.AdvanceTo(next)
	if held > 0 { // what is done now may be what they wait for
		a.active = a.machine.Now()
	}
	return true
}

// soonerOf gives the earlier of two times, of which zero is none.
func soonerOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
