//go:build unix

package postgres_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
)

// TestOpen_ManyAtOnceMakeTheSchemaOnce: several replicas start on a database that is new.
func TestOpen_ManyAtOnceMakeTheSchemaOnce(t *testing.T) {
	t.Parallel()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() {
			db, err := postgres.Open(t.Context(), url, compute.SystemClock{})
			if err == nil {
				err = db.Close()
			}
			errs[i] = err
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	s, err := postgres.Examine(t.Context(), url)
	require.NoError(t, err)
	require.Equal(t, s.Known, s.Schema)
}

func TestObserve_ReportsEachCommit(t *testing.T) {
	t.Parallel()
	var writes []int
	db, err := postgres.Open(t.Context(), emptied(t), compute.SystemClock{}, postgres.Observe(func(n int, took time.Duration) {
		require.Positive(t, took)
		writes = append(writes, n)
	}))
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return tx.SetLag(time.Second) }))
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		lag, err := tx.Lag()
		require.Equal(t, time.Second, lag)
		return err
	}))
	require.NoError(t, db.Close())
	require.NoError(t, db.Close(), "twice does no harm")
	require.Equal(t, []int{1}, writes)
	require.Equal(t, compute.Unavailable, compute.CodeOf(db.Read(t.Context(), func(store.Tx) error { return nil })))
}

func TestWatch_TellsThatTheDatabaseIsAwayAndBack(t *testing.T) {
	t.Parallel()
	proxy, err := cluster.Proxy()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	url, err := proxy.URL(emptied(t))
	require.NoError(t, err)
	type told struct {
		trouble store.Trouble
		failed  int
	}
	heard := make(chan told, 10)
	db, err := postgres.Open(t.Context(), url, compute.SystemClock{}, postgres.Watch(func(trouble error, failed int) { heard <- told{store.TroubleOf(trouble), failed} }))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	write := func() error {
		return db.Write(t.Context(), func(tx store.Tx) error { return tx.SetLag(time.Second) })
	}
	look := func() error {
		return db.Read(t.Context(), func(tx store.Tx) error { _, err := tx.Lag(); return err })
	}
	require.NoError(t, write())
	require.NoError(t, look())

	proxy.Down()
	for range 2 {
		for _, err := range []error{write(), look()} {
			require.Equal(t, store.Away, store.TroubleOf(err))
			require.Equal(t, compute.Unavailable, compute.CodeOf(err))
			require.False(t, store.IsUnknown(err), "nothing was sent")
		}
	}
	require.Equal(t, store.Away, store.TroubleOf(db.Trouble()))
	require.Equal(t, told{store.Away, 0}, <-heard)
	require.Empty(t, heard, "it is said once")

	proxy.Up()
	back := <-heard // nobody writes: the store finds out by itself
	require.Empty(t, back.trouble)
	require.GreaterOrEqual(t, back.failed, 2)
	require.NoError(t, db.Trouble())
	require.NoError(t, write())
	require.NoError(t, look())
}
