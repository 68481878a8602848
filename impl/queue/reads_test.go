package queue_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// counted is a store that counts what is read.
type counted struct {
	store.Store
	reads atomic.Int64
}

func (c *counted) Read(ctx context.Context, f func(store.Tx) error) error {
	c.reads.Add(1)
	return c.Store.Read(ctx, f)
}

// count has the queue work with a store that counts what is read.
func (b *bench) count() *counted {
	c := &counted{Store: b.db}
	b.db = c
	b.queue = b.beside(1)
	return c
}

// What memory knows for sure costs no read. What others may have changed since is read: memory may be behind the disk.
func TestStatus_ReadsOnlyWhatMemoryDoesNotKnow(t *testing.T) {
	t.Parallel()
	b := open(t)
	c := b.count()
	reads := func(want int64, id compute.JobID, status compute.JobStatus, why string) {
		t.Helper()
		c.reads.Store(0)
		require.Equal(t, status, b.status(id).Status)
		require.Equal(t, want, c.reads.Load(), why)
	}

	id, low := b.run(queue.Submission{}), b.run(queue.Submission{LowPriority: true})
	reads(0, id, compute.JobInQueue, "it waits")
	reads(0, low, compute.JobInQueue, "it waits")
	require.Equal(t, b.clock.Now(), b.status(id).QueuedAt)
	require.Equal(t, b.endpoint, b.status(id).EndpointID)
	b.queue = b.beside(2)
	reads(0, id, compute.JobInQueue, "it waits, as the rows say that were read at the start")

	b.take("w", 1)
	reads(1, id, compute.JobInProgress, "its worker may show progress")
	b.finish("w", id, queue.Report{Error: "it broke"})
	reads(0, id, compute.JobFailed, "it ended just now")
	_, err := b.queue.SetTTL(t.Context(), user, b.endpoint, id, time.Hour)
	require.NoError(t, err)
	reads(1, id, compute.JobFailed, "it may be kept for less time")
	_, err = b.queue.Retry(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)
	reads(1, id, compute.JobInQueue, "others knew of it before it was retried")
	b.cancel(id)

	b.take("w", 1)
	b.queue.HandBack([]queue.Taken{{Job: compute.Job{ID: low, EndpointID: b.endpoint, WorkerID: "w", QueuedAt: b.clock.Now()}}})
	reads(1, low, compute.JobInQueue, "others knew of it before it went back")
	b.queue = b.beside(3)
	reads(0, low, compute.JobInQueue, "it waits")
	require.NoError(t, b.queue.Reload(t.Context()))
	reads(1, low, compute.JobInQueue, "it may have been taken since the rows were read")
}

func TestHealth_OfABalancerReadsNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	c := b.count()
	e := compute.Endpoint{ID: "balancer000000", UserID: user, Type: compute.LoadBalancer, WorkersMax: 3}
	b.queue.SetEndpoint(e)
	c.reads.Store(0)
	health, err := b.queue.Health(t.Context(), user, e.ID)
	require.NoError(t, err)
	require.Zero(t, health.Jobs)
	_, err = b.queue.Workers(user, b.endpoint)
	require.NoError(t, err)
	require.Zero(t, c.reads.Load())
	_, err = b.queue.Workers("stranger", b.endpoint)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = b.queue.Health(t.Context(), "stranger", b.endpoint)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

// gate has a write of the store wait, and with it what comes next, until the function that it gives is called. It is for a bubble.
func (b *bench) gate() (open func()) {
	gate := make(chan struct{})
	go func() { _ = b.db.Write(b.Context(), func(store.Tx) error { <-gate; return nil }) }()
	synctest.Wait()
	return func() { close(gate); synctest.Wait() }
}

// A worker that gets a job before its commit may ask for the input at once.
func TestSubmit_EarlyHandOverHasItsInputAfterItsCommit(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{"short": `{"a": 1}`, "long": `"` + strings.Repeat("x", 300_000) + `"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := open(t)
				given := make(chan queue.Taken, 1)
				go func() {
					if taken, err := b.queue.Take(t.Context(), user, b.endpoint, "w", 1); err == nil && len(taken) == 1 {
						given <- taken[0]
					}
				}()

				synctest.Wait()
				before := b.gate()
				go func() {
					_, _ = b.queue.RunSync(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(input)}, time.Minute)
				}()
				synctest.Wait()
				after := b.gate() // of the same commit
				before()
				taken := <-given

				texts := make(chan json.RawMessage, 1)
				go func() {
					text, err := b.queue.Input(t.Context(), taken.Job)
					if err == nil && name == "long" {
						text, err = b.queue.Pieces(t.Context(), taken.Job, compute.JobInput, 0, compute.Pieces(taken.InputSize))
					}
					if err == nil {
						texts <- text
					}
				}()

				synctest.Wait()
				require.Empty(t, texts)
				after()
				require.Len(t, texts, 1)
				require.True(t, input == string(<-texts))
				b.finish("w", taken.ID, queue.Report{})
			})
		})
	}
}

// A waiting job of which somebody tried to end it may have ended, whatever they were told.
func TestStatus_OfAWaitingJobThatMayHaveEndedIsRead(t *testing.T) {
	t.Parallel()
	b := open(t)
	s := &broken{Store: b.db}
	b.db = s
	c := b.count()
	for _, low := range []bool{false, true} {
		id := b.run(queue.Submission{LowPriority: low})
		s.is = true
		_, err := b.queue.Cancel(t.Context(), user, b.endpoint, id)
		require.ErrorIs(t, err, errDisk)
		s.is = false
		c.reads.Store(0)
		require.Equal(t, compute.JobInQueue, b.status(id).Status)
		require.EqualValues(t, 1, c.reads.Load())
	}
}
