package queue_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

const user compute.UserID = "u"

// bench is one queue over a real file, with a clock that the test sets.
type bench struct {
	*testing.T
	clock    *compute.SettableClock
	path     string
	db       store.Store
	queue    *queue.Queue
	hooks    queue.Hooks // of the next start
	endpoint compute.EndpointID
}

func open(t *testing.T) *bench {
	b := &bench{T: t, clock: compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000)), path: filepath.Join(t.TempDir(), "berth.db"), endpoint: "endpointone000"}
	b.start()
	require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, Name: "one", Image: "one", WorkersMax: 1})
	}))
	b.queue.SetEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, Name: "one", Image: "one", WorkersMax: 1})
	t.Cleanup(func() { _ = b.db.Close() })
	return b
}

func (b *bench) start() {
	var err error
	b.db, err = sqlite.Open(b.Context(), b.path, b.clock)
	require.NoError(b, err)
	b.queue, err = queue.New(b.Context(), b.db, b.clock, compute.NewIDs(rand.Reader, b.clock), queue.DefaultSettings(), b.hooks)
	require.NoError(b, err)
}

// restart closes the database and opens it again, as a new process would.
func (b *bench) restart() {
	require.NoError(b, b.db.Close())
	b.start()
}

func (b *bench) run(s queue.Submission) compute.JobID {
	if s.Input == nil {
		s.Input = json.RawMessage(`{}`)
	}
	j, err := b.queue.Run(b.Context(), user, b.endpoint, s)
	require.NoError(b, err)
	return j.ID
}

func (b *bench) take(w compute.WorkerID, n int) []compute.JobID {
	taken, err := b.queue.Take(b.Context(), user, b.endpoint, w, n)
	require.NoError(b, err)
	var ids []compute.JobID
	for _, t := range taken {
		ids = append(ids, t.ID)
	}
	return ids
}

func (b *bench) status(id compute.JobID) compute.Job {
	j, err := b.queue.Status(b.Context(), user, b.endpoint, id)
	require.NoError(b, err)
	return j
}

func (b *bench) sweepAfter(d time.Duration) {
	b.clock.Advance(d)
	require.NoError(b, b.queue.Sweep(b.Context()))
}

func TestLease_SilentWorkersJobFailsAfterThreeAttempts(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	for attempt, w := range []compute.WorkerID{"w1", "w2", "w3"} {
		require.Equal(t, []compute.JobID{id}, b.take(w, 1))
		require.NoError(t, b.queue.Ping(user, b.endpoint, w, []compute.JobID{id}))
		b.sweepAfter(29 * time.Second)
		require.Equal(t, compute.JobInProgress, b.status(id).Status)
		b.sweepAfter(2 * time.Second)
		if attempt < 2 {
			require.Equal(t, compute.JobInQueue, b.status(id).Status)
			require.Equal(t, attempt+1, b.status(id).Retries)
		}
	}

	j := b.status(id)
	require.Equal(t, compute.JobFailed, j.Status)
	require.Equal(t, "gave up after 3 attempts: no worker reported in time", j.Error)
	health, err := b.queue.Health(t.Context(), user, b.endpoint)
	require.NoError(t, err)
	require.EqualValues(t, 2, health.Jobs.Retried)
	require.EqualValues(t, 1, health.Jobs.Failed)
}

func TestLease_PingThatNamesTheJobKeepsIt(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	for range 10 {
		require.NoError(t, b.queue.Ping(user, b.endpoint, "w", []compute.JobID{id}))
		b.sweepAfter(20 * time.Second)
	}
	require.Equal(t, compute.JobInProgress, b.status(id).Status)
	require.NoError(t, b.queue.Ping(user, b.endpoint, "w", nil))
	b.sweepAfter(31 * time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
}

func TestTake_LostJobGoesToAnotherWorker(t *testing.T) {
	t.Parallel()
	b := open(t)
	lost, next := b.run(queue.Submission{}), b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{lost}, b.take("w", 1))
	require.NoError(t, b.queue.Ping(user, b.endpoint, "w", nil))
	b.sweepAfter(31 * time.Second)
	require.Equal(t, []compute.JobID{next}, b.take("w", 5))
	require.Equal(t, []compute.JobID{lost}, b.take("other", 5))
	require.NoError(t, b.queue.Finish(t.Context(), user, b.endpoint, "w", lost, queue.Report{Output: json.RawMessage(`1`)}))
	require.Equal(t, compute.JobInProgress, b.status(lost).Status, "a late report of the former holder")
}

func TestSweep_ExecutionTimeoutEndsAndStopsAJob(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{ExecutionTimeout: 5 * time.Second})
	b.take("w", 1)
	b.sweepAfter(5 * time.Second)
	j := b.status(id)
	require.Equal(t, compute.JobTimedOut, j.Status)
	require.Equal(t, "executionTimeout of 5000 ms exceeded", j.Error)
	stops, err := b.queue.Stops(t.Context(), user, b.endpoint, "w")
	require.NoError(t, err)
	require.Equal(t, []compute.JobID{id}, stops)
}

func TestSweep_TTLEndsAndRetentionForgetsAJob(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{TTL: 10 * time.Second})
	b.sweepAfter(10 * time.Second)
	require.Equal(t, compute.JobTimedOut, b.status(id).Status)

	b.sweepAfter(30*time.Minute - time.Millisecond)
	b.status(id)
	b.clock.Advance(time.Millisecond)
	_, err := b.queue.Status(t.Context(), user, b.endpoint, id)
	require.Equal(t, compute.NotFound, compute.CodeOf(err), "expired, though not swept yet")

	b.sweepAfter(0)
	require.NoError(t, b.db.Read(t.Context(), func(tx store.Tx) error {
		_, err := tx.Job(id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		return nil
	}))
}

func TestSetTTL_LengthensNoRetentionAndIsSevenDaysAtMost(t *testing.T) {
	t.Parallel()
	b := open(t)
	set := func(id compute.JobID, ttl, want time.Duration) {
		t.Helper()
		j, err := b.queue.SetTTL(t.Context(), user, b.endpoint, id, ttl)
		require.NoError(t, err)
		require.Equal(t, b.clock.Now().Add(want), j.ExpiresAt)
		require.NoError(t, b.db.Read(t.Context(), func(tx store.Tx) error {
			row, err := tx.Job(id)
			require.Equal(t, j.ExpiresAt, row.ExpiresAt)
			return err
		}))
	}

	const week = 7 * 24 * time.Hour
	waits, runs := b.run(queue.Submission{LowPriority: true}), b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{runs}, b.take("w", 1))
	for _, id := range []compute.JobID{waits, runs} {
		set(id, time.Second, time.Second)
		set(id, week, week)
		set(id, 100*week, week)
	}

	b.finish("w", runs, queue.Report{})
	set(runs, week, 30*time.Minute)
	b.clock.Advance(10 * time.Minute)
	set(runs, week, 20*time.Minute)
	set(runs, 6*time.Second, 6*time.Second)
	set(runs, time.Minute, 6*time.Second)
	b.clock.Advance(6 * time.Second)
	_, err := b.queue.Status(t.Context(), user, b.endpoint, runs)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestFinish_OutputOverTheLimitFailsTheJob(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	output := make([]byte, 10_000_001)
	for i := range output {
		output[i] = '1'
	}
	require.NoError(t, b.queue.Finish(t.Context(), user, b.endpoint, "w", id, queue.Report{Output: output}))
	require.Equal(t, compute.JobFailed, b.status(id).Status)
	require.Equal(t, "the output of 10000001 bytes is over the limit of 10000000 bytes", b.status(id).Error)
}

func TestQueue_RestartKeepsTheOrderAndWhatIsHeld(t *testing.T) {
	t.Parallel()
	b := open(t)
	held := b.run(queue.Submission{})
	b.take("w", 1)
	low := b.run(queue.Submission{LowPriority: true})
	first, second := b.run(queue.Submission{}), b.run(queue.Submission{})
	b.restart()
	require.Equal(t, compute.JobInProgress, b.status(held).Status)
	require.Equal(t, []compute.JobID{first, second, low}, b.take("x", 9))
	require.NoError(t, b.queue.Finish(t.Context(), user, b.endpoint, "w", held, queue.Report{Output: json.RawMessage(`1`)}))
	require.Equal(t, compute.JobCompleted, b.status(held).Status)
}

func TestQueue_RestartKeepsTheOrderOfALongBacklog(t *testing.T) {
	t.Parallel()
	b := open(t)
	held := b.run(queue.Submission{})
	b.take("w", 1)
	var waiting []compute.JobID
	var wg sync.WaitGroup
	for range 50 { // beside each other, so that commits are shared
		wg.Go(func() {
			for range 100 {
				b.run(queue.Submission{})
			}
		})
	}
	wg.Wait()
	require.NoError(t, b.db.Read(t.Context(), func(tx store.Tx) error {
		return tx.UnfinishedJobs(func(j compute.Job) {
			if j.Status == compute.JobInQueue {
				waiting = append(waiting, j.ID)
			}
		})
	}))
	require.Len(t, waiting, 5000)

	b.restart()
	var taken []compute.JobID
	for len(taken) < len(waiting) {
		taken = append(taken, b.take("x", 500)...)
	}
	require.Equal(t, waiting, taken)
	require.Equal(t, compute.JobInProgress, b.status(held).Status)
}

func TestQueue_WaitersAndTakersNeedNoPolling(t *testing.T) {
	t.Parallel()
	b := open(t)
	ended := make(chan compute.Job, 1)
	go func() {
		j, _ := b.queue.RunSync(context.WithoutCancel(t.Context()), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)}, time.Minute)
		ended <- j
	}()
	ids := b.take("w", 1)
	require.NoError(t, b.queue.Finish(t.Context(), user, b.endpoint, "w", ids[0], queue.Report{Output: json.RawMessage(`1`)}))
	require.Equal(t, compute.JobCompleted, (<-ended).Status)
}

func TestTake_ManyTakersGetEachJobOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	const jobs, takers = 400, 16
	var mu sync.Mutex
	seen := map[compute.JobID]int{}
	var wg sync.WaitGroup

	ctx, stop := context.WithCancel(t.Context())
	for i := range takers {
		wg.Go(func() {
			for {
				taken, err := b.queue.Take(ctx, user, b.endpoint, compute.WorkerID(rune('a'+i)), 1+i%3)
				if err != nil {
					return
				}
				mu.Lock()
				for _, j := range taken {
					seen[j.ID]++
				}
				if len(seen) == jobs {
					stop()
				}
				mu.Unlock()
			}
		})
	}

	for range jobs {
		b.run(queue.Submission{})
	}
	wg.Wait()
	stop()
	require.Len(t, seen, jobs)
	for id, n := range seen {
		require.Equal(t, 1, n, id)
	}
}

func TestEndpoints_UnknownAndForeignOnesAreNotFound(t *testing.T) {
	t.Parallel()
	b := open(t)
	_, err := b.queue.Run(t.Context(), user, "nosuchendpoint", queue.Submission{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = b.queue.Run(t.Context(), "stranger", b.endpoint, queue.Submission{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = b.queue.Take(t.Context(), "stranger", b.endpoint, "w", 1)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestCancel_LostJobHasNoExecutionTime(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
	b.clock.Advance(time.Minute)
	j, err := b.queue.Cancel(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)
	require.Equal(t, compute.JobCancelled, j.Status)
	require.Zero(t, j.ExecutionTime(), "it was waiting")
}

func TestTake_JobsThatGoBackKeepTheirOrder(t *testing.T) {
	t.Parallel()
	b := open(t)
	var ids []compute.JobID
	for range 8 {
		ids = append(ids, b.run(queue.Submission{}))
	}
	require.Equal(t, ids, b.take("silent", 8))
	require.NoError(t, b.queue.Ping(user, b.endpoint, "silent", nil))

	b.sweepAfter(31 * time.Second)
	require.Equal(t, ids, b.take("gone", 8))
	b.queue.WorkerGone(t.Context(), b.endpoint, "gone", "the worker ended")
	taken, err := b.queue.Take(t.Context(), user, b.endpoint, "hung up", 8)
	require.NoError(t, err)

	b.queue.HandBack(taken)
	require.Equal(t, ids, b.take("w", 8))
}

func TestTake_LostJobAvoidsAllThatMayHoldIt(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	for _, w := range []compute.WorkerID{"first", "second"} {
		require.Equal(t, []compute.JobID{id}, b.take(w, 1))
		require.NoError(t, b.queue.Ping(user, b.endpoint, w, []compute.JobID{id}))
		b.sweepAfter(31 * time.Second)
	}

	other := b.run(queue.Submission{})
	require.NoError(t, b.queue.Ping(user, b.endpoint, "first", []compute.JobID{id}))
	require.Equal(t, []compute.JobID{other}, b.take("first", 2), "it is late, and still runs the job")
	b.finish("first", id, queue.Report{Output: json.RawMessage(`1`)})
	require.Equal(t, []compute.JobID{id}, b.take("first", 2), "a report that came too late is an end too")
}

func TestRetry_NewAttemptIsNotStopped(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{ExecutionTimeout: 5 * time.Second})
	b.take("w", 1)
	b.sweepAfter(5 * time.Second)
	_, err := b.queue.Retry(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)
	require.Equal(t, []compute.JobID{id}, b.take("w", 1), "it never pings: nobody knows what it holds")
	b.queue.Close()
	stops, err := b.queue.Stops(t.Context(), user, b.endpoint, "w")
	require.NoError(t, err)
	require.Empty(t, stops)
}

func TestDemands_JobThatCameBackHidesNoneOverdue(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.SetEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, Name: "one", Image: "one", WorkersMax: 3, ScalerValue: 4})
	b.run(queue.Submission{})
	b.take("w", 1)
	b.run(queue.Submission{})
	b.clock.Advance(4 * time.Second)
	b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
	require.Equal(t, 2, b.queue.Demands()[0].Waiting)
	require.Equal(t, 1, b.queue.Demands()[0].Overdue)
}

func TestSweep_ExecutionTimeoutIsDueBeforeTheLease(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.run(queue.Submission{ExecutionTimeout: 20 * time.Second})
	b.take("never pings", 1)
	next, err := b.queue.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, b.clock.Now().Add(20*time.Second), next)
}

func TestQueue_RefusesAStoreWithAStrangeJob(t *testing.T) {
	t.Parallel()
	for _, status := range []compute.JobStatus{compute.JobInQueue, compute.JobInProgress} {
		b := open(t)
		require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
			return tx.InsertJob(compute.Job{ID: "strange", EndpointID: b.endpoint, Status: status}, json.RawMessage(`{}`))
		}))
		_, err := queue.New(t.Context(), b.db, b.clock, compute.NewIDs(rand.Reader, b.clock), queue.DefaultSettings(), b.hooks)
		require.ErrorContains(t, err, `"strange"`, status)
	}
}
