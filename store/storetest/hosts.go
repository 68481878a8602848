package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func hostChanges(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.HostChange {
		return read(t, s, func(tx store.Tx) ([]compute.HostChange, error) { return tx.HostChanges() })
	}
	set := func(c compute.HostChange) {
		write(t, s, func(tx store.Tx) error { return tx.SetHostChange(c) })
	}
	require.Empty(t, list())

	added, drained := compute.HostChange{ID: "b", Added: `{"id":"b"}`}, compute.HostChange{ID: "a", Draining: true}
	set(added)
	set(drained)
	require.Equal(t, []compute.HostChange{added, drained}, list(), "in the order in which they came")

	added.Draining, drained = true, compute.HostChange{ID: "a", Removed: true}
	set(added)
	set(drained)
	require.Equal(t, []compute.HostChange{added, drained}, list())

	for range 2 {
		set(compute.HostChange{ID: "b"})
	}
	require.Equal(t, []compute.HostChange{drained}, list())
}
