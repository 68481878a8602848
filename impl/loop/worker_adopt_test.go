package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

// A worker that died with the server costs nothing from then on, also while its runtime cannot be asked and others work.
func TestWorkers_NoneIsSeenBeforeAllWereTakenUp(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	died := s.rows()[0].ID
	require.NoError(t, s.workers.See(t.Context()))
	seen := s.clock.Now()

	// The server died, and the machine with it.
	s.clock.Advance(time.Second)
	s.begin()
	h := &host{Fleet: s.containers}
	s.workers.Runtime = h
	h.away.Store(true)
	require.NoError(t, s.containers.Remove(t.Context(), string(died)))

	local, err := s.endpoints.Declare(t.Context(), "u", control.NewEndpoint{Name: "local", Image: "i", WorkersMax: 1, IdleTimeout: time.Hour})
	require.NoError(t, err)
	_, err = s.queue.Run(t.Context(), "u", local.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)
	s.step(0)
	s.step(sim.DefaultBoot)
	require.Len(t, s.rows(), 2, "a declared endpoint has its worker meanwhile")

	s.step(time.Minute)
	require.NoError(t, s.workers.See(t.Context()))
	h.away.Store(false)
	s.step(time.Minute)

	charge := func(holder compute.WorkerID) (found compute.Charge) {
		require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
			return tx.EachCharge("u", []compute.Item{compute.ServerlessCPU}, nil, seen.Add(-time.Hour), seen.Add(time.Hour), func(c compute.Charge) error {
				if c.HolderID == string(holder) {
					found = c
				}
				return nil
			})
		}))
		return found
	}
	require.Equal(t, seen, charge(died).EndedAt)

	require.NoError(t, s.workers.See(t.Context()))
	for _, w := range s.rows() {
		require.Equal(t, s.clock.Now(), charge(w.ID).SeenAt, "all others are seen again")
	}
}

// A cluster goes on to start what it was asked for.
func TestWorkers_ThatAreComingUpOutliveARestart(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	_, before := s.seen()
	s.begin()
	s.step(time.Second)
	statuses, now := s.seen()
	require.Equal(t, before, now)
	require.Equal(t, []compute.WorkerStatus{initializing}, statuses)
	require.Zero(t, s.rows()[0].StartedAt)

	s.step(sim.DefaultBoot)
	require.NotZero(t, s.rows()[0].StartedAt)
	require.NoError(t, s.queue.Ping("u", s.e.ID, before[0], nil))
	statuses, now = s.seen()
	require.Equal(t, before, now)
	require.Equal(t, []compute.WorkerStatus{compute.WorkerIdle}, statuses)
}
