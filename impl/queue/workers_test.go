package queue_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// managed gives a bench with a worker "w" that berth started, which holds one job.
func managed(t *testing.T) (*bench, compute.JobID) {
	b := open(t)
	b.queue.WorkerStarted(b.endpoint, "w", 0)
	id := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))
	return b, id
}

func (b *bench) cancel(id compute.JobID) {
	j, err := b.queue.Cancel(b.Context(), user, b.endpoint, id)
	require.NoError(b, err)
	require.Equal(b, compute.JobCancelled, j.Status)
}

func (b *bench) ping(ids ...compute.JobID) {
	require.NoError(b, b.queue.Ping(user, b.endpoint, "w", ids))
}

// leaving reports whether the worker is to be replaced.
func (b *bench) leaving() bool {
	workers := b.queue.Demands()[0].Workers
	require.Len(b, workers, 1)
	return workers[0].Leaving
}

func (b *bench) requireStops(want ...compute.JobID) {
	ids, err := b.queue.Stops(b.Context(), user, b.endpoint, "w")
	require.NoError(b, err)
	require.Equal(b, want, ids)
}

func TestWorkers_NeverAskingWhatToStopAreReplaced(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.cancel(id)
	b.clock.Advance(9 * time.Second)
	b.ping(id)
	require.False(t, b.leaving())
	b.clock.Advance(time.Second)
	require.True(t, b.leaving())
}

func TestWorkers_StillNamingAStoppedJobAreReplaced(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.cancel(id)
	b.requireStops(id)
	b.clock.Advance(9 * time.Second)
	b.ping(id)
	require.False(t, b.leaving())
	b.clock.Advance(time.Second)
	require.False(t, b.leaving(), "it may have stopped it since its last ping")
	b.ping(id)
	require.True(t, b.leaving())
}

func TestWorkers_ThatStoppedTheirJobStay(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.cancel(id)
	b.requireStops(id)
	b.ping()
	b.clock.Advance(time.Minute)
	b.ping(id)
	require.False(t, b.leaving(), "a later attempt at the same job")
}

func TestWorkers_ThatReportAJobToStopStay(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.cancel(id)
	b.finish("w", id, queue.Report{Output: json.RawMessage(`1`)})
	b.clock.Advance(time.Minute)
	require.False(t, b.leaving())
	require.Nil(t, b.status(id).Output)
	require.Equal(t, compute.JobCancelled, b.status(id).Status)
}

func TestWorkers_AskingToLeaveEndWithTheirLastJob(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	other := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{other}, b.take("w", 1))
	b.finish("w", id, queue.Report{Leave: true})
	require.True(t, b.leaving())
	require.False(t, b.queue.Drain(b.endpoint, "w"), "it still holds a job")
	next := b.run(queue.Submission{})
	b.finish("w", other, queue.Report{})
	h, err := b.queue.Workers(user, b.endpoint)
	require.NoError(t, err)
	require.EqualValues(t, 1, h.Workers[compute.WorkerIdle])
	require.Empty(t, h.Ready, "it gets nothing more")
	require.True(t, b.queue.Drain(b.endpoint, "w"))
	require.Empty(t, b.take("w", 1), "a drained worker's take ends at once")
	require.Equal(t, []compute.JobID{next}, b.take("other", 1))
}

func TestLease_EndsIfNothingFollowsTheTake(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.sweepAfter(29 * time.Second)
	require.Equal(t, compute.JobInProgress, b.status(id).Status)
	b.sweepAfter(time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
	require.Equal(t, 1, b.status(id).Retries)
	require.Equal(t, []compute.JobID{id}, b.take("other", 1))
}

func TestLease_AnyWordKeepsItWithoutPings(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	other := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{other}, b.take("w", 1))

	b.queue.Close() // so that polls end at once
	for _, say := range []func(){
		func() { b.requireStops() },
		func() { require.Empty(t, b.take("w", 1)) },
		func() {
			require.NoError(t, b.queue.Progress(t.Context(), user, b.endpoint, "w", other, json.RawMessage(`1`)))
		},
		func() {
			require.NoError(t, b.queue.StreamJob(t.Context(), user, b.endpoint, "w", other, compute.Chunk{Output: json.RawMessage(`1`)}))
		},
		func() { b.finish("w", other, queue.Report{}) },
	} {
		b.sweepAfter(29 * time.Second)
		require.Equal(t, compute.JobInProgress, b.status(id).Status)
		say()
	}

	b.sweepAfter(29 * time.Second)
	require.Equal(t, compute.JobInProgress, b.status(id).Status)
	require.NoError(t, b.queue.Unhealthy(user, b.endpoint, "w", "about to exit"))
	b.sweepAfter(time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status, "what it says before it exits is no sign of life")
}

func TestLease_PollKeepsNoneWherePingsDo(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.ping(id)
	b.queue.Close()
	b.sweepAfter(29 * time.Second)
	b.requireStops()
	b.sweepAfter(time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
}

func TestLease_BeginsAfreshAfterAPauseOrStep(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour, 6 * time.Second} {
		b, id := managed(t)
		b.ping(id)
		b.sweepAfter(29 * time.Second)
		b.clock.Running().Adjust(step)
		b.sweepAfter(29 * time.Second)
		require.Equal(t, compute.JobInProgress, b.status(id).Status)

		b.sweepAfter(29 * time.Second)
		require.Equal(t, compute.JobInProgress, b.status(id).Status)
		b.sweepAfter(time.Second)
		require.Equal(t, compute.JobInQueue, b.status(id).Status)
	}
}

func TestWorkers_NoneIsForgottenAfterAPause(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.ping()
	b.clock.Advance(2 * time.Minute)
	b.clock.Running().Adjust(time.Hour)
	b.sweepAfter(time.Second)
	require.Len(t, b.queue.WorkerStates(b.endpoint), 1)
	b.sweepAfter(2*time.Minute + time.Second)
	require.Empty(t, b.queue.WorkerStates(b.endpoint))
}

func TestLease_PingOfADeadWorkerRenewsNothing(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
	require.Equal(t, []compute.JobID{id}, b.take("other", 1))
	require.NoError(t, b.queue.Ping(user, b.endpoint, "other", []compute.JobID{id}))
	b.clock.Advance(20 * time.Second)
	b.ping(id)
	b.sweepAfter(10 * time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
}

func TestFinish_LateProgressChangesNothing(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.finish("w", id, queue.Report{})
	require.NoError(t, b.queue.Progress(t.Context(), user, b.endpoint, "w", id, json.RawMessage(`"half"`)))
	require.Nil(t, b.status(id).Output)
	require.Equal(t, compute.JobCompleted, b.status(id).Status)
}

// A worker that pings while its take is held must not get what it may still run, and nobody must wait for it to.
func TestTake_PingDuringAHeldOneHandsOverNothing(t *testing.T) {
	t.Parallel()
	b, lost := managed(t)
	b.ping(lost)
	b.sweepAfter(30 * time.Second) // it loses the job, and may still run it
	taken := make(chan []queue.Taken, 1)
	go func() {
		got, _ := b.queue.Take(b.Context(), user, b.endpoint, "w", 1)
		taken <- got
	}()
	require.Eventually(t, func() bool { return b.queue.Holding() == 1 }, 10*time.Second, time.Millisecond)

	pinged := make(chan error, 1)
	go func() { pinged <- b.queue.Ping(user, b.endpoint, "w", []compute.JobID{lost}) }()
	select {
	case err := <-pinged:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		panic("a ping does not end: whatever needs the queue waits for it, and so would the end of this test")
	}

	require.Empty(t, taken)
	require.Equal(t, []compute.JobID{lost}, b.take("other", 1))
	b.clock.Advance(25 * time.Second)
	require.Empty(t, <-taken)
}

func TestStops_WhatWasToldInVainIsToldAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	_, err := b.queue.Cancel(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)
	b.requireStops(id)
	b.queue.StopAgain(b.endpoint, "w", []compute.JobID{id})
	b.requireStops(id)
	b.queue.StopAgain(b.endpoint, "nobody", []compute.JobID{id})
}
