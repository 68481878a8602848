package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

const someJob compute.JobID = "00000000-0000-7000-8000-000000000001"

func TestDispatcher_ReservesTheTakeThatWaitsLongest(t *testing.T) {
	t.Parallel()
	d := newDispatcher(compute.Endpoint{})
	require.Nil(t, d.reserve())
	first, second := &heldTake{worker: "a"}, &heldTake{worker: "b"}
	d.takes = []*heldTake{first, second}
	require.Same(t, first, d.reserve())
	require.True(t, first.reserved)
	require.False(t, second.reserved)
	require.Equal(t, []*heldTake{second}, d.takes)
}

// Others may know of a job that was taken out, and have ended it: its status is read from disk.
func TestDispatcher_StatusOfAJobThatOthersKnowOfIsRead(t *testing.T) {
	t.Parallel()
	for _, low := range []bool{false, true} {
		d := newDispatcher(compute.Endpoint{})
		j := compute.Job{ID: someJob, LowPriority: low}
		plain := func() bool {
			w, ok := d.find(someJob)
			require.True(t, ok)
			return w.plain
		}

		d.push(j, false, true)
		require.True(t, plain())
		d.markStale(someJob)
		require.False(t, plain())
		d.push(j, false, false)
		require.False(t, plain())
		d.push(j, false, true)
		_, was := d.pop("w", 1, nil)
		require.Len(t, was, 1)
		d.putBack(was)
		require.False(t, plain())
		d.push(j, false, true)
		normal, lows := d.empty()
		d.normal.restore(normal)
		d.low.restore(lows)
		require.False(t, plain())
		j.Retries = 1
		d.push(j, false, true)
		require.False(t, plain(), "its status has more than that it waits")

		d.leave(someJob)
		_, ok := d.find(someJob)
		require.False(t, ok)
		require.Zero(t, d.waits())
	}
}

func TestDispatcher_JobThatCameBackHidesNoneThatWaitsLonger(t *testing.T) {
	t.Parallel()
	d := newDispatcher(compute.Endpoint{})
	d.normal.push(numbered(5))
	d.putBack([]waiting{numbered(10)})
	require.EqualValues(t, 5, d.normal.oldest())
	require.Equal(t, 1, d.normal.before(6, 9))
	require.Equal(t, 2, d.normal.before(11, 9))
	require.Equal(t, 1, d.normal.before(11, 1))
}

func TestDispatcher_ForgetsWhoLostAJobOnceTheyStoppedIt(t *testing.T) {
	t.Parallel()
	d := newDispatcher(compute.Endpoint{})
	for range 3 {
		d.lose(someJob, "a")
	}
	d.lose(someJob, "b")
	require.Equal(t, []compute.WorkerID{"a", "b"}, d.lost[someJob])
	d.stopped("a", someJob)
	require.False(t, d.mayHold("a", someJob))
	require.True(t, d.mayHold("b", someJob))
	d.stopped("b", someJob)
	require.Empty(t, d.lost)

	d.worker("c").named = []compute.JobID{someJob, "another"}
	require.True(t, d.mayHold("c", someJob))
	d.stopped("c", someJob)
	require.False(t, d.mayHold("c", someJob))
	require.True(t, d.mayHold("c", "another"))
}

func TestFifo_CountsThoseAhead(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var f fifo
	var want []int64
	for n := range 1000 {
		if n%3 == 0 {
			f.unshift(numbered(n))
			want = slices.Insert(want, 0, int64(n))
		} else {
			f.push(numbered(n))
			want = append(want, int64(n))
		}
	}
	for range 600 {
		at := r.IntN(len(want))
		f.drop(numbered(int(want[at])).key)
		want = slices.Delete(want, at, at+1)
	}
	for i, n := range want {
		ahead, ok := f.ahead(numbered(int(n)).key)
		require.True(t, ok)
		require.Equal(t, i, ahead)
	}
	_, ok := f.ahead(numbered(5000).key)
	require.False(t, ok)
}

// endsNow reports whether a channel is closed.
func endsNow(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestWatchers_AreForgottenWithTheirJob(t *testing.T) {
	t.Parallel()
	w := watchers{}
	gone, stays := w.add("job"), w.add("job")
	w.remove("job", gone)
	w.wake("job")
	require.False(t, endsNow(gone))
	require.True(t, endsNow(stays))
	require.Empty(t, w)

	w.remove("job", w.add("job"))
	require.Empty(t, w)
	moved := w.add("job")
	w.rename("job", "other")
	w.rename("nobody waits for it", "third")
	require.Len(t, w, 1)
	w.wake("job")
	require.False(t, endsNow(moved))
	w.wake("other")
	require.True(t, endsNow(moved))
	require.Empty(t, w)
}

func TestRecent_OldestMakeRoom(t *testing.T) {
	t.Parallel()
	r := newRecent()
	for n := range 3 * recentJobs {
		r.keep(compute.Job{ID: compute.JobID(fmt.Sprint(n))})
	}
	require.Len(t, r.jobs, recentJobs)
	require.Len(t, r.ids, recentJobs)
	for n := range 3 * recentJobs {
		_, kept := r.find(compute.JobID(fmt.Sprint(n)))
		require.Equal(t, n >= 2*recentJobs, kept, n)
	}
}

func TestRecent_KeepsAJobThatHasJustRoom(t *testing.T) {
	t.Parallel()
	r := newRecent()
	r.keep(compute.Job{ID: "a", Error: strings.Repeat("x", recentOutput), S3Config: []byte(`{}`)})
	j, kept := r.find("a")
	require.True(t, kept)
	require.Empty(t, j.S3Config, "the keys of the client's storage are nobody's any more")
}

// A job that somebody is about to change stays forgotten, though what is known of its end comes in late.
func TestRecent_ForgottenJobIsNotKeptByALateEnd(t *testing.T) {
	t.Parallel()
	q := &Queue{clock: compute.NewFrozenClock(time.UnixMilli(0)), memory: memory{recent: newRecent()}}
	q.recent.keep(compute.Job{ID: someJob, Error: "before"})
	q.replace(memory{recent: newRecent()})
	_, kept := q.recent.find(someJob)
	require.False(t, kept)
	q.recent.keep(compute.Job{ID: someJob, Error: "late"})
	_, kept = q.recent.find(someJob)
	require.False(t, kept)

	q.recent.drop(someJob)
	q.recent.keep(compute.Job{ID: someJob, Error: "of another one"})
	_, kept = q.recent.find(someJob)
	require.True(t, kept)
}

func TestHold_KeepsNoKeysOfTheClient(t *testing.T) {
	t.Parallel()
	d := newDispatcher(compute.Endpoint{})
	m := memory{dispatchers: map[compute.EndpointID]*dispatcher{"e": d}, held: map[compute.JobID]*lease{}}
	now := time.Unix(100, 0)
	j := compute.Job{ID: someJob, EndpointID: "e", WorkerID: "w", S3Config: []byte(`{}`), TakenAt: now, ExecutionTimeout: time.Minute}
	m.hold(j, now, 30*time.Second)
	h := m.held[someJob]
	require.Empty(t, h.job.S3Config)
	require.Equal(t, []time.Time{now.Add(30 * time.Second), now.Add(time.Minute)}, []time.Time{h.until, h.overrun})
	require.Len(t, d.workers["w"].jobs, 1)

	j.WorkerID = "other" // it was taken anew, which memory learns late
	m.hold(j, now.Add(time.Second), 30*time.Second)
	require.Empty(t, d.workers["w"].jobs)
	require.Equal(t, now.Add(time.Second), d.workers["w"].idleSince)
	require.Len(t, d.workers["other"].jobs, 1)
}

// Doubts are resolved one after the other, each once in a round, and those of one endpoint hold up no take of another one.
func TestDoubts_OfOneEndpointHoldUpNoOther(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	broken := errors.New("broken")
	works := false
	var done []string
	has := func(e compute.EndpointID, name string, fails bool) {
		q.doubt(e, func(context.Context) error {
			done = append(done, name)
			if fails && !works {
				return broken
			}
			return nil
		})
	}

	has("a", "a1", true)
	has("b", "b1", false)
	has("a", "a2", false)
	require.NoError(t, q.resolveAll(t.Context(), "none"))
	require.NoError(t, q.resolveAll(t.Context(), "b"))
	require.Equal(t, []string{"b1"}, done)
	require.ErrorIs(t, q.resolveAll(t.Context(), "a"), broken)
	require.Equal(t, []string{"b1", "a1"}, done)

	has("c", "c1", true)
	has("d", "d1", false)
	done = nil
	require.ErrorIs(t, q.reconcile(t.Context()), broken)
	require.Equal(t, []string{"a2", "a1", "c1", "d1"}, done, "that which failed comes last")
	done, works = nil, true
	require.NoError(t, q.reconcile(t.Context()))
	require.Equal(t, []string{"a1", "c1"}, done)
	require.Empty(t, q.doubts.work)
}

func TestDoubts_WhatMayMakeMoreIsRefusedOnceThereAreSoMany(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	q.doubts.work = make([]doubt, mostDoubts-1)
	require.NoError(t, q.roomForDoubt())
	q.doubts.work = make([]doubt, mostDoubts)
	refused, _ := errors.AsType[*compute.Error](q.roomForDoubt())
	require.Equal(t, compute.Unavailable, refused.Code)
	require.Equal(t, lastPause, refused.RetryAfter, "a sweep has been by then")
}

// asking gives a queue with a take that is held, or about to be.
func asking(reserved bool) (*Queue, *dispatcher, *heldTake) {
	d := newDispatcher(compute.Endpoint{ID: "e"})
	q := &Queue{clock: compute.NewFrozenClock(time.UnixMilli(0)), memory: memory{dispatchers: map[compute.EndpointID]*dispatcher{"e": d}}, closed: make(chan struct{})}
	return q, d, &heldTake{worker: "w", given: make(chan handover, 1), reserved: reserved}
}

func TestTake_WaitsForAJobThatIsBeingStoredForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, d, held := asking(true)
		timeout := make(chan time.Time, 1)
		timeout <- time.Time{}
		given := make(chan handover, 1)
		go func() {
			h, over := q.await(t.Context(), held, d.worker("w"), "e", timeout)
			if over {
				given <- h
			}
		}()
		synctest.Wait()
		require.Empty(t, given)
		held.given <- handover{taken: &Taken{Job: compute.Job{ID: someJob}}}
		h := <-given
		require.Equal(t, someJob, h.taken.ID)
		require.Zero(t, q.Holding())
	})
}

func TestTake_JobGivenToOneThatIsNotThereAnyMoreWaitsOn(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(s *workerState, hangUp func()){
		"it hung up":           func(_ *workerState, hangUp func()) { hangUp() },
		"it is being stopped":  func(s *workerState, _ func()) { s.endPolls() },
		"it is to be replaced": func(s *workerState, _ func()) { s.leaving = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, d, held := asking(false)
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			held.given <- handover{id: someJob, was: waitingJob(&compute.Job{ID: someJob, QueuedAt: time.UnixMilli(7)})}
			s := d.worker("w")
			s.polls = 1
			leave(s, hangUp)
			h, over := q.await(ctx, held, s, "e", nil)
			require.Zero(t, h)
			require.True(t, over)
			require.Zero(t, s.polls)
			w, waits := d.find(someJob)
			require.True(t, waits)
			require.EqualValues(t, 7, w.since)
		})
	}
}
