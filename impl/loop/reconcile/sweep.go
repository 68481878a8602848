package reconcile

import (
	"context"
	"log/slog"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Sweep is the Reconciler of one object only, which is swept at every tick: a sweep over rows that are due, or a look that has no
// objects of its own. Its key is its name.
type Sweep = Reconciler[string, struct{}]

// NewSweep makes one that sweeps at every tick, for the first time after one, and when it is hinted with its name. A sweep that failed
// is made again with the next tick.
func NewSweep(name string, clock compute.Clock, log *slog.Logger, tick time.Duration, sweep func(context.Context) error) *Sweep {
	var r *Sweep
	r = New(Config[string, struct{}]{
		Name: name, Clock: clock, Log: log, Backoff: tick, BackoffMost: tick,
		List: func(context.Context, bool) ([]string, error) {
			r.At(name, clock.Now().Add(tick))
			return nil, nil
		},
		Reconcile: Each(func(ctx context.Context, _ *Look[string, struct{}]) (Next, error) {
			return At(clock.Now().Add(tick)), sweep(ctx)
		}),
	})
	return r
}
