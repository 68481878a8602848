package httpapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

func TestPods_SayHowToLogIn(t *testing.T) {
	t.Parallel()
	published := compute.PublishedPort{Private: 22, Public: 40022, Type: "tcp", IP: "192.0.2.7"}
	with := func(change func(*compute.PublishedPort)) []compute.PublishedPort {
		one := published
		change(&one)
		return []compute.PublishedPort{one}
	}
	for name, c := range map[string]struct {
		status        compute.PodStatus
		ports         []compute.PublishedPort
		gateway       int
		proxy, direct string // commands; empty: null
	}{
		"published":            {compute.PodRunning, []compute.PublishedPort{published}, 0, "", "ssh root@192.0.2.7 -p 40022"},
		"at any address":       {compute.PodRunning, with(func(p *compute.PublishedPort) { p.IP = "" }), 0, "", "ssh root@berth.example -p 40022"},
		"gateway":              {compute.PodRunning, nil, 2222, "ssh pod1@berth.example -p 2222", ""},
		"both":                 {compute.PodRunning, []compute.PublishedPort{published}, 2222, "ssh pod1@berth.example -p 2222", "ssh root@192.0.2.7 -p 40022"},
		"not running":          {compute.PodStarting, []compute.PublishedPort{published}, 2222, "", ""},
		"another port":         {compute.PodRunning, with(func(p *compute.PublishedPort) { p.Private = 23 }), 0, "", ""},
		"another protocol":     {compute.PodRunning, with(func(p *compute.PublishedPort) { p.Type = "udp" }), 0, "", ""},
		"not reachable":        {compute.PodRunning, with(func(p *compute.PublishedPort) { p.Public = 0 }), 0, "", ""},
		"nothing is published": {compute.PodRunning, nil, 0, "", ""},
	} {
		var v rest.Pod
		widePodView(&v, compute.Pod{ID: "pod1", Status: c.status}, compute.PodRuntime{Ports: c.ports}, control.Place{}, "berth.example", c.gateway)
		command := func(e nullable.Nullable[rest.PodSSHEndpoint]) string {
			if e.IsNull() {
				return ""
			}
			return e.MustGet().Command
		}
		require.Equal(t, c.proxy, command(v.SSH.Proxy), name)
		require.Equal(t, c.direct, command(v.SSH.Direct), name)
		if c.proxy != "" {
			require.Equal(t, rest.PodSSHEndpoint{Host: "berth.example", Port: 2222, Username: "pod1", Command: c.proxy}, v.SSH.Proxy.MustGet(), name)
		}
	}
}

func TestPods_WideViewHasWhatComesWithTheGPUs(t *testing.T) {
	t.Parallel()
	view := func(p compute.Pod, at control.Place) rest.Pod {
		v := podView(p, compute.PodRuntime{}, time.UnixMilli(0))
		widePodView(&v, p, compute.PodRuntime{}, at, "host", 0)
		return v
	}
	known := view(compute.Pod{GPU: &compute.GPU{ID: "g", Count: 2}}, control.Place{CUDAVersion: "12.8", VCPUs: 16, MemoryGB: 64})
	require.Equal(t, []float64{16, 64}, []float64{*known.Gpu.VcpuCount, *known.Gpu.Memory})
	require.Equal(t, "12.8", known.CudaVersion.MustGet())
	unknown := view(compute.Pod{GPU: &compute.GPU{ID: "g", Count: 2}}, control.Place{})
	require.Equal(t, []float64{1, 1}, []float64{*unknown.Gpu.VcpuCount, *unknown.Gpu.Memory}, "it has one at least")
	require.True(t, unknown.CudaVersion.IsNull())
	require.Nil(t, unknown.Cluster)
	require.Nil(t, view(compute.Pod{CPU: &compute.CPU{ID: "c"}}, control.Place{VCPUs: 2}).Gpu)
}

func TestPods_OfAClusterHaveTheirRankAndRole(t *testing.T) {
	t.Parallel()
	first := clusterOfPod(compute.Pod{ClusterID: "c", Name: "many-0", ClusterType: compute.RayCluster})
	require.EqualValues(t, 0, first.Rank.MustGet())
	require.EqualValues(t, "RAY_HEAD", *first.Role)
	require.Nil(t, first.IP)
	other := clusterOfPod(compute.Pod{ClusterID: "c", Name: "many-12", ClusterType: compute.RayCluster, Address: 5})
	require.EqualValues(t, 12, other.Rank.MustGet())
	require.EqualValues(t, "RAY_WORKER", *other.Role)
	require.Equal(t, "10.64.0.5", *other.IP)
	without := clusterOfPod(compute.Pod{ClusterID: "c", Name: "none"})
	require.True(t, without.Rank.IsNull())
	require.Nil(t, without.Role)
}

func TestPods_ShowWhatIsKnownOfTheirRuntime(t *testing.T) {
	t.Parallel()
	started := time.UnixMilli(1_700_000_000_000)
	percent := 49.5
	ports := compute.Pod{Ports: []string{"22/tcp"}, GPU: &compute.GPU{ID: "g", Count: 1}, StartedAt: started}
	unseen := runtimeView(ports, compute.PodRuntime{}, started.Add(90*time.Second+999*time.Millisecond))
	require.EqualValues(t, 90, *unseen.Uptime)
	require.Nil(t, unseen.Ports, "nobody knows where they are")
	require.Nil(t, unseen.Gpus, "nobody has measured")
	require.Nil(t, unseen.CPU)
	require.EqualValues(t, 0, *runtimeView(ports, compute.PodRuntime{}, started.Add(-time.Hour)).Uptime, "a clock that was set back")

	none := runtimeView(compute.Pod{StartedAt: started}, compute.PodRuntime{}, started)
	require.Equal(t, []rest.PodRuntimePort{}, none.Ports, "it asks for none")
	require.Equal(t, []rest.PodGpuUtilization{}, none.Gpus, "it has none")

	seen := runtimeView(ports, compute.PodRuntime{
		Ports: []compute.PublishedPort{{Private: 22, Type: "tcp"}}, CPUPercent: &percent, GPUs: []compute.GPUUse{{Percent: 99.4, MemoryPercent: 0.5}},
	}, started)
	require.True(t, seen.Ports[0].Public.IsNull())
	require.True(t, seen.Ports[0].IP.IsNull())
	require.EqualValues(t, 50, *seen.CPU.Util)
	require.EqualValues(t, 99, *seen.Gpus[0].Util)
	require.EqualValues(t, 1, *seen.Gpus[0].MemoryUtil)
}

func TestPods_RequestsKeepWhatWasAskedForApartFromWhatWasNot(t *testing.T) {
	t.Parallel()
	plain, err := newPod(rest.CreatePodRequest{Name: "a", Gpu: &rest.GpuConfig{ID: "g"}})
	require.NoError(t, err)
	require.Equal(t, &compute.GPU{ID: "g", Count: 1}, plain.GPU, "one, if nobody says how many")
	require.Nil(t, plain.CPU)
	require.False(t, plain.NoRegistry)
	require.Empty(t, plain.RegistryID)
	require.Nil(t, plain.Network)
	require.Nil(t, plain.Persistent)

	count, least, vcpus, memory := int64(3), "12.4", int64(5), int64(7)
	wide, err := newPod(rest.CreatePodRequest{
		Name: "a", Registry: nullable.NewNullNullable[string](),
		Gpu:    &rest.GpuConfig{ID: "g", Count: &count, AllowedCudaVersions: []string{"12.8"}, MinCudaVersion: &least, MinVcpuCountPerGpu: &vcpus, MinRAMPerGpu: &memory},
		Mounts: &rest.Mounts{Network: []rest.NetworkMount{}},
	})
	require.NoError(t, err)
	require.Equal(t, &compute.GPU{ID: "g", Count: 3}, wide.GPU)
	require.Equal(t, compute.PodNeeds{CUDAVersions: []string{"12.8"}, LeastCUDA: "12.4", VCPUsPerGPU: 5, MemoryGBPerGPU: 7}, wide.Kept)
	require.True(t, wide.NoRegistry, "null is not absent")
	require.NotNil(t, wide.Network, "an empty list is not absent")

	_, err = newPod(rest.CreatePodRequest{Name: "a", Registry: nullable.NewNullableWithValue("")})
	require.Equal(t, compute.NotFound, compute.CodeOf(err), "an empty text names none")
	change, err := podChange(rest.UpdatePodRequest{})
	require.NoError(t, err)
	require.Nil(t, change.RegistryID)
	change, err = podChange(rest.UpdatePodRequest{Registry: nullable.NewNullNullable[string]()})
	require.NoError(t, err)
	require.Empty(t, *change.RegistryID)
	_, err = podChange(rest.UpdatePodRequest{Registry: nullable.NewNullableWithValue("")})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}
