package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func refusals(t *testing.T, open Open) {
	s, clock := begin(t, open)
	minute := clock.Wall().Truncate(time.Minute)
	one := compute.Refusal{At: minute, Interface: "rest", Reason: compute.RefusedExpired, Client: "192.0.2.1", KeyID: "k1", UserID: "ada", Count: 2}
	other := compute.Refusal{At: minute, Interface: "ssh", Reason: compute.RefusedUnknown, Client: "192.0.2.2", KeyID: "SHA256:x", Count: 1}
	later := one
	later.At, later.Count = minute.Add(time.Minute), 5
	write(t, s, func(tx store.Tx) error { return tx.AddRefusals([]compute.Refusal{one, other}) })
	write(t, s, func(tx store.Tx) error { return tx.AddRefusals([]compute.Refusal{one, later}) })
	one.Count = 4

	page := func(by store.RefusalSearch, p compute.Page) (all []compute.Refusal, next compute.Position) {
		require.NoError(t, s.Read(t.Context(), func(tx store.Tx) (err error) {
			all, next, err = tx.PageRefusals(by, p)
			return err
		}))
		for i := range all {
			require.True(t, i == 0 || all[i].Seq < all[i-1].Seq, "newest first")
		}
		for i := range all {
			require.Positive(t, all[i].Seq)
			require.LessOrEqual(t, all[i].Seq, int64(3), "the oldest are deleted by it: no number is used up by a count that grows")
			all[i].Seq = 0
		}
		return all, next
	}
	for _, c := range []struct {
		by   store.RefusalSearch
		want []compute.Refusal
	}{
		{store.RefusalSearch{}, []compute.Refusal{later, other, one}},
		{store.RefusalSearch{Client: "192.0.2.1"}, []compute.Refusal{later, one}},
		{store.RefusalSearch{KeyID: "SHA256:x"}, []compute.Refusal{other}},
		{store.RefusalSearch{UserID: "ada", Since: later.At}, []compute.Refusal{later}},
		{store.RefusalSearch{Until: later.At}, []compute.Refusal{other, one}},
		{store.RefusalSearch{UserID: "bob"}, nil},
	} {
		all, next := page(c.by, wide)
		require.Equal(t, c.want, all, "%+v", c.by)
		require.Zero(t, next)
	}
	first, next := page(store.RefusalSearch{}, compute.Page{Limit: 2})
	require.Equal(t, []compute.Refusal{later, other}, first)
	rest, end := page(store.RefusalSearch{}, compute.Page{Limit: 2, After: next})
	require.Equal(t, []compute.Refusal{one}, rest)
	require.Zero(t, end)
	whole, end := page(store.RefusalSearch{}, compute.Page{Limit: 3})
	require.Len(t, whole, 3)
	require.Zero(t, end, "nothing comes after as many as there are")

	expire := func(before time.Time, kept int64, limit int) (n int) {
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.DeleteRefusals(before, kept, limit)
			return err
		})
		return n
	}
	require.Zero(t, expire(minute, 100, 10))
	require.Equal(t, 1, expire(later.At, 100, 1), "no more at once")
	require.Equal(t, 1, expire(minute, 1, 10), "no more than are kept")
	left, _ := page(store.RefusalSearch{}, wide)
	require.Equal(t, []compute.Refusal{later}, left)

	write(t, s, store.Tx.Clear)
	left, _ = page(store.RefusalSearch{}, wide)
	require.Equal(t, []compute.Refusal{later}, left, "a reset does not hide who was refused")
}
