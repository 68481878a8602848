package loop

import (
	"context"
	"log/slog"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// SweepTick is how late a lease, a timeout or a retention may be noticed.
const SweepTick = 500 * time.Millisecond

// KeepTick is how late what another process or a restart must know may be known to it: keys and request counts.
const KeepTick = time.Second

// Every runs work, which name names in the log, at every tick of the length until ctx ends.
func Every(ctx context.Context, length time.Duration, clock compute.Clock, log *slog.Logger, name string, work func(context.Context) error) {
	for {
		tick, stop := clock.After(length)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-tick:
		}
		if err := work(ctx); err != nil && ctx.Err() == nil {
			log.Error(name, "error", err)
		}
	}
}
