package loop_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

func TestWebhooks_TryWhoseReceiverSleepsOutlastsItsStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		posts := 0
		var hooks *loop.Webhooks
		hooks = loop.NewWebhooks(loop.Delivery{Store: db, Clock: clock, Log: slog.New(slog.DiscardHandler), Post: func(ctx context.Context, _ string, _ io.Reader, _ int64) (int, error) {
			posts++
			return 204, compute.SleepNoted(ctx, clock, 5*time.Second, hooks.Sleeps)
		}})
		insertWebhook(t, db, "http://inbox/")

		ctx, stop := context.WithCancel(t.Context())
		require.NoError(t, hooks.Step(ctx))
		stop() // as that of the request that set the clock forward
		synctest.Wait()
		next, err := hooks.Next(t.Context())
		require.NoError(t, err)
		require.Zero(t, next, "it is not for this loop to say when the receiver wakes")

		clock.Advance(5 * time.Second)
		synctest.Wait()
		require.NoError(t, hooks.Step(t.Context()))
		require.Equal(t, 1, posts)
		require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
			log, err := tx.ListWebhooks(1)
			require.Equal(t, 1, log[0].Tries)
			require.Equal(t, 204, log[0].Status)
			require.Empty(t, log[0].Error)
			require.Zero(t, log[0].NextAt)
			return err
		}))
	})
}

func TestWebhooks_TryWhoseReceiverSleepsEndsWithTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(t, nil)
		defer func() { require.NoError(t, p.db.Close()) }()
		clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
		var hooks *loop.Webhooks
		hooks = loop.NewWebhooks(loop.Delivery{Store: p.db, Clock: clock, Log: slog.New(slog.DiscardHandler), Post: func(ctx context.Context, _ string, _ io.Reader, _ int64) (int, error) {
			return 204, compute.SleepNoted(ctx, clock, 5*time.Second, hooks.Sleeps)
		}})
		p.store(1, 10, "http://inbox/")
		require.NoError(t, hooks.Step(t.Context()))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		hooks.Run(ctx) // waits for the try
		require.NotZero(t, p.pending(), "it is made again after the next start")
	})
}
