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
// minute has been done when that which falls due after an hour begins.
func Advance(ctx context.Context, clock *compute.SettableClock, d time.Duration, work []Due) error {
	target := clock.Now().Add(d)
	for {
		if err := doAll(ctx, work); err != nil {
			return err
		}

		now := clock.Now()
		if !now.Before(target) {
			return nil
		}

		plan, err := planned(ctx, work)
		if err != nil {
			return err
		}
		clock.AdvanceTo(plan.after(now, target))
	}
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
