package sqlite_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

func TestObserve_ReportsTheWritesThatShareACommit(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var batches []int
	count := sqlite.Observe(func(writes int, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		require.Positive(t, took, "by a clock that runs")
		batches = append(batches, writes)
	})

	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.NewFrozenClock(start), count)
	require.NoError(t, err)
	gate, entered := make(chan struct{}), make(chan struct{})

	var writes sync.WaitGroup
	writes.Go(func() {
		require.NoError(t, db.Write(t.Context(), func(store.Tx) error {
			close(entered)
			<-gate
			return nil
		}))
	})

	<-entered
	for _, id := range []compute.JobID{"a", "b", "c"} {
		writes.Go(func() { require.NoError(t, db.Write(t.Context(), insertJob(id))) })
	}
	close(gate)
	writes.Wait()
	require.Error(t, db.Write(t.Context(), func(store.Tx) error { return errors.New("refused") }))
	require.NoError(t, db.Close())

	sum := 0
	for _, n := range batches {
		require.Positive(t, n)
		sum += n
	}
	require.Equal(t, 4, sum, batches)
}
