package queue_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// asks has a worker ask for a job. It is for a bubble.
func (b *bench) asks(w compute.WorkerID) chan []queue.Taken {
	got := make(chan []queue.Taken, 1)
	go func() {
		taken, _ := b.queue.Take(b.Context(), user, b.endpoint, w, 1)
		got <- taken
	}()
	synctest.Wait()
	return got
}

// requireGiven asserts that a worker that asked has the job.
func (b *bench) requireGiven(id compute.JobID, got chan []queue.Taken) {
	synctest.Wait()
	require.Len(b, got, 1)
	taken := <-got
	require.Len(b, taken, 1)
	require.Equal(b, id, taken[0].ID)
}

// A worker that lost a job and asks for one gets it again as soon as it says that it does not run it any more.
func TestTake_WorkerThatStoppedALostJobMayHaveIt(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(*bench, compute.JobID){
		"its ping does not name it": func(b *bench, _ compute.JobID) { b.ping() },
		"it reports its end late":   func(b *bench, id compute.JobID) { b.finish("w", id, queue.Report{Output: json.RawMessage(`1`)}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, lost := managed(t)
				b.ping(lost)
				b.sweepAfter(30 * time.Second)
				got := b.asks("w")
				require.Empty(t, got)
				say(b, lost)
				b.requireGiven(lost, got)
			})
		})
	}
}

// A worker without pings says by its take alone that it does not run what it lost: it may have it again, also after a retry.
func TestTake_IdleWorkerWithoutPingsMayHaveALostJobAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.queue.Close() // so that polls end at once
	more := func(w compute.WorkerID) []queue.Taken {
		taken, err := b.queue.TakeMore(t.Context(), user, b.endpoint, w, 5)
		require.NoError(t, err)
		return taken
	}
	for attempt := range 3 {
		require.Equal(t, []compute.JobID{id}, b.take("w", 1), attempt)
		b.sweepAfter(31 * time.Second)
		require.Empty(t, more("w"), "it says that it has a job in progress: maybe this one")
	}
	require.Equal(t, compute.JobFailed, b.status(id).Status)
	_, err := b.queue.Retry(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)
	require.Empty(t, more("w"))
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))

	b.sweepAfter(31 * time.Second)
	b.sweepAfter(3 * time.Minute)
	require.Equal(t, []compute.JobID{id}, b.take("w", 1), "it was forgotten since")
	b.ping(id)
	b.sweepAfter(31 * time.Second)
	require.Empty(t, b.take("w", 1), "its pings say what it runs")
}

// The attempt that a worker gets because it reported the end of the one before is not ended by that report.
func TestFinish_LateReportEndsNoLaterAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		m := b.meddle()
		b.queue.WorkerStarted(b.endpoint, "w", 0)
		id := b.run(queue.Submission{})
		require.Equal(t, []compute.JobID{id}, b.take("w", 1))
		b.ping(id)
		b.sweepAfter(30 * time.Second)
		got := b.asks("w")
		require.Empty(t, got)

		m.writing = func() error {
			m.writing = nil
			synctest.Wait() // all that others can do is done before the report is
			return nil
		}
		b.finish("w", id, queue.Report{Output: json.RawMessage(`1`)})
		b.requireGiven(id, got)
		require.Equal(t, compute.JobInProgress, b.status(id).Status)
	})
}

// A worker that waits gets what goes back at once, however that came to be.
func TestTake_WorkerThatWaitsGetsAJobThatGoesBack(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, back := range map[string]func(b *bench, m *meddled, id compute.JobID) (got chan []queue.Taken){
		"its worker ended": func(b *bench, _ *meddled, _ compute.JobID) chan []queue.Taken {
			b.take("w", 1)
			got := b.asks("other")
			b.queue.WorkerGone(b.Context(), b.endpoint, "w", "the worker ended")
			return got
		},
		"it was handed back": func(b *bench, _ *meddled, _ compute.JobID) chan []queue.Taken {
			taken, err := b.queue.Take(b.Context(), user, b.endpoint, "w", 1)
			require.NoError(b, err)
			got := b.asks("other")
			b.queue.HandBack(taken)
			return got
		},
		"its lease is over": func(b *bench, _ *meddled, _ compute.JobID) chan []queue.Taken {
			b.take("w", 1)
			b.clock.Advance(20 * time.Second)
			got := b.asks("other")
			b.sweepAfter(10 * time.Second)
			return got
		},
		"it could not be taken": func(b *bench, m *meddled, _ compute.JobID) (got chan []queue.Taken) {
			m.taking = func() error {
				m.taking = nil
				got = b.asks("other")
				return broken
			}
			_, err := b.queue.Take(b.Context(), user, b.endpoint, "w", 1)
			require.ErrorIs(b, err, broken)
			return got
		},
		"it could not be purged": func(b *bench, m *meddled, _ compute.JobID) (got chan []queue.Taken) {
			m.writing = func() error {
				m.writing = nil
				got = b.asks("other")
				return broken
			}
			removed, err := b.queue.Purge(b.Context(), user, b.endpoint)
			require.ErrorIs(b, err, broken)
			require.Zero(b, removed)
			return got
		},
		"it is retried": func(b *bench, _ *meddled, id compute.JobID) chan []queue.Taken {
			b.take("w", 1)
			b.finish("w", id, queue.Report{Error: "it broke"})
			got := b.asks("other")
			_, err := b.queue.Retry(b.Context(), user, b.endpoint, id)
			require.NoError(b, err)
			return got
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := open(t)
				m := b.meddle()
				id := b.run(queue.Submission{})
				b.requireGiven(id, back(b, m, id))
			})
		})
	}
}

// What comes to an endpoint while it is deleted is cancelled.
func TestEndpoints_JobThatIsStoredAfterTheirRemovalIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		got := b.asks("w")
		before := b.gate()
		submitted := make(chan compute.JobID, 1)
		go func() {
			if j, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)}); err == nil {
				submitted <- j.ID
			}
		}()
		synctest.Wait()
		require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
		before()
		require.Empty(t, <-got)
		require.Len(t, submitted, 1)
		id := <-submitted
		require.NoError(t, b.queue.Sweep(t.Context()))
		require.Equal(t, compute.JobCancelled, b.stored(id))
	})
}

func TestEndpoints_JobThatIsTakenDuringTheirRemovalIsCancelled(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"it is taken": nil, "that fails": errors.New("broken")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			m := b.meddle()
			id := b.run(queue.Submission{})
			m.taking = func() error {
				require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
				return failure
			}
			taken, err := b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
			if failure != nil {
				require.ErrorIs(t, err, failure)
			} else {
				require.Equal(t, compute.NotFound, compute.CodeOf(err))
			}
			require.Empty(t, taken)
			for range 2 { // what is in doubt, and what that brings up
				require.NoError(t, b.queue.Sweep(t.Context()))
			}
			require.Equal(t, compute.JobCancelled, b.stored(id))
			require.False(t, b.queue.Working())
		})
	}
}

// A job may be retried before those hear of its end who wait for it. They wait for the next one.
func TestWait_GoesOnForAJobThatIsRetriedAsItEnds(t *testing.T) {
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
		b.finish("w", id, queue.Report{Error: "it broke", Stored: func() {
			_, err := b.queue.Retry(t.Context(), user, b.endpoint, id)
			require.NoError(t, err)
		}})
		synctest.Wait()
		require.Empty(t, answers)
		require.Equal(t, 1, b.queue.Holding())

		require.Equal(t, []compute.JobID{id}, b.take("w", 1))
		b.finish("w", id, queue.Report{Output: json.RawMessage(`1`)})
		synctest.Wait()
		require.Len(t, answers, 1)
		require.Equal(t, compute.JobCompleted, (<-answers).Status)
	})
}

// Somebody with a good key and no right to the endpoint finds nothing there, whatever they ask for.
func TestEndpoints_NothingOfAnotherUserIsFound(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	ctx, e := t.Context(), b.endpoint
	const stranger compute.UserID = "stranger"
	for name, ask := range map[string]func() error{
		"unhealthy": func() error { return b.queue.Unhealthy(stranger, e, "w", "too hot") },
		"ping":      func() error { return b.queue.Ping(stranger, e, "w", nil) },
		"stops":     func() error { _, err := b.queue.Stops(ctx, stranger, e, "w"); return err },
		"take":      func() error { _, err := b.queue.TakeMore(ctx, stranger, e, "w", 1); return err },
		"progress":  func() error { return b.queue.Progress(ctx, stranger, e, "w", id, json.RawMessage(`1`)) },
		"stream job": func() error {
			return b.queue.StreamJob(ctx, stranger, e, "w", id, compute.Chunk{Output: json.RawMessage(`1`)})
		},
		"finish":  func() error { return b.queue.Finish(ctx, stranger, e, "w", id, queue.Report{}) },
		"stream":  func() error { _, _, err := b.queue.Stream(ctx, stranger, e, id, 0, nil); return err },
		"wait":    func() error { _, err := b.queue.Wait(ctx, stranger, e, id, 0); return err },
		"set ttl": func() error { _, err := b.queue.SetTTL(ctx, stranger, e, id, time.Second); return err },
		"retry":   func() error { _, err := b.queue.Retry(ctx, stranger, e, id); return err },
		"cancel":  func() error { _, err := b.queue.Cancel(ctx, stranger, e, id); return err },
		"purge":   func() error { _, err := b.queue.Purge(ctx, stranger, e); return err },
		"runsync": func() error { _, err := b.queue.RunSync(ctx, stranger, e, queue.Submission{}, 0); return err },
		"known":   func() error { return b.queue.Known(stranger, e) },
	} {
		require.Equal(t, compute.NotFound, compute.CodeOf(ask()), name)
	}
	require.Equal(t, compute.JobInProgress, b.status(id).Status)
	require.Empty(t, b.status(id).Output)
	require.Equal(t, compute.WorkerRunning, b.queue.WorkerStates(e)[0].Status)
	require.NoError(t, b.queue.Known(user, e))

	b.sweepAfter(30 * time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status, "nothing that a stranger says is a sign of life")
}

func TestTake_BatchEndsWithTheJobThatMakesItEnough(t *testing.T) {
	t.Parallel()
	for second, want := range map[int]int{4_000_000: 2, 3_999_999: 3} {
		b := open(t)
		var ids []compute.JobID
		for _, size := range []int{4_000_000, second, 20, 20} {
			ids = append(ids, b.run(queue.Submission{Input: json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)}))
		}
		require.Equal(t, ids[:want], b.take("w", 3), second)
	}
}
