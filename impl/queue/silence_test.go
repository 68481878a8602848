package queue_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
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

// TestLease_BeginsWhenTheJobHasArrived, however long its input was on its way.
func TestLease_BeginsWhenTheJobHasArrived(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	taken, err := b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
	require.NoError(t, err)
	arrived := b.queue.OnItsWay(taken)
	next, err := b.queue.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, b.clock.Now().Add(10*time.Minute), next, "the end of its execution timeout")
	b.sweepAfter(5 * time.Minute)
	require.Equal(t, compute.JobInProgress, b.status(id).Status)

	arrived()
	b.sweepAfter(29 * time.Second)
	require.Equal(t, compute.JobInProgress, b.status(id).Status)
	b.sweepAfter(time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
	require.Equal(t, []compute.JobID{id}, b.take("x", 1))
	b.queue.OnItsWay(taken)
	arrived()
	b.sweepAfter(30 * time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status, "what another worker has is none of that one's")
}

// slow is a store whose commits take long.
type slow struct {
	store.Store
	clock *compute.SettableClock
	takes time.Duration
}

func (s *slow) TakeJobs(ctx context.Context, t store.Take) error {
	taken := t.Taken
	t.Taken = func(jobs []store.TakenJob, left int) {
		s.clock.Advance(s.takes)
		taken(jobs, left)
	}
	return s.Store.TakeJobs(ctx, t)
}

// SubmitJob hands the job over as the first try of a commit does, and stores it with a second one.
func (s *slow) SubmitJob(ctx context.Context, one *store.Submission) error {
	w := one.Assign()
	if one.Early != nil && w != "" {
		j := one.Job
		j.Status, j.WorkerID, j.Attempt, j.TakenAt = compute.JobInProgress, w, 1, s.clock.Now()
		one.Early(j)
		s.clock.Advance(s.takes)
	}
	return s.Write(ctx, func(tx store.Tx) error {
		_, err := one.In(tx, w)
		return err
	})
}

// TestLease_BeginsAfterTheCommitOfItsTake, however long that took.
func TestLease_BeginsAfterTheCommitOfItsTake(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.db = &slow{Store: b.db, clock: b.clock, takes: time.Minute}
	b.queue = b.beside(1)
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))
	b.sweepAfter(29 * time.Second)
	require.Equal(t, compute.JobInProgress, b.status(id).Status)
}

// TestSubmit_EarlyHandOverIsKnownAsItWasStored: memory and the row say the same of when it was taken.
func TestSubmit_EarlyHandOverIsKnownAsItWasStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		b.db = &slow{Store: b.db, clock: b.clock, takes: time.Second}
		b.queue = b.beside(1)
		got := b.asks("w")
		j, err := b.queue.RunSync(t.Context(), user, b.endpoint, queue.Submission{Input: []byte(`{}`)}, 0)
		require.NoError(t, err)
		b.requireGiven(j.ID, got)
		var row compute.Job
		require.NoError(t, b.db.Read(t.Context(), func(tx store.Tx) (err error) {
			row, err = tx.Job(j.ID)
			return err
		}))
		require.Equal(t, b.clock.Now(), row.TakenAt)
		b.finish("w", j.ID, queue.Report{})
		require.Equal(t, row.TakenAt, b.status(j.ID).TakenAt)
	})
}

// TestDemands_TellWhenAWorkerThatSaysNothingIsTakenForOneThatHangs: one that berth started, and that had spoken.
func TestDemands_TellWhenAWorkerThatSaysNothingIsTakenForOneThatHangs(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	require.Zero(t, b.view().HangsAt, "it has a job")
	b.sweepAfter(30 * time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
	require.Equal(t, b.clock.Now().Add(90*time.Second), b.view().HangsAt)
	b.ping(id)
	require.Equal(t, b.clock.Now().Add(2*time.Minute), b.view().HangsAt)

	for name, quiet := range map[string]func(b *bench){
		"nothing runs in it":       func(b *bench) { b.queue.WorkerUp(b.endpoint, "w", true) },
		"it has said nothing yet":  func(*bench) {},
		"a script says what to do": func(b *bench) { _, _ = b.queue.TakeNow(t.Context(), user, b.endpoint, "w", 1) },
	} {
		b := open(t)
		b.queue.WorkerStarted(b.endpoint, "w", 0)
		quiet(b)
		require.Zero(t, b.view().HangsAt, name)
		if name != "it has said nothing yet" {
			b.ping()
			require.Zero(t, b.view().HangsAt, name)
		}
	}
}

// TestDemands_WorkerThatFailedItsCheckHangsToo: it says so before anything else, and ends; if something else of its container stays, nobody asks it.
func TestDemands_WorkerThatFailedItsCheckHangsToo(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.WorkerStarted(b.endpoint, "w", 0)
	require.NoError(t, b.queue.Unhealthy(user, b.endpoint, "w", "the GPU does not answer"))
	require.Equal(t, b.clock.Now().Add(2*time.Minute), b.view().HangsAt)
}

// TestDemands_WorkerThatWaitsForAJobDoesNotHang.
func TestDemands_WorkerThatWaitsForAJobDoesNotHang(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.WorkerStarted(b.endpoint, "w", 0)
	over := make(chan struct{})
	go func() {
		b.take("w", 1)
		close(over)
	}()
	require.Eventually(t, func() bool { return b.queue.Holding() == 1 }, 10*time.Second, time.Millisecond)
	require.Zero(t, b.view().HangsAt)
	b.clock.Advance(25 * time.Second)
	<-over
	require.Equal(t, b.clock.Now().Add(95*time.Second), b.view().HangsAt)
}
