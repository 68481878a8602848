package queue_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// TestLease_BeginsAfreshOnceAStartIsOver, however long it took.
func TestLease_BeginsAfreshOnceAStartIsOver(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	b.queue = b.beside(1)
	b.clock.Advance(31 * time.Second)
	b.queue.Afresh()
	b.sweepAfter(29 * time.Second)
	require.Equal(t, compute.JobInProgress, b.status(id).Status)
	b.sweepAfter(time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
}

// TestSweep_LeavesAJobWhoseWorkerWasHeardMeanwhile: to take the others from theirs may take long.
func TestSweep_LeavesAJobWhoseWorkerWasHeardMeanwhile(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	heard, silent := b.run(queue.Submission{}), b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{heard}, b.take("w", 1))
	require.Equal(t, []compute.JobID{silent}, b.take("x", 1)) // which is the first that is seen to
	m.writing = func() error { return b.queue.Ping(user, b.endpoint, "w", []compute.JobID{heard}) }
	b.sweepAfter(30 * time.Second)
	m.writing = nil
	require.Equal(t, compute.JobInProgress, b.status(heard).Status)
	require.Equal(t, compute.JobInQueue, b.status(silent).Status)
}

// TestEndpoints_AJobOnItsWayToAWorkerEndsWithItsEndpoint: it is taken after those that are cancelled were found.
func TestEndpoints_AJobOnItsWayToAWorkerEndsWithItsEndpoint(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	held, given := b.run(queue.Submission{}), b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{held}, b.take("a", 1))
	asked, goOn, taken := make(chan struct{}), make(chan struct{}), make(chan []queue.Taken, 1)
	m.taking = func() error {
		close(asked)
		<-goOn
		return nil
	}
	go func() {
		got, _ := b.queue.Take(b.Context(), user, b.endpoint, "w", 1)
		taken <- got
	}()

	<-asked
	var first atomic.Bool
	var got []queue.Taken
	m.writing = func() error {
		if first.CompareAndSwap(false, true) {
			close(goOn)
			got = <-taken
		}
		return nil
	}
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
	require.Empty(t, got)
	b.sweepAfter(time.Second)
	require.Equal(t, compute.JobCancelled, b.stored(given))
}
