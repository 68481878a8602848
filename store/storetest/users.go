package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func users(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.User { return read(t, s, store.Tx.ListUsers) }
	require.Empty(t, list())
	none := read(t, s, store.Tx.CountUsers)
	require.Zero(t, none)

	ada := compute.User{Name: "ada", Role: compute.RoleAdmin, CreatedAt: start.Add(time.Second)}
	bob := compute.User{Name: "bob", Role: compute.RoleAdmin, Disabled: true, CreatedAt: start}
	eve := compute.User{Name: "Ada", Role: compute.RoleReader, CreatedAt: start.Add(time.Second)}
	for _, u := range []compute.User{ada, bob, eve} {
		write(t, s, func(tx store.Tx) error { return tx.InsertUser(u) })
	}
	require.Equal(t, []compute.User{bob, eve, ada}, list())
	require.Equal(t, 3, read(t, s, store.Tx.CountUsers))
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertUser(ada) })))
	admins := func() (n int) {
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.HoldAdmins()
			return err
		})
		return n
	}
	require.Equal(t, 1, admins(), "one that is disabled does not count")

	bob.Disabled, ada.Role = false, compute.RoleMember
	write(t, s, func(tx store.Tx) error { return tx.UpdateUser(bob) })
	require.Equal(t, 2, admins())
	write(t, s, func(tx store.Tx) error { return tx.UpdateUser(ada) })
	require.Equal(t, 1, admins())
	require.Equal(t, []compute.User{bob, eve, ada}, list(), "nothing else has changed")
	require.Equal(t, ada, read(t, s, func(tx store.Tx) (compute.User, error) { return tx.User("ada") }))

	require.Equal(t, compute.NotFound, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.UpdateUser(compute.User{Name: "none"}) })))
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Read(t.Context(), func(tx store.Tx) error {
		_, err := tx.User("none")
		return err
	})))

	isThere := func(name compute.UserID) (there bool) {
		write(t, s, func(tx store.Tx) (err error) {
			there, err = tx.HoldUser(name)
			return err
		})
		return there
	}
	require.True(t, isThere("ada"))
	require.True(t, isThere("Ada"))
	require.False(t, isThere("none"))
	for range 2 {
		write(t, s, func(tx store.Tx) error { return tx.DeleteUser("ada") })
		require.False(t, isThere("ada"))
	}
	write(t, s, store.Tx.Clear)
	require.Equal(t, []compute.User{bob, eve}, list(), "a reset leaves users, as it leaves keys")
}
