package graphql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
)

func TestPodView_SaysSinceWhenAndWhy(t *testing.T) {
	t.Parallel()
	s, moved := emptyServices(t), time.UnixMilli(1_700_000_000_000)
	p := compute.Pod{
		ID: "p", Status: compute.PodExited, MovedAt: moved, CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, CostPerHour: 0.08, Cloud: compute.Community,
	}
	v := s.podView(p, moved.Add(time.Hour), "")
	require.Equal(t, "EXITED since Tue, 14 Nov 2023 22:13:20 UTC", *v.LastStatusChange)
	require.Equal(t, "exited", *v.LatestTelemetry.State)
	require.Nil(t, v.Runtime)
	require.Nil(t, v.VolumeMountPath)
	require.Equal(t, []int{0, 0}, []int{*v.UptimeSeconds, *v.GpuCount})
	require.Equal(t, []float64{2, 8, 0, 0}, []float64{*v.VcpuCount, *v.MemoryInGb, *v.VolumeInGb, *v.CostPerHr})
	require.False(t, *v.Machine.SecureCloud)
	require.Empty(t, *v.Machine.GpuDisplayName)
	require.Nil(t, v.Machine.GpuTypeID)

	p.Reason, p.Cloud = "the container ended", compute.Secure
	v = s.podView(p, moved, "")
	require.Equal(t, "EXITED since Tue, 14 Nov 2023 22:13:20 UTC: the container ended", *v.LastStatusChange)
	require.True(t, *v.Machine.SecureCloud)
	p.Status = compute.PodProvisioning
	require.Equal(t, "created", *s.podView(p, moved, "").LatestTelemetry.State)
}

func TestPodView_LeastBidIsThatOfItsTypeInItsCloud(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	p := compute.Pod{ID: "p", Status: compute.PodExited, GPU: &compute.GPU{ID: "NVIDIA GeForce RTX 4090", Count: 1}, Cloud: compute.Community, BidPerGPU: 0.4}
	v := s.podView(p, time.Time{}, "")
	require.Equal(t, graph.PodTypeInterruptable, *v.PodType)
	require.InDelta(t, 0.4, *v.BidPerGpu, 0)
	gpu, ok := s.Control.Catalog().GPU(p.GPU.ID)
	require.True(t, ok)
	require.InDelta(t, gpu.Community.LeastBid(), *v.LowestBidPriceToResume, 0)

	p.GPU.ID = "a type that the catalog does not have any more"
	require.Nil(t, s.podView(p, time.Time{}, "").LowestBidPriceToResume)
	p.GPU.ID, p.BidPerGPU = "NVIDIA L4", 0
	v = s.podView(p, time.Time{}, "")
	require.Equal(t, graph.PodTypeReserved, *v.PodType)
	require.Nil(t, v.BidPerGpu)
	require.Nil(t, v.LowestBidPriceToResume)
}

func TestPodView_PodsOfClustersHaveARankAndMayHaveAnAddress(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	p := compute.Pod{ID: "p", Name: "mine-3", Status: compute.PodExited, CPU: &compute.CPU{}, Address: 5}
	v := s.podView(p, time.Time{}, "")
	require.Nil(t, v.ClusterIdx)
	require.Nil(t, v.ClusterIP, "it is in no cluster")

	p.ClusterID = "c"
	v = s.podView(p, time.Time{}, "")
	require.Equal(t, 3, *v.ClusterIdx)
	require.Equal(t, compute.NetworkAddress(5).IP().String(), *v.ClusterIP)
	p.Address = 0
	v = s.podView(p, time.Time{}, "")
	require.Equal(t, 3, *v.ClusterIdx)
	require.Nil(t, v.ClusterIP)
}

func TestRuntimeView_HasWhatWasSeen(t *testing.T) {
	t.Parallel()
	started := time.UnixMilli(1_700_000_000_000)
	p := compute.Pod{ID: "p", Ports: []string{"22/tcp", "8888/http", "53/udp", "9999/tcp", "25/tcp"}, GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}, StartedAt: started}
	live := compute.PodRuntime{
		Ports:      []compute.PublishedPort{{Private: 22, Public: 40_000, Type: "tcp", IP: "203.0.113.1"}, {Private: 8888, Public: 40_001, Type: "http", IP: "203.0.113.1"}, {Private: 53, Type: "udp"}, {Private: 9999, Type: "tcp"}, {Private: 25, Public: 40_002, Type: "tcp"}},
		CPUPercent: new(49.5), GPUs: []compute.GPUUse{{Percent: 1.4, MemoryPercent: 2.6}},
	}
	v := runtimeView(p, live, started.Add(90*time.Second+time.Second/2), "berth.example")
	require.Equal(t, 90, *v.UptimeInSeconds)
	require.Equal(t, 50, *v.Container.CPUPercent)
	require.Nil(t, v.Container.MemoryPercent)

	require.Equal(t, []*graph.PodRuntimePorts{
		{PrivatePort: new(22), Type: new("tcp"), PublicPort: new(40_000), IP: new("203.0.113.1"), IsIPPublic: new(true)},
		{PrivatePort: new(8888), Type: new("http"), PublicPort: new(40_001), IP: new("203.0.113.1"), IsIPPublic: new(false)},
		{PrivatePort: new(25), Type: new("tcp"), PublicPort: new(40_002), IP: new("berth.example"), IsIPPublic: new(true)},
	}, v.Ports, "of those that have a public number")
	require.Equal(t, []*graph.PodRuntimeGpus{
		{ID: new("GPU-p-0"), GpuUtilPercent: new(1), MemoryUtilPercent: new(3)}, {ID: new("GPU-p-1")},
	}, v.Gpus)

	p.GPU = nil
	v = runtimeView(p, live, started.Add(-time.Hour), "berth.example")
	require.Empty(t, v.Gpus)
	require.Zero(t, *v.UptimeInSeconds, "the clock was set back")
}

func TestIsPublic_IsNoPortForHTTPAndNoneWithoutAnAddress(t *testing.T) {
	t.Parallel()
	for port, want := range map[compute.PublishedPort]bool{
		{Type: "tcp", IP: "203.0.113.1"}: true, {Type: "udp", IP: "203.0.113.1"}: true, {Type: "http", IP: "203.0.113.1"}: false, {Type: "tcp"}: false, {Type: "http"}: false,
	} {
		require.Equal(t, want, isPublic(port), "%+v", port)
	}
}
