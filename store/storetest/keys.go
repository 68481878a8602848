package storetest

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func keys(t *testing.T, open Open) {
	s, clock := begin(t, open)
	list := func() []compute.Key {
		return read(t, s, func(tx store.Tx) ([]compute.Key, error) { return tx.ListKeys() })
	}
	require.Empty(t, list())

	full := compute.Key{
		ID: "z", UserID: "u", Name: "n", Scopes: []compute.Scope{"one", "two"}, Hash: sha256.Sum256([]byte("token")), WorkerID: "w", Exempt: true, Contract: "c",
		CreatedAt: start, ExpiresAt: start.Add(time.Hour), RevokedAt: start.Add(time.Minute),
	}
	bare := compute.Key{ID: "a", CreatedAt: start}
	none := compute.Key{ID: "b", Scopes: []compute.Scope{}, CreatedAt: start}
	for _, k := range []compute.Key{full, bare, none} {
		write(t, s, func(tx store.Tx) error { return tx.InsertKey(k) })
	}
	require.Equal(t, []compute.Key{full, bare, none}, list())
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertKey(full) })))

	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.RevokeKey("a") })
	bare.RevokedAt = clock.Now()
	require.Equal(t, []compute.Key{full, bare, none}, list())

	one := func(id compute.KeyID) (k compute.Key, err error) {
		err = s.Read(t.Context(), func(tx store.Tx) (err error) {
			k, err = tx.Key(id)
			return err
		})
		return k, err
	}

	for _, k := range list() {
		found, err := one(k.ID)
		require.NoError(t, err)
		require.Equal(t, k, found)
	}

	_, err := one("none")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.RevokeKey("none") })))

	write(t, s, func(tx store.Tx) error { return tx.DeleteKey("z") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteKey("z") })
	require.Equal(t, []compute.Key{bare, none}, list())
}

func oldKeys(t *testing.T, open Open) {
	s, _ := begin(t, open)
	for _, k := range []compute.Key{
		{ID: "good"}, {ID: "expires", ExpiresAt: start.Add(time.Hour)}, {ID: "expired", ExpiresAt: start},
		{ID: "revoked", RevokedAt: start, ExpiresAt: start.Add(time.Hour)}, {ID: "just revoked", RevokedAt: start.Add(time.Millisecond)},
	} {
		write(t, s, func(tx store.Tx) error { return tx.InsertKey(k) })
	}

	write(t, s, func(tx store.Tx) error {
		n, err := tx.DeleteInvalidKeys(start.Add(time.Millisecond))
		require.Equal(t, 2, n)
		return err
	})

	var left []compute.KeyID
	for _, k := range read(t, s, func(tx store.Tx) ([]compute.Key, error) { return tx.ListKeys() }) {
		left = append(left, k.ID)
	}
	require.Equal(t, []compute.KeyID{"good", "expires", "just revoked"}, left)
}
