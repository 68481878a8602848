package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func runtimes(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.RuntimeAt {
		return read(t, s, func(tx store.Tx) ([]compute.RuntimeAt, error) { return tx.ListRuntimes() })
	}
	require.Empty(t, list())

	here, there := compute.RuntimeAt{Name: "docker", Address: "unix:///here"}, compute.RuntimeAt{Name: "docker", Address: "ssh://there"}
	for _, r := range []compute.RuntimeAt{here, there, here} {
		write(t, s, func(tx store.Tx) error { return tx.InsertRuntime(r) })
	}
	require.Equal(t, []compute.RuntimeAt{there, here}, list())

	for range 2 {
		write(t, s, func(tx store.Tx) error { return tx.DeleteRuntime(here) })
	}
	require.Equal(t, []compute.RuntimeAt{there}, list())
}
