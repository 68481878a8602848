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
		for _, w := range work {
			if err := w.Do(ctx); err != nil {
				return err
			}
		}

		now := clock.Now()
		if !now.Before(target) {
			return nil
		}

		next, exact := target, target
		for _, w := range work {
			t, err := w.Next(ctx)
			if err != nil {
				return err
			}
			if !t.IsZero() && t.Before(next) {
				next = t
			}
			if w.Exact && t.After(now) && t.Before(exact) {
				exact = t
			}
		}

		if earliest := now.Add(stage); next.Before(earliest) && earliest.Before(target) {
			next = earliest
		}
		if exact.Before(next) {
			next = exact
		}
		clock.AdvanceTo(next)
	}
}
