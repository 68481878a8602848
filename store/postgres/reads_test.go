//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
)

// TestRead_ManyFailTogetherWhenTheServerFallsSilent: four connections read. Alone, each of the others would wait until it cannot open one.
func TestRead_ManyFailTogetherWhenTheServerFallsSilent(t *testing.T) {
	t.Parallel()
	proxy, err := cluster.Proxy()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	url, err := proxy.URL(emptied(t))
	require.NoError(t, err)
	db, err := postgres.Open(t.Context(), url, compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	look := func() error {
		return db.Read(t.Context(), func(tx store.Tx) error { _, err := tx.Lag(); return err })
	}

	proxy.Mute(true)
	began := time.Now()
	errs := make(chan error, 100)
	for range cap(errs) {
		go func() { errs <- look() }()
	}
	for range cap(errs) {
		require.Equal(t, store.Away, store.TroubleOf(<-errs))
	}
	require.Less(t, time.Since(began), time.Minute, "and not 25 times as long as it takes to give up a connection")

	proxy.Mute(false)
	for range 8 {
		require.NoError(t, look())
	}
}

// waiting is a context that reports when a read waits: it asks then for the end of the context.
type waiting struct {
	context.Context
	in chan struct{}
}

func (w waiting) Done() <-chan struct{} {
	close(w.in)
	return w.Context.Done()
}

func TestRead_ThatWaitsWhileTheStoreClosesIsToAskAgain(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(t.Context(), emptied(t), compute.SystemClock{})
	require.NoError(t, err)
	errs, begun, end := make(chan error, 4), make(chan struct{}), make(chan struct{})
	for range cap(errs) { // all connections
		go func() {
			errs <- db.Read(t.Context(), func(store.Tx) error {
				begun <- struct{}{}
				<-end
				return nil
			})
		}()
		<-begun
	}

	refused, in := make(chan error, 1), make(chan struct{})
	go func() {
		refused <- db.Read(waiting{t.Context(), in}, func(store.Tx) error { return nil })
	}()
	<-in
	closed := make(chan error, 1)
	go func() { closed <- db.Close() }()
	why, is := errors.AsType[*compute.Error](<-refused)
	require.True(t, is)
	require.Equal(t, compute.Unavailable, why.Code)
	require.Positive(t, why.RetryAfter)

	close(end)
	for range cap(errs) {
		require.NoError(t, <-errs, "what was begun is seen through")
	}
	require.NoError(t, <-closed)
}
