package loop_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// A container of an earlier run that does not end when berth starts keeps its own pod waiting, and no other.
func TestPods_ContainerThatDoesNotEndAtTheStartKeepsNoOtherPodWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		stuck, up := y.running(nil), y.running(nil)
		y.act(stuck, compute.PodRestart)
		asked := y.pod(stuck)
		other := y.create(nil)
		y.restart()
		y.host.slow, y.host.stops, y.host.goOn = stuck, make(chan struct{}, 1), make(chan struct{})
		end := y.run()
		defer end()
		time.Sleep(20 * time.Second) // an end is waited for no longer
		y.until(other, compute.PodRunning)
		require.Equal(t, compute.PodRunning, y.pod(up).Status)
		y.act(up, compute.PodStop)
		y.until(up, compute.PodExited)
		require.NotEqual(t, asked.Generation(), y.generation(stuck), "it cannot be ended still")

		close(y.host.goOn)
		require.Eventually(t, func() bool {
			y.clock.Advance(time.Second)
			return y.generation(stuck) == asked.Generation()
		}, time.Minute, time.Second)
		y.until(stuck, compute.PodRunning)
	})
}

// generation gives which run the pod's container is of.
func (y *yard) generation(id compute.PodID) int64 {
	state, err := y.host.Fleet.Inspect(context.Background(), string(id))
	if errors.Is(err, runtime.ErrUnknown) {
		return 0
	}
	require.NoError(y, err)
	return state.Generation
}

// A pod that is to run elsewhere has not claimed what its earlier container has: as long as that does not end, nobody gets a GPU that it
// may have.
func TestPods_ContainerThatDoesNotEndAtTheStartSharesNoGPU(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		g := y.withGPUs("g", "h")
		first := y.gpuPod()
		y.step(0)
		y.step(sim.DefaultBoot)
		r := &quiet{giving: g}
		y.pods.Runtime = r
		r.silent.Store(true)
		y.act(first.ID, compute.PodStop)
		y.step(0)
		next := y.gpuPod()
		require.Equal(t, first.Devices, next.Devices)
		y.act(first.ID, compute.PodStart)
		require.NotEqual(t, first.Devices, y.pod(first.ID).Devices)
		cpu := y.create(nil)

		y.restart()
		y.pods.Runtime = g
		y.host.slow, y.host.stops, y.host.goOn = first.ID, make(chan struct{}, 1), make(chan struct{})
		end := y.run()
		defer end()
		time.Sleep(20 * time.Second)
		y.until(cpu, compute.PodRunning)
		require.Equal(t, compute.PodProvisioning, y.pod(next.ID).Status)
		require.True(t, y.pods.Has("g", first.Devices), "workers wait, too")
		require.False(t, y.pods.Has("g", nil))

		close(y.host.goOn)
		y.until(next.ID, compute.PodRunning)
		y.until(first.ID, compute.PodRunning)
		require.Empty(t, g.twice)
		y.containersHaveTheirClaims(g)
	})
}

// puzzled is a host that cannot say how one allocation is, as long as it is told so.
type puzzled struct {
	*host
	by atomic.Pointer[compute.PodID]
}

func (p *puzzled) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if by := p.by.Load(); by != nil && string(*by) == id {
		return runtime.State{}, errors.New("500 of the engine")
	}
	return p.host.Inspect(ctx, id)
}

func TestPods_ContainerOfWhichNothingIsKnownAtTheStartKeepsNoOtherPodWaiting(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	odd, stopped := y.running(nil), y.running(nil)
	y.act(stopped, compute.PodStop)
	other, err := y.ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "b", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
	require.NoError(t, err)
	before := y.pod(odd)

	y.restart()
	p := &puzzled{host: y.host}
	p.by.Store(&odd)
	y.pods.Runtime = p
	y.step(0)
	y.step(sim.DefaultBoot)
	require.Equal(t, compute.PodRunning, y.pod(other.ID).Status)
	require.Equal(t, compute.PodExited, y.pod(stopped).Status)
	require.Equal(t, before, y.pod(odd))
	require.Contains(t, y.pods.Behind(odd), "500 of the engine")

	p.by.Store(nil)
	y.step(time.Minute)
	require.Equal(t, before, y.pod(odd))
	require.Empty(t, y.pods.Behind(odd))
}

// What does not end on a host that is back keeps nothing else there from its end, and is not waited for without end.
func TestClear_ContainerThatDoesNotEndKeepsNoOtherFromIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		ids := []compute.PodID{y.running(nil), y.running(nil), y.running(nil)}
		here := y.pod(ids[0]).HostID
		for _, id := range ids {
			y.act(id, compute.PodStop)
		}
		listed, err := y.host.List(t.Context())
		require.NoError(t, err)
		y.host.slow, y.host.stops, y.host.goOn = compute.PodID(listed[0]), make(chan struct{}, 1), make(chan struct{})
		begin := time.Now()
		require.ErrorIs(t, y.pods.Clear(t.Context(), here, y.host), context.DeadlineExceeded)
		require.Equal(t, 30*time.Second, time.Since(begin))
		for i, id := range listed {
			state, err := y.host.Inspect(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, i > 0, state.Phase == runtime.Ended)
		}

		close(y.host.goOn)
		require.NoError(t, y.pods.Clear(t.Context(), here, y.host))
	})
}
