package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// meddled is a store in whose calls something else happens.
type meddled struct {
	store.Store
	taking  func() error // before jobs are taken, which fails with its error
	writing func() error // before a write, which fails with its error
}

func (m *meddled) TakeJobs(ctx context.Context, t store.Take) error {
	if m.taking != nil {
		if err := m.taking(); err != nil {
			return err
		}
	}
	return m.Store.TakeJobs(ctx, t)
}

func (m *meddled) Write(ctx context.Context, f func(store.Tx) error) error {
	if m.writing != nil {
		if err := m.writing(); err != nil {
			return err
		}
	}
	return m.Store.Write(ctx, f)
}

// meddle has the queue work with a store in whose calls something else happens.
func (b *bench) meddle() *meddled {
	m := &meddled{Store: b.db}
	b.db = m
	b.queue = b.beside(1)
	return m
}

func TestTake_JobThatGoesBackForgetsItsProgress(t *testing.T) {
	t.Parallel()
	for name, progress := range map[string]string{"short": `"half"`, "long": `"` + strings.Repeat("half", 100_000) + `"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			id := b.run(queue.Submission{})
			b.take("w", 1)
			require.NoError(t, b.queue.Progress(t.Context(), user, b.endpoint, "w", id, json.RawMessage(progress)))
			require.NotZero(t, len(b.status(id).Output)+b.status(id).OutputSize)

			b.sweepAfter(31 * time.Second)
			j := b.status(id)
			require.Equal(t, compute.JobInQueue, j.Status)
			require.Empty(t, j.Output)
			require.Zero(t, j.OutputSize)

			taken, err := b.queue.Take(t.Context(), user, b.endpoint, "w2", 1)
			require.NoError(t, err)
			require.Empty(t, taken[0].Output, "nobody holds it while the job runs again")
			require.Empty(t, b.status(id).Output)
		})
	}
}

func TestTake_WorkerThatIsToEndMeanwhileGetsNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	id := b.run(queue.Submission{})
	m.taking = func() error {
		m.taking = nil
		require.True(t, b.queue.Drain(b.endpoint, "w"), "it holds nothing yet")
		return nil
	}

	require.Empty(t, b.take("w", 1))
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
	require.Equal(t, []compute.JobID{id}, b.take("w2", 1))
	require.Zero(t, b.status(id).Retries, "no attempt is spent")
}

func TestTake_ThatTheStorageRefusesLeavesEachJobInItsLine(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	normal := []compute.JobID{b.run(queue.Submission{})}
	low := []compute.JobID{b.run(queue.Submission{LowPriority: true}), b.run(queue.Submission{LowPriority: true})}
	broken := errors.New("broken")
	m.taking = func() error { return broken }
	_, err := b.queue.Take(t.Context(), user, b.endpoint, "w", 2)
	require.ErrorIs(t, err, broken)

	m.taking = nil
	normal = append(normal, b.run(queue.Submission{}))
	require.Equal(t, append(normal, low...), b.take("w", 100))
}

func TestTake_BatchEndsWhereItsInputsAreEnough(t *testing.T) {
	t.Parallel()
	b := open(t)
	input := json.RawMessage(`{"text":"` + strings.Repeat("x", 3_000_000) + `"}`)
	var ids []compute.JobID
	for range 4 {
		ids = append(ids, b.run(queue.Submission{Input: input}))
	}
	ids = append(ids, b.run(queue.Submission{LowPriority: true}), b.run(queue.Submission{LowPriority: true}))

	require.Equal(t, ids[:3], b.take("w", 5))
	last := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{ids[3], last, ids[4], ids[5]}, b.take("w", 100), "the others wait on where they were")
	for _, id := range ids {
		require.Zero(t, b.status(id).Retries)
	}
}

func TestPurge_LeavesWhatItDidNotComeToAsItStood(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	var low, normal []compute.JobID
	for range 2 {
		low = append(low, b.run(queue.Submission{LowPriority: true}))
	}
	for range 60 {
		normal = append(normal, b.run(queue.Submission{}))
	}

	writes, broken := 0, errors.New("broken")
	m.writing = func() error {
		if writes++; writes == 2 {
			return broken
		}
		return nil
	}
	removed, err := b.queue.Purge(t.Context(), user, b.endpoint)
	require.ErrorIs(t, err, broken)
	require.Equal(t, 25, removed)

	normal = append(normal[removed:], b.run(queue.Submission{}))
	require.Equal(t, append(normal, low...), b.take("w", 100))
}

// TestPurge_IsSeenThrough: clients wait 3 seconds for it, and what they gave up must not run.
func TestPurge_IsSeenThrough(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	var ids []compute.JobID
	for range 60 {
		ids = append(ids, b.run(queue.Submission{}))
	}
	ctx, hangUp := context.WithCancel(t.Context())
	m.writing = func() error {
		hangUp()
		return nil
	}
	removed, err := b.queue.Purge(ctx, user, b.endpoint)
	require.NoError(t, err)
	require.Equal(t, 60, removed)
	for _, id := range ids {
		require.Equal(t, compute.JobCancelled, b.status(id).Status)
	}
}

// A reset deletes every row: an endpoint that has the id of one of before is not removed with that one.
func TestClear_ForgetsWhatWasInDoubt(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	b.run(queue.Submission{})
	m.writing = func() error { return errors.New("broken") }
	require.Error(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
	m.writing = nil

	require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
		if err := tx.Clear(); err != nil {
			return err
		}
		return tx.InsertEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, Name: "again", Image: "i", WorkersMax: 1})
	}))
	b.queue.Clear()
	b.queue.SetEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, Name: "again", Image: "i", WorkersMax: 1})
	b.sweepAfter(time.Minute)
	id := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{id}, b.take("w", 1))
}

// forgetJobs deletes every row but that of the endpoint, as a reset does.
func (b *bench) forgetJobs() {
	require.NoError(b, b.db.Write(b.Context(), func(tx store.Tx) error {
		if err := tx.Clear(); err != nil {
			return err
		}
		return tx.InsertEndpoint(compute.Endpoint{ID: b.endpoint, UserID: user, Name: "one", Image: "one", WorkersMax: 1})
	}))
}

func TestTake_WorkerThatEndsMeanwhileGetsNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	m := b.meddle()
	id := b.run(queue.Submission{})
	m.taking = func() error {
		m.taking = nil
		b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
		return nil
	}
	require.Empty(t, b.take("w", 1))
	require.Equal(t, compute.JobInQueue, b.status(id).Status)
	require.Equal(t, []compute.JobID{id}, b.take("w2", 1))
}
