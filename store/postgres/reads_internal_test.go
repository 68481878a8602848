package postgres

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

// dialled gives a store that reads from a server to which connections are opened like that.
func dialled(t *testing.T, dial func(context.Context) (net.Conn, error)) *DB {
	t.Helper()
	config, err := parse("postgres://berth@127.0.0.1:1/jobs?sslmode=disable")
	require.NoError(t, err)
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	d := &DB{config: config, readers: make(chan *session, readers), closed: make(chan struct{})}
	for range readers {
		d.readers <- nil
	}
	return d
}

// fail reads so many times at once, in vain, and gives how long that took.
func fail(t *testing.T, d *DB, n int) time.Duration {
	t.Helper()
	began := time.Now()
	errs := make(chan error, n)
	for range n {
		go func() { errs <- d.Read(context.Background(), func(store.Tx) error { return nil }) }()
	}
	for range n {
		require.Equal(t, store.Away, store.TroubleOf(<-errs))
	}
	return time.Since(began)
}

func TestRead_WhoWaitsBehindASilentServerFailsWithTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int64
		d := dialled(t, func(ctx context.Context) (net.Conn, error) {
			opened.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		require.Equal(t, connectTimeout, fail(t, d, 1000))
		require.EqualValues(t, readers, opened.Load())
		require.Equal(t, connectTimeout, fail(t, d, 1), "who comes later tries again")
		require.EqualValues(t, readers+1, opened.Load())
	})
}

func TestRead_RefusalOfOneSaysNothingOfTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int64
		d := dialled(t, func(context.Context) (net.Conn, error) {
			opened.Add(1)
			return nil, errors.New("refused")
		})
		require.Zero(t, fail(t, d, 100))
		require.EqualValues(t, 100, opened.Load())
	})
}

// TestRead_CallerWithoutPatienceSaysNothingOfTheServer: a request that ends while its connection is opened fails alone.
func TestRead_CallerWithoutPatienceSaysNothingOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := dialled(t, func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 2*silentAfter)
		defer cancel()
		require.Error(t, d.Read(ctx, func(store.Tx) error { return nil }))
		require.Nil(t, d.silent.Load())
	})
}
