package kubernetes_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
)

func TestScheduling_WhatHasNoRoomWaitsAndComesUpWhenThereIs(t *testing.T) {
	t.Parallel()
	const allocations, hosts, each = 200, 40, 4
	s := kubetest.New(t)
	for i := range hosts {
		s.AddNode(t, kubetest.Node{Name: fmt.Sprintf("gpu%02d", i), CPUs: 32, MemoryGB: 128, DiskGB: 500, GPUs: each, Product: "NVIDIA-L4"})
	}
	h := open(t, s, kubernetes.Config{})
	asked := func(i int) runtime.Allocation {
		a := playing(fmt.Sprintf("a%03d", i), "stay")
		a.GPUs = runtime.GPUs{Type: "NVIDIA L4", Count: 1}
		return a
	}

	var starts sync.WaitGroup
	for i := range allocations {
		starts.Go(func() {
			if err := h.Start(t.Context(), asked(i)); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()

	count := func() (up []string, waits int) {
		for i := range allocations {
			one, err := h.Inspect(t.Context(), asked(i).ID)
			switch {
			case err != nil:
			case one.Phase == runtime.Up && one.HostID != "":
				up = append(up, asked(i).ID)
			case one.Phase == runtime.Starting && one.Reason == "0/40 nodes are available: 40 Insufficient nvidia.com/gpu.":
				waits++
			}
		}
		return up, waits
	}

	const room = hosts * each
	require.Eventually(t, func() bool {
		up, waits := count()
		return len(up) == room && waits == allocations-room
	}, time.Minute, 50*look)

	report, err := h.Hosts(t.Context())
	require.NoError(t, err)
	require.Len(t, report, hosts)
	for _, one := range report {
		require.Equal(t, int64(each), one.Taken.GPUs, one.ID)
	}

	up, _ := count()
	require.NoError(t, h.Remove(t.Context(), up[0]))
	require.Eventually(t, func() bool {
		up, waits := count()
		return len(up) == room && waits == allocations-room-1
	}, time.Minute, 50*look)
}

func TestScheduling_AGPUTypeIsFoundInEverySpelling(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	s.AddNode(t, kubetest.Node{Name: "cpu", CPUs: 8, MemoryGB: 32, DiskGB: 100})
	s.AddNode(t, kubetest.Node{Name: "l4", CPUs: 8, MemoryGB: 32, DiskGB: 100, GPUs: 1, Product: "NVIDIA-L4"})
	s.AddNode(t, kubetest.Node{Name: "plain", CPUs: 8, MemoryGB: 32, DiskGB: 100, GPUs: 1, Product: "NVIDIA-GeForce-RTX-4090", TaintedBy: "nvidia.com/gpu"})
	s.AddNode(t, kubetest.Node{Name: "shared", CPUs: 8, MemoryGB: 32, DiskGB: 100, GPUs: 1, Product: "GeForce-RTX-4090-SHARED"})
	h := open(t, s, kubernetes.Config{})
	asked := func(id, kind string) runtime.Allocation {
		a := playing(id, "env NVIDIA_VISIBLE_DEVICES", "stay")
		a.GPUs = runtime.GPUs{Type: kind, Count: 1}
		a.Env["NVIDIA_VISIBLE_DEVICES"] = "all"
		return a
	}

	first, second := start(t, h, asked("a", "NVIDIA GeForce RTX 4090")), start(t, h, asked("b", "NVIDIA GeForce RTX 4090"))
	require.ElementsMatch(t, []string{"plain", "shared"}, []string{first.HostID, second.HostID})
	require.Eventually(t, func() bool { return logs(t, h, "a") == "NVIDIA_VISIBLE_DEVICES=\n" }, patience, look)

	require.NoError(t, h.Start(t.Context(), asked("c", "NVIDIA H200")))
	require.Eventually(t, func() bool {
		one := state(t, h, "c")
		return one.Phase == runtime.Starting && one.Reason == "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector." ||
			one.Reason == "0/4 nodes are available: 1 node(s) had untolerated taint(s) {nvidia.com/gpu: present}, 3 node(s) didn't match Pod's node affinity/selector."
	}, patience, look)

	none := playing("d", "env NVIDIA_VISIBLE_DEVICES", "stay")
	none.Env["NVIDIA_VISIBLE_DEVICES"] = "all"
	start(t, h, none)
	require.Eventually(t, func() bool { return logs(t, h, "d") == "NVIDIA_VISIBLE_DEVICES=void\n" }, patience, look)
	clears(t, s, h, "a", "b", "c", "d")
}

func TestScheduling_NoOtherHostsThanThoseThatAreNamed(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	for _, name := range []string{"n1", "n2", "n3"} {
		s.AddNode(t, kubetest.Node{Name: name, CPUs: 2, MemoryGB: 8, DiskGB: 100})
	}
	h := open(t, s, kubernetes.Config{})
	asked := func(id string) runtime.Allocation {
		a := playing(id, "stay")
		a.VCPUs, a.MemoryBytes, a.DiskGB, a.Hosts = 2, 4<<30, 20, []string{"n2", "n3"}
		return a
	}

	first, second := start(t, h, asked("a")), start(t, h, asked("b"))
	require.ElementsMatch(t, []string{"n2", "n3"}, []string{first.HostID, second.HostID})
	require.NoError(t, h.Start(t.Context(), asked("c")))
	const waits = "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient cpu."
	require.Eventually(t, func() bool { return state(t, h, "c").Reason == waits }, patience, look)

	require.NoError(t, h.Stop(t.Context(), "c", grace))
	ended := state(t, h, "c")
	require.Equal(t, runtime.Ended, ended.Phase)
	require.Equal(t, -1, ended.ExitCode)
	require.Empty(t, ended.Reason, "it was asked for")
	clears(t, s, h, "a", "b", "c")
}

func TestScheduling_WaitsForAnotherHostWhereNoneSuits(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	for _, name := range []string{"n1", "n2"} {
		s.AddNode(t, kubetest.Node{Name: name, CPUs: 2, MemoryGB: 8, DiskGB: 100})
	}
	h := open(t, s, kubernetes.Config{})
	a := playing("a", "stay")
	a.Hosts = []string{}
	require.NoError(t, h.Start(t.Context(), a))
	const waits = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
	require.Eventually(t, func() bool { return state(t, h, "a").Reason == waits }, patience, look)

	s.AddNode(t, kubetest.Node{Name: "n3", CPUs: 2, MemoryGB: 8, DiskGB: 100})
	require.Eventually(t, func() bool { return state(t, h, "a").HostID == "n3" }, patience, look)
	clears(t, s, h, "a")
}

func TestHosts_AreTheNodesWithWhatIsTakenOfThem(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	s.AddNode(t, kubetest.Node{Name: "n1", CPUs: 16, MemoryGB: 64, DiskGB: 500, GPUs: 2, Product: "NVIDIA-L4", Zone: "EU-RO-1", CUDA: "12.8"})
	h := open(t, s, kubernetes.Config{})
	a := playing("a", "stay")
	a.VCPUs, a.MemoryBytes, a.DiskGB, a.GPUs = 3, 5<<30, 20, runtime.GPUs{Type: "NVIDIA L4", Count: 1}
	start(t, h, a)

	hosts, err := h.Hosts(t.Context())
	require.NoError(t, err)
	want := runtime.HostReport{
		ID: "n1", Zone: "EU-RO-1", GPUProduct: "NVIDIA-L4", CUDA: "12.8", Ready: true,
		Has:   runtime.HostSize{GPUs: 2, VCPUs: 16, MemoryGB: 64, DiskGB: 500},
		Taken: runtime.HostSize{GPUs: 1, VCPUs: 3, MemoryGB: 5, DiskGB: 20},
	}
	require.Equal(t, []runtime.HostReport{want}, hosts)

	drain(h)
	s.Cordon("n1", true)
	changed(t, h, func(one []runtime.HostReport) bool { return len(one) == 1 && one[0].Draining && one[0].Ready })
	s.AddNode(t, kubetest.Node{Name: "n2", CPUs: 1, MemoryGB: 1, DiskGB: 1})
	changed(t, h, func(all []runtime.HostReport) bool { return len(all) == 2 })
	s.SilenceNode("n2")
	changed(t, h, func(all []runtime.HostReport) bool {
		return len(all) == 2 && !all[1].Ready && all[1].Reason == "Kubelet stopped posting node status."
	})
	s.RemoveNode("n2")
	s.AddNode(t, kubetest.Node{Name: "n3", CPUs: 1, MemoryGB: 1, DiskGB: 1, TaintedBy: "dedicated"})
	changed(t, h, func(all []runtime.HostReport) bool {
		return len(all) == 2 && all[1].ID == "n3" && all[1].Ready && all[1].Draining
	})
	s.RemoveNode("n3")
	changed(t, h, func(all []runtime.HostReport) bool { return len(all) == 1 })
	require.NoError(t, h.Stop(t.Context(), "a", grace))
	changed(t, h, func(all []runtime.HostReport) bool { return len(all) == 1 && all[0].Taken == runtime.HostSize{} })
}

func drain(h *kubernetes.Runtime) {
	for {
		select {
		case <-h.HostsChanged():
		default:
			return
		}
	}
}

// changed waits for hints until the hosts are so.
func changed(t *testing.T, h *kubernetes.Runtime, so func([]runtime.HostReport) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		select {
		case <-h.HostsChanged():
		default:
			return false
		}
		hosts, err := h.Hosts(t.Context())
		require.NoError(t, err)
		return so(hosts)
	}, patience, look)
}

func TestHosts_NoneAreKnownWithoutTheRight(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Forbid("list", "nodes")
	h := open(t, s, kubernetes.Config{})
	one := start(t, h, playing("a", "stay"))
	require.Equal(t, "n1", one.HostID)
	hosts, err := h.Hosts(t.Context())
	require.NoError(t, err)
	require.Empty(t, hosts)

	a := playing("b", "stay")
	a.Ports = []string{"80/tcp"}
	require.Equal(t, "127.0.0.1", start(t, h, a).Ports[0].IP, "the Pod knows its node's address")
	clears(t, s, h, "a", "b")
}
