package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// lookTick is how often the clock is looked at, so that it distinguishes a pause of the server from time in which nothing happened.
const lookTick = compute.MostBetweenLooks / 4

// clocks are those of a server.
type clocks struct {
	clock    compute.Clock          // the one that everything goes by
	running  *compute.RunningClock  // what it runs with
	settable *compute.SettableClock // the same clock if tests may set it; else nil
}

func newClocks(c Config) clocks {
	running := compute.NewRunningClock()
	switch {
	case c.TestControls:
		settable := compute.NewSettableClock(running)
		if !c.frozenAt.IsZero() {
			settable = compute.NewFrozenClockWith(running, c.frozenAt)
		}
		return clocks{settable, running, settable}
	case c.clock != nil:
		return clocks{c.clock, running, nil}
	}
	return clocks{running, running, nil}
}

// noteTick is how often the time of day is noted at most while something is billed: so much of its bill, and of the time that decides, a server
// may lose that ends suddenly and whose machine's clock is set back before the next start. More often would keep the disk busy, and what is
// shipped of the database, for a server that does nothing.
const noteTick = time.Minute

// endTime is how long the end of a server waits for the store to note the time of day.
const endTime = 5 * time.Second

// timekeeper keeps the time of a server over steps of the machine's clock and restarts.
type timekeeper struct {
	clock   compute.Clock // what rows are stamped by
	running *compute.RunningClock
	store   store.Store
	log     *slog.Logger

	mu     sync.Mutex
	lag    time.Duration // of the clock, as it is stored
	noted  time.Time     // the time of day, as it is stored
	looked time.Time     // the time of day when it was looked last whether it must be noted
}

// newTimekeeper has the time that decides go on from where the run before left it. If the time of day is an earlier one than that run saw, the
// clock of the machine was set back meanwhile, which is a step like any other. When that is undone, the time of day is noted.
func newTimekeeper(ctx context.Context, clocks clocks, s store.Store, log *slog.Logger, u *undo) (*timekeeper, error) {
	t := &timekeeper{clock: clocks.clock, running: clocks.running, store: s, log: log}
	err := s.Read(ctx, func(tx store.Tx) (err error) {
		if t.lag, err = tx.Lag(); err == nil {
			t.noted, err = tx.LastWall()
		}
		return err
	})
	if err != nil {
		return t, err
	}

	t.running.SetLag(t.lag)
	if t.looked = t.clock.Wall(); t.looked.Before(t.noted) {
		err = t.setBack(ctx)
	}
	u.push("clock", t.end)
	return t, err
}

// setBack has the time go on where the time of day is an earlier one than that which was seen last.
func (t *timekeeper) setBack(ctx context.Context) error {
	step := t.looked.Sub(t.noted).Truncate(time.Millisecond)
	if step.Abs() < compute.LeastStep {
		return nil
	}
	lag := t.lag + step
	err := t.store.Write(ctx, func(tx store.Tx) error {
		if err := tx.StepCharges(t.noted, step); err != nil {
			return err
		}
		return errors.Join(tx.SetLag(lag), tx.SeeWall(t.looked))
	})
	if err != nil {
		return err
	}

	t.lag, t.noted = lag, t.looked
	t.running.SetLag(lag)
	t.log.Warn("the time of day is earlier than when the server was seen last: nothing is billed less by that, or due later", "by", step.Round(time.Millisecond))
	return nil
}

// look looks at the clock. It waits for nobody.
func (t *timekeeper) look(context.Context) error {
	t.running.Look()
	return nil
}

// clockSweep is the name of the sweep that keeps the clock.
const clockSweep = "clock"

// keep has the time of day follow a step of the machine's, which nothing is billed for, and keeps for the next start what it needs: the lag, and
// the time of day if something is billed.
func (t *timekeeper) keep(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	due, err := t.due(ctx)
	if err != nil {
		return err
	}
	return t.write(ctx, due)
}

// end notes the time of day for the next start. A store that does not take it is no reason to end otherwise: another server may have it.
func (t *timekeeper) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := t.write(ctx, t.clock.Wall().Sub(t.noted) >= compute.LeastStep); err != nil {
		t.log.Warn("the time of day could not be noted", "error", err)
	}
	return nil
}

// due reports whether the time of day must be noted: it was not for a while, and something is billed.
func (t *timekeeper) due(ctx context.Context) (due bool, err error) {
	wall := t.clock.Wall()
	if wall.Sub(t.looked) < noteTick {
		return false, nil
	}
	err = t.store.Read(ctx, func(tx store.Tx) error {
		due, err = tx.HasOpenCharges()
		return err
	})
	if err == nil && !due {
		t.looked = wall
	}
	return due, err
}

// write stores what has changed of the clock; the time of day alone if it is due.
func (t *timekeeper) write(ctx context.Context, due bool) error {
	step := t.running.Stepped()
	lag := t.running.Lag() + step
	change := lag - t.lag
	if step == 0 && change.Abs() < compute.LeastStep && !due {
		return nil
	}

	var wall time.Time
	err := t.store.Write(ctx, func(tx store.Tx) error {
		wall = tx.Wall().Add(step)
		if step != 0 {
			if err := tx.StepCharges(tx.Wall(), step); err != nil {
				return err
			}
			tx.StepWall(step) // no charge of the same commit is stamped before the step
			tx.AfterCommit(func() { t.running.Adjust(step) })
		}
		return errors.Join(tx.SetLag(lag), tx.SeeWall(wall))
	})
	if err != nil {
		return err
	}

	t.lag, t.noted, t.looked = lag, wall, wall
	if step != 0 {
		t.log.Warn("the clock of the machine stepped: nothing falls due by that", "by", step.Round(time.Millisecond))
	}
	if paused := (change - step).Round(time.Millisecond); paused >= compute.LeastStep {
		t.log.Warn("the server was paused: nothing falls due by that", "for", paused)
	}

	return nil
}
