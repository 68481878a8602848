package queue_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// hooked gives a bench whose queue counts how often it calls for a look at the workers, and at the deliveries.
func hooked(t *testing.T) (b *bench, demands, deliveries *atomic.Int64) {
	b, demands, deliveries = open(t), &atomic.Int64{}, &atomic.Int64{}
	b.hooks = queue.Hooks{Demand: func() { demands.Add(1) }, Delivery: func() { deliveries.Add(1) }, Document: document}
	b.restart()
	return b, demands, deliveries
}

// failedJob gives a job that has failed.
func (b *bench) failedJob() compute.JobID {
	id := b.run(queue.Submission{})
	require.Equal(b, []compute.JobID{id}, b.take("w", 1))
	b.finish("w", id, queue.Report{Error: "it broke"})
	return id
}

func TestDemand_IsCalledForWhereverAJobMoves(t *testing.T) {
	t.Parallel()
	b, demands, _ := hooked(t)
	calls := func(do func()) {
		t.Helper()
		before := demands.Load()
		do()
		require.Greater(t, demands.Load(), before)
	}

	var id compute.JobID
	calls(func() { id = b.run(queue.Submission{}) })
	calls(func() { b.take("w", 1) })
	calls(func() {
		b.queue.HandBack([]queue.Taken{{Job: compute.Job{ID: id, EndpointID: b.endpoint, WorkerID: "w", QueuedAt: b.clock.Now()}}})
	})
	b.take("w", 1)
	calls(func() { b.finish("w", id, queue.Report{}) })
	waiting := b.run(queue.Submission{})
	calls(func() { b.cancel(waiting) })
	b.run(queue.Submission{})
	calls(func() {
		removed, err := b.queue.Purge(t.Context(), user, b.endpoint)
		require.NoError(t, err)
		require.Equal(t, 1, removed)
	})
	failed := b.failedJob()
	calls(func() {
		_, err := b.queue.Retry(t.Context(), user, b.endpoint, failed)
		require.NoError(t, err)
	})

	calls(func() { b.queue.SetEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, WorkersMax: 2}) })
	calls(func() { b.queue.WorkerGone(t.Context(), b.endpoint, "nobody", "the worker ended") })
	calls(func() { b.queue.Replace(b.endpoint) })
	calls(func() { require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint)) })
	calls(b.queue.Clear)
}

func TestDemand_IsNotCalledForWhereAnEndpointMayHaveNoWorkers(t *testing.T) {
	t.Parallel()
	b, demands, _ := hooked(t)
	b.queue.SetEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user})
	demands.Store(0)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	b.finish("w", id, queue.Report{})
	_, err := b.queue.Purge(t.Context(), user, b.endpoint)
	require.NoError(t, err)
	require.Zero(t, demands.Load())
}

func TestDemand_IsCalledForByRequestsAndByWorkersThatBeginOrCeaseToServe(t *testing.T) {
	t.Parallel()
	b, demands, _ := hooked(t)
	e := compute.Endpoint{ID: "balancer000000", UserID: user, Type: compute.LoadBalancer, WorkersMax: 3}
	b.queue.SetEndpoint(e)
	b.queue.WorkerStarted(e.ID, "w", 0)
	calls := func(do func()) bool {
		before := demands.Load()
		do()
		return demands.Load() > before
	}
	be := func(c queue.Condition) func() {
		return func() { b.queue.SetCondition(e.ID, "w", c, "") }
	}

	require.False(t, calls(be(queue.Loading)))
	require.True(t, calls(be(queue.Healthy)))
	require.False(t, calls(be(queue.Healthy)), "nothing changed")
	require.True(t, calls(be(queue.Unhealthy)))
	require.True(t, calls(be(queue.Healthy)))

	var turn *queue.Turn
	require.True(t, calls(func() {
		var err error
		turn, err = b.queue.Enter(t.Context(), user, e.ID, queue.Wish{})
		require.NoError(t, err)
	}))
	require.True(t, calls(func() { turn.Over(false) }))

	be(queue.Unhealthy)()
	before := demands.Load()
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.queue.Enter(ctx, user, e.ID, queue.Wish{})
		ended <- err
	}()
	require.Eventually(t, func() bool { return demands.Load() > before }, 10*time.Second, time.Millisecond, "one that waits calls for a worker")
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestDelivery_IsCalledForOnceForEachEndThatSomebodyAskedToBeSent(t *testing.T) {
	t.Parallel()
	b, _, deliveries := hooked(t)
	calls := func(want int64, do func()) {
		t.Helper()
		deliveries.Store(0)
		do()
		require.Equal(t, want, deliveries.Load())
	}
	asking := queue.Submission{Webhook: "http://receiver/", TTL: time.Minute}

	calls(0, func() { b.failedJob() })
	id := b.run(asking)
	b.take("w", 1)
	calls(1, func() { b.finish("w", id, queue.Report{}) })
	calls(0, func() { b.finish("w", id, queue.Report{}) }) // again: it changes nothing
	id = b.run(asking)
	calls(1, func() { b.cancel(id) })
	calls(0, func() { b.cancel(id) })
	b.run(asking)
	calls(1, func() { b.sweepAfter(time.Minute) })
	b.run(asking)
	calls(1, func() {
		_, err := b.queue.Purge(t.Context(), user, b.endpoint)
		require.NoError(t, err)
	})
}

// deliveries gives those in the log, newest first.
func (b *bench) deliveries() (all []compute.Webhook) {
	require.NoError(b, b.db.Read(b.Context(), func(tx store.Tx) (err error) {
		all, err = tx.ListWebhooks(10)
		return err
	}))
	return all
}

// over has a delivery be over.
func (b *bench) over(w compute.Webhook) {
	w.NextAt = time.Time{}
	require.NoError(b, b.db.Write(b.Context(), func(tx store.Tx) error { return tx.SetWebhook(w) }))
}

func TestDeliverAgain_StoresTheWholeDocumentOnceTheDeliveryIsOver(t *testing.T) {
	t.Parallel()
	b, _, called := hooked(t)
	long := `"` + strings.Repeat("x", 300_000) + `"`
	id := b.run(queue.Submission{Webhook: "http://receiver/"})
	b.take("w", 1)
	b.finish("w", id, queue.Report{Output: json.RawMessage(long)})
	first := b.deliveries()
	require.Len(t, first, 1)
	called.Store(0)

	err := b.queue.DeliverAgain(t.Context(), first[0].Seq)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	err = b.queue.DeliverAgain(t.Context(), first[0].Seq+1)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Len(t, b.deliveries(), 1)
	require.Zero(t, called.Load())

	b.over(first[0])
	b.clock.Advance(time.Minute)
	require.NoError(t, b.queue.DeliverAgain(t.Context(), first[0].Seq))
	require.EqualValues(t, 1, called.Load())
	all := b.deliveries()
	require.Len(t, all, 2)
	var again compute.Webhook
	require.NoError(t, b.db.Read(t.Context(), func(tx store.Tx) (err error) {
		again, err = tx.Webhook(all[0].Seq)
		return err
	}))
	require.Equal(t, []any{id, "http://receiver/", b.clock.Now(), b.clock.Now(), 0}, []any{again.JobID, again.URL, again.NextAt, again.CreatedAt, again.Tries})
	require.Contains(t, string(again.Body), strings.Repeat("x", 300_000), "a long output is not at hand, and is sent all the same")

	b.clock.Advance(time.Hour) // the result has expired
	for range 2 {              // before it is deleted, and after
		err = b.queue.DeliverAgain(t.Context(), first[0].Seq)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		b.sweepAfter(0)
	}
	require.Len(t, b.deliveries(), 2)
	require.EqualValues(t, 1, called.Load())
}
