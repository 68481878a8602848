package control

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// chargesOf gives what was billed so far for a volume of the user u.
func (c *Control) chargesOf(t *testing.T, id compute.VolumeID) (all []compute.Charge) {
	t.Helper()
	require.NoError(t, c.store.Read(t.Context(), func(tx store.Tx) (err error) {
		items := []compute.Item{compute.StorageStandard, compute.StorageHighPerformance}
		return tx.EachCharge("u", items, new(string(id)), tx.Wall().Add(-24*time.Hour), tx.Wall().Add(24*time.Hour), func(one compute.Charge) error {
			all = append(all, one)
			return nil
		})
	}))
	slices.SortFunc(all, func(a, b compute.Charge) int { return a.BeganAt.Compare(b.BeganAt) })
	return all
}

func TestControl_UpdateVolume_IsBilledAtItsSize(t *testing.T) {
	t.Parallel()
	c, clock, _ := openFrozen(t, nil)
	ctx := t.Context()
	_, err := c.CreateVolume(ctx, "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "none"})
	require.ErrorContains(t, err, `dataCenter: there is no data center "none"`)
	v, err := c.CreateVolume(ctx, "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1", Type: compute.HighPerformanceVolume})
	require.NoError(t, err)
	require.Equal(t, compute.HighPerformanceVolume, v.Type)
	clock.Advance(time.Hour)

	changed, err := c.UpdateVolume(ctx, "u", v.ID, VolumeChange{Name: new("w")})
	require.NoError(t, err)
	require.Equal(t, []any{"w", int64(10)}, []any{changed.Name, changed.SizeGB})
	require.Len(t, c.chargesOf(t, v.ID), 1, "a name costs nothing")
	_, err = c.UpdateVolume(ctx, "u", v.ID, VolumeChange{Name: new("x"), SizeGB: new(int64(9))})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "size: 10 GB cannot shrink to 9")
	_, err = c.UpdateVolume(ctx, "u", v.ID, VolumeChange{SizeGB: new(int64(10))})
	require.NoError(t, err, "it stays as large")
	require.Len(t, c.chargesOf(t, v.ID), 1, "and costs what it did")
	clock.Advance(time.Hour)
	changed, err = c.UpdateVolume(ctx, "u", v.ID, VolumeChange{SizeGB: new(int64(11))})
	require.NoError(t, err)
	require.Equal(t, []any{"w", int64(11)}, []any{changed.Name, changed.SizeGB})
	stored, err := c.GetVolume(ctx, "u", v.ID)
	require.NoError(t, err)
	require.Equal(t, changed, stored)

	charges := c.chargesOf(t, v.ID)
	last := charges[len(charges)-1]
	require.Equal(t, []any{compute.StorageHighPerformance, compute.NanoUSD(2_200_000), true}, []any{last.Item, last.Rate, last.EndedAt.IsZero()})
	require.NoError(t, c.DeleteVolume(ctx, "u", v.ID))
	for _, charge := range c.chargesOf(t, v.ID) {
		require.False(t, charge.EndedAt.IsZero())
	}
}

func TestControl_DeleteVolume_NamesWhatUsesIt(t *testing.T) {
	t.Parallel()
	c, _, said := openFrozen(t, nil)
	ctx := t.Context()
	v, err := c.CreateVolume(ctx, "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	global, err := c.CreateGlobalVolume(ctx, "u", "g")
	require.NoError(t, err)
	mounts := &compute.NetworkMount{VolumeID: v.ID, Path: "/v"}
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error {
		return errors.Join(
			tx.InsertPod(compute.Pod{ID: "p", UserID: "u", Network: mounts, Status: compute.PodExited, Version: 1}),
			tx.InsertPod(compute.Pod{ID: "gone", UserID: "u", Network: mounts, Status: compute.PodTerminated}),
			tx.InsertEndpoint(compute.Endpoint{ID: "e", UserID: "u", Type: compute.QueueEndpoint, VolumeIDs: []compute.VolumeID{v.ID}, CreatedAt: tx.Wall()}),
			tx.InsertEndpoint(compute.Endpoint{ID: "f", UserID: "u", Type: compute.QueueEndpoint, GlobalVolumeID: global.ID, CreatedAt: tx.Wall()}),
		)
	}))
	require.ErrorContains(t, c.DeleteVolume(ctx, "u", v.ID), `network volume "`+string(v.ID)+`" is mounted by pod "p"`)
	require.NoError(t, c.DeletePod(ctx, "u", "p"))
	require.ErrorContains(t, c.DeleteVolume(ctx, "u", v.ID), `network volume "`+string(v.ID)+`" is used by endpoint "e"`)
	require.ErrorContains(t, c.DeleteGlobalVolume(ctx, "u", global.ID), `global volume "`+string(global.ID)+`" is mounted by endpoint "f"`)
	require.Empty(t, said.volumes)
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error { return errors.Join(tx.DeleteEndpoint("e"), tx.DeleteEndpoint("f")) }))
	require.NoError(t, c.DeleteVolume(ctx, "u", v.ID))
	require.NoError(t, c.DeleteGlobalVolume(ctx, "u", global.ID))
}
