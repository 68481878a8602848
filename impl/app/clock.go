package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// lookTick is how often the clock is looked at, so that it distinguishes a pause of the server from time in which nothing happened.
const lookTick = compute.MostBetweenLooks / 4

// clocks are those of a server.
type clocks struct {
	compute.Clock                        // the one that everything goes by
	running       *compute.RunningClock  // what it runs with
	settable      *compute.SettableClock // the same clock if tests may set it; else nil
}

func newClocks(c Config) clocks {
	running := compute.NewRunningClock()
	switch {
	case c.TestControls:
		settable := compute.NewSettableClock(running)
		return clocks{settable, running, settable}
	case c.clock != nil:
		return clocks{c.clock, running, nil}
	}
	return clocks{running, running, nil}
}

// timekeeper keeps the time of a server over steps of the machine's clock and restarts.
type timekeeper struct {
	running *compute.RunningClock
	store   store.Store
	log     *slog.Logger
	lag     time.Duration // of the clock, as it is stored
}

// newTimekeeper has the time that decides go on from where the run before left it.
func newTimekeeper(ctx context.Context, running *compute.RunningClock, s store.Store, log *slog.Logger) (*timekeeper, error) {
	t := &timekeeper{running: running, store: s, log: log}
	return t, s.Read(ctx, func(tx store.Tx) (err error) {
		t.lag, err = tx.Lag()
		running.SetLag(t.lag)
		return err
	})
}

// look looks at the clock. It waits for nobody.
func (t *timekeeper) look(context.Context) error {
	t.running.Look()
	return nil
}

// clockSweep is the name of the sweep that keeps the clock. Nobody else does, so that it needs no lock.
const clockSweep = "clock"

// keep has the time of day follow a step of the machine's, which nothing is billed for, and keeps the lag for the next start.
func (t *timekeeper) keep(ctx context.Context) error {
	step := t.running.Stepped()
	lag := t.running.Lag() + step
	change := lag - t.lag
	if step == 0 && change.Abs() < compute.LeastStep {
		return nil
	}

	err := t.store.Write(ctx, func(tx store.Tx) error {
		if step != 0 {
			if err := tx.StepCharges(tx.Wall(), step); err != nil {
				return err
			}
			tx.StepWall(step) // no charge of the same commit is stamped before the step
			tx.AfterCommit(func() { t.running.Adjust(step) })
		}
		return tx.SetLag(lag)
	})
	if err != nil {
		return err
	}

	t.lag = lag
	if step != 0 {
		t.log.Warn("the clock of the machine stepped: nothing falls due by that", "by", step.Round(time.Millisecond))
	}
	if paused := (change - step).Round(time.Millisecond); paused > 0 {
		t.log.Warn("the server was paused: nothing falls due by that", "for", paused)
	}

	return nil
}
