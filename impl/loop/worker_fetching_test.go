package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// fetching gives a service with one worker, whose image is being brought to its host.
func fetching(t *testing.T, balances bool) (*service, *host) {
	s := serve(t, 1, nil)
	if balances {
		s, _ = balancing(t, nil)
	}
	h := &host{Fleet: s.containers, state: func(s runtime.State) runtime.State {
		return runtime.State{Phase: runtime.Starting, Generation: s.Generation, Fetching: true}
	}}
	s.workers.Runtime = h
	if balances { // its worker is up: the next one is not
		_, ids := s.seen()
		require.Equal(t, 1, s.workers.Interrupt(s.e.ID, ids[0]))
		s.step(0)
	}
	s.step(time.Second)
	s.step(time.Second)
	return s, h
}

func TestWorkers_TimeToSendARequestBeginsWhenTheyHaveTheirImage(t *testing.T) {
	t.Parallel()
	for reason, balances := range map[string]bool{"the worker sent no request within 7m0s": false, "the worker was not healthy within 7m0s": true} {
		s, h := fetching(t, balances)
		_, before := s.seen()
		require.Len(t, before, 1)
		s.step(50 * time.Minute)
		_, now := s.seen()
		require.Equal(t, before, now, "another one would begin to pull again")

		h.state = nil
		s.step(sim.DefaultBoot)
		there := s.clock.Now()
		s.step(time.Second)
		require.Equal(t, there.Add(7*time.Minute), s.workers.Next())
		s.step(7*time.Minute - time.Second - time.Millisecond)
		givenUp(t, s, before, reason)
	}
}

func TestWorkers_WhoseImageDoesNotComeAreGivenUp(t *testing.T) {
	t.Parallel()
	for _, balances := range []bool{false, true} {
		s, _ := fetching(t, balances)
		_, before := s.seen()
		until := s.workers.Next()
		s.step(until.Sub(s.clock.Now()) - time.Millisecond)
		givenUp(t, s, before, "the worker's image was not brought to its host within 1h0m0s")
	}
}

// givenUp asserts that the workers are there still, and that the first is given up a millisecond later, with the reason.
func givenUp(t *testing.T, s *service, before []compute.WorkerID, reason string) {
	t.Helper()
	_, now := s.seen()
	require.Equal(t, before, now)
	s.step(time.Millisecond)
	s.step(0)
	id, why, err := s.ended()
	require.NoError(t, err)
	require.Equal(t, before[0], id)
	require.Equal(t, reason, firstLine(why))
}
