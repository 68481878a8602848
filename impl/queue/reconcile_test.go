package queue_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// broken is a store whose writes fail while it is: undone or, if it lies, after their commit. What it says of it may be vague: the
// caller cannot know which.
type broken struct {
	store.Store
	is, lies, vague bool
	writes          int
}

func (s *broken) Write(ctx context.Context, f func(store.Tx) error) error {
	s.writes++
	if !s.is {
		return s.Store.Write(ctx, f)
	}

	err := s.Store.Write(ctx, func(tx store.Tx) error {
		if err := f(silent{tx}); err != nil || s.lies {
			return err
		}
		return errDisk
	})

	switch {
	case err != nil && !errors.Is(err, errDisk):
		return err
	case s.lies || s.vague:
		return store.Unknown(errDisk)
	}

	return errDisk
}

func (s *broken) SubmitJob(ctx context.Context, one *store.Submission) error {
	if !s.is {
		return s.Store.SubmitJob(ctx, one)
	}
	return s.Write(ctx, func(tx store.Tx) error {
		_, err := one.In(tx, one.Assign())
		return err
	})
}

func (s *broken) TakeJobs(ctx context.Context, t store.Take) error {
	return s.Write(ctx, func(tx store.Tx) error { return t.In(tx) })
}

func (s *broken) EndJob(ctx context.Context, e store.JobEnd) error {
	return s.Write(ctx, func(tx store.Tx) error {
		_, err := e.In(tx)
		return err
	})
}

// breakable gives a bench over a store that can be broken, and a job that a worker has.
func breakable(t *testing.T) (*bench, *broken, []queue.Taken) {
	b := open(t)
	s := &broken{Store: b.db}
	var err error
	b.queue, err = queue.New(t.Context(), s, b.clock, compute.NewIDs(rand.Reader, b.clock), queue.DefaultSettings(), b.hooks)
	require.NoError(t, err)
	b.run(queue.Submission{})
	taken, err := b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
	require.NoError(t, err)
	require.Len(t, taken, 1)
	return b, s, taken
}

func TestSweep_TakesBackAJobThatCouldNotBeHandedBack(t *testing.T) {
	t.Parallel()
	for _, lies := range []bool{false, true} {
		b, s, taken := breakable(t)
		s.is, s.lies = true, lies
		b.queue.HandBack(taken)
		s.is = false
		require.NoError(t, b.queue.Sweep(t.Context()))
		require.Equal(t, compute.JobInQueue, b.status(taken[0].ID).Status)

		again, err := b.queue.Take(t.Context(), user, b.endpoint, "other", 1)
		require.NoError(t, err)
		require.Len(t, again, 1)
		require.Equal(t, []int{1, 0}, []int{again[0].Attempt, again[0].Retries}, "as if it had never been taken")
	}
}

func TestSweep_TakesBackJobsOfAWorkerThatEnded(t *testing.T) {
	t.Parallel()
	for _, lies := range []bool{false, true} {
		b, s, taken := breakable(t)
		s.is, s.lies = true, lies
		b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
		s.is = false
		require.NoError(t, b.queue.Sweep(t.Context()))
		require.Equal(t, compute.JobInQueue, b.status(taken[0].ID).Status)
		require.Equal(t, 1, b.status(taken[0].ID).Retries)
		require.Equal(t, []compute.JobID{taken[0].ID}, b.take("other", 1))
	}
}

// waitFor has somebody wait for the end of a job, and gives how it ended.
func (b *bench) waitFor(id compute.JobID) <-chan compute.Job {
	answers := make(chan compute.Job, 1)
	go func() {
		j, _ := b.queue.Wait(context.WithoutCancel(b.Context()), user, b.endpoint, id, time.Hour)
		answers <- j
	}()
	require.Eventually(b, func() bool { return b.queue.Holding() == 1 }, 10*time.Second, time.Millisecond)
	return answers
}

func TestSweep_NotifiesWaitersOfAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	b, s, taken := breakable(t)
	answers := b.waitFor(taken[0].ID)
	s.is, s.lies = true, true
	require.Error(t, b.queue.Finish(t.Context(), user, b.endpoint, "w", taken[0].ID, queue.Report{Output: json.RawMessage(`1`)}))
	s.is = false
	require.NoError(t, b.queue.Sweep(t.Context()))
	require.Equal(t, compute.JobCompleted, (<-answers).Status)
}

// TestSweep_WaitersOfAReportThatFailedWaitForTheNext: the job goes on, and its worker reports again.
func TestSweep_WaitersOfAReportThatFailedWaitForTheNext(t *testing.T) {
	t.Parallel()
	b, s, taken := breakable(t)
	answers := b.waitFor(taken[0].ID)
	s.is, s.vague = true, true
	report := queue.Report{Output: json.RawMessage(`1`)}
	require.Error(t, b.queue.Finish(t.Context(), user, b.endpoint, "w", taken[0].ID, report))
	s.is, s.vague = false, false
	require.NoError(t, b.queue.Sweep(t.Context()))
	require.NoError(t, b.queue.Finish(t.Context(), user, b.endpoint, "w", taken[0].ID, report))
	require.Equal(t, compute.JobCompleted, (<-answers).Status)
}

func TestSweep_FailureIsTriedAgainAfterADoublingPause(t *testing.T) {
	t.Parallel()
	b, s, taken := breakable(t)
	b.clock.Advance(30 * time.Second) // the lease is over
	s.is = true
	begin := b.clock.Now()

	var tried []time.Duration
	for b.clock.Now().Sub(begin) < 40*time.Second {
		before := s.writes
		if err := b.queue.Sweep(t.Context()); err != nil {
			tried = append(tried, b.clock.Now().Sub(begin))
		} else {
			require.Equal(t, before, s.writes, "it waits")
		}
		b.clock.Advance(500 * time.Millisecond)
	}

	require.Equal(t, []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 7500 * time.Millisecond, 15500 * time.Millisecond, 25500 * time.Millisecond, 35500 * time.Millisecond}, tried)
	s.is = false
	b.clock.Advance(10 * time.Second)
	require.NoError(t, b.queue.Sweep(t.Context()))
	require.Equal(t, compute.JobInQueue, b.status(taken[0].ID).Status)
}

func TestDoubts_AreBounded(t *testing.T) {
	t.Parallel()
	b, s, taken := breakable(t)
	s.is, s.vague = true, true

	most := 0
	for ; most < 20_000; most++ {
		_, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)})
		if compute.CodeOf(err) == compute.Unavailable {
			break
		}
		require.ErrorIs(t, err, errDisk)
	}

	require.Equal(t, 10_000, most)
	_, err := b.queue.Retry(t.Context(), user, b.endpoint, taken[0].ID)
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
	s.is = false
	require.NoError(t, b.queue.Sweep(t.Context()))

	b.run(queue.Submission{})
	require.Equal(t, 1, b.queue.Dispatchers()[0].Waiting, "what failed is not there")
}

// TestDoubts_AreNothingToAStranger: who has no right to the endpoint is told nothing of it, and has nothing done there.
func TestDoubts_AreNothingToAStranger(t *testing.T) {
	t.Parallel()
	b, s, _ := breakable(t)
	s.is, s.vague = true, true
	_, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)})
	require.ErrorIs(t, err, errDisk)
	before := s.writes
	_, err = b.queue.Take(t.Context(), "stranger", b.endpoint, "w", 1)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Equal(t, before, s.writes)
	_, err = b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
	require.ErrorIs(t, err, errDisk)
}
