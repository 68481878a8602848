package loop_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

func TestPods_StopWhenTheirHostLeaves(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.create(nil)
	y.step(0)
	y.step(sim.DefaultBoot)
	require.Equal(t, compute.PodRunning, y.pod(id).Status)

	left := y.pod(id).HostID
	require.NoError(t, y.ctl.RemoveHost(t.Context(), left))
	y.step(0)
	state, err := y.host.Inspect(t.Context(), string(id))
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, state.Phase)
	require.Equal(t, compute.PodError, y.pod(id).Status)
	require.Equal(t, "its host "+left+" left the fleet", y.pod(id).Reason)

	_, err = y.ctl.ActOnPod(t.Context(), "u", id, compute.PodStart)
	require.ErrorIs(t, err, control.ErrFull)
	_, err = y.ctl.AddHost(t.Context(), control.Host{
		ID: "new", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 4, MemoryGB: 100, DiskGB: 100,
	})
	require.NoError(t, err)

	y.act(id, compute.PodStart)
	require.Equal(t, "new", y.pod(id).HostID)
}

func TestWorkers_EndWhenTheirHostLeaves(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	_, before := s.seen()
	j := s.busy(before[0])

	_, err := s.ctl.AddHost(t.Context(), control.Host{
		ID: "other", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 4, MemoryGB: 100, DiskGB: 100,
	})
	require.NoError(t, err)
	require.NoError(t, s.ctl.RemoveHost(t.Context(), "h"))

	s.step(time.Second)
	waits := func() bool {
		now, err := s.queue.Status(t.Context(), "u", s.e.ID, j.ID)
		return err == nil && now.Status == compute.JobInQueue
	}
	require.Eventually(t, waits, 10*time.Second, time.Millisecond)
	require.Zero(t, s.workersOn("h"))

	s.step(time.Second)
	require.Equal(t, 1, s.workersOn("other"))
	_, err = s.containers.Inspect(t.Context(), string(before[0]))
	require.ErrorIs(t, err, runtime.ErrUnknown)

	ended, err := s.endpoints.EndedWorkers(t.Context(), "u", s.e.ID)
	require.NoError(t, err)
	require.Len(t, ended, 1)
	require.Equal(t, "its host h left the fleet", ended[0].Reason)
}

// workersOn counts the workers that hold something of the host, by the claims.
func (s *service) workersOn(host string) int {
	var claims []compute.Claim
	require.NoError(s, s.db.Read(s.Context(), func(tx tx) (err error) {
		claims, err = tx.ClaimsOn(host)
		return err
	}))
	return len(claims)
}

// giving is a runtime that knows what each container was given.
type giving struct {
	*host
	mu    sync.Mutex
	given map[string]runtime.Allocation
	twice []string // devices that were given away while another container had them
}

func (g *giving) Start(ctx context.Context, a runtime.Allocation) error {
	g.mu.Lock()
	defer g.mu.Unlock()

	up := func(id string) bool {
		state, err := g.Fleet.Inspect(context.WithoutCancel(ctx), id)
		return err == nil && state.Phase != runtime.Ended
	}
	if !up(a.ID) && g.fails() == nil { // else nothing changes
		g.given[a.ID] = a
	}

	for id, other := range g.given {
		for _, d := range a.GPUs.Devices {
			if id != a.ID && up(id) && slices.Contains(other.GPUs.Devices, d) {
				g.twice = append(g.twice, d)
			}
		}
	}

	return g.host.Start(ctx, a)
}

// A pod that is started again while its container is still being stopped has other devices than that container.
func TestPods_RestartKeepsDevicesOfEarlierContainers(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.fleet = []control.Host{{
		ID: "g", DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 2, GPUDevices: []string{"GPU-a", "GPU-b"},
		VCPUs: 8, MemoryGB: 64, DiskGB: 500,
	}}
	g := &giving{host: y.host, given: map[string]runtime.Allocation{}}
	restart := func() {
		y.restart()
		y.pods.Runtime = g
	}
	restart()

	first := y.gpuPod()
	y.step(0)
	y.step(sim.DefaultBoot)
	y.host.slow, y.host.stops, y.host.goOn = first.ID, make(chan struct{}, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { y.pods.Run(ctx) })
	y.act(first.ID, compute.PodStop)
	<-y.host.stops

	next := y.gpuPod()
	require.Equal(t, []string{"GPU-a"}, next.Devices)
	y.act(first.ID, compute.PodStart)
	require.Equal(t, []string{"GPU-b"}, y.pod(first.ID).Devices)

	cancel()
	y.host.away.Store(true)
	close(y.host.goOn)
	run.Wait()

	y.host.slow = ""
	y.host.away.Store(false)
	restart() // berth died meanwhile, and the container of the first run is still up
	require.Equal(t, []string{"GPU-a"}, g.given[string(first.ID)].GPUs.Devices)

	state, err := g.Inspect(t.Context(), string(first.ID))
	require.NoError(t, err)
	require.Equal(t, runtime.Up, state.Phase)
	for range 3 {
		y.step(time.Second)
	}
	require.Empty(t, g.twice)

	y.containersHaveTheirClaims(g)
	for _, id := range []compute.PodID{first.ID, next.ID} {
		require.True(t, y.pod(id).Status.HoldsHost())
	}
}

func TestPods_ContainersHaveTheDevicesTheyClaimed(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.fleet = nil
	for _, id := range []string{"a", "b"} {
		y.fleet = append(y.fleet, control.Host{
			ID: id, DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 3, GPUDevices: []string{id + "0", id + "1", id + "2"},
			VCPUs: 24, MemoryGB: 96, DiskGB: 1000,
		})
	}

	g := &giving{host: y.host, given: map[string]runtime.Allocation{}}
	random := rand.New(rand.NewPCG(1, 2))
	restart := func() {
		y.restart()
		y.pods.Runtime = g
	}
	restart()

	compared := 0
	for range 150 {
		pods, err := y.ctl.ListPods(t.Context(), "u", nil)
		require.NoError(t, err)
		switch n := random.IntN(8); {
		case n == 0:
			restart()
		case n <= 3 || len(pods) == 0:
			_, _ = y.ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1 + random.Int64N(2)}, DiskGB: 1})
		case n <= 6:
			act := []compute.PodEvent{compute.PodStop, compute.PodStart, compute.PodRestart, compute.PodTerminate}[random.IntN(4)]
			_, _ = y.ctl.ActOnPod(t.Context(), "u", pods[random.IntN(len(pods))].ID, act)
		}

		y.step(time.Duration(random.IntN(5)) * time.Second)
		compared += y.containersHaveTheirClaims(g)
	}

	require.Greater(t, compared, 150)
	require.Empty(t, g.twice)
}

// containersHaveTheirClaims compares what is up with the claims: each container has the devices of its pod's claim, and so no two one.
// It gives how many it compared.
func (y *yard) containersHaveTheirClaims(g *giving) (compared int) {
	var claims []compute.Claim
	require.NoError(y, y.store.Read(y.Context(), func(tx tx) (err error) {
		claims, err = tx.ListClaims()
		return err
	}))

	ids, err := g.List(y.Context())
	require.NoError(y, err)
	for _, id := range ids {
		state, err := g.Inspect(y.Context(), id)
		require.NoError(y, err)
		if state.Phase == runtime.Ended {
			continue
		}

		i := slices.IndexFunc(claims, func(c compute.Claim) bool { return c.HolderID == id && !c.Kept })
		require.GreaterOrEqual(y, i, 0, "a container is up whose pod has no claim")
		require.Equal(y, claims[i].Devices, g.given[id].GPUs.Devices)
		require.Equal(y, claims[i].DiskGB, g.given[id].DiskGB)
		compared++
	}

	return compared
}
