package reconcile

import (
	"context"
	"log/slog"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Sweep is what is done at every tick over all rows or objects that are due, by its name. It has a key like any object, and
// so a backoff, which is its tick, and a reason.
type Sweep struct {
	Name string
	Tick time.Duration // how late it may do what falls due
	Do   func(context.Context) error

	// Next gives when something falls due next, zero if nothing does, so that what falls due one after the other is not all done at once,
	// at the tick; nil: nobody knows.
	Next func(context.Context) (time.Time, error)
}

// soonest is which part of its tick a sweep waits at least before it is made again.
const soonest = 20

// Sweeps is the Reconciler of sweeps. Their keys are their names.
type Sweeps = Reconciler[string, struct{}]

// NewSweeps makes one that makes each sweep at every tick of its own, for the first time after one, and when its name is hinted. A sweep
// that failed is made again with its next tick. atOnce is how many are under way at once, at most.
func NewSweeps(clock compute.Clock, log *slog.Logger, atOnce int, sweeps ...Sweep) *Sweeps {
	byName := map[string]Sweep{}
	for _, s := range sweeps {
		byName[s.Name] = s
	}

	var r *Sweeps
	r = New(Config[string, struct{}]{
		Name: "sweep", Clock: clock, Log: log, AtOnce: atOnce,
		BackoffOf: func(name string) (first, most time.Duration) { return byName[name].Tick, byName[name].Tick },
		List: func(context.Context, bool) ([]string, error) {
			for _, s := range sweeps { // not at once: a server that starts has other things to do
				r.At(s.Name, clock.Now().Add(s.Tick))
			}
			return nil, nil
		},
		Reconcile: Each(func(ctx context.Context, one *Look[string, struct{}]) (Next, error) {
			s := byName[one.Key]
			if err := s.Do(ctx); err != nil {
				return At(clock.Now().Add(s.Tick)), err
			}
			return s.next(ctx, clock)
		}),
	})

	return r
}

// next gives when the sweep is made again.
func (s Sweep) next(ctx context.Context, clock compute.Clock) (Next, error) {
	var due time.Time
	if s.Next != nil {
		var err error
		if due, err = s.Next(ctx); err != nil {
			return At(clock.Now().Add(s.Tick)), err
		}
	}

	first, last := clock.Now().Add(s.Tick/soonest), clock.Now().Add(s.Tick)
	switch {
	case due.IsZero() || due.After(last):
		return At(last), nil
	case due.Before(first):
		return At(first), nil
	default:
		return At(due), nil
	}
}
