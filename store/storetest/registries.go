package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func registries(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.Registry {
		return read(t, s, func(tx store.Tx) ([]compute.Registry, error) { return allOf(tx.ListRegistries("u", nil)) })
	}

	newest := func() (id compute.RegistryID) {
		read(t, s, func(tx store.Tx) (found bool, err error) {
			r, found, err := tx.NewestRegistry()
			require.Equal(t, r.ID != "", found)
			id = r.ID
			return found, err
		})
		return id
	}

	require.Empty(t, list())
	require.Empty(t, newest())
	first := compute.Registry{ID: "a", UserID: "u", Name: "n", Login: []byte{0, 1, 0xff}, CreatedAt: start}
	second, late, other := first, first, first
	second.ID, late.ID, late.CreatedAt, other.ID, other.UserID = "b", "c", start.Add(time.Second), "d", "v"
	for _, r := range []compute.Registry{late, first, second, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertRegistry(r) })
	}
	require.Equal(t, []compute.Registry{first, second, late}, list())
	require.Equal(t, compute.RegistryID("d"), newest())
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertRegistry(first) })))
	require.Equal(t, other, read(t, s, func(tx store.Tx) (compute.Registry, error) { return tx.Registry("d") }))

	using := func(id compute.PodID, registry compute.RegistryID, status compute.PodStatus) compute.Pod {
		p := pod(id, "u", status)
		p.RegistryID = registry
		return p
	}

	insertPods(t, s, using("z", "a", compute.PodRunning), using("y", "a", compute.PodError), using("gone", "a", compute.PodTerminated),
		using("other", "b", compute.PodRunning), pod("bare", "u", compute.PodRunning))
	pods := func(id compute.RegistryID) []compute.PodID {
		return read(t, s, func(tx store.Tx) ([]compute.PodID, error) { return tx.RegistryPods(id) })
	}
	require.Equal(t, []compute.PodID{"z", "y"}, pods("a"))
	require.Empty(t, pods("none"))

	changed := other
	changed.Login = []byte{2}
	write(t, s, func(tx store.Tx) error { return tx.UpdateRegistry(changed) })
	require.Equal(t, changed, read(t, s, func(tx store.Tx) (compute.Registry, error) { return tx.Registry("d") }))
	require.Equal(t, []compute.Registry{first, second, late}, list())

	unknown := s.Write(t.Context(), func(tx store.Tx) error { return tx.UpdateRegistry(compute.Registry{ID: "none"}) })
	require.Equal(t, compute.NotFound, compute.CodeOf(unknown))

	write(t, s, func(tx store.Tx) error { return tx.DeleteRegistry("a") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteRegistry("a") })
	require.Equal(t, []compute.Registry{second, late}, list())
	_, err := tryRead(t, s, func(tx store.Tx) (compute.Registry, error) { return tx.Registry("a") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func delegations(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.Delegation {
		return read(t, s, func(tx store.Tx) ([]compute.Delegation, error) { return allOf(tx.ListDelegations("u", nil)) })
	}
	require.Empty(t, list())

	first := compute.Delegation{ID: "a", UserID: "u", Name: "n", Account: "1", Region: "r", Repository: "a/b", Tag: "t", CreatedAt: start}
	second, other := first, first
	second.ID, second.Name, other.ID, other.UserID = "b", "", "c", "v"
	for _, d := range []compute.Delegation{first, second, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertDelegation(d) })
	}
	require.Equal(t, []compute.Delegation{second, first}, list())
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertDelegation(first) })))

	revoke := func(user compute.UserID, id compute.DelegationID) bool {
		return guarded(t, s, func(tx store.Tx) (bool, error) { return tx.DeleteDelegation(user, id) })
	}
	require.False(t, revoke("v", "a"), "somebody else's")
	require.True(t, revoke("u", "a"))
	require.False(t, revoke("u", "a"))
	require.Equal(t, []compute.Delegation{second}, list())
}
