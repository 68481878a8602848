package kubernetes_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
	"github.com/berthdev/berth/impl/runtime/runtimetest"
)

const class = "gpu.example.com"

// byClaims is the setting by which GPUs are claimed.
var byClaims = kubernetes.Config{GPUClass: class}

// deviceCluster gives a cluster with the class, and nodes with so many GPUs each.
func deviceCluster(t *testing.T, nodes, gpus int) *kubetest.Server {
	t.Helper()
	s := kubetest.New(t)
	s.AddDeviceClass(t, class)
	for i := range nodes {
		name := fmt.Sprint("n", i+1)
		s.AddNode(t, kubetest.Node{Name: name, CPUs: 64, MemoryGB: 256, DiskGB: 1000})
		s.AddDevices(t, kubetest.Devices{Node: name, Products: slices.Repeat([]string{"NVIDIA L4"}, gpus), CUDA: "12.8.0", Type: "gpu"})
	}
	return s
}

// onGPUs has an allocation ask for GPUs.
func onGPUs(a runtime.Allocation, n int64) runtime.Allocation {
	a.GPUs = runtime.GPUs{Type: "NVIDIA L4", Count: n}
	return a
}

// at gives what is at a path in an object.
func at(o map[string]any, path ...string) (value any) {
	value = o
	for _, name := range path {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[name]
	}
	return value
}

func TestRuntime_PassesTheSuiteOnGPUsByClaims(t *testing.T) {
	t.Parallel()
	runtimetest.Run(t, func(t *testing.T) runtimetest.Fixture {
		s := deviceCluster(t, 1, 64)
		plays := func(id string, steps ...string) runtime.Allocation { return onGPUs(playing(id, steps...), 1) }
		return runtimetest.Fixture{
			Runtime: open(t, s, byClaims),
			Reopen:  func(t *testing.T) runtime.Runtime { return open(t, s, byClaims) },
			Stays:   func(id string) runtime.Allocation { return plays(id, "say hello", "stay") },
			Exits:   func(id string, code int) runtime.Allocation { return plays(id, "say hello", fmt.Sprint("exit ", code)) },
			Fails:   func(id string) runtime.Allocation { return onGPUs(runtime.Allocation{ID: id, Image: "NO IMAGE"}, 1) },
			Plays:   plays,
			Command: inPod,
			Line:    "hello",
			Lacks:   lacks,
		}
	})
}

func TestDevices_APodClaimsThem(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 1, 4)
	h := open(t, s, byClaims)
	a := onGPUs(playing("a", "stay"), 2)
	a.Generation, a.VCPUs, a.Hosts = 1, 2, []string{"n1"}
	start(t, h, a)

	claim := s.Object("resourceclaims", "berth-a-1-gpu")
	request := at(claim, "spec", "devices", "requests").([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{
		"name": "gpu", "exactly": map[string]any{
			"deviceClassName": class, "allocationMode": "ExactCount", "count": 2.0,
			"selectors": []any{map[string]any{"cel": map[string]any{"expression": `device.attributes["gpu.nvidia.com"].productName in ["NVIDIA L4"]`}}},
		},
	}, request)
	require.Equal(t, map[string]any{"berth.dev/owner": "test", "berth.dev/allocation": "a", "berth.dev/generation": "1"}, at(claim, "metadata", "labels"))
	require.Len(t, at(claim, "status", "allocation", "devices", "results"), 2)

	pod := s.Object("pods", "berth-a-1")
	require.Equal(t, []any{map[string]any{"name": "gpu", "resourceClaimName": "berth-a-1-gpu"}}, at(pod, "spec", "resourceClaims"))
	main := at(pod, "spec", "containers").([]any)[0].(map[string]any)
	require.Equal(t, []any{map[string]any{"name": "gpu"}}, at(main, "resources", "claims"))
	require.Equal(t, map[string]any{"cpu": "2"}, at(main, "resources", "limits"), "no extended resource")
	require.NotContains(t, fmt.Sprint(at(pod, "spec", "affinity")), "nvidia.com/gpu.product", "labels of nodes name no type")
	clears(t, s, h, "a")

	start(t, h, playing("b", "stay"))
	require.Nil(t, at(s.Object("pods", "berth-b-0"), "spec", "resourceClaims"))
	clears(t, s, h, "b")
}

func TestDevices_WhatHasNoRoomWaitsAndComesUpWhenThereIs(t *testing.T) {
	t.Parallel()
	const allocations, room = 20, 16
	s := deviceCluster(t, 4, 4)
	h := open(t, s, byClaims)
	var starts sync.WaitGroup
	for i := range allocations {
		starts.Go(func() {
			if err := h.Start(t.Context(), onGPUs(playing(fmt.Sprint("a", i), "stay"), 1)); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()

	count := func() (up []string, waits int) {
		for i := range allocations {
			one, err := h.Inspect(t.Context(), fmt.Sprint("a", i))
			switch {
			case err != nil:
			case one.Phase == runtime.Up:
				up = append(up, fmt.Sprint("a", i))
			case one.Phase == runtime.Starting && one.Reason == "0/4 nodes are available: 4 cannot allocate all claims.":
				waits++
			}
		}
		return up, waits
	}
	holds := func(waiting int) {
		t.Helper()
		require.Eventually(t, func() bool {
			up, waits := count()
			return len(up) == room && waits == waiting
		}, time.Minute, 10*look)
	}
	holds(allocations - room)
	up, _ := count()
	devices := map[string]bool{}
	for _, id := range up {
		for _, r := range at(s.Object("resourceclaims", "berth-"+id+"-0-gpu"), "status", "allocation", "devices", "results").([]any) {
			devices[fmt.Sprint(at(r.(map[string]any), "pool"), at(r.(map[string]any), "device"))] = true
		}
	}
	require.Len(t, devices, room, "none is given twice")

	require.NoError(t, h.Remove(t.Context(), up[0]))
	holds(allocations - room - 1)
	require.NoError(t, h.Stop(t.Context(), up[1], grace))
	holds(allocations - room - 2)
}

func TestDevices_AClaimGoesWithWhatEndsThePod(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 1, 1)
	h := open(t, s, byClaims)
	left := func() (names []string) {
		for _, name := range s.Left() {
			if strings.HasPrefix(name, "resourceclaims/") {
				names = append(names, strings.TrimPrefix(name, "resourceclaims/"))
			}
		}
		return names
	}
	a := onGPUs(playing("a", "stay"), 1)
	start(t, h, a)
	require.Equal(t, []string{"berth-a-0-gpu"}, left())
	require.NoError(t, h.Stop(t.Context(), "a", grace))
	require.Eventually(t, func() bool { return len(left()) == 0 }, patience, look, "by Stop")

	start(t, h, a) // by the same name
	a.Generation = 1
	require.NoError(t, h.Start(t.Context(), a))
	require.Equal(t, int64(0), state(t, h, "a").Generation, "it is up, and nothing is to be done")
	require.Equal(t, []string{"berth-a-0-gpu"}, left())

	s.Evict("berth-a-0", "The node was low on resource: memory.")
	reported(t, h, "a")
	require.Eventually(t, func() bool {
		return at(s.Object("resourceclaims", "berth-a-0-gpu"), "status", "allocation") == nil
	}, patience, look, "a Pod that has ended holds no device")
	start(t, h, a)
	require.Eventually(t, func() bool { return slices.Equal(left(), []string{"berth-a-1-gpu"}) }, patience, look, "by the next Start")

	s.Erase("pods", "berth-a-1")
	reported(t, h, "a")
	require.NoError(t, h.Sweep(t.Context()))
	require.Eventually(t, func() bool { return len(left()) == 0 }, patience, look, "by the sweep, of a Pod that somebody else has removed")
	clears(t, s, h, "a")
}

func TestDevices_AreThoseOfTheTypeInEverySpelling(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 1, 1)
	s.AddNode(t, kubetest.Node{Name: "m1", CPUs: 8, MemoryGB: 32, DiskGB: 100})
	s.AddNode(t, kubetest.Node{Name: "m2", CPUs: 8, MemoryGB: 32, DiskGB: 100})
	s.AddDevices(t, kubetest.Devices{Node: "m1", Products: []string{"NVIDIA GeForce RTX 4090"}})
	s.AddDevices(t, kubetest.Devices{Node: "m2", Products: []string{"GeForce RTX 4090"}})
	h := open(t, s, byClaims)
	asked := func(id, kind string) runtime.Allocation {
		a := onGPUs(playing(id, "stay"), 1)
		a.GPUs.Type = kind
		return a
	}
	first, second := start(t, h, asked("a", "NVIDIA GeForce RTX 4090")), start(t, h, asked("b", "NVIDIA GeForce RTX 4090"))
	require.ElementsMatch(t, []string{"m1", "m2"}, []string{first.HostID, second.HostID})
	require.Equal(t, "n1", start(t, h, asked("c", "")).HostID, "any will do")

	require.NoError(t, h.Start(t.Context(), asked("d", "NVIDIA H200")))
	require.Eventually(t, func() bool {
		one := state(t, h, "d")
		return one.Phase == runtime.Starting && one.Reason == "0/3 nodes are available: 3 cannot allocate all claims."
	}, patience, look)
	s.AddDevices(t, kubetest.Devices{Name: "later", Node: "m2", Pool: "other", Products: []string{"NVIDIA H200"}})
	require.Equal(t, "m2", await(t, h, "d", runtime.Up).HostID)
	clears(t, s, h, "a", "b", "c", "d")
}

func TestDevices_AreTheGPUsOfHosts(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 1, 2)
	s.AddNode(t, kubetest.Node{Name: "plugin", CPUs: 8, MemoryGB: 32, DiskGB: 100, GPUs: 4, Product: "NVIDIA-L40"})
	h := open(t, s, byClaims)
	a := onGPUs(playing("a", "stay"), 2)
	a.VCPUs = 3
	start(t, h, a)
	hosts, err := h.Hosts(t.Context())
	require.NoError(t, err)
	require.Equal(t, []runtime.HostReport{
		{
			ID: "n1", GPUProduct: "NVIDIA L4", CUDA: "12.8", Ready: true,
			Has:   runtime.HostSize{GPUs: 2, VCPUs: 64, MemoryGB: 256, DiskGB: 1000},
			Taken: runtime.HostSize{GPUs: 2, VCPUs: 3},
		},
		{ID: "plugin", Ready: true, Has: runtime.HostSize{VCPUs: 8, MemoryGB: 32, DiskGB: 100}},
	}, hosts)

	drain(h)
	s.AddDevices(t, kubetest.Devices{Name: "new", Node: "n1", Generation: 1, Products: []string{"NVIDIA L4", "NVIDIA L40", "NVIDIA L40"}, CUDA: "13.0.1"})
	s.AddDevices(t, kubetest.Devices{Name: "else", Driver: "nic.example.com", Node: "plugin", Products: []string{"x"}})
	changed(t, h, func(all []runtime.HostReport) bool {
		return all[0].Has.GPUs == 3 && all[0].GPUProduct == "NVIDIA L40" && all[0].CUDA == "13.0" && all[1].Has.GPUs == 0
	})
	s.Erase("resourceslices", "new")
	changed(t, h, func(all []runtime.HostReport) bool { return all[0].Has.GPUs == 2 && all[0].GPUProduct == "NVIDIA L4" })

	s.Down(true)
	require.Eventually(t, func() bool { return s.Watches() == 0 }, patience, look)
	s.Erase("resourceslices", "n1")
	s.AddDevices(t, kubetest.Devices{Name: "again", Node: "plugin", Products: []string{"NVIDIA L4"}})
	s.Expire()
	s.Down(false)
	changed(t, h, func(all []runtime.HostReport) bool {
		return len(all) == 2 && all[0].Has.GPUs == 0 && all[0].GPUProduct == "" && all[1].Has.GPUs == 1
	})
	clears(t, s, h, "a")
}

func TestDevices_AreReadPageByPage(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 100, 1)
	h := open(t, s, byClaims)
	hosts, err := h.Hosts(t.Context())
	require.NoError(t, err)
	require.Len(t, hosts, 100)
	for _, one := range hosts {
		require.Equal(t, int64(1), one.Has.GPUs, one.ID)
	}
	pages := slices.DeleteFunc(s.Requests(), func(one string) bool { return one != "GET /apis/resource.k8s.io/v1/resourceslices" })
	require.GreaterOrEqual(t, len(pages), 3)
}

func TestDevices_HostsHaveNoneWhereTheyCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*kubetest.Server){
		"without the right": func(s *kubetest.Server) { s.Forbid("list", "resourceslices") },
		"an older cluster":  func(s *kubetest.Server) { s.WithoutDevices(kubetest.DeviceGroup) },
		"an earlier API":    func(s *kubetest.Server) { s.WithoutDevices(kubetest.DeviceVersion) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := deviceCluster(t, 1, 2)
			make(s)
			h := open(t, s, byClaims)
			start(t, h, playing("a", "stay"))
			hosts, err := h.Hosts(t.Context())
			require.NoError(t, err)
			require.Len(t, hosts, 1)
			require.Zero(t, hosts[0].Has.GPUs)
			require.NoError(t, h.Sweep(t.Context()))
			clears(t, s, h, "a")
		})
	}
}

func TestDevices_AClusterWithoutThemSaysSo(t *testing.T) {
	t.Parallel()
	for _, lacks := range []string{kubetest.DeviceGroup, kubetest.DeviceVersion} {
		s := deviceCluster(t, 1, 2)
		s.WithoutDevices(lacks)
		h := open(t, s, byClaims)
		err := h.Start(t.Context(), onGPUs(everything(1), 1))
		require.ErrorContains(t, err, "the cluster has no resource.k8s.io/v1, by which GPUs are claimed: Kubernetes has it since 1.34")
		require.NotErrorIs(t, err, runtime.ErrUnavailable)
		require.NoError(t, h.RemoveVolume(t.Context(), "v"))
		require.NoError(t, h.Remove(t.Context(), "a"))
		require.Empty(t, s.Left())
	}
}

// TestDevices_A404OfAProxyIsNotTakenForThat: it says the same of all.
func TestDevices_A404OfAProxyIsNotTakenForThat(t *testing.T) {
	t.Parallel()
	for skip := range 6 {
		s := deviceCluster(t, 1, 2)
		h := open(t, s, byClaims)
		s.Break(kubetest.Fault{Method: http.MethodPost, Skip: skip, Times: 1, Code: http.StatusNotFound})
		if err := h.Start(t.Context(), onGPUs(everything(1), 1)); err != nil {
			require.ErrorIs(t, err, runtime.ErrUnavailable, "after %d", skip)
		}
		start(t, h, onGPUs(everything(1), 1))
		require.NoError(t, h.Remove(t.Context(), "a"))
		require.NoError(t, h.RemoveVolume(t.Context(), "v"))
		require.Empty(t, s.Left())
	}
}

func TestDevices_AClusterWithoutThemIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.WithoutDevices(kubetest.DeviceGroup)
	var said strings.Builder
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(writer(func(text []byte) {
		mu.Lock()
		defer mu.Unlock()
		said.Write(text)
	}), nil))
	h := open(t, s, kubernetes.Config{GPUClass: class, Clock: &clock{fast: true}, Log: log})
	start(t, h, playing("a", "stay"))

	asked := 0
	require.Eventually(t, func() bool {
		for _, one := range s.Requests() {
			if strings.HasSuffix(one, "/resourceslices") {
				asked++
			}
		}
		return asked >= 3
	}, patience, look)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, 1, strings.Count(said.String(), "goes on without them"), said.String())
}

// writer is a function that takes what is written.
type writer func([]byte)

func (w writer) Write(text []byte) (int, error) {
	w(text)
	return len(text), nil
}

func TestDevices_AStartThatIsRefusedLeavesNone(t *testing.T) {
	t.Parallel()
	for n, refused := 0, true; refused; n++ {
		require.Less(t, n, 20)
		s := deviceCluster(t, 1, 1)
		h := open(t, s, byClaims)
		listed(t, s, h)
		s.Break(kubetest.Fault{Method: http.MethodPost, Skip: n, Times: 1, Code: http.StatusForbidden, Reason: "Forbidden"})
		refused = h.Start(t.Context(), onGPUs(everything(1), 1)) != nil
		for _, name := range s.Left() {
			require.True(t, !refused || strings.HasPrefix(name, "persistentvolumeclaims/"), "%s is left after request %d was refused", name, n)
		}
		s.Break()
		require.NoError(t, h.RemoveVolume(t.Context(), "v"))
		clears(t, s, h, "a")
	}
}

func TestDevices_AClaimThatIsBeingRemovedIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 1, 1)
	h := open(t, s, kubernetes.Config{GPUClass: class, Clock: &clock{fast: true}})
	a := onGPUs(playing("a", "stay"), 1)
	start(t, h, a)
	earlier := s.Object("resourceclaims", "berth-a-0-gpu")
	clears(t, s, h, "a")
	earlier["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-02T03:04:05Z"
	delete(earlier, "status")
	s.Put(t, "resourceclaims", earlier)

	s.Requests()
	started := make(chan error, 1)
	go func() { started <- h.Start(t.Context(), a) }()
	tried := 0
	require.Eventually(t, func() bool {
		for _, one := range s.Requests() {
			if one == "POST /apis/resource.k8s.io/v1/namespaces/berth/resourceclaims" {
				tried++
			}
		}
		return tried >= 3
	}, patience, look)
	s.Erase("resourceclaims", "berth-a-0-gpu")
	require.NoError(t, <-started)
	await(t, h, "a", runtime.Up)
	clears(t, s, h, "a")
}

func TestDevices_AnyAnswerThatIsLostChangesNothing(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]kubetest.Fault{"carried out, and lost": {Times: 1}, "refused": {Times: 1, Code: http.StatusInternalServerError}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, broke := 0, true; broke; n++ {
				require.Less(t, n, 100)
				fault.Skip = n
				broke = lives(t, deviceCluster(t, 1, 1), byClaims, fault)
			}
		})
	}
}

func TestDevices_AfterABerthThatWasKilledInTheMidst(t *testing.T) {
	t.Parallel()
	for n, cut := 0, true; cut; n++ {
		require.Less(t, n, 20)
		for _, starts := range []bool{false, true} {
			s := deviceCluster(t, 1, 2)
			h := open(t, s, byClaims)
			listed(t, s, h)
			s.Break(kubetest.Fault{Method: http.MethodPost, Skip: n, Times: 1})
			cut = h.Start(t.Context(), onGPUs(everything(1), 1)) != nil
			s.Break()
			require.NoError(t, h.Close())

			next := open(t, s, byClaims) // which knows nothing
			if starts {                  // and asks for something else by the same names
				again(t, func() error { return next.Start(t.Context(), onGPUs(everything(1), 2)) })
				await(t, next, "a", runtime.Up)
				asked := at(s.Object("pods", "berth-a-1"), "metadata", "annotations").(map[string]any)["berth.dev/gpus"]
				given := at(s.Object("resourceclaims", "berth-a-1-gpu"), "status", "allocation", "devices", "results").([]any)
				require.Equal(t, asked, fmt.Sprint(len(given)))
			}
			require.NoError(t, next.Sweep(t.Context()))
			require.NoError(t, next.Remove(t.Context(), "a"))
			require.NoError(t, next.RemoveVolume(t.Context(), "v"))
			clears(t, s, next, "a")
		}
	}
}

func TestDevices_OfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := deviceCluster(t, 1, 2)
	h, other := open(t, s, kubernetes.Config{Owner: "one", GPUClass: class}), open(t, s, kubernetes.Config{Owner: "two", GPUClass: class})
	start(t, h, onGPUs(playing("a", "stay"), 1))
	require.NoError(t, other.Remove(t.Context(), "a"))
	require.NoError(t, other.Sweep(t.Context()))
	require.NotNil(t, s.Object("resourceclaims", "berth-a-0-gpu"))
	clears(t, s, h, "a")

	s.Put(t, "resourceclaims", map[string]any{
		"metadata": map[string]any{"name": "berth-b-0-gpu"},
		"spec": map[string]any{"devices": map[string]any{"requests": []any{map[string]any{
			"name": "x", "exactly": map[string]any{"deviceClassName": class, "allocationMode": "ExactCount", "count": 1.0},
		}}}},
	})
	require.ErrorContains(t, h.Start(t.Context(), onGPUs(playing("b", "stay"), 1)), "the device claim berth-b-0-gpu is somebody else's")
	require.Equal(t, []string{"resourceclaims/berth-b-0-gpu"}, s.Left())
}
