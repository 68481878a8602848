package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

func TestStanding_ShowsWhatWaitsAndEachWorker(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.Zero(t, b.queue.Standing("nosuchendpoint"))
	require.Zero(t, b.queue.Standing(b.endpoint))

	b.queue.WorkerStarted(b.endpoint, "b", 0)
	b.queue.WorkerWaits(b.endpoint, "b", "its image is pulled", false)
	require.NoError(t, b.queue.Unhealthy(user, b.endpoint, "a", "no GPU"))
	begun := b.clock.Now()
	b.clock.Advance(time.Second)
	taken := make(chan []queue.Taken, 1)
	go func() {
		got, _ := b.queue.Take(b.Context(), user, b.endpoint, "c", 1)
		taken <- got
	}()
	require.Eventually(t, func() bool { return b.queue.Holding() == 1 }, 10*time.Second, time.Millisecond)

	asked := b.clock.Now()
	first := []queue.StandingWorker{
		{ID: "a", Status: compute.WorkerUnhealthy, Reason: "no GPU", Unseen: true, LastSeen: begun},
		{ID: "b", Status: compute.WorkerInitializing, Reason: "its image is pulled", Managed: true, Unseen: true},
	}
	require.Equal(t, queue.Standing{Workers: append(first[:2:2], queue.StandingWorker{
		ID: "c", Status: compute.WorkerIdle, Asks: true, LastSeen: asked, IdleSince: asked,
	})}, b.queue.Standing(b.endpoint))

	b.run(queue.Submission{})
	require.Len(t, <-taken, 1)
	b.run(queue.Submission{})
	b.run(queue.Submission{LowPriority: true})
	b.queue.Refuse(b.endpoint, "c")
	b.queue.Replace(b.endpoint)
	first[1].Leaving = true
	require.Equal(t, queue.Standing{Waiting: 2, Workers: append(first[:2:2], queue.StandingWorker{
		ID: "c", Status: compute.WorkerRunning, Leaving: true, Jobs: 1, LastSeen: asked, IdleSince: asked,
	})}, b.queue.Standing(b.endpoint))
}

func TestLine_IsWhereAJobStands(t *testing.T) {
	t.Parallel()
	b := open(t)
	low := []compute.JobID{b.run(queue.Submission{LowPriority: true}), b.run(queue.Submission{LowPriority: true})}
	var normal []compute.JobID
	for range 150 { // more than a block of the line has
		normal = append(normal, b.run(queue.Submission{}))
	}
	for i, id := range append(normal, low...) {
		require.Equal(t, queue.Line{Waits: true, Ahead: i}, b.queue.Line(b.endpoint, id))
	}

	b.cancel(normal[100])
	require.Equal(t, queue.Line{Waits: true, Ahead: 99}, b.queue.Line(b.endpoint, normal[99]))
	require.Equal(t, queue.Line{Waits: true, Ahead: 100}, b.queue.Line(b.endpoint, normal[101]))
	require.Equal(t, queue.Line{Waits: true, Ahead: 148}, b.queue.Line(b.endpoint, normal[149]))
	require.Zero(t, b.queue.Line(b.endpoint, normal[100]), "it does not wait")
	require.Zero(t, b.queue.Line("nosuchendpoint", normal[0]))
	require.Zero(t, b.queue.Line(b.endpoint, "no id"))
}

func TestLine_SaysWhetherAWorkerMayStillRunTheJob(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	require.NoError(t, b.queue.Ping(user, b.endpoint, "another", nil))
	b.ping(id)
	b.sweepAfter(30 * time.Second)
	require.Equal(t, queue.Line{Waits: true, Lost: true}, b.queue.Line(b.endpoint, id))
	b.ping()
	require.Equal(t, queue.Line{Waits: true}, b.queue.Line(b.endpoint, id))
}
