package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func audit(t *testing.T, open Open) {
	s, clock := begin(t, open)
	entries := []compute.AuditEntry{
		{UserID: "ada", KeyID: "k1", Request: "r1", Operation: "createPod", Client: "192.0.2.1", Kind: "pod", ID: "p1", Change: compute.AuditCreated, Fields: []string{}},
		{UserID: "ada", KeyID: "k2", Operation: "updatePod", Kind: "pod", ID: "p1", Change: compute.AuditChanged, Fields: []string{"args", "env"}},
		{UserID: "bob", KeyID: "k3", Operation: "createPod", Kind: "pod", ID: "p2", Change: compute.AuditCreated, Fields: []string{}},
		{Operation: "berth keys revoke", Kind: "key", ID: "k2", Change: compute.AuditChanged, Fields: []string{}},
	}
	for i := range entries {
		write(t, s, func(tx store.Tx) error { return tx.InsertAudit(entries[i]) })
		entries[i].At = clock.Wall()
		clock.Advance(time.Minute)
	}

	page := func(by store.AuditSearch, p compute.Page) (all []compute.AuditEntry, next compute.Position) {
		require.NoError(t, s.Read(t.Context(), func(tx store.Tx) (err error) {
			all, next, err = tx.PageAudit(by, p)
			return err
		}))
		for i := range all {
			require.True(t, i == 0 || all[i].Seq < all[i-1].Seq, "newest first")
		}
		for i := range all {
			require.Positive(t, all[i].Seq)
			all[i].Seq = 0
		}
		return all, next
	}
	newest := slices.Clone(entries)
	slices.Reverse(newest)
	for _, c := range []struct {
		by   store.AuditSearch
		want []compute.AuditEntry
	}{
		{store.AuditSearch{}, newest},
		{store.AuditSearch{UserID: "ada"}, newest[2:]},
		{store.AuditSearch{KeyID: "k2"}, newest[2:3]},
		{store.AuditSearch{Kind: "key"}, newest[:1]},
		{store.AuditSearch{ID: "p1"}, newest[2:]},
		{store.AuditSearch{Operation: "createPod", UserID: "bob"}, newest[1:2]},
		{store.AuditSearch{Since: entries[1].At, Until: entries[3].At}, newest[1:3]},
		{store.AuditSearch{Kind: "volume"}, nil},
	} {
		all, next := page(c.by, wide)
		require.Equal(t, c.want, all, "%+v", c.by)
		require.Zero(t, next)
	}

	first, next := page(store.AuditSearch{}, compute.Page{Limit: 3})
	require.Equal(t, newest[:3], first)
	rest, end := page(store.AuditSearch{}, compute.Page{Limit: 3, After: next})
	require.Equal(t, newest[3:], rest)
	require.Zero(t, end)
	whole, end := page(store.AuditSearch{}, compute.Page{Limit: 4})
	require.Equal(t, newest, whole)
	require.Zero(t, end, "nothing comes after as many as there are")

	expire := func(before time.Time, kept int64, limit int) (n int) {
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.DeleteAudit(before, kept, limit)
			return err
		})
		return n
	}
	require.Zero(t, expire(entries[0].At, 4, 10))
	require.Equal(t, 1, expire(entries[3].At, 4, 1), "no more at once")
	require.Equal(t, 2, expire(clock.Wall().Add(-time.Hour), 1, 10), "no more than are kept")
	left, _ := page(store.AuditSearch{}, wide)
	require.Equal(t, newest[:1], left)

	write(t, s, store.Tx.Clear)
	left, _ = page(store.AuditSearch{}, wide)
	require.Equal(t, newest[:1], left, "a reset does not hide who did what")
}
