package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func scripts(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.EndpointScript {
		return read(t, s, func(tx store.Tx) ([]compute.EndpointScript, error) { return tx.ListScripts() })
	}
	set := func(one compute.EndpointScript) {
		write(t, s, func(tx store.Tx) error { return tx.SetScript(one) })
	}
	get := func(id compute.EndpointID) (one compute.EndpointScript) {
		read(t, s, func(tx store.Tx) (found bool, err error) {
			one, found, err = tx.Script(id)
			require.Equal(t, one.EndpointID != "", found)
			return found, err
		})
		return one
	}

	require.Empty(t, list())
	require.Zero(t, get("a"))
	first, second := compute.EndpointScript{EndpointID: "b", Document: `{"a":"\u0000ä"}`, Counts: "{}"}, compute.EndpointScript{EndpointID: "a", Document: "{}", Counts: `{"jobs":1}`}
	set(first)
	set(second)
	require.Equal(t, []compute.EndpointScript{second, first}, list(), "by their endpoints")
	require.Equal(t, first, get("b"))

	first.Document, first.Counts = `{}`, `{"jobs":2}`
	set(first)
	require.Equal(t, []compute.EndpointScript{second, first}, list())

	for range 2 {
		write(t, s, func(tx store.Tx) error { return tx.DeleteScript("b") })
	}
	require.Equal(t, []compute.EndpointScript{second}, list())
	write(t, s, func(tx store.Tx) error { return tx.DeleteEndpoint("a") })
	require.Empty(t, list(), "it goes with its endpoint")
	set(second)
	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	require.Empty(t, list())
}
