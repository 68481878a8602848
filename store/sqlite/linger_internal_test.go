package sqlite

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
)

// patient is a store in which a commit that may linger does so for a year. batches gives how many writes each commit was for.
func patient(t *testing.T) (d *DB, batches func() []int) {
	var mu sync.Mutex
	var all []int
	count := Observe(func(writes int, _ time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, writes)
	})

	aYear := func(o *groupcommit.Options) { o.Moment = 365 * 24 * time.Hour }
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{}, count, aYear)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })

	return d, func() []int {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// linger begins to store an endpoint's job in a transaction that nobody waits for, and gives its result to come.
func linger(t *testing.T, d *DB, id compute.JobID) <-chan error {
	ran, result := make(chan struct{}), make(chan error, 1)
	go func() {
		result <- d.SubmitJob(t.Context(), &store.Submission{
			Job:    compute.Job{ID: id, EndpointID: "e", Status: compute.JobInQueue},
			Assign: func() compute.WorkerID { return "w" },
			Early:  func(compute.Job) bool { close(ran); return true },
		})
	}()
	<-ran
	return result
}

func TestLinger_CommitIsSharedWithTheNextWrite(t *testing.T) {
	t.Parallel()
	d, batches := patient(t)
	first := linger(t, d, "first")
	second := linger(t, d, "second")
	require.Empty(t, batches(), "nobody waits for either")
	require.NoError(t, d.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Job("first")
		return err
	}))
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.Equal(t, []int{3}, batches())
}

func TestLinger_EndsWithAFailedWriteOrTheStore(t *testing.T) {
	t.Parallel()
	d, batches := patient(t)
	first := linger(t, d, "first")
	refused := errors.New("refused")
	require.ErrorIs(t, d.Write(t.Context(), func(store.Tx) error { return refused }), refused)
	require.NoError(t, <-first)
	last := linger(t, d, "last")
	require.NoError(t, d.Close())
	require.NoError(t, <-last)
	require.Equal(t, []int{1, 1}, batches())
}

func TestLinger_LastsForAMomentOnly(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	require.NoError(t, <-linger(t, d, "first"))
}
