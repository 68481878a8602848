package queue_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

func TestSubmit_KeepsAResultLongerThatWasWaitedForForLong(t *testing.T) {
	t.Parallel()
	b := open(t)
	for wait, kept := range map[time.Duration]time.Duration{
		time.Second: time.Minute, 90 * time.Second: time.Minute, 90*time.Second + time.Millisecond: 5 * time.Minute,
	} {
		j, err := b.queue.SubmitSync(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)}, wait)
		require.NoError(t, err)
		require.Equal(t, kept, j.Retention, wait)
		require.True(t, j.Sync)
	}
}

func TestSubmit_GivesTheJobAsItIsStored(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.SetEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, WorkersMax: 1, Timeout: 7 * time.Second})
	b.clock.Running().Adjust(time.Hour)
	j, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Equal(t, 7*time.Second, j.ExecutionTimeout, "it is the endpoint's")
	require.Equal(t, []time.Time{b.clock.Wall(), b.clock.Now(), b.clock.Now().Add(24 * time.Hour)}, []time.Time{j.CreatedAt, j.QueuedAt, j.ExpiresAt})
	require.NoError(t, b.db.Read(t.Context(), func(tx store.Tx) error {
		stored, err := tx.Job(j.ID)
		require.Equal(t, stored, j)
		return err
	}))

	j, err = b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`), ExecutionTimeout: 9 * time.Second, TTL: time.Minute})
	require.NoError(t, err)
	require.Equal(t, []time.Duration{9 * time.Second, time.Minute}, []time.Duration{j.ExecutionTimeout, j.TTL})
	require.Equal(t, b.clock.Now().Add(time.Minute), j.ExpiresAt)
}

func TestSubmit_LetsGoOfTheInputOnceItIsStoredOrRefused(t *testing.T) {
	t.Parallel()
	b := open(t)
	calls := 0
	s := queue.Submission{Input: json.RawMessage(`{}`), Stored: func() { calls++ }}
	b.run(s)
	require.Equal(t, 1, calls)
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := b.queue.Run(gone, user, b.endpoint, s)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, calls)
	_, err = b.queue.RunSync(t.Context(), user, b.endpoint, s, 0)
	require.NoError(t, err)
	require.Equal(t, 3, calls)
}

// A long input is not in memory for each of the workers that take its job: they read it piece by piece.
func TestSubmit_HandsOverALongInputByItsSize(t *testing.T) {
	t.Parallel()
	for size, long := range map[int]bool{compute.PieceSize: false, compute.PieceSize + 1: true} {
		b := open(t)
		input := `"` + strings.Repeat("x", size-2) + `"`
		given := make(chan []queue.Taken, 1)
		go func() {
			taken, _ := b.queue.Take(b.Context(), user, b.endpoint, "w", 1)
			given <- taken
		}()
		require.Eventually(t, func() bool { return b.queue.Holding() == 1 }, 10*time.Second, time.Millisecond)
		b.run(queue.Submission{Input: json.RawMessage(input)})
		taken := <-given
		require.Len(t, taken, 1)
		if !long {
			require.True(t, input == string(taken[0].Input))
			require.Zero(t, taken[0].InputSize)
			continue
		}
		require.Nil(t, taken[0].Input)
		require.Equal(t, size, taken[0].InputSize)
		text, err := b.queue.Pieces(t.Context(), taken[0].Job, compute.JobInput, 0, compute.Pieces(size))
		require.NoError(t, err)
		require.True(t, input == string(text))
	}
}

// refusing is a store that fails to store jobs once they have a worker.
type refusing struct {
	store.Store
	clock *compute.SettableClock
	err   error // nil: it stores them
	lies  bool  // they are stored all the same
}

func (r *refusing) SubmitJob(ctx context.Context, s *store.Submission) error {
	if r.err == nil {
		return r.Store.SubmitJob(ctx, s)
	}
	w := s.Assign()
	if s.Early != nil && w != "" {
		j := s.Job
		j.Status, j.WorkerID, j.Attempt, j.TakenAt = compute.JobInProgress, w, 1, r.clock.Now()
		s.Early(j)
	}
	if r.lies {
		if err := r.Write(ctx, func(tx store.Tx) error {
			_, err := s.In(silent{tx}, w)
			return err
		}); err != nil {
			return err
		}
	}
	return r.err
}

// refuse gives a bench whose store refuses, and a worker that waits for a job. It is for a bubble.
func refuse(t *testing.T, err error, lies bool) (*bench, *refusing, chan []queue.Taken) {
	b := open(t)
	r := &refusing{Store: b.db, clock: b.clock}
	b.db = r
	b.queue = b.beside(1)
	given := make(chan []queue.Taken, 1)
	go func() {
		taken, _ := b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
		given <- taken
	}()
	synctest.Wait()
	r.err, r.lies = err, lies
	return b, r, given
}

func TestSubmit_WorkerOfAJobThatIsNotStoredGetsTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, r, given := refuse(t, errDisk, false)
		_, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)})
		require.ErrorIs(t, err, errDisk)
		r.err = nil
		synctest.Wait()
		require.Empty(t, given)
		id := b.run(queue.Submission{})
		synctest.Wait()
		require.Len(t, given, 1)
		require.Equal(t, id, (<-given)[0].ID)
	})
}

// A job that is on disk as taken, and of which its worker never heard, waits again as if it had not been taken.
func TestSubmit_JobThatIsStoredThoughThatFailedIsHandedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, r, given := refuse(t, store.Unknown(errDisk), true)
		j, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)})
		require.ErrorIs(t, err, errDisk)
		r.err = nil
		synctest.Wait()
		require.Len(t, given, 1, "it waits for no sweep")
		taken := <-given
		require.Len(t, taken, 1)
		require.Equal(t, []any{j.ID, 1, 0}, []any{taken[0].ID, taken[0].Attempt, taken[0].Retries})
		require.Equal(t, 1, b.queue.Dispatchers()[0].InProgress)
	})
}

// A job that is waited for is handed over before it is stored. If it is not, then its worker has nothing, whatever it reports.
func TestSubmit_JobThatWasHandedOverAndIsNotStoredIsNobodys(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"it is not there": errDisk, "nobody knows": store.Unknown(errDisk)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, r, given := refuse(t, failure, false)
				j, err := b.queue.RunSync(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)}, time.Minute)
				require.ErrorIs(t, err, errDisk)
				taken := <-given
				require.Len(t, taken, 1)
				require.Equal(t, j.ID, taken[0].ID)

				r.err = nil
				unknown := store.IsUnknown(failure)
				require.Equal(t, unknown, b.queue.Working(), "what may be there goes on")
				require.NoError(t, b.queue.Sweep(t.Context()))
				require.False(t, b.queue.Working())
				require.Zero(t, b.queue.Dispatchers()[0].InProgress)
				b.finish("w", j.ID, queue.Report{Output: json.RawMessage(`1`)})
				_, err = b.queue.Status(t.Context(), user, b.endpoint, j.ID)
				require.Equal(t, compute.NotFound, compute.CodeOf(err))
			})
		})
	}
}

// The worker of such a job that is there goes on with it, and its end is found.
func TestSubmit_JobThatWasHandedOverAndIsStoredThoughThatFailedGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, r, given := refuse(t, store.Unknown(errDisk), true)
		j, err := b.queue.RunSync(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)}, time.Minute)
		require.ErrorIs(t, err, errDisk)
		require.Len(t, <-given, 1)
		r.err = nil
		require.NoError(t, b.queue.Sweep(t.Context()))
		require.True(t, b.queue.Working())
		b.finish("w", j.ID, queue.Report{Output: json.RawMessage(`1`)})
		require.Equal(t, compute.JobCompleted, b.status(j.ID).Status)
		require.False(t, b.queue.Working())
	})
}

func TestFinish_SaysThatItIsStoredOnceAndBeforeOthersHear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		id := b.run(queue.Submission{})
		b.take("w", 1)
		answers := make(chan compute.Job, 1)
		go func() {
			j, _ := b.queue.Wait(t.Context(), user, b.endpoint, id, time.Hour)
			answers <- j
		}()
		synctest.Wait()
		calls := 0
		report := queue.Report{Output: json.RawMessage(`1`), Stored: func() {
			calls++
			synctest.Wait()
			require.Empty(t, answers)
			require.Equal(t, compute.JobCompleted, b.stored(id))
		}}
		b.finish("w", id, report)
		require.Equal(t, compute.JobCompleted, (<-answers).Status)
		b.finish("w", id, report)
		b.finish("other", id, report)
		require.Equal(t, 1, calls)
	})
}
