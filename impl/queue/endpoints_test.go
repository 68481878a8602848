package queue_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// stored gives the job's status on disk.
func (b *bench) stored(id compute.JobID) (s compute.JobStatus) {
	require.NoError(b, b.db.Read(b.Context(), func(tx store.Tx) error {
		j, err := tx.Job(id)
		s = j.Status
		return err
	}))
	return s
}

func TestEndpoints_RemovalCancelsTheirJobs(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.WorkerStarted(b.endpoint, "w", 1)
	running := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{running}, b.take("w", 1))

	waiting, low := b.run(queue.Submission{}), b.run(queue.Submission{LowPriority: true})
	require.Equal(t, []compute.JobID{waiting}, b.take("other", 1), "somebody else's worker")
	late := b.run(queue.Submission{})
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))

	for _, id := range []compute.JobID{running, waiting, low, late} {
		require.Equal(t, compute.JobCancelled, b.stored(id))
	}
	_, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))

	_, err = b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))

	demand := b.queue.Demands()[0]
	require.True(t, demand.Gone)
	require.Len(t, demand.Workers, 1, "it is to be stopped")
	require.True(t, b.queue.Drain(b.endpoint, "w"))

	b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
	b.sweepAfter(3 * time.Minute)
	require.Empty(t, b.queue.Demands(), "it is forgotten once it has no workers")
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
}

func TestEndpoints_RemovalAnswersHeldTakes(t *testing.T) {
	t.Parallel()
	b := open(t)
	ended := make(chan []queue.Taken)
	go func() {
		taken, err := b.queue.Take(b.Context(), user, b.endpoint, "w", 1)
		if err == nil {
			ended <- taken
		}
		close(ended)
	}()

	require.Eventually(t, func() bool { return b.queue.Holding() == 1 }, 10*time.Second, time.Millisecond)
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
	require.Empty(t, <-ended)
}

func TestEndpoints_RemovalGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	b := open(t)
	running, waiting := b.run(queue.Submission{}), b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{running}, b.take("w", 1))

	require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
		e, err := tx.Endpoint(b.endpoint)
		require.NoError(t, err)
		e.DeletedAt = tx.Now()
		return tx.UpdateEndpoint(e)
	}))

	b.restart()
	_, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
	require.Equal(t, compute.JobCancelled, b.stored(running))
	require.Equal(t, compute.JobCancelled, b.stored(waiting))
}

func TestEndpoints_WorkerStatesNameMissingOnesToo(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.WorkerStarted(b.endpoint, "b", 1)
	require.Empty(t, b.takeLate("own"))
	require.NoError(t, b.queue.Unhealthy(user, b.endpoint, "own", "no GPU"))

	b.queue.SetAbsent(b.endpoint, []queue.Absent{{ID: "a", Status: compute.WorkerThrottled, Reason: "full"}})
	require.Equal(t, []compute.WorkerState{
		{ID: "a", Status: compute.WorkerThrottled, Reason: "full", Missing: true},
		{ID: "b", Status: compute.WorkerInitializing, Managed: true},
		{ID: "own", Status: compute.WorkerUnhealthy, Reason: "no GPU"},
	}, b.queue.WorkerStates(b.endpoint))

	health, err := b.queue.Health(t.Context(), user, b.endpoint)
	require.NoError(t, err)
	require.Equal(t, map[compute.WorkerStatus]int64{
		compute.WorkerThrottled: 1, compute.WorkerInitializing: 1, compute.WorkerUnhealthy: 1,
	}, health.Workers)
	require.Empty(t, b.queue.WorkerStates("none"))
}

// takeLate has the worker ask for a job in vain.
func (b *bench) takeLate(w compute.WorkerID) []queue.Taken {
	taken := make(chan []queue.Taken)
	go func() {
		got, _ := b.queue.Take(b.Context(), user, b.endpoint, w, 1)
		taken <- got
	}()
	require.Eventually(b, func() bool { return b.queue.Holding() == 1 }, 10*time.Second, time.Millisecond)
	b.clock.Advance(25 * time.Second)
	return <-taken
}

func TestEndpoints_AreKnownWithoutWhatTheirWorkersAreMadeOf(t *testing.T) {
	t.Parallel()
	b := open(t)
	env := map[string]string{"A": strings.Repeat("x", 1_000_000), compute.EnvPort: "8000"}
	large := compute.Endpoint{
		ID: "large000000000", UserID: user, Type: compute.QueueEndpoint, Image: "i", Args: env["A"], Ports: []string{"1/tcp"}, Env: env, WorkersMax: 2,
		Scaler: compute.ByDelay,
	}
	balanced := large
	balanced.ID, balanced.Type = "largest0000000", compute.LoadBalancer
	require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error { return errors.Join(tx.InsertEndpoint(large), tx.InsertEndpoint(balanced)) }))
	known := func() {
		demands := b.queue.Demands()
		require.Equal(t, large.InMemory(), demands[1].Endpoint)
		require.Equal(t, balanced.InMemory(), demands[2].Endpoint)
		require.Empty(t, demands[1].Endpoint.Env)
		require.NotContains(t, demands[2].Endpoint.Env, "A")
		at, _, err := b.queue.Crew(user, balanced.ID)
		require.NoError(t, err)
		require.Equal(t, 8000, at.Port)
	}

	b.queue.SetEndpoint(large)
	b.queue.SetEndpoint(balanced)
	known()
	b.queue.SetEndpoint(large)
	b.queue.SetEndpoint(balanced)
	known()
	b.restart()
	known()
	require.NoError(t, b.queue.Reload(t.Context()))
	known()
}

func TestEndpoints_WorkerOfAReleaseThatTheQueueHearsOfLaterListensAsThatSays(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	b.queue.WorkerStarted(b.e.ID, "w", 3)
	b.e.Version, b.e.Env = 3, map[string]string{compute.EnvPort: "8003"}
	b.queue.SetEndpoint(b.e)
	require.Equal(t, 8003, b.queue.Serving(b.e.ID, "w").Port)
	b.e.Version, b.e.Env = 4, map[string]string{compute.EnvPort: "8004"}
	b.queue.SetEndpoint(b.e)
	require.Equal(t, 8003, b.queue.Serving(b.e.ID, "w").Port)
}
