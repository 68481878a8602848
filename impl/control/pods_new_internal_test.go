package control

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// testNoon is where the clock of openFrozen stands.
var testNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestControl_NewPod_NamesWhatDoesNotGoTogether(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 1)})
	for want, change := range map[string]func(*NewPod){
		"gpu: allowedCudaVersions and minCudaVersion cannot both be set": func(n *NewPod) {
			n.Kept = compute.PodNeeds{CUDAVersions: []string{"12.8"}, LeastCUDA: "12.8"}
		},
		"mounts: persistent and network cannot both be set": func(n *NewPod) {
			n.Persistent, n.Network = &compute.PersistentMount{SizeGB: 10, Path: "/p"}, []compute.NetworkMount{}
		},
		"exactly one of gpu and cpu must be set": func(n *NewPod) { n.CPU = &compute.CPU{ID: "cpu3g", VCPUCount: 2} },
		"mounts.persistent is not possible on a CPU pod": func(n *NewPod) {
			n.GPU, n.CPU, n.Persistent = nil, &compute.CPU{ID: "cpu3g", VCPUCount: 2}, &compute.PersistentMount{SizeGB: 10, Path: "/p"}
		},
		"the pod would cost 0.43 USD an hour, over the limit of 0.42": func(n *NewPod) { n.MaxCost = 0.42 },
		"bidPerGpu: 0.21 USD an hour is below the minimum":            func(n *NewPod) { n.BidPerGPU = 0.21 },
	} {
		n := oneL4()
		change(&n)
		_, err := c.CreatePod(t.Context(), "u", n)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), want)
		require.ErrorContains(t, err, want)
	}
	n := oneL4()
	n.GPU = nil
	_, err := c.CreatePod(t.Context(), "u", n)
	require.ErrorContains(t, err, "exactly one of gpu and cpu must be set")
	pods, err := c.ListPods(t.Context(), "u", nil)
	require.NoError(t, err)
	require.Empty(t, pods)
}

func TestControl_NewPod_HasTheDefaults(t *testing.T) {
	t.Parallel()
	c, clock, _ := openFrozen(t, []Host{l4s("a", 2)})
	pod, err := c.CreatePod(t.Context(), "u", NewPod{Name: "n", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}, Kept: compute.PodNeeds{VCPUsPerGPU: 8}})
	require.NoError(t, err)
	want := compute.Pod{
		ID: pod.ID, UserID: "u", Name: "n", Image: "i", DiskGB: 20, Ports: []string{}, Env: map[string]string{}, GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2},
		Needs: compute.PodNeeds{VCPUsPerGPU: 8}, Cloud: compute.Secure, Devices: []string{"0", "1"}, DataCenterID: "EU-RO-1", HostID: "a", CostPerHour: 0.86,
		Status: compute.PodProvisioning, Version: 1, CreatedAt: clock.Wall(), MovedAt: clock.Wall(),
	}
	require.Equal(t, want, pod)
	require.Equal(t, want, c.stored(t, pod.ID))

	bid, err := c.newPod(t.Context(), "u", NewPod{GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}, BidPerGPU: 0.3, MaxCost: 0.6})
	require.NoError(t, err)
	require.InDelta(t, 0.6, bid.CostPerHour, 1e-12, "it costs what is bid")
	cpu, err := c.newPod(t.Context(), "u", NewPod{CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 4}, MaxCost: 0.16})
	require.NoError(t, err)
	require.Equal(t, compute.CPU{ID: "cpu3g", VCPUCount: 4, MemoryGB: 16}, *cpu.CPU)
	require.InDelta(t, 0.16, cpu.CostPerHour, 1e-12)
}

func TestControl_CreatePod_GivesWhatLogsInToIt(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 9)})
	ctx := t.Context()
	made := func(change func(*NewPod)) compute.Pod {
		t.Helper()
		n := oneL4()
		n.Env = map[string]string{"A": "b"}
		change(&n)
		pod, err := c.CreatePod(ctx, "u", n)
		require.NoError(t, err)
		require.Equal(t, pod.Env, c.stored(t, pod.ID).Env)
		require.Equal(t, "b", n.Env["A"])
		require.NotContains(t, n.Env, envPassword, "what was asked for is as it was")
		return pod
	}
	none := map[string]string{"A": "b"}
	require.Equal(t, none, made(func(n *NewPod) { n.StartSSH = new(true) }).Env, "the user has no keys")
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error { return tx.SetSSHKeys("u", []string{"one", "two"}) }))
	require.Equal(t, none, made(func(*NewPod) {}).Env)
	require.Equal(t, none, made(func(n *NewPod) { n.StartSSH, n.StartJupyter = new(false), new(false) }).Env)
	require.Equal(t, map[string]string{"A": "b", "PUBLIC_KEY": "one\ntwo"}, made(func(n *NewPod) { n.StartSSH = new(true) }).Env)
	require.Equal(t, map[string]string{"A": "b", "PUBLIC_KEY": ""}, made(func(n *NewPod) {
		n.StartSSH, n.Env = new(true), map[string]string{"A": "b", "PUBLIC_KEY": ""}
	}).Env, "its own stays")

	first := made(func(n *NewPod) { n.StartJupyter = new(true) }).Env
	require.Len(t, first["JUPYTER_PASSWORD"], 32)
	require.NotEqual(t, first["JUPYTER_PASSWORD"], made(func(n *NewPod) { n.StartJupyter = new(true) }).Env["JUPYTER_PASSWORD"])
	n := oneL4()
	n.StartJupyter, n.Env = new(true), map[string]string{envPassword: "own"}
	pod, err := c.newPod(ctx, "u", n)
	require.NoError(t, err)
	require.Equal(t, "own", pod.Env[envPassword])

	c.runtime.Can.Login = false
	require.Equal(t, none, made(func(n *NewPod) { n.StartSSH = new(true) }).Env, "nobody can log in")
}

func TestControl_WantOfNew_AsksForRoomForAll(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, []Host{l4s("a", 2)})
	n := oneL4()
	n.Persistent = &compute.PersistentMount{SizeGB: 99, Path: "/p"}
	pod, err := c.CreatePod(t.Context(), "u", n)
	require.NoError(t, err)
	require.Zero(t, c.placement.freeNow()["a"].diskGB)
	_, err = c.CreatePod(t.Context(), "u", oneL4())
	require.ErrorIs(t, err, ErrFull)
	require.ErrorContains(t, err, "free there: 1 in all, at most 1 and 0 GB of disk on one host")
	require.NoError(t, c.DeletePod(t.Context(), "u", pod.ID))
	n.Persistent.SizeGB = 100
	_, err = c.CreatePod(t.Context(), "u", n)
	require.ErrorContains(t, err, ", 100 GB of persistent storage")
	n.Persistent.SizeGB = math.MaxInt64
	_, err = c.CreatePod(t.Context(), "u", n)
	require.ErrorIs(t, err, ErrNever)

	n.Persistent = nil
	n.Kept = compute.PodNeeds{MemoryGBPerGPU: 9}
	_, err = c.CreatePod(t.Context(), "u", n)
	require.ErrorIs(t, err, ErrNever, "a GPU comes with 8 GB")
	n.Kept.MemoryGBPerGPU = 8
	_, err = c.CreatePod(t.Context(), "u", n)
	require.NoError(t, err)
}

func TestControl_HTTPPod_ShowsThePortsThatItHas(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, nil)
	ctx := t.Context()
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error {
		return errors.Join(
			tx.InsertPod(compute.Pod{ID: "p", UserID: "u", Status: compute.PodExited, Ports: []string{"80/http", "22/tcp"}}),
			tx.InsertPod(compute.Pod{ID: "gone", UserID: "u", Status: compute.PodTerminated, Ports: []string{"80/http"}}),
		)
	}))
	pod, err := c.HTTPPod(ctx, "p", 80)
	require.NoError(t, err)
	require.EqualValues(t, "p", pod.ID)
	for _, one := range []struct {
		id   compute.PodID
		port int
	}{{"p", 22}, {"p", 8}, {"gone", 80}, {"none", 80}} {
		pod, err = c.HTTPPod(ctx, one.id, one.port)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%+v", one)
		require.Empty(t, pod.UserID)
	}
}
