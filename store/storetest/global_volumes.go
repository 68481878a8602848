package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func globalVolumes(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.GlobalVolume {
		return read(t, s, func(tx store.Tx) ([]compute.GlobalVolume, error) { return firstPage(tx.PageGlobalVolumes("u", wide)) })
	}
	require.Empty(t, list())

	first := compute.GlobalVolume{ID: "a", UserID: "u", Name: "n", CreatedAt: start}
	second, late, other := first, first, first
	second.ID, late.ID, late.CreatedAt, other.ID, other.UserID = "b", "c", start.Add(time.Second), "d", "v"
	for _, v := range []compute.GlobalVolume{late, first, second, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertGlobalVolume(v) })
	}
	require.Equal(t, []compute.GlobalVolume{late, second, first}, list())
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertGlobalVolume(first) })))

	renamed := first
	renamed.Name, renamed.UserID = "m", "v"
	write(t, s, func(tx store.Tx) error { return tx.UpdateGlobalVolume(renamed) })
	renamed.UserID = "u"
	require.Equal(t, renamed, read(t, s, func(tx store.Tx) (compute.GlobalVolume, error) { return tx.GlobalVolume("a") }))
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error {
		return tx.UpdateGlobalVolume(compute.GlobalVolume{ID: "none"})
	})))

	write(t, s, func(tx store.Tx) error { return tx.DeleteGlobalVolume("a") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteGlobalVolume("a") })
	require.Equal(t, []compute.GlobalVolume{late, second}, list())
	_, err := tryRead(t, s, func(tx store.Tx) (compute.GlobalVolume, error) { return tx.GlobalVolume("a") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}
