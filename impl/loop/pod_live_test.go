package loop_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

func TestPods_Live_ShowsPortsAndUseAndAsksNobody(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.create(nil)
	require.Zero(t, y.pods.Live(id))

	y.step(0)
	y.step(sim.DefaultBoot)
	asked := y.host.asked.Load()
	live := y.pods.Live(id)
	require.Equal(t, []compute.PublishedPort{{Private: 8888, Public: 40_000, Type: "http", IP: "100.65.0.1"}}, live.Ports)
	require.Zero(t, *live.CPUPercent)
	require.Empty(t, live.GPUs)

	y.host.away.Store(true)
	require.Equal(t, live, y.pods.Live(id))
	require.Equal(t, asked, y.host.asked.Load())
	y.host.away.Store(false)
	y.act(id, compute.PodStop)
	y.step(0)
	require.Zero(t, y.pods.Live(id))
}

func TestPods_Live_IsMeasuredFromTimeToTime(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	times := 0.0
	var err error
	y.host.stats = func() (runtime.Stats, error) {
		times++
		return runtime.Stats{CPUPercent: times, MemoryPercent: 50}, err
	}
	id := y.running(nil)
	require.InDelta(t, 1, *y.pods.Live(id).CPUPercent, 0)

	y.step(4 * time.Second)
	require.InDelta(t, 1, *y.pods.Live(id).CPUPercent, 0, "not at every look")
	y.step(time.Second)
	require.InDelta(t, 2, *y.pods.Live(id).CPUPercent, 0)

	err = errors.New("not now")
	y.step(5 * time.Second)
	require.InDelta(t, 2, *y.pods.Live(id).CPUPercent, 0, "the last one that is known")
	require.Equal(t, compute.PodRunning, y.pod(id).Status)

	err = runtime.ErrNoStats
	y.act(id, compute.PodRestart)
	y.step(0)
	require.Zero(t, y.pods.Live(id), "it is not up")

	y.step(sim.DefaultBoot)
	require.NotEmpty(t, y.pods.Live(id).Ports)
	require.Nil(t, y.pods.Live(id).CPUPercent, "nothing of the run before")
}

// gpuPod creates a pod with one GPU.
func (y *yard) gpuPod() compute.Pod {
	p, err := y.ctl.CreatePod(y.Context(), "u", control.NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}})
	require.NoError(y, err)
	return p
}

func TestPods_DeviceWaitsForTheContainerBefore(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.fleet = []control.Host{
		{
			ID: "g", DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 2, GPUDevices: []string{"GPU-a", "GPU-b"},
			VCPUs: 8, MemoryGB: 64, DiskGB: 500,
		},
		{ID: "c", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 8, MemoryGB: 64, DiskGB: 500},
	}

	y.restart()
	first, second := y.gpuPod(), y.gpuPod()
	require.Equal(t, []string{"GPU-a"}, first.Devices)
	require.Equal(t, []string{"GPU-b"}, second.Devices)

	y.step(0)
	y.step(sim.DefaultBoot)
	y.host.slow, y.host.stops, y.host.goOn = first.ID, make(chan struct{}, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { y.pods.Run(ctx) })
	y.act(first.ID, compute.PodStop)
	<-y.host.stops
	next := y.gpuPod()
	require.Equal(t, first.Devices, next.Devices, "it is booked at once")

	other := y.create(nil)
	require.Eventually(t, func() bool { return y.pod(other).Status == compute.PodStarting }, 10*time.Second, time.Millisecond)
	require.Equal(t, compute.PodProvisioning, y.pod(next.ID).Status, "it waits for the container that is being stopped")
	require.True(t, y.pods.Has("g", []string{"GPU-a"}), "workers wait, too")
	require.False(t, y.pods.Has("g", []string{"GPU-c"}))

	cancel()
	y.host.away.Store(true)
	close(y.host.goOn)
	run.Wait()

	y.host.slow = ""
	y.host.away.Store(false)
	y.restart() // berth died meanwhile, and the container is still up
	y.step(0)
	y.step(time.Second)
	require.Equal(t, compute.PodStarting, y.pod(next.ID).Status)
	require.Equal(t, runtime.GPUs{Type: next.GPU.ID, Count: 1, Devices: next.Devices}, y.host.last.Load().GPUs)

	state, err := y.host.Inspect(t.Context(), string(first.ID))
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, state.Phase)
}

func TestPods_LoginIsOpenedWhenTheRuntimeAsks(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	opened := 0
	y.login = func(_ context.Context, id compute.RegistryID) (compute.Login, error) {
		opened++
		require.Equal(t, compute.RegistryID("r"), id)
		return compute.Login{Username: "user", Password: "s3cret"}, nil
	}

	y.restart()
	require.NoError(t, y.store.Write(t.Context(), func(tx tx) error {
		return tx.InsertRegistry(compute.Registry{ID: "r", UserID: "u", Name: "r", Login: []byte("sealed")})
	}))

	_, err := y.ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "a", Image: "i", RegistryID: "r", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
	require.NoError(t, err)
	y.step(0)
	require.Zero(t, opened)

	got, err := y.host.last.Load().Credential(t.Context())
	require.NoError(t, err)
	require.Equal(t, runtime.Credential{User: "user", Password: "s3cret"}, got)
	y.create(nil)
	y.step(0)
	require.Nil(t, y.host.last.Load().Credential)
}
