package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// till is a transaction that notes what is billed.
type till struct {
	store.Containers
	wall   time.Time
	done   []string // "close" or "open" with the holder
	opened []compute.Charge
}

func (b *till) Wall() time.Time { return b.wall }

func (b *till) CloseCharge(holder string) error {
	b.done = append(b.done, "close "+holder)
	return nil
}

func (b *till) OpenCharge(c compute.Charge) error {
	b.done = append(b.done, "open "+c.HolderID)
	b.opened = append(b.opened, c)
	return nil
}

func TestMeterPod_BillsWhatIsRunning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to compute.PodStatus
		done     []string
	}{
		{compute.PodProvisioning, compute.PodStarting, nil},
		{compute.PodStarting, compute.PodRunning, []string{"open p"}},
		{compute.PodRunning, compute.PodStarting, []string{"close p"}},
		{compute.PodRunning, compute.PodExited, []string{"close p"}},
		{compute.PodRunning, compute.PodTerminated, []string{"close p"}},
		{compute.PodExited, compute.PodTerminated, nil},
	} {
		b := &till{}
		require.NoError(t, meterPod(b, c.from, compute.Pod{ID: "p", Status: c.to}))
		require.Equal(t, c.done, b.done, "%s to %s", c.from, c.to)
	}

	pod := compute.Pod{ID: "p", UserID: "u", Status: compute.PodRunning, CostPerHour: 0.4}
	charge := compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "p", HolderID: "p", Rate: 400_000_000}
	onGPU, inCluster := pod, pod
	onGPU.GPU = &compute.GPU{ID: "NVIDIA L4", Count: 1}
	inCluster.GPU, inCluster.ClusterID = onGPU.GPU, "c"
	b := &till{}
	for _, one := range []compute.Pod{pod, onGPU, inCluster} {
		require.NoError(t, meterPod(b, compute.PodStarting, one))
	}
	gpu, cluster := charge, charge
	gpu.Item = compute.PodGPU
	cluster.Item, cluster.ResourceID = compute.ClusterGPU, "c"
	require.Equal(t, []compute.Charge{charge, gpu, cluster}, b.opened)
}

func TestMeterVolume_ClosesWhatTheSizeBeforeCost(t *testing.T) {
	t.Parallel()
	c := Catalog{Volumes: VolumePrices{Standard: 0.1, HighPerformance: 0.2}}
	b := &till{}
	require.NoError(t, c.meterVolume(b, compute.Volume{ID: "v", UserID: "u", SizeGB: 3, Type: compute.StandardVolume}))
	require.NoError(t, c.meterVolume(b, compute.Volume{ID: "w", UserID: "u", SizeGB: 3, Type: compute.HighPerformanceVolume}))
	require.Equal(t, []string{"close v", "open v", "close w", "open w"}, b.done)
	require.Equal(t, []compute.Charge{
		{UserID: "u", Item: compute.StorageStandard, ResourceID: "v", HolderID: "v", Rate: 300_000_000},
		{UserID: "u", Item: compute.StorageHighPerformance, ResourceID: "w", HolderID: "w", Rate: 600_000_000},
	}, b.opened)
}

func TestMeterWorker_BillsTheEndpointForWhatTheWorkerHas(t *testing.T) {
	t.Parallel()
	b := &till{wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	c := Catalog{CPUs: []CPUFlavor{{ID: "first", MinVCPU: 2, ServerlessPricePerVCPU: 0.1}, {ID: "second", MinVCPU: 4, ServerlessPricePerVCPU: 9}}}
	meter := func(c Catalog, w compute.Worker) {
		w.ID, w.EndpointID = "w", "e"
		require.NoError(t, c.meterWorker(b, w, "u"))
	}
	meter(c, compute.Worker{GPU: &compute.GPU{ID: "g", Count: 1}, CostPerHour: 3})
	meter(c, compute.Worker{CPU: &compute.CPU{ID: "second", VCPUCount: 4}, CostPerHour: 2})
	meter(c, compute.Worker{})
	meter(Catalog{CPUs: c.CPUs[:1]}, compute.Worker{})
	meter(Catalog{}, compute.Worker{})

	var want []compute.Charge
	for _, one := range []struct {
		item compute.Item
		usd  float64
	}{{compute.ServerlessGPU, 3}, {compute.ServerlessCPU, 2}, {compute.ServerlessCPU, 0.2}, {compute.ServerlessCPU, 0.2}, {compute.ServerlessCPU, 0}} {
		want = append(want, compute.Charge{UserID: "u", Item: one.item, ResourceID: "e", HolderID: "w", Rate: compute.ToNanoUSD(one.usd), SeenAt: b.wall})
	}
	require.Equal(t, want, b.opened)
}

func TestTimes_LeavesNoDust(t *testing.T) {
	t.Parallel()
	require.Equal(t, 0.3, times(0.1, 3))
	require.Zero(t, times(0.1, 0))
}
