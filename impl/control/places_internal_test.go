package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestControl_PlaceOf_SaysWhatAPodHasOfItsHost(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{{
		ID: "a", DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 4, CUDAVersion: "12.4,13.0,12.8", VCPUs: 43, MemoryGB: 402, DiskGB: 100,
	}})
	on := func(host string, needs compute.PodNeeds) compute.Pod {
		return compute.Pod{GPU: &compute.GPU{ID: "NVIDIA L4", Count: 3}, HostID: host, Needs: needs}
	}

	for name, one := range map[string]struct {
		pod  compute.Pod
		want Place
	}{
		"a CPU pod":                  {compute.Pod{CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 8, MemoryGB: 32}, HostID: "a"}, Place{VCPUs: 8, MemoryGB: 32}},
		"on a host of the fleet":     {on("a", compute.PodNeeds{}), Place{CUDAVersion: "13.0", VCPUs: 30, MemoryGB: 300}},
		"with one of some versions":  {on("a", compute.PodNeeds{CUDAVersions: []string{"12.8", "12.4"}}), Place{CUDAVersion: "12.8", VCPUs: 30, MemoryGB: 300}},
		"with the first version":     {on("a", compute.PodNeeds{CUDAVersions: []string{"12.4"}}), Place{CUDAVersion: "12.4", VCPUs: 30, MemoryGB: 300}},
		"from a version on":          {on("a", compute.PodNeeds{LeastCUDA: "12.6"}), Place{CUDAVersion: "13.0", VCPUs: 30, MemoryGB: 300}},
		"with no version that it is": {on("a", compute.PodNeeds{LeastCUDA: "14.0"}), Place{VCPUs: 30, MemoryGB: 300}},
		"on a host that left":        {on("b", compute.PodNeeds{}), Place{VCPUs: 24, MemoryGB: 135}}, // as the catalog has it
		"of an unknown type":         {compute.Pod{GPU: &compute.GPU{ID: "none", Count: 1}, HostID: "b"}, Place{}},
	} {
		require.Equal(t, one.want, c.PlaceOf(one.pod), name)
	}
}

func TestPlacement_ShareOf_IsWhatComesWithGPUs(t *testing.T) {
	t.Parallel()
	own := l4s("a", 4)
	own.VCPUs, own.MemoryGB = 43, 402
	silent := l4s("s", 1)
	silent.VCPUs, silent.MemoryGB = 0, 0
	c := openControl(t, openStore(t), []Host{own, silent})
	scheduled := openScheduled(t, ReportedHost{Host: own})

	for name, one := range map[string]struct {
		of              *Control
		host            string
		vcpus, memoryGB int64
	}{
		"a host of the fleet":                {c, "a", 30, 300},
		"a host that says nothing of it":     {c, "s", 0, 0},
		"a host that left":                   {c, "b", 0, 0},
		"a host of a runtime that schedules": {scheduled, "a", 0, 0},
	} {
		vcpus, memoryGB := one.of.placement.ShareOf(one.host, compute.GPU{ID: "NVIDIA L4", Count: 3})
		require.Equal(t, []int64{one.vcpus, one.memoryGB}, []int64{vcpus, memoryGB}, name)
	}
}

func TestPlacement_VCPUs_AreThoseOfTheCatalog(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	p := PrepareFleet(catalog, nil).placement
	require.EqualValues(t, 24, p.VCPUs(&compute.GPU{ID: "NVIDIA L4", Count: 3}, nil))
	require.EqualValues(t, 8, p.VCPUs(nil, &compute.CPU{ID: "cpu3g", VCPUCount: 8}))
	require.Zero(t, p.VCPUs(nil, nil))
	require.Zero(t, p.VCPUs(&compute.GPU{ID: "none", Count: 3}, nil))
}
