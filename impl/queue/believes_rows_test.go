package queue_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// A job that memory takes for held, and that the rows know better, is held no longer than until its worker is found silent or gone.
func TestMemory_LetsGoOfAJobThatTheRowsKnowBetter(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*bench, compute.JobID){
		"it is deleted": func(b *bench, _ compute.JobID) { b.forgetJobs() },
		"it has ended": func(b *bench, id compute.JobID) {
			require.NoError(b, b.beside(2).Finish(b.Context(), user, b.endpoint, "w", id, queue.Report{Output: json.RawMessage(`1`)}))
		},
		"it is waiting": func(b *bench, _ compute.JobID) {
			b.beside(2).WorkerGone(b.Context(), b.endpoint, "w", "the worker ended")
		},
	}
	for name, find := range map[string]func(*bench){
		"its worker ended":          func(b *bench) { b.queue.WorkerGone(b.Context(), b.endpoint, "w", "the worker ended") },
		"its worker is interrupted": func(b *bench) { b.queue.WorkerInterrupted(b.Context(), b.endpoint, "w") },
		"its lease is over":         func(b *bench) { b.sweepAfter(30 * time.Second) },
		"its time is over":          func(b *bench) { b.sweepAfter(40 * time.Second) },
	} {
		for what, change := range changes {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				b := open(t)
				id := b.run(queue.Submission{ExecutionTimeout: 40 * time.Second})
				require.Equal(t, []compute.JobID{id}, b.take("w", 1))
				change(b, id)
				require.True(t, b.queue.Working())
				find(b)
				for range 2 { // what is in doubt, and what that brings up
					require.NoError(t, b.queue.Sweep(t.Context()))
				}
				require.False(t, b.queue.Working())
				require.Zero(t, b.queue.Dispatchers()[0].InProgress)

				j, err := b.queue.Status(t.Context(), user, b.endpoint, id)
				switch what {
				case "it is deleted":
					require.Equal(t, compute.NotFound, compute.CodeOf(err))
				case "it has ended":
					require.NoError(t, err)
					require.Equal(t, compute.JobCompleted, j.Status)
				default:
					require.NoError(t, err)
					require.Equal(t, compute.JobInQueue, j.Status)
					require.Equal(t, []compute.JobID{id}, b.take("another", 1))
				}
			})
		}
	}
}

// A worker that ended while the storage failed has its jobs until they can be taken back.
func TestMemory_JobOfAWorkerThatIsNotThereIsWorkedAt(t *testing.T) {
	t.Parallel()
	b, s, taken := breakable(t)
	s.is = true
	b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
	require.True(t, b.queue.Working())
	s.is = false
	require.NoError(t, b.queue.Sweep(t.Context()))
	require.False(t, b.queue.Working())
	require.Equal(t, compute.JobInQueue, b.status(taken[0].ID).Status)
}

// Memory may be made anew while a job is on its way to a worker: then the job is the worker's, and waits no more.
func TestReload_JobThatIsTakenMeanwhileWaitsNoMore(t *testing.T) {
	t.Parallel()
	for _, low := range []bool{false, true} {
		b := open(t)
		m := b.meddle()
		id := b.run(queue.Submission{LowPriority: low})
		m.taking = func() error { return b.queue.Reload(t.Context()) }
		require.Equal(t, []compute.JobID{id}, b.take("w", 1))
		require.Zero(t, b.queue.Standing(b.endpoint).Waiting)
		require.False(t, b.queue.Line(b.endpoint, id).Waits)
		require.True(t, b.queue.Holds(b.endpoint, id, "w"))
	}
}

func TestReload_JobThatWasHandedOverBeforeItsCommitStaysItsWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		got := b.asks("w")
		before := b.gate()
		reloaded := make(chan error, 1)
		go func() { reloaded <- b.queue.Reload(t.Context()) }()
		synctest.Wait()
		ended := make(chan compute.Job, 1)
		go func() {
			j, _ := b.queue.RunSync(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)}, time.Minute)
			ended <- j
		}()
		synctest.Wait()
		after := b.gate() // all of it is one commit
		before()
		taken := <-got
		require.Len(t, taken, 1)
		require.Empty(t, reloaded)
		after()
		require.NoError(t, <-reloaded)
		id := taken[0].ID
		require.True(t, b.queue.Holds(b.endpoint, id, "w"))
		require.Equal(t, 1, b.queue.Dispatchers()[0].InProgress)
		b.finish("w", id, queue.Report{Output: json.RawMessage(`1`)})
		require.Equal(t, compute.JobCompleted, (<-ended).Status)
	})
}

// A job of which nobody knew whether it is there, or is taken, calls for a look at the workers once that is known.
func TestDemand_IsCalledForOnceADoubtIsResolved(t *testing.T) {
	t.Parallel()
	b, demands, _ := hooked(t)
	s := &broken{Store: b.db}
	b.db = s
	b.queue = b.beside(1)
	s.is, s.lies = true, true
	j, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)})
	require.ErrorIs(t, err, errDisk)
	s.is = false
	demands.Store(0)
	require.NoError(t, b.queue.Sweep(t.Context()))
	require.Positive(t, demands.Load())
	require.Equal(t, 1, b.queue.Standing(b.endpoint).Waiting)

	s.is = true
	_, err = b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, compute.JobInProgress, b.stored(j.ID))
	require.Zero(t, b.queue.Standing(b.endpoint).Waiting)
	s.is = false
	demands.Store(0)
	require.NoError(t, b.queue.Sweep(t.Context()))
	require.Positive(t, demands.Load())
	require.Equal(t, 1, b.queue.Standing(b.endpoint).Waiting)
	require.Equal(t, []compute.JobID{j.ID}, b.take("w", 1), "it never had it")
	require.Equal(t, 1, b.status(j.ID).Attempt)
}
