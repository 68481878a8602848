package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func clusters(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.Cluster {
		return read(t, s, func(tx store.Tx) ([]compute.Cluster, error) { return allOf(tx.ListClusters("u", nil)) })
	}
	require.Empty(t, list())

	first := compute.Cluster{
		ID: "a", UserID: "u", Name: "n", Type: compute.RayCluster, GPU: compute.GPU{ID: "g", Count: 2}, PodCount: 3, DataCenterID: "dc", CreatedAt: start,
	}
	second, late, other := first, first, first
	second.ID, late.ID, late.CreatedAt, other.ID, other.UserID = "b", "c", start.Add(time.Second), "d", "v"
	for _, c := range []compute.Cluster{late, first, second, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertCluster(c) })
	}
	require.Equal(t, []compute.Cluster{late, second, first}, list())
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertCluster(first) })))

	write(t, s, func(tx store.Tx) error { return tx.RenameCluster("a", "m") })
	first.Name = "m"
	require.Equal(t, first, read(t, s, func(tx store.Tx) (compute.Cluster, error) { return tx.Cluster("a") }))
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.RenameCluster("none", "m") })))

	in := func(id compute.PodID, cluster compute.ClusterID, status compute.PodStatus) compute.Pod {
		p := pod(id, "u", status)
		p.ClusterID = cluster
		return p
	}

	insertPods(t, s, in("z", "a", compute.PodRunning), in("y", "a", compute.PodError), in("gone", "a", compute.PodTerminated),
		in("other", "b", compute.PodRunning), pod("bare", "u", compute.PodRunning))
	pods := func(id compute.ClusterID) []compute.PodID {
		return podIDs(read(t, s, func(tx store.Tx) ([]compute.Pod, error) {
			all, whole, err := tx.ClusterPods(id, nil)
			require.True(t, whole)
			return all, err
		}))
	}
	require.Equal(t, []compute.PodID{"z", "y"}, pods("a"))
	require.Equal(t, []compute.ClusterMember{{ID: "z", Status: compute.PodRunning}, {ID: "y", Status: compute.PodError}},
		read(t, s, func(tx store.Tx) ([]compute.ClusterMember, error) { return tx.ClusterMembers("a") }))
	require.Equal(t, []compute.PodID{"z"}, podIDs(read(t, s, func(tx store.Tx) ([]compute.Pod, error) {
		some, whole, err := tx.ClusterPods("a", func(int) bool { return false })
		require.False(t, whole, "there is room for none, and one is given in any case")
		return some, err
	})))
	require.Empty(t, pods("none"))

	write(t, s, func(tx store.Tx) error { return tx.DeleteCluster("a") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteCluster("a") })
	require.Equal(t, []compute.Cluster{late, second}, list())
	require.Equal(t, []compute.PodID{"z", "y"}, pods("a"))

	_, err := tryRead(t, s, func(tx store.Tx) (compute.Cluster, error) { return tx.Cluster("a") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}
