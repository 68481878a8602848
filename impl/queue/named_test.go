package queue_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// toStop gives what the worker is asked to stop now.
func (b *bench) toStop(w compute.WorkerID) []compute.JobID {
	ids, err := b.queue.StopsNow(user, b.endpoint, w)
	require.NoError(b, err)
	return ids
}

// A worker that runs a job which ended before the server was started is asked to stop it as soon as it names it.
func TestPing_JobThatEndedBeforeARestartIsStopped(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bench, id compute.JobID){
		"cancelled":               func(b *bench, id compute.JobID) { b.cancel(id) },
		"out of its time":         func(b *bench, _ compute.JobID) { b.sweepAfter(40 * time.Second) },
		"out of its time to live": func(b *bench, _ compute.JobID) { b.sweepAfter(50 * time.Second) },
	} {
		for how, forget := range map[string]func(*bench){
			"restart":              (*bench).restart,
			"the memory is lost":   func(b *bench) { require.NoError(b, b.queue.Reload(b.Context())) },
			"its worker is silent": func(b *bench) { b.sweepAfter(3 * time.Minute) },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := open(t)
					id := b.run(queue.Submission{ExecutionTimeout: 40 * time.Second, TTL: 50 * time.Second})
					other := b.run(queue.Submission{})
					require.Equal(t, []compute.JobID{id}, b.take("w", 1))
					b.ping(id)
					b.clock.Advance(20 * time.Second)
					b.ping(id)
					end(b, id)
					forget(b)

					stops := make(chan []compute.JobID, 1)
					go func() {
						ids, _ := b.queue.Stops(t.Context(), user, b.endpoint, "w")
						stops <- ids
					}()
					synctest.Wait()
					require.Empty(t, stops)
					b.ping(id, other)
					synctest.Wait()
					require.Len(t, stops, 1)
					require.Equal(t, []compute.JobID{id}, <-stops)
					b.ping(id, other)
					require.Empty(t, b.toStop("w"), "it was told just now")
				})
			})
		}
	}
}

// A worker that comes back from a silence is asked to stop what it lost meanwhile, and may have it again once it has.
func TestPing_LostJobIsStopped(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))
	b.ping(id)
	b.sweepAfter(30 * time.Second)
	require.NoError(t, b.queue.Ping(user, b.endpoint, "other", []compute.JobID{id}))
	require.Empty(t, b.toStop("other"), "it never had it")

	b.ping(id)
	require.Equal(t, []compute.JobID{id}, b.toStop("w"))
	b.ping(id)
	require.Empty(t, b.toStop("w"), "it was told just now")
	b.clock.Advance(10 * time.Second)
	b.ping(id)
	require.Equal(t, []compute.JobID{id}, b.toStop("w"), "it may not have read it")
	b.ping()
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))
	b.ping(id)
	require.Empty(t, b.toStop("w"), "it is its own again")
}

// Nobody is asked to stop what is not theirs to stop.
func TestPing_JobThatIsNotItsOwnIsNotStopped(t *testing.T) {
	t.Parallel()
	b := open(t)
	stopped, done, waits, lost := b.run(queue.Submission{}), b.run(queue.Submission{}), b.run(queue.Submission{}), b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{stopped}, b.take("w", 1))
	require.Equal(t, []compute.JobID{done}, b.take("other", 1))
	b.cancel(stopped)
	b.finish("other", done, queue.Report{Output: json.RawMessage(`1`)})
	b.cancel(waits)
	b.restart()
	require.Equal(t, []compute.JobID{lost}, b.take("w", 1))

	for _, w := range []compute.WorkerID{"other", "another"} {
		require.NoError(t, b.queue.Ping(user, b.endpoint, w, []compute.JobID{stopped, done, waits, lost}))
		require.Empty(t, b.toStop(w))
	}
	b.queue.SetEndpoint(compute.Endpoint{ID: "endpointtwo000", UserID: user})
	require.NoError(t, b.queue.Ping(user, "endpointtwo000", "w", []compute.JobID{stopped}))
	ids, err := b.queue.StopsNow(user, "endpointtwo000", "w")
	require.NoError(t, err)
	require.Empty(t, ids, "another endpoint's worker of that name")
}

// The rows are asked about a job that is named once, and about one that its worker holds never.
func TestPing_AsksTheRowsOnceOnly(t *testing.T) {
	t.Parallel()
	b := open(t)
	c := b.count()
	held, done := b.run(queue.Submission{}), b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{held}, b.take("w", 1))
	require.Equal(t, []compute.JobID{done}, b.take("w", 1))
	pings := func(want int64, why string, ids ...compute.JobID) {
		t.Helper()
		c.reads.Store(0)
		b.ping(ids...)
		require.Equal(t, want, c.reads.Load(), why)
	}
	pings(0, "it holds both", held, done)
	b.finish("w", done, queue.Report{Output: json.RawMessage(`1`)})
	pings(1, "nobody knows that one", held, done)
	pings(0, "it is known by now", held, done)
	pings(0, "it names what it holds", held)

	b.cancel(held)
	pings(0, "it is to be stopped", held)
	require.Equal(t, []compute.JobID{held}, b.toStop("w"))
	pings(0, "it was told", held)
	b.finish("w", held, queue.Report{})
	pings(0, "it has reported the end since the ping was sent", held)
	require.Empty(t, b.toStop("w"))
	pings(0, "it names nothing")
	pings(1, "it runs it all the same", held)
	require.Equal(t, []compute.JobID{held}, b.toStop("w"))
}

// What the storage does not tell is asked again.
func TestPing_AsksTheRowsAgainThatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))
	b.cancel(id)
	s := &unread{Store: b.db}
	b.db = s
	b.queue = b.beside(1)
	s.fails = true
	b.ping(id)
	require.Empty(t, b.toStop("w"))
	s.fails = false
	b.ping(id)
	require.Equal(t, []compute.JobID{id}, b.toStop("w"))
}

// A job that its worker reports, or has anew, while the rows are asked is not stopped.
func TestPing_JobThatChangesMeanwhileIsNotStopped(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bench, id compute.JobID){
		"it is reported": func(b *bench, id compute.JobID) { b.finish("w", id, queue.Report{}) },
		"it is taken anew": func(b *bench, id compute.JobID) {
			_, err := b.queue.Retry(b.Context(), user, b.endpoint, id)
			require.NoError(b, err)
			b.ping()
			require.Equal(b, []compute.JobID{id}, b.take("w", 1))
			b.ping(id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			id := b.run(queue.Submission{ExecutionTimeout: 5 * time.Second})
			require.Equal(t, []compute.JobID{id}, b.take("w", 1))
			b.sweepAfter(5 * time.Second)
			s := &unread{Store: b.db}
			b.db = s
			b.queue = b.beside(1)
			s.after = func() {
				s.after = nil
				change(b, id)
			}
			b.ping(id)
			require.Nil(t, s.after)
			require.Empty(t, b.toStop("w"))
		})
	}
}

// A worker that berth does not replace is told again what it goes on running, but not with every poll.
func TestStops_WorkerThatGoesOnIsToldAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))
	b.ping(id)
	b.cancel(id)
	require.Equal(t, []compute.JobID{id}, b.toStop("w"))
	told := 0
	for range 60 { // a minute of pings
		b.clock.Advance(time.Second)
		b.ping(id)
		told += len(b.toStop("w"))
	}
	require.Equal(t, 11, told, "after 10 seconds, and then every 5")

	b.clock.Advance(10 * time.Second)
	b.ping(id)
	b.ping()
	require.Empty(t, b.toStop("w"), "it has stopped it since")
}

// unread is a store whose reads may fail, and after which something may happen.
type unread struct {
	store.Store
	fails bool
	after func()
}

func (u *unread) Read(ctx context.Context, f func(store.Tx) error) error {
	if u.fails {
		return errDisk
	}
	err := u.Store.Read(ctx, f)
	if u.after != nil {
		u.after()
	}
	return err
}
