package loop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// A worker costs nothing once it has ended, however long its container cannot be removed.
func TestWorkers_CostNothingOnceTheyHaveEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env map[string]string
		end func(s *service, id compute.WorkerID)
	}{
		"by themselves": {map[string]string{sim.EnvExitAfter: "10s"}, func(s *service, _ compute.WorkerID) { s.step(10 * time.Second) }},
		"as they are stopped": {nil, func(s *service, id compute.WorkerID) {
			s.clock.Advance(10 * time.Second)
			require.Equal(s, 1, s.workers.Interrupt(s.e.ID, id))
			s.step(0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, 1, c.env)
			h := s.cling()
			s.step(0)
			s.step(sim.DefaultBoot)
			id := s.rows()[0].ID
			stuck := string(id)
			h.to.Store(&stuck)
			require.NoError(t, s.workers.See(t.Context()))
			c.end(s, id)
			exit := s.clock.Now()
			for range 60 {
				s.step(time.Minute)
				require.NoError(t, s.workers.See(t.Context()))
			}
			require.Contains(t, s.workersOf(s.e), stuck)
			require.Equal(t, exit, s.charge(id).EndedAt)

			h.to.Store(nil)
			s.step(time.Minute)
			require.NotContains(t, s.workersOf(s.e), stuck)
			require.Equal(t, exit, s.charge(id).EndedAt)
		})
	}
}

// stubborn is a host that can neither stop nor remove what is up.
type stubborn struct{ *host }

func (stubborn) Stop(context.Context, string, time.Duration) error {
	return errors.New("it does not end")
}
func (stubborn) Remove(context.Context, string) error { return errors.New("it does not end") }

func TestWorkers_ThatCannotBeStoppedCostAsBefore(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.workers.Runtime = stubborn{&host{Fleet: s.containers}}
	s.step(0)
	s.step(sim.DefaultBoot)
	id := s.rows()[0].ID
	require.Equal(t, 1, s.workers.Interrupt(s.e.ID, id))
	s.step(time.Minute)
	require.Contains(t, s.workersOf(s.e), string(id))
	require.Zero(t, s.charge(id).EndedAt, "it runs still")
}
