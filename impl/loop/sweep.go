package loop

import (
	"context"
	"log/slog"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// sweepTick is how late a lease, a timeout or a retention may be noticed.
const sweepTick = 500 * time.Millisecond

// Sweep runs the queue's sweeps until ctx ends.
func Sweep(ctx context.Context, q *queue.Queue, clock compute.Clock, log *slog.Logger) {
	for {
		tick, stop := clock.After(sweepTick)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-tick:
		}
		if err := q.Sweep(ctx); err != nil && ctx.Err() == nil {
			log.Error("sweep", "error", err)
		}
	}
}
