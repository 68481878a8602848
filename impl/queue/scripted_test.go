package queue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// takeNow has the worker take without a hold.
func (b *bench) takeNow(w compute.WorkerID, n int) (ids []compute.JobID) {
	taken, err := b.queue.TakeNow(b.Context(), user, b.endpoint, w, n)
	require.NoError(b, err)
	for _, t := range taken {
		ids = append(ids, t.ID)
	}
	return ids
}

func TestScripted_WorkerAsksAndIsNotHeld(t *testing.T) {
	t.Parallel()
	b, m, _ := watched(t)
	require.Empty(t, b.takeNow("w", 1))
	require.False(t, b.queue.Working())
	ids := []compute.JobID{b.run(queue.Submission{}), b.run(queue.Submission{}), b.run(queue.Submission{}), b.run(queue.Submission{})}
	*m = nil
	require.NoError(t, b.queue.Unhealthy(user, b.endpoint, "w", "too hot"))
	require.Equal(t, ids[:2], b.takeNow("w", 2))
	require.Equal(t, reports{"taken after 0s", "taken after 0s"}, *m)
	require.Equal(t, compute.WorkerRunning, b.queue.WorkerStates(b.endpoint)[0].Status, "it is well again")

	require.True(t, b.queue.Holds(b.endpoint, ids[0], "w"))
	require.False(t, b.queue.Holds(b.endpoint, ids[0], "other"))
	require.False(t, b.queue.Holds("nosuchendpoint", ids[0], "w"))
	require.False(t, b.queue.Holds(b.endpoint, ids[2], "w"))

	b.cancel(ids[0])
	stops, err := b.queue.StopsNow(user, b.endpoint, "w")
	require.NoError(t, err)
	require.Equal(t, ids[:1], stops)
	stops, err = b.queue.StopsNow(user, b.endpoint, "w")
	require.NoError(t, err)
	require.Empty(t, stops, "it knows")

	b.queue.Refuse(b.endpoint, "w")
	require.Empty(t, b.takeNow("w", 1), "it is to end")
	require.Equal(t, ids[2:3], b.takeNow("other", 1))

	_, err = b.queue.TakeNow(t.Context(), "stranger", b.endpoint, "w", 1)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = b.queue.StopsNow("stranger", b.endpoint, "w")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestScripted_WorkersThatAreToBeReplacedGetNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.WorkerStarted(b.endpoint, "w", 0)
	b.run(queue.Submission{})
	b.queue.Replace(b.endpoint)
	require.Empty(t, b.takeNow("w", 1))
	require.Len(t, b.takeNow("other", 1), 1)
}

func TestScripted_JobsGoByTheClockAndOthersDoNot(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.run(queue.Submission{})
	own := b.run(queue.Submission{})
	require.False(t, b.queue.Working())
	require.Len(t, b.takeNow("w", 1), 1)
	require.False(t, b.queue.Working())
	require.Equal(t, []compute.JobID{own}, b.take("own", 1))
	require.True(t, b.queue.Working())
	b.finish("own", own, queue.Report{})
	require.False(t, b.queue.Working())
}
