package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

func TestReload_HeldRequestsGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		running := b.run(queue.Submission{})
		require.Equal(t, []compute.JobID{running}, b.take("w", 1))
		takes, stops := make(chan []queue.Taken, 1), make(chan []compute.JobID, 1)
		go func() {
			taken, _ := b.queue.Take(t.Context(), user, b.endpoint, "idle", 1)
			takes <- taken
		}()
		go func() {
			ids, _ := b.queue.Stops(t.Context(), user, b.endpoint, "w")
			stops <- ids
		}()
		synctest.Wait()
		require.NoError(t, b.queue.Reload(t.Context()))
		synctest.Wait()
		require.Equal(t, 2, b.queue.Holding())

		id := b.run(queue.Submission{})
		b.cancel(running)
		synctest.Wait()
		require.Len(t, takes, 1)
		require.Len(t, stops, 1)
		require.Equal(t, id, (<-takes)[0].ID)
		require.Equal(t, []compute.JobID{running}, <-stops)
	})
}

func TestReload_MetersCountOn(t *testing.T) {
	t.Parallel()
	b := open(t)
	var meters []*reports
	b.hooks.Meter = func(compute.EndpointID) queue.Meter {
		meters = append(meters, &reports{})
		return meters[len(meters)-1]
	}
	b.restart()
	require.Len(t, meters, 1)
	b.queue.SetEndpoint(compute.Endpoint{ID: "balancer000000", UserID: user, Type: compute.LoadBalancer})
	require.Len(t, meters, 1, "there are no jobs to count")

	require.NoError(t, b.queue.Reload(t.Context()))
	b.run(queue.Submission{})
	require.Equal(t, reports{"submitted"}, *meters[0])
}

func TestReload_BelievesTheRows(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.SetEndpoint(compute.Endpoint{ID: "norowofit00000", UserID: user})
	id := b.failedJob()
	_, err := b.beside(9).Retry(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)

	require.NoError(t, b.queue.Reload(t.Context()))
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
	require.True(t, b.queue.Serves(b.endpoint))
	require.False(t, b.queue.Serves("norowofit00000"))
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))
}

func TestSweep_EndsAndDeletesAllThatIsDueAtOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	var ids []compute.JobID
	for range 60 { // more than two transactions of a sweep
		ids = append(ids, b.run(queue.Submission{TTL: 10 * time.Second}))
	}
	other := b.run(queue.Submission{})
	b.sweepAfter(10 * time.Second)
	for _, id := range ids {
		require.Equal(t, compute.JobTimedOut, b.status(id).Status)
	}
	require.Equal(t, compute.JobInQueue, b.status(other).Status)

	b.sweepAfter(30 * time.Minute)
	next, err := b.queue.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, b.clock.Now().Add(24*time.Hour-30*time.Minute-10*time.Second), next, "nothing but the other one is left")
}

func TestSweep_LeasesBeginAfreshAfterAPauseOfAPartOfOneAlone(t *testing.T) {
	t.Parallel()
	for step, want := range map[time.Duration]compute.JobStatus{
		5 * time.Second:                     compute.JobInProgress,
		-5 * time.Second:                    compute.JobInProgress,
		5*time.Second - time.Microsecond:    compute.JobInQueue,
		-(5*time.Second - time.Microsecond): compute.JobInQueue,
	} {
		b, id := managed(t)
		b.ping(id)
		b.sweepAfter(29 * time.Second)
		b.clock.Running().Adjust(step)
		b.sweepAfter(29 * time.Second)
		require.Equal(t, want, b.status(id).Status, step)
	}
}

func TestNext_IsAtOnceWhileSomethingIsInDoubtAndLaterOnceThatFailed(t *testing.T) {
	t.Parallel()
	b, s, _ := breakable(t)
	next := func() time.Time {
		at, err := b.queue.Next(t.Context())
		require.NoError(t, err)
		return at
	}
	lease := b.clock.Now().Add(30 * time.Second)
	require.Equal(t, lease, next())

	s.is, s.vague = true, true
	_, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: []byte(`{}`)})
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, b.clock.Now(), next())
	require.Error(t, b.queue.Sweep(t.Context()))
	require.Equal(t, b.clock.Now().Add(500*time.Millisecond), next())
	b.clock.Advance(500 * time.Millisecond)
	require.Equal(t, b.clock.Now(), next())
	s.is = false
	require.NoError(t, b.queue.Sweep(t.Context()))
	require.Equal(t, lease, next())
}

func TestNext_IsWhenARequestHasWaitedLongEnough(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	next := func() time.Time {
		at, err := b.queue.Next(t.Context())
		require.NoError(t, err)
		return at
	}
	require.Zero(t, next())
	for _, e := range []compute.EndpointID{"endpoint000001", "endpoint000002", "endpoint000003", "endpoint000004"} {
		b.queue.SetEndpoint(compute.Endpoint{ID: e, UserID: user})
		b.queue.WorkerStarted(e, "w", 0)
	}
	first := b.clock.Now()
	b.later(t.Context(), queue.Wish{})
	b.clock.Advance(time.Second)
	b.later(t.Context(), queue.Wish{})
	require.Equal(t, first.Add(2*time.Minute), next())
	b.queue.WorkerStarted(b.e.ID, "w", 2)
	require.Zero(t, next(), "the worker may be healthy at any time")
}

func TestClear_ForgetsEveryJobAndStopsThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := balancing(t, "w1")
		b.queue.WorkerStarted(b.endpoint, "w", 0)
		running, lost := b.run(queue.Submission{}), b.run(queue.Submission{})
		ended := b.run(queue.Submission{})
		require.Equal(t, []compute.JobID{running}, b.take("w", 1))
		require.Equal(t, []compute.JobID{lost}, b.take("gone", 1))
		b.queue.WorkerGone(t.Context(), b.endpoint, "gone", "it ended")
		b.cancel(ended)
		b.run(queue.Submission{LowPriority: true})
		b.enter(queue.Wish{}).Over(false)
		b.more("deleted0000000", "w1")
		require.NoError(t, b.queue.RemoveEndpoint(t.Context(), "deleted0000000"))

		ends := make(chan error, 2)
		go func() {
			_, err := b.queue.Wait(t.Context(), user, b.endpoint, running, time.Hour)
			ends <- err
		}()
		go func() {
			_, _, err := b.queue.Stream(t.Context(), user, b.endpoint, running, time.Hour, nil)
			ends <- err
		}()
		synctest.Wait()
		require.Empty(t, ends)

		require.True(t, b.queue.Serves("deleted0000000"))
		require.True(t, b.queue.Working())
		b.clock.Advance(time.Second)
		b.forgetJobs()
		b.queue.Clear()
		synctest.Wait()
		require.Len(t, ends, 2)
		require.Equal(t, compute.NotFound, compute.CodeOf(<-ends))
		require.Equal(t, compute.NotFound, compute.CodeOf(<-ends))
		require.False(t, b.queue.Serves("deleted0000000"))
		require.True(t, b.queue.Serves(b.endpoint))
		require.False(t, b.queue.Working())

		standing := b.queue.Standing(b.endpoint)
		require.Zero(t, standing.Waiting)
		require.Len(t, standing.Workers, 1)
		require.Equal(t, compute.WorkerIdle, standing.Workers[0].Status)
		require.Equal(t, b.clock.Now(), standing.Workers[0].IdleSince)
		b.requireStops(running)
		for _, id := range []compute.JobID{running, lost, ended} {
			_, err := b.queue.Status(t.Context(), user, b.endpoint, id)
			require.Equal(t, compute.NotFound, compute.CodeOf(err))
		}
		health, err := b.queue.Health(t.Context(), user, b.e.ID)
		require.NoError(t, err)
		require.Zero(t, health.Jobs)
		next, err := b.queue.Next(t.Context())
		require.NoError(t, err)
		require.Zero(t, next)
	})
}
