package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func volumes(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.Volume {
		return read(t, s, func(tx store.Tx) ([]compute.Volume, error) { return firstPage(tx.PageVolumes("u", wide)) })
	}
	require.Empty(t, list())

	first := compute.Volume{ID: "a", UserID: "u", Name: "n", SizeGB: 10, DataCenterID: "dc", Type: compute.HighPerformanceVolume, CreatedAt: start}
	second, late, other := first, first, first
	second.ID, late.ID, late.CreatedAt, other.ID, other.UserID = "b", "c", start.Add(time.Second), "d", "v"
	for _, v := range []compute.Volume{late, first, second, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertVolume(v) })
	}
	require.Equal(t, []compute.Volume{late, second, first}, list())
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertVolume(first) })))

	changed := first
	changed.Name, changed.SizeGB = "m", 20
	write(t, s, func(tx store.Tx) error { return tx.UpdateVolume(changed) })
	require.Equal(t, changed, read(t, s, func(tx store.Tx) (compute.Volume, error) { return tx.Volume("a") }))

	fixed := changed
	fixed.UserID, fixed.DataCenterID, fixed.Type = "v", "elsewhere", compute.StandardVolume
	write(t, s, func(tx store.Tx) error { return tx.UpdateVolume(fixed) })
	require.Equal(t, changed, read(t, s, func(tx store.Tx) (compute.Volume, error) { return tx.Volume("a") }))
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.UpdateVolume(compute.Volume{ID: "none"}) })))

	write(t, s, func(tx store.Tx) error { return tx.DeleteVolume("a") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteVolume("a") })
	require.Equal(t, []compute.Volume{late, second}, list())
	_, err := tryRead(t, s, func(tx store.Tx) (compute.Volume, error) { return tx.Volume("a") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func volumePods(t *testing.T, open Open) {
	s, _ := begin(t, open)
	mounting := func(id compute.PodID, volume compute.VolumeID, status compute.PodStatus) compute.Pod {
		p := pod(id, "u", status)
		p.Network = &compute.NetworkMount{VolumeID: volume, Path: "/n"}
		return p
	}

	insertPods(t, s, mounting("z", "v", compute.PodRunning), mounting("a", "v", compute.PodExited), mounting("gone", "v", compute.PodTerminated),
		mounting("other", "w", compute.PodRunning), pod("bare", "u", compute.PodRunning))
	list := func(id compute.VolumeID) []compute.PodID {
		return read(t, s, func(tx store.Tx) ([]compute.PodID, error) { return tx.VolumePods(id) })
	}
	require.Equal(t, []compute.PodID{"z", "a"}, list("v"))
	require.Empty(t, list("none"))
}
