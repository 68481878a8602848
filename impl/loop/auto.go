package loop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Auto has a clock go from one thing that is due to the next: to a time, by Advance, or by itself whenever everything waits: no request is under way
// but those that are held or sleep, no worker of the outside runs a job or starts, and who was answered last had time to ask for more. Meanwhile the
// clock stands still, or runs while such a worker works. It is safe for concurrent use.
type Auto struct {
	Clock   *compute.SettableClock
	Work    []Due
	Held    func() int           // requests that are held now
	Working func() bool          // a worker of the outside runs a job, or starts
	Alone   func() (over func()) // keeps others from doing what is due, until over is called
	Log     *slog.Logger

	machine compute.SystemClock
	wake    chan struct{} // has one element if there may be something to do

	mu       sync.Mutex
	on       bool
	until    time.Time     // where it stops; zero: nowhere
	settle   time.Duration // of the machine's time, in which who was answered may ask for more
	requests int           // under way
	answered int           // how many may ask for more, since they were answered and did not yet
	at       time.Time     // when the last one was, on the machine's clock
}

// NewAuto makes one that is off.
func NewAuto(clock *compute.SettableClock, work []Due, held func() int, working func() bool, alone func() (over func()), log *slog.Logger) *Auto {
	return &Auto{Clock: clock, Work: work, Held: held, Working: working, Alone: alone, Log: log, wake: make(chan struct{}, 1)}
}

// Begin has the clock go by itself from now on, by at most so much; 0: without a bound. settle is how long, in the machine's time, nothing
// comes before it goes on.
func (a *Auto) Begin(most, settle time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Clock.Freeze()
	a.on, a.until, a.settle = true, time.Time{}, settle
	a.answered, a.at = 1, a.machine.Now()
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

// Request counts a request that is under way until over is called. Answered is called before its sender can know of the answer, and so before
// it can ask for more; both may be called again.
func (a *Auto) Request() (answered, over func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests++
	a.answered = max(0, a.answered-1) // it is one of those, most likely
	a.hint()

	answered = sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.answered++
		a.at = a.machine.Now()
	})
	over = sync.OnceFunc(func() {
		answered()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.requests--
		a.hint()
	})
	return answered, over
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

	defer a.Alone()()
	moved, err := a.goOn(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		a.Log.Error("the clock cannot go on by itself: it is tried again", "error", err)
		return idlePause, true
	case !moved:
		return idlePause, true
	}
	return 0, true
}

// goOn does what is due, goes to what is due next, does that and wakes who waits for that time. It reports whether there was anything.
func (a *Auto) goOn(ctx context.Context) (moved bool, err error) {
	if err = doAll(ctx, a.Work); err != nil {
		return false, err
	}
	p, err := planned(ctx, a.Work)
	if err != nil || !a.move(p) {
		return false, err
	}
	defer a.Clock.Wake()
	return true, doAll(ctx, a.Work)
}

// waits reports whether it is on, and how long to wait before everything may wait; 0: everything does.
func (a *Auto) waits() (pause time.Duration, on bool) {
	if on, _ = a.On(); !on {
		return 0, false
	}
	working, held := a.Working(), a.Held()
	a.mu.Lock()
	defer a.mu.Unlock()

	switch {
	case !a.on: // any more
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
	if a.busy(held) > 0 {
		return busyPause, true
	}
	if left := a.settle - a.machine.Now().Sub(a.at); a.answered > 0 && left > 0 {
		return left, true
	}
	a.answered = 0
	return 0, true
}

// busy is how many requests are worked at: of those under way neither those that sleep nor those that are held, unless their time is over. The
// caller has the lock.
func (a *Auto) busy(held int) int {
	w := a.Clock.Waiting()
	return a.requests + w.Woken - held - w.Asleep
}

// move sets the clock forward to the first of what is due next, who waits for a time and the end, if it is on still and there is any.
func (a *Auto) move(p plan) bool {
	held := a.Held()
	a.mu.Lock()
	defer a.mu.Unlock()

	next := p.with(a.Clock.Waiting().First).after(a.Clock.Now(), a.until)
	if !a.on || next.IsZero() {
		return false
	}

	a.Clock.GoTo(next)
	if held > 0 { // what is done now may be what they wait for
		a.answered, a.at = max(1, a.answered), a.machine.Now()
	}
	return true
}
