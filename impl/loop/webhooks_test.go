package loop_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/store"
)

func TestAWebhookIsTriedThreeTimesTenSecondsApartAndLogged(t *testing.T) {
	t.Parallel()
	db, clock := openStore(t)
	var mu sync.Mutex
	posts := map[string]int{}
	hooks := loop.NewWebhooks(db, func(_ context.Context, url string, body []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		require.JSONEq(t, `{"id":"j"}`, string(body))
		posts[url]++
		if url == "http://good/" || url == "http://late/" && posts[url] == 2 {
			return 204, nil
		}
		return 500, errors.New("the receiver answered 500")
	}, clock, slog.New(slog.DiscardHandler))
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for _, url := range []string{"http://good/", "http://late/", "http://bad/"} {
			w := compute.Webhook{JobID: "j", URL: url, Body: []byte(`{"id":"j"}`), NextAt: tx.Now(), CreatedAt: tx.Now()}
			if err := tx.InsertWebhook(w); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, want := range []map[string]int{
		{"http://good/": 1, "http://late/": 1, "http://bad/": 1},
		{"http://good/": 1, "http://late/": 2, "http://bad/": 2},
		{"http://good/": 1, "http://late/": 2, "http://bad/": 3},
		{"http://good/": 1, "http://late/": 2, "http://bad/": 3},
	} {
		require.NoError(t, hooks.Step(t.Context()))
		require.Equal(t, want, posts)
		clock.Advance(10*time.Second - time.Millisecond)
		require.NoError(t, hooks.Step(t.Context()))
		require.Equal(t, want, posts, "not before ten seconds are over")
		clock.Advance(time.Millisecond)
	}
	next, err := hooks.Next(t.Context())
	require.NoError(t, err)
	require.Zero(t, next)
	var log []compute.Webhook
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) (err error) {
		log, err = tx.ListWebhooks(9)
		return err
	}))
	require.Len(t, log, 3)
	require.Equal(t, "http://bad/", log[0].URL)
	require.Equal(t, 3, log[0].Tries)
	require.Equal(t, 500, log[0].Status)
	require.Equal(t, "the receiver answered 500", log[0].Error)
	require.Equal(t, 2, log[1].Tries)
	require.Empty(t, log[1].Error)
}
