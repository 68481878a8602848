package loop

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Due is work that the clock asks for.
type Due struct {
	Next func(ctx context.Context) (time.Time, error) // when there is something to do next; zero: nothing is planned
	Do   func(ctx context.Context) error              // does what is due
	// Exact: it is done at its time to the millisecond, whatever else is done a moment before.
	Exact bool
}

// stage is the shortest step of Advance: what is due closer together is done together.
const stage = 10 * time.Millisecond

// Advance sets the clock forward by d and does all work that is due on the way, each at its time: what falls due after a
// minute has been done when that which falls due after an hour begins. Who waits for a time on the way is woken then, and has done what it does next
// before the clock goes on. The caller keeps others from doing what is due.
func (a *Auto) Advance(ctx context.Context, d time.Duration) error {
	defer a.Clock.Wake()
	target := a.Clock.Now().Add(d)
	for {
		if err := doAll(ctx, a.Work); err != nil {
			return err
		}
		woke, err := a.rouse(ctx)
		switch {
		case err != nil:
			return err
		case woke:
			continue // they may have made more that is due
		}

		now := a.Clock.Now()
		if !now.Before(target) {
			return nil
		}
		p, err := planned(ctx, a.Work)
		if err != nil {
			return err
		}
		a.Clock.GoTo(p.with(a.Clock.Waiting().Exact).after(now, target))
	}
}

// wokenTime is how long Advance waits at most, in the machine's time, for the requests that it woke: one of them may hang.
const wokenTime = 2 * time.Second

// rouse wakes who waits for a time that has come, and waits until their requests are answered, sleep or are held again. It reports whether there was
// anybody.
func (a *Auto) rouse(ctx context.Context) (woke bool, err error) {
	first := a.Clock.Waiting().First
	if first.IsZero() || first.After(a.Clock.Now()) {
		return false, nil
	}
	before := a.worked()
	a.Clock.Wake()
	for began := a.machine.Now(); a.worked() > before && a.machine.Now().Sub(began) < wokenTime; {
		if err = compute.Sleep(ctx, a.machine, busyPause); err != nil {
			return true, err
		}
	}
	return true, nil
}

// worked gives how many requests are worked at.
func (a *Auto) worked() int {
	held := a.Held()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.busy(held)
}

// plan is when there is something to do next, and something exact; zero: nothing is planned.
type plan struct{ next, exact time.Time }

// planned gives when there is something to do.
func planned(ctx context.Context, work []Due) (p plan, _ error) {
	for _, w := range work {
		t, err := w.Next(ctx)
		if err != nil {
			return p, err
		}
		p.next = soonerOf(p.next, t)
		if w.Exact {
			p.exact = soonerOf(p.exact, t)
		}
	}
	return p, nil
}

// with gives the plan to be exact at that time, too; zero: at none more.
func (p plan) with(t time.Time) plan { return plan{soonerOf(p.next, t), soonerOf(p.exact, t)} }

// after gives where the clock goes to from now, not over the end; zero: nowhere, without an end.
func (p plan) after(now, end time.Time) time.Time {
	next := soonerOf(p.next, end)
	if least := now.Add(stage); !next.IsZero() && next.Before(least) && (end.IsZero() || least.Before(end)) {
		next = least
	}
	if p.exact.After(now) && p.exact.Before(next) {
		next = p.exact
	}
	return next
}

// soonerOf gives the earlier of two times, of which zero is none.
func soonerOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// doAll does what is due now.
func doAll(ctx context.Context, work []Due) error {
	for _, w := range work {
		if err := w.Do(ctx); err != nil {
			return err
		}
	}
	return nil
}
