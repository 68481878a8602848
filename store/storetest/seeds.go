package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

func seeds(t *testing.T, open Open) {
	s, _ := begin(t, open)
	get := func() string {
		return read(t, s, func(tx store.Tx) (string, error) { return tx.Seed() })
	}
	require.Empty(t, get())

	for _, digest := range []string{"one", "another"} {
		write(t, s, func(tx store.Tx) error { return tx.SetSeed(digest) })
		require.Equal(t, digest, get())
	}
	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	require.Empty(t, get(), "its rows are gone, too")
}
