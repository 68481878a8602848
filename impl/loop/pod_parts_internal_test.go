package loop

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/runtime"
)

func TestAllocation_IsWhatAPodAsksFor(t *testing.T) {
	t.Parallel()
	started := time.UnixMilli(1_700_000_000_000)
	p := compute.Pod{
		ID: "p", Name: "mine", Image: "i", Args: "serve", DiskGB: 20, Ports: []string{"80/http"}, Env: map[string]string{"A": "1"}, HostID: "h",
		Persistent: &compute.PersistentMount{SizeGB: 5, Path: "/w"}, Network: &compute.NetworkMount{VolumeID: "v", Path: "/n"},
		GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}, Devices: []string{"GPU-a", "GPU-b"}, Address: compute.BlockSize + 2,
		StartedAt: started, RestartAt: started.Add(-time.Second),
	}
	want := runtime.Allocation{
		ID: "p", Generation: 1_699_999_999_000, Image: "i", Args: "serve", DiskGB: 20, Ports: p.Ports, Env: p.Env, HostID: "h", Pids: 32_768,
		Persistent: p.Persistent, Network: p.Network, Labels: map[string]string{"dev.berth.name": "mine"}, StartedAt: started,
		GPUs: runtime.GPUs{Type: "NVIDIA L4", Count: 2, Devices: p.Devices},
		Link: &runtime.Link{Subnet: netip.MustParsePrefix("10.64.16.0/20"), Address: netip.MustParseAddr("10.64.16.2"), Name: "p.pod.berth.internal"},
	}
	require.Equal(t, want, allocation(p))

	p.GPU, p.Devices, p.Address, p.CPU = nil, nil, 0, &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 3}
	want.GPUs, want.Link, want.VCPUs, want.MemoryBytes = runtime.GPUs{}, nil, 2, 3_221_225_472
	require.Equal(t, want, allocation(p))
}

func TestShared_TakesAllOrNothing(t *testing.T) {
	t.Parallel()
	var s shared
	pod := func(id compute.PodID, address compute.NetworkAddress, devices ...string) compute.Pod {
		return compute.Pod{ID: id, HostID: "h", Address: address, Devices: devices}
	}
	require.True(t, s.take(pod("a", 7, "0", "1")))
	require.True(t, s.take(pod("a", 7, "0", "1")), "it has it already")
	require.False(t, s.take(pod("b", 0, "2", "1")))
	require.False(t, s.hasEarlier(compute.Pod{ID: "b", RestartAt: time.UnixMilli(5)}), "it notes nothing then")
	require.True(t, s.take(pod("c", 0, "2")), "what was free is left free")
	require.False(t, s.take(pod("b", 7)), "an address is of one, too")
	require.True(t, s.take(pod("b", 8)))

	elsewhere := pod("d", 0, "0")
	elsewhere.HostID = "another"
	require.True(t, s.take(elsewhere), "a device is one of its host")

	require.False(t, s.take(pod("c", 0, "2", "1")))
	require.False(t, s.take(pod("b", 8, "2")), "what one had before stays its own")

	s.letGo("a")
	require.False(t, s.take(pod("b", 8, "2")), "that is of c")
	require.True(t, s.take(pod("b", 7, "0", "1")))
	require.False(t, s.take(pod("a", 0, "0")))
}

func TestShared_KnowsEarlierRuns(t *testing.T) {
	t.Parallel()
	var s shared
	p := compute.Pod{ID: "a", RestartAt: time.UnixMilli(1)}
	require.False(t, s.hasEarlier(p), "nothing is known of it")
	require.True(t, s.take(p))
	require.False(t, s.hasEarlier(p))
	p.RestartAt = time.UnixMilli(2)
	require.True(t, s.hasEarlier(p))
	require.False(t, s.hasEarlier(compute.Pod{ID: "b"}))
	s.letGo("b")
	require.True(t, s.hasEarlier(p))
	s.letGo("a")
	require.False(t, s.hasEarlier(p))
}

func TestOnTick_IsTheFirstTickThatIsNotTooEarly(t *testing.T) {
	t.Parallel()
	second := time.UnixMilli(1_700_000_000_000)
	now := second.Add(300 * time.Millisecond)
	for until, want := range map[time.Duration]time.Duration{
		-time.Hour: time.Second, 0: time.Second, 1300 * time.Millisecond: 2 * time.Second, 2 * time.Second: 2 * time.Second,
		2001 * time.Millisecond: 3 * time.Second, 2999 * time.Millisecond: 3 * time.Second, time.Hour: time.Hour,
	} {
		require.Equal(t, second.Add(want), onTick(time.Second, now, second.Add(until)), until)
	}
	require.Equal(t, second.Add(time.Second), onTick(time.Second, now, time.Time{}))
}

// looked makes a look at a pod of which that is remembered.
func looked(memory podState) *reconcile.Look[compute.PodID, podState] {
	return &reconcile.Look[compute.PodID, podState]{Key: "p", Memory: memory}
}

func TestPodLook_BeginsWithWhatIsRemembered(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_123)
	starting := compute.Pod{ID: "p", Status: compute.PodStarting, Image: "i"}
	running := compute.Pod{ID: "p", Status: compute.PodRunning, StartedAt: at}
	again := running
	again.RestartAt = at.Add(-time.Millisecond)
	for name, c := range map[string]struct {
		memory podState
		want   compute.Pod
	}{
		"nothing":     {podState{}, compute.Pod{}},
		"STARTING":    {podState{starting: &starting}, starting},
		"RUNNING":     {podState{startedAt: at.UnixMilli()}, running},
		"a later run": {podState{startedAt: at.UnixMilli(), restartAt: at.UnixMilli() - 1}, again},
	} {
		one := looked(c.memory)
		require.Equal(t, c.want, begin(one).pod, name)
		one.Hinted = true
		require.Zero(t, begin(one).pod, "somebody may have changed it: %s", name)
	}
}

func TestPodLook_LeavesWhatTheNextOneNeeds(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_350)
	kept := usage{cpu: 50, measured: true}
	starting := compute.Pod{ID: "p", Status: compute.PodStarting}
	running := compute.Pod{ID: "p", Status: compute.PodRunning, StartedAt: now, RestartAt: now.Add(-time.Second)}
	exited := compute.Pod{ID: "p", Status: compute.PodExited}
	end := func(p compute.Pod, next again, err error) *podLook {
		one := &podLook{Look: looked(podState{starting: &exited, startedAt: 7, restartAt: 8, usage: kept}), pod: p, next: next}
		one.Err = err
		one.end(now, 0)
		return one
	}

	one := end(starting, soon, nil)
	require.Equal(t, podState{starting: &one.pod, usage: kept}, one.Memory)
	require.Equal(t, reconcile.At(now.Add(50*time.Millisecond)), one.Next)
	one = end(running, later, nil)
	require.Equal(t, podState{startedAt: now.UnixMilli(), restartAt: now.UnixMilli() - 1000, usage: kept}, one.Memory)
	require.Equal(t, reconcile.At(now.Add(650*time.Millisecond)), one.Next)
	one = end(exited, atOnce, nil)
	require.Equal(t, podState{usage: kept}, one.Memory)
	require.Equal(t, reconcile.AtOnce(), one.Next)
	require.Equal(t, reconcile.Next{}, end(exited, never, nil).Next)
	for _, p := range []compute.Pod{starting, running} {
		require.Equal(t, podState{usage: kept}, end(p, later, errors.New("not now")).Memory, "its row is to be read")
	}
}

func TestTexts_AreOneLineForPeople(t *testing.T) {
	t.Parallel()
	require.Equal(t, "the pod is not behind any more", behindLine("pod", ""))
	require.Equal(t, "the worker is behind, and is tried again: no route to host", behindLine("worker", " no route\n\tto host "))
}
