package loop_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/store"
)

// insertWebhook stores a delivery that is due.
func insertWebhook(t *testing.T, db store.Store, url string) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertWebhook(compute.Webhook{JobID: "j", URL: url, Body: []byte(`{}`), NextAt: tx.Now(), CreatedAt: tx.Wall()})
	}))
}

func TestWebhooks_TellHowEachTryWentAndWhenTheNextOneIs(t *testing.T) {
	t.Parallel()
	db, clock := openStore(t)
	var posted []bool // one delivery at a time
	hooks := loop.NewWebhooks(loop.Delivery{Store: db, Clock: clock, Log: slog.New(slog.DiscardHandler), Post: func(_ context.Context, url string, _ io.Reader, _ int64) (int, error) {
		if url == "http://good/" {
			return 200, nil
		}
		return 0, errors.New("connection refused")
	}, Posted: func(delivered bool) { posted = append(posted, delivered) }})
	next := func() time.Time {
		at, err := hooks.Next(t.Context())
		require.NoError(t, err)
		return at
	}

	require.Zero(t, next())
	insertWebhook(t, db, "http://good/")
	require.Equal(t, clock.Now(), next())
	require.NoError(t, hooks.Step(t.Context()))
	require.Equal(t, []bool{true}, posted)
	require.Zero(t, next())

	insertWebhook(t, db, "http://bad/")
	require.NoError(t, hooks.Step(t.Context()))
	require.Equal(t, []bool{true, false}, posted)
	require.Equal(t, clock.Now().Add(10*time.Second), next())
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		log, err := tx.ListWebhooks(1)
		require.Equal(t, 1, log[0].Tries)
		require.Zero(t, log[0].Status)
		require.Equal(t, "connection refused", log[0].Error)
		require.Equal(t, clock.Now().Add(10*time.Second), log[0].NextAt)
		return err
	}))
}

func TestWebhooks_ThatAreOverByTheirRowsAreNotPosted(t *testing.T) {
	t.Parallel()
	db, clock := openStore(t)
	posts := 0
	hooks := loop.NewWebhooks(loop.Delivery{Store: db, Clock: clock, Log: slog.New(slog.DiscardHandler), Post: func(context.Context, string, io.Reader, int64) (int, error) {
		posts++
		return 200, nil
	}})
	for name, end := range map[string]func(store.Tx) error{
		"it was made by another server": func(tx store.Tx) error {
			log, err := tx.ListWebhooks(1)
			if err != nil {
				return err
			}
			log[0].NextAt = time.Time{}
			return tx.SetWebhook(log[0])
		},
		"everything was cleared": func(tx store.Tx) error { return tx.Clear() },
	} {
		insertWebhook(t, db, "http://good/")
		next, err := hooks.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, clock.Now(), next, name)

		require.NoError(t, db.Write(t.Context(), end))
		require.NoError(t, hooks.Step(t.Context()))
		require.Zero(t, posts, name)
		next, err = hooks.Next(t.Context())
		require.NoError(t, err)
		require.Zero(t, next, name)
		hooks.Clear() // the rows may be numbered anew
	}
}

func TestWebhooks_TryThatIsUnderWayWhenAllIsClearedComesToNothing(t *testing.T) {
	t.Parallel()
	db, clock := openStore(t)
	posts := 0
	var hooks *loop.Webhooks
	hooks = loop.NewWebhooks(loop.Delivery{Store: db, Clock: clock, Log: slog.New(slog.DiscardHandler), Post: func(ctx context.Context, _ string, _ io.Reader, _ int64) (int, error) {
		if posts++; posts == 1 {
			hooks.Clear()
			return 0, errors.Join(errors.New("no answer"), db.Write(ctx, func(tx store.Tx) error { return tx.Clear() }))
		}
		return 200, nil
	}})
	insertWebhook(t, db, "http://one/")
	require.NoError(t, hooks.Step(t.Context()))
	require.Equal(t, 1, posts)
	next, err := hooks.Next(t.Context())
	require.NoError(t, err)
	require.Zero(t, next)
	clock.Advance(time.Minute)
	require.NoError(t, hooks.Step(t.Context()))
	require.Equal(t, 1, posts)

	insertWebhook(t, db, "http://one/")
	insertWebhook(t, db, "http://one/")
	require.NoError(t, hooks.Step(t.Context()))
	require.Equal(t, 3, posts, "what comes later is delivered")
}
