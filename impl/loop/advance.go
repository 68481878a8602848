package loop

import (
	"context"
	"slices"
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

		next, err := earliest(ctx, work)
		if err != nil {
			return err
		}
		exact, err := earliest(ctx, exactly(work))
		if err != nil {
			return err
		}

		next = soonerOf(next, target)
		if least := now.Add(stage); next.Before(least) && least.Before(target) {
			next = least
		}
		if exact.After(now) && exact.Before(next) {
			next = exact
		}
		clock.AdvanceTo(next)
	}
}

// exactly gives the work that is exact.
func exactly(work []Due) []Due {
	return slices.DeleteFunc(slices.Clone(work), func(w Due) bool { return !w.Exact })
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

// earliest gives when there is something to do next; zero: nothing is planned.
func earliest(ctx context.Context, work []Due) (next time.Time, _ error) {
	for _, w := range work {
		t, err := w.Next(ctx)
		if err != nil {
			return next, err
		}
		next = soonerOf(next, t)
	}
	return next, nil
}
