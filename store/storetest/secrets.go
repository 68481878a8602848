package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func secrets(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.Secret {
		return read(t, s, func(tx store.Tx) ([]compute.Secret, error) { return allOf(tx.ListSecrets("u", nil)) })
	}

	newest := func() (id compute.SecretID) {
		read(t, s, func(tx store.Tx) (bool, error) {
			one, found, err := tx.NewestSecret()
			require.Equal(t, one.ID != "", found)
			id = one.ID
			return found, err
		})
		return id
	}

	named := func(name string) (id compute.SecretID) {
		read(t, s, func(tx store.Tx) (bool, error) {
			one, found, err := tx.SecretNamed("u", name)
			require.Equal(t, one.ID != "", found)
			id = one.ID
			return found, err
		})
		return id
	}

	value := func(id compute.SecretID) []byte {
		return read(t, s, func(tx store.Tx) ([]byte, error) { return tx.SecretValue(id) })
	}
	insert := func(one compute.Secret) error {
		return s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertSecret(one, []byte{0, 0xff}) })
	}

	require.Empty(t, list())
	require.Empty(t, newest())
	first := compute.Secret{ID: "a", UserID: "u", Name: "One", Description: "d", CreatedAt: start}
	second := compute.Secret{ID: "b", UserID: "u", Name: "two", CreatedAt: start, ChangedAt: start.Add(time.Second)}
	late := compute.Secret{ID: "c", UserID: "u", Name: "three", CreatedAt: start.Add(time.Second)}
	other := compute.Secret{ID: "d", UserID: "v", Name: "one", CreatedAt: start}
	for _, one := range []compute.Secret{late, first, second, other} {
		require.NoError(t, insert(one))
	}

	require.Equal(t, []compute.Secret{late, second, first}, list())
	require.Equal(t, compute.SecretID("d"), newest())
	require.Equal(t, first, read(t, s, func(tx store.Tx) (compute.Secret, error) { return tx.Secret("a") }))
	require.Equal(t, compute.SecretID("a"), named("oNE"))
	require.Empty(t, named("four"))
	require.Equal(t, []byte{0, 0xff}, value("a"))
	require.Equal(t, compute.Conflict, compute.CodeOf(insert(first)), "the id is taken")
	require.Equal(t, compute.Conflict, compute.CodeOf(insert(compute.Secret{ID: "e", UserID: "u", Name: "ONE", CreatedAt: start})), "the name is taken")

	changed := first
	changed.Name, changed.Description, changed.ChangedAt = "other", "", start.Add(time.Hour)
	write(t, s, func(tx store.Tx) error { return tx.UpdateSecret(changed) })
	write(t, s, func(tx store.Tx) error { return tx.SetSecretValue(changed, []byte{7}) })
	changed.Name = first.Name
	require.Equal(t, []compute.Secret{late, second, changed}, list())
	require.Equal(t, []byte{7}, value("a"))
	require.Equal(t, []byte{0, 0xff}, value("b"))

	write(t, s, func(tx store.Tx) error { return tx.DeleteSecret("a") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteSecret("a") })
	require.Equal(t, []compute.Secret{late, second}, list())
	for _, unknown := range []error{
		s.Write(t.Context(), func(tx store.Tx) error { return tx.UpdateSecret(first) }),
		s.Write(t.Context(), func(tx store.Tx) error { return tx.SetSecretValue(first, nil) }),
		s.Read(t.Context(), func(tx store.Tx) error { _, err := tx.Secret("a"); return err }),
		s.Read(t.Context(), func(tx store.Tx) error { _, err := tx.SecretValue("a"); return err }),
	} {
		require.Equal(t, compute.NotFound, compute.CodeOf(unknown))
	}
	require.NoError(t, insert(first), "the name is free again")
}
