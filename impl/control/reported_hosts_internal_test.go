package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// taken is a host of which nothing is left.
func taken(h Host) ReportedHost {
	return ReportedHost{Host: h, Taken: compute.Claimed{GPUs: h.GPUCount, VCPUs: h.VCPUs, MemoryGB: h.MemoryGB, DiskGB: h.DiskGB}}
}

func TestPlacement_WhatWaitsDoesSoWhereItPrefersToBe(t *testing.T) {
	t.Parallel()
	romania, japan, kansas := l4s("ro", 4), l4s("jp", 4), l4s("ks", 1)
	japan.DataCenterID, kansas.DataCenterID = "AP-JP-1", "US-KS-2"
	c := openScheduled(t, taken(kansas), taken(japan), taken(romania))
	for _, one := range []struct {
		count   int64
		centers []string
		at      string
	}{
		{1, nil, "EU-RO-1"},
		{1, []string{"AP-JP-1", "EU-RO-1"}, "AP-JP-1"},
		{1, []string{"EU-RO-1", "AP-JP-1"}, "EU-RO-1"},
		{1, []string{"US-KS-2", "EU-RO-1"}, "US-KS-2"},
		{2, []string{"US-KS-2", "AP-JP-1"}, "AP-JP-1"}, // the first could never hold it
	} {
		n := gpuPod(one.count)
		n.DataCenterIDs = one.centers
		pod, err := c.CreatePod(t.Context(), "u", n)
		require.NoError(t, err)
		require.Equal(t, one.at, pod.DataCenterID, "%+v", one)
	}

	n := gpuPod(2)
	n.DataCenterIDs = []string{"US-KS-2"}
	_, err := c.CreatePod(t.Context(), "u", n)
	require.ErrorIs(t, err, ErrNever)
}

func TestPlacement_AnywhereIsTheDataCenterThatIsPreferred(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	p := PrepareFleet(catalog, nil).placement
	for center, asked := range map[string][]string{"EU-RO-1": nil, "US-KS-2": {"US-KS-2", "AP-JP-1"}, "AP-JP-1": {"AP-JP-1", "US-KS-2"}} {
		h := p.anywhere(&want{DataCenterIDs: asked})
		require.Equal(t, center, h.DataCenterID)
		require.Equal(t, center, h.center.ID)
	}
}

func TestPlacement_SetReported_TakesWhatTheRuntimeSays(t *testing.T) {
	t.Parallel()
	c := openScheduled(t, ReportedHost{Host: l4s("a", 4), Taken: compute.Claimed{GPUs: 1, VCPUs: 9, MemoryGB: 10, DiskGB: 11}}, ReportedHost{Host: l4s("b", 1), Draining: true})
	free := map[string]amount{"a": {3, 23, 22, 89}, "b": {1, 8, 8, 100}}
	require.Equal(t, free, c.placement.freeNow())
	require.NoError(t, c.placement.read(t.Context()), "whatever the rows say")
	require.Equal(t, free, c.placement.freeNow())
	hosts := c.Hosts()
	require.False(t, hosts[0].Draining)
	require.True(t, hosts[1].Draining)
	require.Equal(t, c.catalog, c.placement.Catalog())
}

func TestPlacement_HostsForWhatMayNotRunOnAll(t *testing.T) {
	t.Parallel()
	first, second, far, other := l4s("z", 2), l4s("a", 2), l4s("far", 2), l4s("other", 2)
	far.DataCenterID, other.GPU = "US-KS-2", "NVIDIA A40"
	for _, h := range []*Host{&first, &second, &far} {
		h.CPUs = []string{"cpu3g"}
	}
	onlyCPUs := Host{ID: "cpu-near", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu5c"}, VCPUs: 8, MemoryGB: 16, DiskGB: 100}
	farCPUs := onlyCPUs
	farCPUs.ID, farCPUs.DataCenterID = "cpu-far", "US-KS-2"
	hosts := []ReportedHost{{Host: first}, {Host: second}, {Host: far}, {Host: other}, {Host: onlyCPUs}, {Host: farCPUs}}
	c := openScheduled(t, hosts...)
	near := []string{"a", "z"}

	gpu, cpu := &compute.GPU{ID: "NVIDIA L4", Count: 1}, &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}
	require.Equal(t, near, c.placement.HostsFor(compute.Pod{GPU: gpu, DataCenterID: "EU-RO-1"}))
	require.Equal(t, near, c.placement.HostsFor(compute.Pod{CPU: cpu, DataCenterID: "EU-RO-1"}))
	require.Nil(t, c.placement.HostsFor(compute.Pod{GPU: &compute.GPU{ID: "NVIDIA A40", Count: 1}, DataCenterID: "EU-RO-1"}), "all of the type are there")
	require.Equal(t, near, c.placement.HostsForWorker(compute.Worker{GPU: gpu, DataCenterID: "EU-RO-1"}))
	require.Equal(t, []string{"far"}, c.placement.HostsForWorker(compute.Worker{CPU: cpu, DataCenterID: "US-KS-2"}))
	require.Equal(t, []string{}, c.placement.HostsFor(compute.Pod{GPU: gpu, DataCenterID: "AP-JP-1"}), "none, which is not any")
	require.Equal(t, []string{}, c.placement.HostsForWorker(compute.Worker{CPU: cpu, DataCenterID: "AP-JP-1"}))
	require.Nil(t, c.placement.HostsForWorker(compute.Worker{DataCenterID: "EU-RO-1"}), "it says nothing of its hardware")

	p, err := NewPlacement(t.Context(), openStore(t), c.catalog, []Host{first, far}, PlacementOptions{Place: runtime.Pack})
	require.NoError(t, err)
	require.Nil(t, p.HostsFor(compute.Pod{GPU: gpu, DataCenterID: "EU-RO-1"}), "berth itself chooses the host")
}
