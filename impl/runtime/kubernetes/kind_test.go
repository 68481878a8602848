package kubernetes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
	"github.com/berthdev/berth/impl/setting"
)

func kind(t *testing.T) *runtime.Kind {
	t.Helper()
	k, err := runtime.Find("kubernetes")
	require.NoError(t, err)
	return k
}

func config(s *kubetest.Server, t *testing.T, v setting.Values) runtime.Config {
	t.Helper()
	v["kube-config"] = []string{s.Kubeconfig(t)}
	return runtime.Config{Values: v, Clock: compute.SystemClock{}, Owner: func() (string, error) { return "o", nil }}
}

func TestKind_SaysWhatItCanDo(t *testing.T) {
	t.Parallel()
	can := kind(t).Can
	require.True(t, can.Schedules)
	require.True(t, can.GPUs && can.Mounts && can.Registry && can.Login)
	require.False(t, can.Networks)
	for _, s := range kind(t).Settings {
		if s.Default != "" {
			require.NoError(t, s.Validate([]string{s.Default}), s.Name)
		}
	}
}

func TestKind_OpensTheRuntimesOfPodsAndWorkers(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	c := config(s, t, setting.Values{"kube-service-type": {"LoadBalancer"}, "kube-pull": {"always"}, "kube-volume-size": {"7"}, "kube-storage-class": {"fast"}, "allow-new-privileges": {"true"}})
	opened, err := kind(t).Open(t.Context(), c)
	require.NoError(t, err)
	a := mounted("a")
	a.Network = &compute.NetworkMount{VolumeID: "v", Path: "/net"}
	a.Hostname, a.Labels = "here", map[string]string{"dev.berth.name": "first"}
	require.NoError(t, opened.Pods.Start(t.Context(), a))
	require.NoError(t, opened.Workers.Start(t.Context(), playing("w", "stay")))
	for one, id := range map[runtime.Runtime]string{opened.Pods: "a", opened.Workers: "w"} {
		ids, err := one.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{id}, ids)
	}

	pod := s.Object("pods", "berth-a-0")
	spec := pod["spec"].(map[string]any)
	main := spec["containers"].([]any)[0].(map[string]any)
	require.Equal(t, "Always", main["imagePullPolicy"])
	require.Equal(t, map[string]any{"allowPrivilegeEscalation": true}, main["securityContext"])
	require.Equal(t, "Never", spec["restartPolicy"])
	require.Equal(t, false, spec["automountServiceAccountToken"])
	require.Equal(t, false, spec["enableServiceLinks"])
	require.Equal(t, "here", spec["hostname"])
	require.Equal(t, "first", pod["metadata"].(map[string]any)["annotations"].(map[string]any)["labels.berth.dev/dev.berth.name"])
	require.NotContains(t, main, "env", "its environment is in a Secret")
	claim := s.Object("persistentvolumeclaims", "berth-volume-v")["spec"].(map[string]any)
	require.Equal(t, "fast", claim["storageClassName"])
	require.Equal(t, "7Gi", claim["resources"].(map[string]any)["requests"].(map[string]any)["storage"])
	require.Equal(t, "LoadBalancer", s.Object("services", "berth-a")["spec"].(map[string]any)["type"])

	address, err := kind(t).Address(c.Values)
	require.NoError(t, err)
	require.Equal(t, s.URL()+"/api/v1/namespaces/berth", address)
	require.NoError(t, opened.Pods.Close())
	require.NoError(t, opened.Workers.Close())

	earlier, err := kind(t).OpenEarlier(c, address)
	require.NoError(t, err)
	ids, err := earlier.Pods.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids)
	require.NoError(t, earlier.Pods.Close())
	require.NoError(t, earlier.Workers.Close())
	_, err = kind(t).OpenEarlier(c, "https://elsewhere.test/api/v1/namespaces/berth")
	require.ErrorContains(t, err, "no kubeconfig at hand has a context for")
}

func TestKind_GPUsByAnotherDevicePluginAndLabel(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Put(t, "nodes", map[string]any{
		"metadata": map[string]any{"name": "amd", "labels": map[string]any{"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", "zone": "EU-RO-1"}},
		"status": map[string]any{
			"allocatable": map[string]any{"cpu": "8", "memory": "64Gi", "ephemeral-storage": "100Gi", "pods": "110", "amd.com/gpu": "8"},
			"conditions":  []any{map[string]any{"type": "Ready", "status": "True"}},
		},
	})
	c := config(s, t, setting.Values{"kube-gpu-resource": {"amd.com/gpu"}, "kube-gpu-label": {"amd.com/gpu.product-name"}, "kube-zone-label": {"zone"}})
	opened, err := kind(t).Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, opened.Pods.Close())
		require.NoError(t, opened.Workers.Close())
	})
	a := playing("a", "stay")
	a.GPUs = runtime.GPUs{Type: "AMD Instinct MI300X OAM", Count: 2}
	require.NoError(t, opened.Pods.Start(t.Context(), a))
	require.Eventually(t, func() bool {
		one, err := opened.Pods.Inspect(t.Context(), "a")
		return err == nil && one.HostID == "amd"
	}, patience, look)

	hosts, err := opened.Pods.(runtime.HostReporter).Hosts(t.Context())
	require.NoError(t, err)
	require.Equal(t, "EU-RO-1", hosts[0].Zone)
	require.Equal(t, int64(8), hosts[0].Has.GPUs)
	require.Equal(t, int64(2), hosts[0].Taken.GPUs)
}

func TestKind_ClaimsGPUsOfAnotherDriver(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.AddDevices(t, kubetest.Devices{Driver: "gpu.amd.com", Node: "n1", Products: []string{"AMD Instinct MI300X OAM"}})
	c := config(s, t, setting.Values{"kube-gpu-class": {"amd"}, "kube-gpu-driver": {"gpu.amd.com"}})
	opened, err := kind(t).Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, opened.Pods.Close())
		require.NoError(t, opened.Workers.Close())
	})
	a := onGPUs(playing("a", "stay"), 1)
	a.GPUs.Type = "AMD Instinct MI300X OAM"
	require.NoError(t, opened.Pods.Start(t.Context(), a))
	request := at(s.Object("resourceclaims", "berth-a-0-gpu"), "spec", "devices", "requests").([]any)[0].(map[string]any)
	require.Equal(t, "amd", at(request, "exactly", "deviceClassName"))
	require.Contains(t, fmt.Sprint(request), `device.attributes["gpu.amd.com"].productName in ["AMD Instinct MI300X OAM"]`)
	require.Eventually(t, func() bool {
		one, err := opened.Pods.Inspect(t.Context(), "a")
		return err == nil && one.Reason == "0/1 nodes are available: request gpu: device class amd does not exist."
	}, patience, look)
	hosts, err := opened.Pods.(runtime.HostReporter).Hosts(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1), hosts[0].Has.GPUs)
}

func TestKind_RefusesWhatHasNoCluster(t *testing.T) {
	t.Parallel()
	v := setting.Values{"kube-config": {t.TempDir() + "/none"}}
	_, err := kind(t).Open(t.Context(), runtime.Config{Values: v})
	require.Error(t, err)
	_, err = kind(t).Address(v)
	require.Error(t, err)
	r := kind(t).Doctor(t.Context(), v)
	require.False(t, r.Available)
	require.Contains(t, r.Detail, "none")
}

func TestDoctor_ReportsWhatTheClusterHas(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.AddNode(t, kubetest.Node{Name: "g1", CPUs: 8, MemoryGB: 32, DiskGB: 100, GPUs: 4, Product: "NVIDIA-L4"})
	s.AddNode(t, kubetest.Node{Name: "g2", CPUs: 8, MemoryGB: 32, DiskGB: 100, GPUs: 2, Product: "NVIDIA-L4"})
	s.SilenceNode("g2")
	v := config(s, t, setting.Values{"public-url": {"https://pods.example.com"}}).Values
	r := kind(t).Doctor(t.Context(), v)
	require.True(t, r.Available)
	require.Equal(t, "Kubernetes v1.36.3 at "+s.URL()+", namespace berth: 2 of 3 nodes ready, 6 NVIDIA-L4; storage classes: standard (default)", r.Detail)
	require.Empty(t, r.Warnings)

	s.Forbid("delete", "secrets")
	s.Forbid("watch", "nodes")
	delete(v, "public-url")
	v["kube-storage-class"] = []string{"fast"}
	r = kind(t).Doctor(t.Context(), v)
	require.False(t, r.Available)
	require.Equal(t, "berth may not delete secrets in the namespace berth", r.Warnings[0])
	require.Contains(t, r.Warnings, "berth may not watch nodes, and goes on without")
	require.Contains(t, r.Warnings, `the cluster has no storage class "fast": persistent mounts and network volumes cannot be made`)
	require.Len(t, r.Warnings, 4, "and the address of the queue")

	s.Down(true)
	began := time.Now()
	r = kind(t).Doctor(t.Context(), v)
	require.False(t, r.Available)
	require.Less(t, time.Since(began), patience)
	require.Contains(t, r.Detail, s.URL())
}

func TestDoctor_ReportsDevices(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 2, 3)
	v := config(s, t, setting.Values{"public-url": {"https://pods.example.com"}, "kube-gpu-class": {class}}).Values
	r := kind(t).Doctor(t.Context(), v)
	require.True(t, r.Available)
	require.Equal(t, "Kubernetes v1.36.3 at "+s.URL()+", namespace berth: 2 of 2 nodes ready, 6 NVIDIA L4; storage classes: standard (default); device class "+class, r.Detail)
	require.Empty(t, r.Warnings)

	s.Forbid("delete", "resourceclaims")
	s.Forbid("watch", "resourceslices")
	s.Forbid("get", "deviceclasses")
	r = kind(t).Doctor(t.Context(), v)
	require.False(t, r.Available)
	require.Equal(t, []string{
		"berth may not delete resourceclaims.resource.k8s.io in the namespace berth", "berth may not watch resourceslices.resource.k8s.io, and goes on without",
	}, r.Warnings)
	require.Contains(t, r.Detail, "; nobody knows whether there is the device class "+class)

	delete(v, "kube-gpu-class")
	require.True(t, kind(t).Doctor(t.Context(), v).Available, "who does not claim needs no right to")
}

func TestDoctor_SaysWhatDevicesLack(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 1, 1)
	v := config(s, t, setting.Values{"public-url": {"https://pods.example.com"}, "kube-gpu-class": {"none"}, "kube-gpu-driver": {"gpu.example.com"}}).Values
	r := kind(t).Doctor(t.Context(), v)
	require.True(t, r.Available)
	require.Equal(t, []string{
		"the driver gpu.example.com offers no device on any node: there are no GPUs", `the cluster has no DeviceClass "none": what asks for GPUs waits until there is one`,
	}, r.Warnings)

	for _, lacks := range []string{kubetest.DeviceGroup, kubetest.DeviceVersion} {
		s.WithoutDevices(lacks)
		r = kind(t).Doctor(t.Context(), v)
		require.False(t, r.Available)
		require.Equal(t, []string{"--kube-gpu-class: the cluster has no resource.k8s.io/v1, by which GPUs are claimed: Kubernetes has it since 1.34"}, r.Warnings)
	}
}
