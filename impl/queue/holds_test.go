package queue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// heldCall is a call that the queue holds, and for how long at most. It gives how many things it was answered with.
type heldCall struct {
	lasts time.Duration
	do    func(context.Context, *bench, compute.JobID) (int, error)
}

var heldCalls = map[string]heldCall{
	"take": {25 * time.Second, func(ctx context.Context, b *bench, _ compute.JobID) (int, error) {
		taken, err := b.queue.Take(ctx, user, b.endpoint, "idle", 1)
		return len(taken), err
	}},
	"take of a busy worker": {time.Second, func(ctx context.Context, b *bench, _ compute.JobID) (int, error) {
		taken, err := b.queue.TakeMore(ctx, user, b.endpoint, "idle", 1)
		return len(taken), err
	}},
	"stop poll": {25 * time.Second, func(ctx context.Context, b *bench, _ compute.JobID) (int, error) {
		ids, err := b.queue.Stops(ctx, user, b.endpoint, "w")
		return len(ids), err
	}},
	"wait for the end": {time.Minute, func(ctx context.Context, b *bench, id compute.JobID) (int, error) {
		j, err := b.queue.Wait(ctx, user, b.endpoint, id, time.Minute)
		if j.Status.Ended() {
			return 1, err
		}
		return 0, err
	}},
	"read of a stream": {time.Minute, func(ctx context.Context, b *bench, id compute.JobID) (int, error) {
		_, chunks, err := b.queue.Stream(ctx, user, b.endpoint, id, time.Minute, nil)
		return len(chunks), err
	}},
}

func TestHolds_EndInTime(t *testing.T) {
	t.Parallel()
	type way func(b *bench, lasts time.Duration, leave, hangUp func())
	for how, end := range map[string]way{
		"its time is over": func(b *bench, lasts time.Duration, _, _ func()) {
			b.clock.Advance(lasts - time.Millisecond)
			synctest.Wait()
			require.Equal(b, 1, b.queue.Holding(), "it ended too soon")
			b.clock.Advance(time.Millisecond)
		},
		"the server stops":                 func(b *bench, _ time.Duration, _, _ func()) { b.queue.Close() },
		"the server stops that it came by": func(_ *bench, _ time.Duration, leave, _ func()) { leave() },
		"who asked is not there any more":  func(_ *bench, _ time.Duration, _, hangUp func()) { hangUp() },
		"what it waits for comes":          nil,
	} {
		for what, call := range heldCalls {
			t.Run(what+", "+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := open(t)
					id := b.run(queue.Submission{})
					require.Equal(t, []compute.JobID{id}, b.take("w", 1))
					left := make(chan struct{})
					ctx, hangUp := context.WithCancel(compute.WithLeaving(t.Context(), left))
					defer hangUp()

					type answer struct {
						n   int
						err error
					}
					answers := make(chan answer, 1)
					require.False(t, b.queue.Closed())
					go func() {
						n, err := call.do(ctx, b, id)
						answers <- answer{n, err}
					}()
					synctest.Wait()
					require.Equal(t, 1, b.queue.Holding())
					require.Empty(t, answers)

					want := answer{}
					if end != nil {
						end(b, call.lasts, func() { close(left) }, hangUp)
					} else {
						b.happen(what, id)
						want.n = 1
					}
					synctest.Wait()
					require.Len(t, answers, 1)
					if how == "who asked is not there any more" {
						want.err = context.Canceled
					}
					require.Equal(t, want, <-answers)
					require.Zero(t, b.queue.Holding())
					require.Equal(t, how == "the server stops", b.queue.Closed())
				})
			})
		}
	}
}

// happen brings about what a call waits for.
func (b *bench) happen(what string, id compute.JobID) {
	switch what {
	case "stop poll":
		b.cancel(id)
	case "wait for the end":
		b.finish("w", id, queue.Report{})
	case "read of a stream":
		b.yield("w", id, `1`)
	default:
		b.run(queue.Submission{})
	}
}

func TestBalance_RequestWaitsForSoLong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wish  queue.Wish
		lasts time.Duration
		err   error
	}{
		"any worker":               {queue.Wish{}, 2 * time.Minute, queue.ErrNoWorker},
		"that worker or any other": {queue.Wish{Worker: "w"}, 2 * time.Minute, queue.ErrNoWorker},
		"that worker alone":        {queue.Wish{Worker: "w", Strict: true}, 5 * time.Minute, queue.ErrWorkerTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := balancing(t, "w")
				b.be("w", queue.Unhealthy)
				got := b.waiting(t.Context(), c.wish)
				b.clock.Advance(c.lasts - time.Millisecond)
				synctest.Wait()
				require.Empty(t, got, "it ended too soon")
				b.clock.Advance(time.Millisecond)
				require.ErrorIs(t, (<-got).err, c.err)
				require.Zero(t, b.queue.Standing(b.e.ID).Waiting)
				b.be("w", queue.Healthy)
				require.Zero(t, b.demand().Held, "who waits no more gets no worker")
			})
		})
	}
}

// waiting has a request wait. It is for a bubble.
func (b *balancer) waiting(ctx context.Context, wish queue.Wish) chan entered {
	got := make(chan entered, 1)
	go func() {
		turn, err := b.queue.Enter(ctx, user, b.e.ID, wish)
		got <- entered{turn, err}
	}()
	synctest.Wait()
	require.Empty(b, got)
	require.Equal(b, 1, b.queue.Standing(b.e.ID).Waiting)
	return got
}

func TestBalance_RequestsThatWaitAreRefusedAsTheServerStops(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(b *balancer, leave func()){
		"this one":                func(b *balancer, _ func()) { b.queue.Close() },
		"the one that it came by": func(_ *balancer, leave func()) { leave() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := balancing(t)
				left := make(chan struct{})
				got := b.waiting(compute.WithLeaving(t.Context(), left), queue.Wish{})
				stop(b, func() { close(left) })
				err := (<-got).err
				require.Equal(t, compute.Unavailable, compute.CodeOf(err))
				require.ErrorContains(t, err, "about to stop")
				require.Zero(t, b.queue.Standing(b.e.ID).Waiting)
			})
		})
	}
}

// A job that is being stored for a worker that does not wait any more goes back: it would be lost for the time of its lease.
func TestTake_JobStoredForAWorkerThatLeftMeanwhileGoesBack(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(b *bench, hangUp func()){
		"it hung up":   func(_ *bench, hangUp func()) { hangUp() },
		"it is to end": func(b *bench, _ func()) { b.queue.Refuse(b.endpoint, "w") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := open(t)
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				given := make(chan int, 1)
				go func() {
					taken, _ := b.queue.Take(ctx, user, b.endpoint, "w", 1)
					given <- len(taken)
				}()
				synctest.Wait()

				before := b.gate()
				submitted := make(chan compute.Job, 1)
				go func() {
					if j, err := b.queue.Run(t.Context(), user, b.endpoint, queue.Submission{Input: []byte(`{}`)}); err == nil {
						submitted <- j
					}
				}()
				synctest.Wait()
				after := b.gate() // of the same commit
				before()
				leave(b, hangUp)
				synctest.Wait()
				require.Empty(t, given, "it waits for the commit")

				after()
				require.Zero(t, <-given)
				id := (<-submitted).ID
				require.Equal(t, compute.JobInQueue, b.status(id).Status)
				taken, err := b.queue.Take(t.Context(), user, b.endpoint, "other", 1)
				require.NoError(t, err)
				require.Len(t, taken, 1)
				require.Equal(t, []any{id, 1, 0}, []any{taken[0].ID, taken[0].Attempt, taken[0].Retries}, "as if it had never been taken")
			})
		})
	}
}

// A worker that hangs up while its jobs are taken does not keep them.
func TestTake_WorkerThatHangsUpMeanwhileGetsNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	id := b.run(queue.Submission{})
	ctx, hangUp := context.WithCancel(t.Context())
	m.taking = func() error {
		hangUp()
		return nil
	}
	taken, err := b.queue.Take(ctx, user, b.endpoint, "w", 1)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, taken)
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
	require.Equal(t, []compute.JobID{id}, b.take("other", 1))
	require.Equal(t, []int{1, 0}, []int{b.status(id).Attempt, b.status(id).Retries})
}
