package loop_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// withGPUs puts hosts that have one GPU each in the place of the yard's, and gives their runtime.
func (y *yard) withGPUs(hosts ...string) *giving {
	y.fleet = nil
	for _, id := range hosts {
		y.fleet = append(y.fleet, control.Host{
			ID: id, DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 1, GPUDevices: []string{"GPU-" + id},
			VCPUs: 8, MemoryGB: 64, DiskGB: 500,
		})
	}
	y.fleet = append(y.fleet, control.Host{
		ID: "c", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 8, MemoryGB: 64, DiskGB: 500,
	})
	g := &giving{host: y.host, given: map[string]runtime.Allocation{}}
	y.restart()
	y.pods.Runtime = g
	return g
}

// quiet is a runtime whose hosts do not answer, as long as it is silent: what may be there cannot be asked.
type quiet struct {
	*giving
	silent atomic.Bool
}

func (s *quiet) List(ctx context.Context) ([]string, error) {
	if s.silent.Load() {
		return nil, nil
	}
	return s.giving.List(ctx)
}

func (s *quiet) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if s.silent.Load() {
		return runtime.State{}, runtime.ErrUnavailable
	}
	return s.giving.Inspect(ctx, id)
}

func (s *quiet) Stop(ctx context.Context, id string, grace time.Duration) error {
	if s.silent.Load() {
		return runtime.ErrUnavailable
	}
	return s.giving.Stop(ctx, id, grace)
}

// until lets the time pass until the pod has the status.
func (y *yard) until(id compute.PodID, status compute.PodStatus) {
	require.Eventually(y, func() bool {
		y.clock.Advance(time.Second)
		return y.pod(id).Status == status
	}, 10*time.Second, 5*time.Millisecond)
}

// run has the loop work until the function that it gives is called.
func (y *yard) run() (end func()) {
	ctx, cancel := context.WithCancel(y.Context())
	var work sync.WaitGroup
	work.Go(func() { y.pods.Run(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// A GPU brings its share of the host's vCPUs and memory: the container may use no more, as others have the rest.
func TestPods_WithGPUsAreLimitedToTheirShareOfTheHost(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	g := y.withGPUs("g")
	pod := y.gpuPod()
	y.step(0)
	given := g.given[string(pod.ID)]
	require.EqualValues(t, 8, given.VCPUs)
	require.EqualValues(t, 64<<30, given.MemoryBytes)
}

// A container that has ended has its device no more, though its pod's row still names it: after a restart, too.
func TestPods_DeviceIsOfTheContainerThatIsUp(t *testing.T) {
	t.Parallel()
	for name, unreachable := range map[string]bool{"that is seen": false, "whose host does not answer yet": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			g := y.withGPUs("g")
			ended := y.gpuPod()
			y.step(0)
			y.step(sim.DefaultBoot)
			y.act(ended.ID, compute.PodStop)
			y.step(0)

			up := y.gpuPod()
			require.Equal(t, ended.Devices, up.Devices)
			y.step(0)
			y.step(sim.DefaultBoot)
			require.Equal(t, compute.PodRunning, y.pod(up.ID).Status)

			y.restart()
			r := &quiet{giving: g}
			y.pods.Runtime = r
			r.silent.Store(unreachable)
			y.step(0)
			r.silent.Store(false)
			y.host.slow, y.host.stops, y.host.goOn = up.ID, make(chan struct{}, 1), make(chan struct{})
			end := y.run()
			defer end()

			y.act(up.ID, compute.PodStop)
			<-y.host.stops
			require.True(t, y.pods.Has("g", up.Devices))
			next := y.gpuPod()
			require.Equal(t, up.Devices, next.Devices)
			other := y.create(nil)
			y.until(other, compute.PodStarting)
			require.Equal(t, compute.PodProvisioning, y.pod(next.ID).Status, "it waits for the container that is being stopped")

			close(y.host.goOn)
			y.until(next.ID, compute.PodStarting)
			require.Empty(t, g.twice)
		})
	}
}

// A pod that is started again on another host gives what it had only once its container there has ended.
func TestPods_ContainerOfAnEarlierRunEndsBeforeTheNextStarts(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	g := y.withGPUs("g", "h")
	r := &quiet{giving: g}
	y.pods.Runtime = r
	gpu, cpu := y.gpuPod(), y.create(nil)
	y.step(0)
	y.step(sim.DefaultBoot)
	at := y.pod(gpu.ID)
	require.Equal(t, compute.PodRunning, at.Status)

	r.silent.Store(true)
	for _, id := range []compute.PodID{gpu.ID, cpu} {
		y.act(id, compute.PodStop)
	}
	y.step(0)
	next := y.gpuPod()
	require.Equal(t, at.Devices, next.Devices)
	starts := y.host.starts.Load()
	for _, id := range []compute.PodID{gpu.ID, cpu} {
		y.act(id, compute.PodStart)
		y.step(time.Minute)
		require.Equal(t, compute.PodProvisioning, y.pod(id).Status)
		require.Contains(t, y.pods.Behind(id), runtime.ErrUnavailable.Error(), "it shows what it waits for")
	}
	require.NotEqual(t, at.Devices, y.pod(gpu.ID).Devices)
	require.Equal(t, starts, y.host.starts.Load())

	r.silent.Store(false)
	for _, id := range []compute.PodID{gpu.ID, cpu, next.ID} {
		for range 10 {
			y.step(10 * time.Second)
		}
		require.Equal(t, compute.PodRunning, y.pod(id).Status)
	}
	require.Empty(t, g.twice)
	y.containersHaveTheirClaims(g)
}

func TestPods_StartAfterAnOrderlyStopAsksNoOtherHost(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	g := y.withGPUs("g", "h")
	r := &quiet{giving: g}
	y.pods.Runtime = r
	id := y.gpuPod().ID
	y.step(0)
	y.step(sim.DefaultBoot)
	y.act(id, compute.PodStop)
	y.step(0)

	r.silent.Store(true) // the host that it was on
	y.act(id, compute.PodStart)
	y.step(0)
	require.Equal(t, compute.PodStarting, y.pod(id).Status)
}
