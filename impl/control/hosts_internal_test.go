package control

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestWant_KeepsWhatThePodAsksOfEachHost(t *testing.T) {
	t.Parallel()
	pod := compute.Pod{
		GPU:   &compute.GPU{ID: "NVIDIA L4", Count: 3},
		Needs: compute.PodNeeds{CUDAVersions: []string{"12.8"}, LeastCUDA: "12.4", VCPUsPerGPU: 4, MemoryGBPerGPU: 8},
	}
	w := want{Needs: Needs{LeastVCPUs: 11, LeastMemoryGB: 25, DownloadMbps: 5}}
	w.keep(pod)
	require.Equal(t, want{Needs: Needs{LeastVCPUs: 12, LeastMemoryGB: 25, DownloadMbps: 5, CUDAVersions: []string{"12.8"}, LeastCUDA: "12.4"}}, w)
	w = want{Needs: Needs{CUDAVersions: []string{"13.0"}, LeastCUDA: "13.0"}}
	w.keep(pod)
	require.Equal(t, want{Needs: Needs{LeastVCPUs: 12, LeastMemoryGB: 24, CUDAVersions: []string{"13.0"}, LeastCUDA: "13.0"}}, w, "what is asked for now wins")

	pod.Needs.VCPUsPerGPU, pod.Needs.MemoryGBPerGPU = math.MaxInt64, math.MaxInt64/3
	w = want{}
	w.keep(pod)
	require.EqualValues(t, math.MaxInt64/3*3, w.LeastVCPUs, "more than any host has, and not less than nothing")
	require.EqualValues(t, math.MaxInt64/3*3, w.LeastMemoryGB)
	pod.GPU, pod.CPU = nil, &compute.CPU{ID: "cpu3g", VCPUCount: 2}
	w = want{}
	w.keep(pod)
	require.Equal(t, want{}, w)
}

func TestWantOf_IsWhatThePodTakes(t *testing.T) {
	t.Parallel()
	require.Equal(t, want{GPU: "NVIDIA L4", Count: 2, Cloud: compute.Community, DiskGB: 5, GlobalNetwork: true}, wantOf(compute.Pod{
		GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}, Cloud: compute.Community, DiskGB: 5, GlobalNetworking: true, Persistent: &compute.PersistentMount{SizeGB: 10},
	}))
	require.Equal(t, want{CPU: "cpu3g", Count: 4, MemoryGB: 16}, wantOf(compute.Pod{CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 4, MemoryGB: 16}}))
}

func TestHost_GivesItsSharesWithItsGPUs(t *testing.T) {
	t.Parallel()
	h := &host{Host: &Host{GPU: "NVIDIA L4", GPUCount: 4, VCPUs: 35, MemoryGB: 130, DiskGB: 100}}
	require.Equal(t, compute.HostSize{GPUs: 4, VCPUs: 35, MemoryGB: 130, DiskGB: 100, VCPUsPerGPU: 8, MemoryGBPerGPU: 32}, h.size())
	require.Equal(t, amount{4, 35, 130, 100}, h.whole())
	require.Equal(t, amount{2, 16 + 3, 64 + 5, 7}, h.amountOf(compute.Claimed{GPUs: 2, VCPUs: 3, MemoryGB: 5, DiskGB: 7}))
	gpus := &want{GPU: "NVIDIA L4", Count: 3, DiskGB: 7, PersistentGB: 11}
	require.Equal(t, amount{3, 24, 96, 7}, h.share(gpus))
	require.Equal(t, amount{3, 24, 96, 18}, h.need(gpus))
	require.True(t, h.fits(gpus, amount{3, 24, 96, 18}))
	for _, less := range []amount{{2, 24, 96, 18}, {3, 23, 96, 18}, {3, 24, 95, 18}, {3, 24, 96, 17}} {
		require.False(t, h.fits(gpus, less), "%v", less)
	}

	none := &host{Host: &Host{VCPUs: 8, MemoryGB: 9}}
	require.Equal(t, compute.HostSize{VCPUs: 8, MemoryGB: 9, VCPUsPerGPU: 8, MemoryGBPerGPU: 9}, none.size())
	cpus := &want{CPU: "cpu3g", Count: 2, MemoryGB: 8, DiskGB: 7, Needs: Needs{LeastDiskGB: 30}}
	require.Equal(t, amount{0, 2, 8, 7}, none.share(cpus))
	require.Equal(t, amount{0, 2, 8, 30}, none.need(cpus), "so much is to be free, though it takes less")
	cpus.PersistentGB = math.MaxInt64
	require.EqualValues(t, math.MaxInt64, none.need(cpus).diskGB)
}

func TestPlacement_FindsHostsByTheirIDs(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	a, b, c := l4s("a", 1), l4s("a/b", 1), l4s("c", 1)
	a.CUDAVersion, b.CUDAVersion = "11.8,12.8", "11.8,12.8"
	p := PrepareFleet(catalog, []Host{a, b, c}).placement
	for id, want := range map[string]string{"a": "a", "a/12.8": "a", "a/11.8": "a", "a/b": "a/b", "a/b/12.8": "a/b", "c": "c"} {
		h := p.host(id)
		require.NotNil(t, h, id)
		require.Equal(t, want, h.ID)
	}
	for _, id := range []string{"", "/", "a/", "/12.8", "a/12.9", "a/12", "c/12.8", "d"} {
		require.Nil(t, p.host(id), "%q", id)
	}
	require.Equal(t, []cudaVersion{{11, 8}, {12, 8}}, p.host("a").cuda)
	require.Equal(t, []cudaVersion{{11, 8}, {12, 8}}, p.host("a/b").cuda, "hosts of the same versions have no more than those")
	require.Empty(t, p.host("c").cuda)
	require.Equal(t, []int{0, 1, 2}, []int{p.host("a").number, p.host("a/b").number, p.host("c").number})
}

func TestOutOfUse_SaysWhyNothingCanBeHeldLater(t *testing.T) {
	t.Parallel()
	const none, unknown = "; of the hosts that could hold it with nothing else on them none is in use: ", "; no host that is known could hold it with nothing else on it, either: "
	for _, one := range []struct {
		others outOfUse
		words  string
	}{
		{outOfUse{}, "; no host could hold it with nothing else on it, either"},
		{outOfUse{draining: 1}, none + "1 is draining"},
		{outOfUse{draining: 3}, none + "3 are draining"},
		{outOfUse{away: 1}, none + "1 does not answer"},
		{outOfUse{away: 2}, none + "2 do not answer"},
		{outOfUse{draining: 1, away: 1}, none + "1 is draining, 1 does not answer"},
		{outOfUse{draining: 2, unknown: 1}, none + "2 are draining, 1 has not said yet what it has"},
		{outOfUse{unknown: 1}, unknown + "1 has not said yet what it has"},
		{outOfUse{unknown: 2}, unknown + "2 have not said yet what they have"},
	} {
		require.Equal(t, one.words, one.others.words(false))
		require.Empty(t, one.others.words(true), "a host in use could hold it")
	}
}

func TestPlacement_CountsTheHostsThatAreOutOfUse(t *testing.T) {
	t.Parallel()
	asks, asksElsewhere := engined("asks"), engined("asks elsewhere")
	asks.VCPUs, asksElsewhere.VCPUs, asksElsewhere.DataCenterID = 0, 0, "US-KS-2"
	other := l4s("elsewhere", 4)
	other.DataCenterID, other.Cloud = "US-KS-2", compute.Community
	c := openControl(t, openStore(t), []Host{l4s("small", 1), l4s("drains", 2), l4s("drains too", 2), engined("away"), asks, asksElsewhere, other})
	for _, id := range []string{"drains", "drains too", "elsewhere", "small"} {
		_, err := c.DrainHost(t.Context(), id, true)
		require.NoError(t, err)
	}

	count := func(w want) outOfUse {
		c.placement.lockKnown()
		defer c.placement.mu.Unlock()
		w.GPU = "NVIDIA L4"
		found, others := c.placement.couldEver(&w)
		require.False(t, found)
		return others
	}
	require.Equal(t, outOfUse{draining: 4, away: 1, unknown: 2}, count(want{Count: 1}))
	require.Equal(t, outOfUse{draining: 3, unknown: 2}, count(want{Count: 2}))
	require.Equal(t, outOfUse{draining: 1, unknown: 2}, count(want{Count: 4}))
	require.Equal(t, outOfUse{unknown: 2}, count(want{Count: 5}))
	require.Equal(t, outOfUse{draining: 2, unknown: 1}, count(want{Count: 2, DataCenterIDs: []string{"EU-RO-1"}}))
	require.Equal(t, outOfUse{draining: 2, unknown: 2}, count(want{Count: 2, Cloud: compute.Secure}))
	require.Equal(t, outOfUse{draining: 1}, count(want{Count: 2, Cloud: compute.Community}))
	require.Equal(t, outOfUse{draining: 1}, count(want{Count: 1, HostID: "drains"}))
	require.Equal(t, outOfUse{unknown: 1}, count(want{Count: 1, HostID: "asks"}))
	require.Equal(t, outOfUse{}, count(want{Count: 1, HostID: "nobody"}))

	_, err := c.DrainHost(t.Context(), "drains", false)
	require.NoError(t, err)
	c.placement.lockKnown()
	defer c.placement.mu.Unlock()
	found, _ := c.placement.couldEver(&want{GPU: "NVIDIA L4", Count: 2})
	require.True(t, found)
}
