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

// Every runs work, which name names in the log, at every tick of the length until ctx ends. Of failures that follow each other the
// log has the first one, and how many there were once they are over.
func Every(ctx context.Context, length time.Duration, clock compute.Clock, log *slog.Logger, name string, work func(context.Context) error) {
	failures := 0
	for {
		tick, stop := clock.After(length)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-tick:
		}
		switch err := work(ctx); {
		case ctx.Err() != nil:
		case err != nil:
			if failures++; failures == 1 {
				log.Error(name, "error", err)
			}
		case failures > 0:
			log.Info(name+" works again", "failures", failures)
			failures = 0
		}
	}
}
