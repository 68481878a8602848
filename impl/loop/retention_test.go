package loop_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/store"
)

func TestWhatIsKeptForAWhileIsDeletedAfterIt(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	ids := compute.NewIDs(rand.Reader, s.clock)
	rates, err := control.NewRates(t.Context(), s.db, s.clock, compute.Windows(1, 1, 1))
	require.NoError(t, err)
	r := loop.Retention{Store: s.db, Clock: s.clock, Log: slog.New(slog.DiscardHandler), Rates: rates, Keyring: s.keyring, Endpoints: s.endpoints, Pods: time.Hour}.Sweeps()
	write := func(f func(store.Tx) error) { require.NoError(t, s.db.Write(t.Context(), f)) }
	const many = 250 // more than a transaction deletes
	var made []compute.PodID
	write(func(tx store.Tx) error {
		for n := range many {
			p := compute.Pod{ID: ids.Pod(), UserID: "u", Name: fmt.Sprint(n), Status: compute.PodTerminated, CreatedAt: tx.Now(), MovedAt: tx.Now()}
			made = append(made, p.ID)
			require.NoError(t, tx.InsertPod(p))
			require.NoError(t, tx.InsertWebhook(compute.Webhook{CreatedAt: tx.Now()}))
		}
		return tx.InsertWebhook(compute.Webhook{URL: "http://pending/", CreatedAt: tx.Now(), NextAt: tx.Now()})
	})
	pods := func() (n int) {
		require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
			for _, id := range made {
				if _, err := tx.Pod(id); err == nil {
					n++
				}
			}
			return nil
		}))
		return n
	}
	webhooks := func() (n int) {
		require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
			log, err := tx.ListWebhooks(1000)
			n = len(log)
			return err
		}))
		return n
	}
	_, _, err = s.keyring.Create(t.Context(), control.NewKey{UserID: "u", Expiry: time.Minute})
	require.NoError(t, err)
	revoked, _, err := s.keyring.Create(t.Context(), control.NewKey{UserID: "u"})
	require.NoError(t, err)
	require.NoError(t, s.keyring.Revoke(t.Context(), revoked.ID))
	_, _, err = s.keyring.Create(t.Context(), control.NewKey{UserID: "u"})
	require.NoError(t, err)
	rates.Count("u")
	require.NoError(t, rates.Save(t.Context()))
	counts := func() (n int) {
		require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
			all, err := tx.RequestCounts()
			n = len(all)
			return err
		}))
		return n
	}
	// As a deletion leaves it that failed in the middle.
	write(func(tx store.Tx) error {
		e := s.e
		e.DeletedAt = tx.Now()
		return tx.UpdateEndpoint(e)
	})

	require.NoError(t, r.StepAll(t.Context()))
	require.Equal(t, many+1, webhooks())
	require.Equal(t, many, pods())
	require.Len(t, s.keyring.Keys(false), 3)
	require.Equal(t, 3, counts())
	require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
		all, err := tx.ListEndpoints()
		require.Empty(t, all)
		return err
	}))

	s.clock.Advance(24*time.Hour + time.Millisecond)
	require.NoError(t, r.StepAll(t.Context()))
	require.Equal(t, 1, webhooks(), "what is pending stays")
	require.Zero(t, pods())
	require.Zero(t, counts())
	require.Len(t, s.keyring.Keys(false), 3)
	s.clock.Advance(30 * 24 * time.Hour)
	require.NoError(t, r.StepAll(t.Context()))
	require.Len(t, s.keyring.Keys(false), 1)
	rates.Count("u")
	require.NoError(t, rates.Save(t.Context()))
	require.Equal(t, 3, counts(), "who comes again is counted again")
}
