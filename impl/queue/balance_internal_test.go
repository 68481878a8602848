package queue

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestBalance_WhoServesAndHowThatIsCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*workerState)
		serves bool
		health BalancedHealth
	}{
		"a healthy one":              {func(*workerState) {}, true, HealthHealthy},
		"one that somebody started":  {func(s *workerState) { s.managed = false }, false, HealthStarting},
		"one that is not up":         {func(s *workerState) { s.seen = false }, false, HealthStarting},
		"one that is ill":            {func(s *workerState) { s.unhealthy = "ill" }, false, HealthUnhealthy},
		"one that is being stopped":  {func(s *workerState) { s.draining = true }, false, HealthLeaving},
		"one that is to be replaced": {func(s *workerState) { s.leaving = true }, false, HealthLeaving},
		"one that is ill and leaves": {func(s *workerState) { s.leaving, s.unhealthy = true, "ill" }, false, HealthLeaving},
	} {
		s := &workerState{managed: true, seen: true}
		c.change(s)
		require.Equal(t, c.serves, s.serves(), name)
		require.Equal(t, c.health, s.health(), name)
	}
}

// A request may get a worker in the moment in which it gives up: then it has it, unless nobody is there who asked.
func TestBalance_WorkerGivenInTheLastMoment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given    bool
		refused  error // instead
		why      error
		want     error
		requests int // that the worker has then
	}{
		"as its time is over":         {given: true, why: ErrNoWorker, requests: 1},
		"as the server stops":         {given: true, why: compute.Errorf(compute.Unavailable, "about to stop"), requests: 1},
		"as its client hangs up":      {given: true, why: context.Canceled, want: context.Canceled},
		"as its client has no time":   {given: true, why: context.DeadlineExceeded, want: context.DeadlineExceeded},
		"it is refused in the moment": {refused: ErrWorkerGone, why: ErrWorkerTimeout, want: ErrWorkerGone},
		"nothing is given":            {why: ErrWorkerTimeout, want: ErrWorkerTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
			d := newDispatcher(compute.Endpoint{ID: "e", Type: compute.LoadBalancer, WorkersMax: 1})
			q := &Queue{clock: clock, memory: memory{dispatchers: map[compute.EndpointID]*dispatcher{"e": d}}}
			s := d.worker("w")
			s.managed, s.seen = true, true
			r, other := &request{given: make(chan offer, 1)}, &request{wish: Wish{Worker: "x", Strict: true}, given: make(chan offer, 1)}
			d.worker("x")
			d.requests = []*request{other, r}
			switch {
			case c.given:
				s.requests++
				r.given <- offer{s: s, id: "w"}
			case c.refused != nil:
				r.given <- offer{err: c.refused}
			}

			turn := &Turn{q: q, d: d}
			require.Equal(t, c.want, turn.withdraw(r, c.why))
			require.Equal(t, c.requests, s.requests)
			require.Equal(t, []*request{other}, d.requests)
			if c.requests == 1 {
				require.EqualValues(t, "w", turn.Worker)
				turn.release()
				require.Zero(t, s.requests)
				require.Equal(t, clock.Now(), s.idleSince)
			}
		})
	}
}

func TestBalance_HopelessIsWhatNoWorkerCanCome(t *testing.T) {
	t.Parallel()
	worker := func(change func(*workerState)) func(*dispatcher) {
		return func(d *dispatcher) { change(d.worker("w")) }
	}
	none := func(*dispatcher) {}
	some, strict := Wish{Worker: "w"}, Wish{Worker: "w", Strict: true}
	for name, c := range map[string]struct {
		most int
		have func(*dispatcher)
		wish Wish
		want error
	}{
		"a worker may be started":               {1, none, some, nil},
		"none may be started":                   {0, none, some, ErrNoWorker},
		"one is on its way":                     {0, worker(func(*workerState) {}), some, nil},
		"one is being stopped":                  {0, worker(func(s *workerState) { s.draining = true }), some, ErrNoWorker},
		"one is to be replaced":                 {0, worker(func(s *workerState) { s.leaving = true }), some, ErrNoWorker},
		"the one that it asks for is there":     {0, worker(func(*workerState) {}), strict, nil},
		"the one that it asks for is not there": {1, none, strict, ErrWorkerGone},
		"the one that it asks for is stopped":   {1, worker(func(s *workerState) { s.draining = true }), strict, ErrWorkerGone},
		"the one that it asks for is replaced":  {1, worker(func(s *workerState) { s.leaving = true }), strict, ErrWorkerGone},
	} {
		d := newDispatcher(compute.Endpoint{ID: "e", Type: compute.LoadBalancer, WorkersMax: c.most})
		c.have(d)
		require.Equal(t, c.want, d.hopeless(c.wish), name)
	}

	d := newDispatcher(compute.Endpoint{ID: "e", Type: compute.LoadBalancer, WorkersMax: 1})
	d.gone = true
	require.Equal(t, compute.NotFound, compute.CodeOf(d.hopeless(some)))
}
