package loop

import (
	"context"
	"log/slog"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/store"
)

// Timers stops and terminates pods at the times that were asked for: an object each. The times are in the rows, so that a start makes
// good what fell due meanwhile.
type Timers = reconcile.Reconciler[compute.PodID, struct{}]

// NewTimers makes the loop. All timers are looked at again at every reviewTick: the time of day may have stepped.
func NewTimers(s store.Store, c *control.Control, clock compute.Clock, log *slog.Logger) *Timers {
	return reconcile.New(reconcile.Config[compute.PodID, struct{}]{
		Name: "timers of pod", Clock: clock, Log: log, Tick: reviewTick,
		List: func(ctx context.Context, _ bool) (ids []compute.PodID, err error) {
			err = s.Read(ctx, func(tx store.Tx) error {
				ids, err = tx.TimedPods()
				return err
			})
			return ids, err
		},
		Reconcile: reconcile.Each(func(ctx context.Context, one *reconcile.Look[compute.PodID, struct{}]) (reconcile.Next, error) {
			left, err := c.RunTimers(ctx, one.Key)
			if err != nil || left == 0 {
				return reconcile.Next{}, err
			}
			return reconcile.At(clock.Now().Add(left)), nil
		}),
	})
}
