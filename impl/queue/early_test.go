package queue_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

func TestSubmit_EarlyHandOverIsReadAfterItsCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		hold := func() (release func()) {
			gate := make(chan struct{})
			go func() { _ = b.db.Write(t.Context(), func(store.Tx) error { <-gate; return nil }) }()
			synctest.Wait()
			return func() { close(gate); synctest.Wait() }
		}

		given := make(chan queue.Taken, 1)
		go func() {
			taken, err := b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
			if err == nil && len(taken) == 1 {
				given <- taken[0]
			}
		}()

		synctest.Wait()
		before := hold()
		ended := make(chan compute.Job, 1)
		go func() {
			j, err := b.queue.RunSync(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)}, time.Minute)
			if err == nil {
				ended <- j
			}
		}()

		synctest.Wait()
		after := hold() // of the same commit
		before()
		taken := <-given
		seen := make(chan compute.Job, 1)

		counted := make(chan queue.Health, 1)
		go func() {
			if j, err := b.queue.Status(t.Context(), user, b.endpoint, taken.ID); err == nil {
				seen <- j
			}
		}()

		go func() {
			if h, err := b.queue.Health(t.Context(), user, b.endpoint); err == nil {
				counted <- h
			}
		}()

		streamed := make(chan error, 1)
		go func() {
			_, _, err := b.queue.Stream(t.Context(), user, b.endpoint, taken.ID, 0, nil)
			streamed <- err
		}()
		synctest.Wait()
		require.Empty(t, seen)
		require.Empty(t, counted)
		require.Empty(t, streamed)

		after()
		require.NoError(t, <-streamed)
		require.Equal(t, compute.JobInProgress, (<-seen).Status)
		require.EqualValues(t, 1, (<-counted).Jobs.InProgress)
		require.NoError(t, b.queue.Finish(t.Context(), user, b.endpoint, "w", taken.ID, queue.Report{Output: json.RawMessage(`1`)}))
		require.Equal(t, compute.JobCompleted, (<-ended).Status)
	})
}
