package queue_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// view gives the only worker of the endpoint that berth started, as scaling sees it.
func (b *bench) view() queue.WorkerView {
	workers := b.queue.Demands()[0].Workers
	require.Len(b, workers, 1)
	return workers[0]
}

func TestWorkers_IdleSinceTheirFirstWordOrTheirLastJob(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	begun := b.clock.Now()
	require.Equal(t, begun, b.view().IdleSince)
	b.clock.Advance(time.Second)
	b.ping(id)
	require.Equal(t, begun, b.view().IdleSince)
	b.finish("w", id, queue.Report{})
	ended := b.clock.Now()
	require.Equal(t, ended, b.view().IdleSince)
	b.clock.Advance(time.Second)
	b.ping()
	b.queue.WorkerUp(b.endpoint, "w", true)
	require.Equal(t, ended, b.view().IdleSince)
	require.Equal(t, b.clock.Now(), b.queue.Standing(b.endpoint).Workers[0].LastSeen)
}

// A worker pings, or asks what to stop, before it asks for its first job. Until then it is one that will take what is overdue, for a while.
func TestWorkers_OneThatSpeaksHasNotAskedForAJobYet(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]func(b *bench){
		"over HTTP":        func(b *bench) { b.take("w", 1) },
		"by a script":      func(b *bench) { b.takeNow("w", 1) },
		"not for too long": func(b *bench) { b.clock.Advance(10 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			b.queue.WorkerStarted(b.endpoint, "w", 0)
			b.run(queue.Submission{})
			require.True(t, b.view().Unasked)
			b.ping()
			b.toStop("w")
			b.clock.Advance(9 * time.Second)
			require.Equal(t, compute.WorkerIdle, b.view().Status)
			require.True(t, b.view().Unasked)
			asks(b)
			require.False(t, b.view().Unasked)
		})
	}
}

func TestWorkers_WhatTheyWaitForIsSeenUntilTheyAreUp(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.WorkerWaits(b.endpoint, "w", "it waits", true) // for nobody, and nowhere
	b.queue.WorkerWaits("nosuchendpoint", "w", "it waits", true)
	b.queue.WorkerUp("nosuchendpoint", "w", true)
	b.queue.WorkerStarted("nosuchendpoint", "w", 0)
	require.Empty(t, b.queue.WorkerStates(b.endpoint))

	b.queue.WorkerStarted(b.endpoint, "w", 0)
	is := func(status compute.WorkerStatus, reason string) {
		t.Helper()
		require.Equal(t, []compute.WorkerState{{ID: "w", Status: status, Reason: reason, Managed: true}}, b.queue.WorkerStates(b.endpoint))
		require.Equal(t, []any{status, reason, true}, []any{b.view().Status, b.view().Reason, b.view().Unasked})
	}
	is(compute.WorkerInitializing, "")
	b.queue.WorkerWaits(b.endpoint, "w", "its image is pulled", false)
	is(compute.WorkerInitializing, "its image is pulled")
	b.queue.WorkerWaits(b.endpoint, "w", "no host has room", true)
	is(compute.WorkerThrottled, "no host has room")
	b.queue.WorkerWaits(b.endpoint, "w", "", false)
	is(compute.WorkerInitializing, "")
	b.queue.WorkerUp(b.endpoint, "w", false)
	is(compute.WorkerInitializing, "")

	b.clock.Advance(time.Second)
	b.queue.WorkerUp(b.endpoint, "w", true)
	is(compute.WorkerIdle, "")
	require.Equal(t, b.clock.Now(), b.view().IdleSince)
	b.queue.WorkerWaits(b.endpoint, "w", "its image is pulled", true)
	is(compute.WorkerIdle, "")
	require.NoError(t, b.queue.Unhealthy(user, b.endpoint, "w", "too hot"))
	is(compute.WorkerUnhealthy, "too hot")
}

func TestWorkers_OfAnEarlierReleaseAreStale(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.queue.SetEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, WorkersMax: 3, Version: 2})
	for n := range 4 {
		b.queue.WorkerStarted(b.endpoint, compute.WorkerID(fmt.Sprint(n)), int64(n))
	}
	var stale []bool
	for _, w := range b.queue.Demands()[0].Workers {
		stale = append(stale, w.Stale)
	}
	require.Equal(t, []bool{true, true, false, false}, stale)
}

func TestWorkers_ReplacedOnesGetNothingMoreAndOthersStay(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	require.NoError(t, b.queue.Ping(user, b.endpoint, "own", nil))
	b.queue.Replace("nosuchendpoint")
	require.False(t, b.leaving())
	b.queue.Replace(b.endpoint)
	require.True(t, b.leaving())
	workers := b.queue.Standing(b.endpoint).Workers
	require.Equal(t, []bool{false, true}, []bool{workers[0].Leaving, workers[1].Leaving})

	b.finish("w", id, queue.Report{})
	next := b.run(queue.Submission{})
	b.queue.Close() // so that takes are not held
	require.Empty(t, b.take("w", 1))
	require.Equal(t, []compute.JobID{next}, b.take("own", 1))
}

func TestWorkers_RefusedOneGetsNothingMoreAndKeepsItsJobs(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	require.False(t, b.queue.Drain(b.endpoint, "w"))
	require.False(t, b.view().Draining)
	b.queue.Refuse("nosuchendpoint", "w")
	b.queue.Refuse(b.endpoint, "w")
	b.queue.Refuse(b.endpoint, "w") // again
	require.True(t, b.view().Draining)
	next := b.run(queue.Submission{})
	require.Empty(t, b.take("w", 1), "it is not held either")
	b.requireStops()
	b.finish("w", id, queue.Report{})
	require.Equal(t, compute.JobCompleted, b.status(id).Status)
	require.Equal(t, []compute.JobID{next}, b.take("other", 1))
	require.True(t, b.queue.Drain("nosuchendpoint", "w"), "there is nothing to lose")
	health, err := b.queue.Workers(user, b.endpoint)
	require.NoError(t, err)
	require.Empty(t, health.Ready)
}

func TestWorkers_DrainEndsWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		answers := make(chan int, 2)
		go func() {
			taken, _ := b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
			answers <- len(taken)
		}()
		go func() {
			ids, _ := b.queue.Stops(t.Context(), user, b.endpoint, "w")
			answers <- len(ids)
		}()
		synctest.Wait()
		require.Empty(t, answers)
		require.True(t, b.queue.Drain(b.endpoint, "w"))
		synctest.Wait()
		require.Len(t, answers, 2)
		require.Zero(t, <-answers+<-answers)
		id := b.run(queue.Submission{})
		require.Equal(t, []compute.JobID{id}, b.take("other", 1), "nobody else waits for it")
	})
}

// A job that was interrupted so often has still all its attempts: nothing is wrong with it.
func TestWorkers_InterruptionSpendsNoAttempt(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	for n := range 5 {
		w := compute.WorkerID(fmt.Sprint("w", n))
		b.queue.WorkerStarted(b.endpoint, w, 0)
		taken, err := b.queue.Take(t.Context(), user, b.endpoint, w, 1)
		require.NoError(t, err)
		require.Len(t, taken, 1)
		require.Equal(t, []int{1, n}, []int{taken[0].Attempt, taken[0].Retries})
		b.queue.WorkerInterrupted(t.Context(), b.endpoint, w)
		require.Equal(t, compute.JobInQueue, b.status(id).Status)
		require.Empty(t, b.queue.WorkerStates(b.endpoint))
	}
	require.Empty(t, b.takeNow("w0", 1), "it may run it still")
	require.Equal(t, []compute.JobID{id}, b.takeNow("another", 1))
}

func TestWorkers_ProvenByTheFirstEndThatTheyReport(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.ping(id)
	require.False(t, b.queue.Proven(b.endpoint, "w"))
	b.finish("w", id, queue.Report{Error: "it broke"})
	require.True(t, b.queue.Proven(b.endpoint, "w"))
	require.False(t, b.queue.Proven(b.endpoint, "other"))
	require.False(t, b.queue.Proven("nosuchendpoint", "w"))
}

func TestStops_PollThatIsHeldIsToldAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		var ids []compute.JobID
		for range 2 {
			ids = append(ids, b.run(queue.Submission{}))
		}
		require.Equal(t, ids, b.take("w", 2))
		b.cancel(ids[0])
		b.requireStops(ids[0])
		answers := make(chan []compute.JobID, 1)
		go func() {
			got, _ := b.queue.Stops(t.Context(), user, b.endpoint, "w")
			answers <- got
		}()
		synctest.Wait()
		b.queue.StopAgain(b.endpoint, "w", ids[1:]) // which it was not told to stop
		b.queue.StopAgain("nosuchendpoint", "w", ids)
		synctest.Wait()
		require.Empty(t, answers)
		b.queue.StopAgain(b.endpoint, "w", ids)
		synctest.Wait()
		require.Len(t, answers, 1)
		require.Equal(t, ids[:1], <-answers)
	})
}

func TestEndpoints_RemovalThatFailedGoesOnWithTheSweeps(t *testing.T) {
	t.Parallel()
	b, s, taken := breakable(t)
	b.queue.SetAbsent(b.endpoint, []queue.Absent{{ID: "a", Status: compute.WorkerThrottled, Reason: "full"}})
	b.queue.SetAbsent("nosuchendpoint", nil)
	waiting := b.run(queue.Submission{})
	s.is = true
	require.ErrorIs(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint), errDisk)
	_, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err), "it is gone for everybody else")

	s.is = false
	require.NoError(t, b.queue.Sweep(t.Context()))
	require.Equal(t, compute.JobCancelled, b.stored(taken[0].ID))
	require.Equal(t, compute.JobCancelled, b.stored(waiting))
	b.queue.SetAbsent(b.endpoint, []queue.Absent{{ID: "a", Status: compute.WorkerThrottled, Reason: "full"}})
	for _, w := range b.queue.WorkerStates(b.endpoint) {
		require.False(t, w.Missing, "nobody starts workers of an endpoint that is no more")
	}
}

func TestEndpoints_RemovedOneIsKnownWhileItHasWorkers(t *testing.T) {
	t.Parallel()
	b, m, _ := watched(t)
	b.queue.WorkerStarted(b.endpoint, "w", 0)
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
	b.sweepAfter(time.Hour)
	require.True(t, b.queue.Serves(b.endpoint))
	require.Equal(t, compute.NotFound, compute.CodeOf(b.queue.Known(user, b.endpoint)))
	require.Empty(t, *m)
	b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
	b.sweepAfter(time.Second)
	require.False(t, b.queue.Serves(b.endpoint))
	b.sweepAfter(time.Second)
	require.Equal(t, reports{"forget"}, *m)
}
