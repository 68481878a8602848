package control

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

var errFlaky = errors.New("the commit failed")

// flaky is a store in which a part of the writes fails, or panics, after it has run.
type flaky struct {
	store.Store
	calls atomic.Int64
}

func (s *flaky) Write(ctx context.Context, f func(store.Tx) error) error {
	n := s.calls.Add(1)
	return s.Store.Write(ctx, func(tx store.Tx) error {
		err := f(tx)
		switch {
		case err != nil:
			return err
		case n%11 == 0:
			return errFlaky
		case n%37 == 0:
			panic(errFlaky) // what Write gives on to its caller
		}

		return nil
	})
}

// small is a fleet that is soon full.
func small() []Host {
	return []Host{
		{ID: "a", DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 4, VCPUs: 32, MemoryGB: 180, DiskGB: 300},
		{ID: "b", DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 2, VCPUs: 16, MemoryGB: 90, DiskGB: 100},
		{ID: "c", DataCenterID: "AP-JP-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 1, CPUs: []string{"cpu3g"}, VCPUs: 24, MemoryGB: 96, DiskGB: 200},
		{ID: "d", DataCenterID: "US-KS-2", Cloud: compute.Secure, CPUs: []string{"cpu3g", "cpu5c"}, VCPUs: 10, MemoryGB: 40, DiskGB: 100},
	}
}

func openStore(t testing.TB) store.Store {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// builtIn reads the catalog once for all tests of this file.
var builtIn = sync.OnceValues(BuiltInCatalog)

// packed places as the runtimes do that have no scheduler of their own.
var packed = PlacementOptions{Place: runtime.Pack}

func openControl(t testing.TB, s store.Store, fleet []Host) *Control {
	catalog, err := builtIn()
	require.NoError(t, err)
	p, err := NewPlacement(t.Context(), s, catalog, fleet, packed)
	require.NoError(t, err)
	return New(s, compute.NewIDs(rand.Reader, compute.SystemClock{}), p, Runtime{Can: compute.AllCapabilities}, Hints{Pod: func(compute.PodID) {}})
}

// freeNow is what memory has.
func (p *Placement) freeNow() map[string]amount {
	p.lockKnown()
	defer p.mu.Unlock()
	all := map[string]amount{}
	for _, h := range p.hosts {
		all[h.ID] = h.free
	}
	return all
}

// randomEndpoint is one whose workers are of some size.
func randomEndpoint(r *mathrand.Rand) compute.Endpoint {
	e := compute.Endpoint{ID: "e", Image: "i", DiskGB: 1 + r.Int64N(60)}
	if r.IntN(3) == 0 {
		e.CPUs = []compute.CPU{{ID: "cpu5c", VCPUCount: 8, MemoryGB: 16}, {ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}}
		return e
	}
	e.GPU = &compute.EndpointGPU{Pools: []string{"AMPERE_24"}, Count: 1 + r.Int64N(2)}
	return e
}

// actOnWorkers starts or ends a random worker.
func actOnWorkers(ctx context.Context, c *Control, r *mathrand.Rand) error {
	var workers []compute.Worker
	err := c.store.Read(ctx, func(tx store.Tx) (err error) {
		workers, err = tx.ListWorkers()
		return err
	})
	if err != nil {
		return err
	}
	if len(workers) > 0 && r.IntN(2) == 0 {
		id := workers[r.IntN(len(workers))].ID
		return c.placement.Write(ctx, func(tx store.Tx, claims *Claims) error { return claims.DeleteWorker(tx, id) })
	}

	_, _, err = c.placement.StartWorker(ctx, c.ids.Worker(), randomEndpoint(r), nil)
	return err
}

// randomPod is a pod of some size.
func randomPod(r *mathrand.Rand) NewPod {
	n := NewPod{Name: "a", Image: "i", DiskGB: 1 + r.Int64N(60)}
	if r.IntN(3) == 0 {
		n.CPU = &compute.CPU{ID: []string{"cpu3g", "cpu5c"}[r.IntN(2)], VCPUCount: 2 << r.IntN(3)}
		return n
	}
	n.GPU = &compute.GPU{ID: "NVIDIA L4", Count: 1 + r.Int64N(3)}
	if r.IntN(2) == 0 {
		n.Persistent = &compute.PersistentMount{SizeGB: 10 + r.Int64N(50), Path: "/d"}
	}
	return n
}

// act does one random thing to the user's pods or to workers.
func act(ctx context.Context, c *Control, r *mathrand.Rand) error {
	if r.IntN(3) == 0 {
		return actOnWorkers(ctx, c, r)
	}
	pods, err := c.ListPods(ctx, "u", nil)
	if err != nil || len(pods) == 0 || r.IntN(3) == 0 {
		_, err := c.CreatePod(ctx, "u", randomPod(r))
		return err
	}

	pod := pods[r.IntN(len(pods))]
	switch r.IntN(6) {
	case 0:
		_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStop)
	case 1, 2:
		_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStart)
	case 3:
		err = c.DeletePod(ctx, "u", pod.ID)
	case 4:
		disk := 1 + r.Int64N(100)
		_, err = c.UpdatePod(ctx, "u", pod.ID, PodChange{DiskGB: &disk})
	case 5: // as the loop does when a container failed
		next, impossible := compute.PodMachine.Next(pod.Status, compute.PodFailed)
		if impossible != nil {
			return nil
		}
		from := pod.Status
		pod.Status = next
		err = c.placement.Write(ctx, func(tx store.Tx, claims *Claims) error {
			_, err := claims.Move(tx, from, pod)
			return err
		})
	}

	return err
}

// calmly gives the error of f, also when it panicked with one.
func calmly(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	return f()
}

func TestPlacement_GivesNoHostAwayTwice(t *testing.T) {
	t.Parallel()
	s := &flaky{Store: openStore(t)}
	fleet := small()
	c := openControl(t, s, fleet)
	var workers, auditor sync.WaitGroup

	var made, refused, failed atomic.Int64
	for worker := range uint64(8) {
		workers.Go(func() {
			r := mathrand.New(mathrand.NewPCG(1, worker))
			for range 120 {
				err := calmly(func() error { return act(t.Context(), c, r) })
				switch {
				case err == nil:
					made.Add(1)
				case errors.Is(err, errFlaky):
					failed.Add(1)
				case compute.CodeOf(err) == compute.Rejected:
					refused.Add(1)
				default: // another worker was faster
					assert.Contains(t, []compute.Code{compute.Conflict, compute.NotFound}, compute.CodeOf(err), "%v", err)
				}
			}
		})
	}

	done := make(chan struct{})
	auditor.Go(func() {
		for {
			left, err := audit(t.Context(), s, fleet)
			assert.NoError(t, err)
			for id, free := range left {
				assert.True(t, free.covers(amount{}), "host %s: %+v", id, free)
			}

			select {
			case <-done:
				return
			default:
			}
		}
	})

	workers.Wait()
	close(done)
	auditor.Wait()
	require.Positive(t, made.Load())
	require.Positive(t, refused.Load())
	require.Positive(t, failed.Load())

	left, err := audit(t.Context(), s, fleet)
	require.NoError(t, err)
	require.Equal(t, left, c.placement.freeNow(), "memory has what the rows have")
	again, err := NewPlacement(t.Context(), s, c.catalog, fleet, packed)
	require.NoError(t, err)
	require.Equal(t, left, again.freeNow(), "and so after a restart")
	require.NoError(t, auditClaims(t.Context(), s))
}

func TestPlacement_AnotherFleetKeepsWhatPodsHold(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c := openControl(t, s, small())
	for range 3 {
		_, err := c.CreatePod(t.Context(), "u", NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}})
		require.NoError(t, err)
	}
	fewer := small()[:1]
	fewer[0].GPUCount = 3

	p, err := NewPlacement(t.Context(), s, c.catalog, fewer, packed)
	require.NoError(t, err)
	require.EqualValues(t, -1, p.freeNow()["a"].gpus)
	require.Zero(t, p.places(want{GPU: "NVIDIA L4", Count: 1}).all)
}

func BenchmarkPlaceInTheSimulatedFleet(b *testing.B) {
	catalog, err := BuiltInCatalog()
	require.NoError(b, err)
	p, err := NewPlacement(b.Context(), openStore(b), catalog, SimulatedFleet(catalog), packed)
	require.NoError(b, err)
	for b.Loop() {
		choices := p.choose(1, []want{{GPU: "NVIDIA GeForce RTX 4090", Count: 1, Cloud: compute.Secure, DiskGB: 20}})
		require.NotNil(b, choices)
		p.unchoose(choices, false)
	}
}

func BenchmarkCreatePod(b *testing.B) {
	catalog, err := BuiltInCatalog()
	require.NoError(b, err)
	c := openControl(b, openStore(b), SimulatedFleet(catalog))
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.CreatePod(b.Context(), "u", NewPod{Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAvailabilityOfAllGPUTypes(b *testing.B) {
	catalog, err := BuiltInCatalog()
	require.NoError(b, err)
	c := openControl(b, openStore(b), SimulatedFleet(catalog))
	for b.Loop() {
		_, err := c.GPUTypes(AvailabilityQuery{Include: true, Products: []Product{ForPod}})
		require.NoError(b, err)
	}
}

func TestControl_CPUFlavors_AreFreeForTheLeastThatOneMayHave(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{
		{ID: "small", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 2, MemoryGB: 64, DiskGB: 100},
		{ID: "tiny", DataCenterID: "US-KS-2", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 1, MemoryGB: 64, DiskGB: 100},
	})
	for count, want := range map[int64][]Stock{0: {StockLow, StockNone}, 2: {StockLow, StockNone}, 4: {StockNone, StockNone}} {
		flavor, err := c.CPUFlavor("cpu3g", AvailabilityQuery{Include: true, Products: []Product{ForPod}, Count: count})
		require.NoError(t, err)
		var have []Stock
		for _, d := range flavor.Availability.DataCenters {
			have = append(have, d.Stock)
		}
		require.ElementsMatch(t, want, have, "%d vCPUs", count)
	}
}

func TestControl_Choose_TakesACloudWhereTheVolumeIs(t *testing.T) {
	t.Parallel()
	// In the other data center the cheaper cloud has room: that is of no use to a pod with this volume.
	c := openControl(t, openStore(t), []Host{
		{ID: "near", DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA GeForce RTX 4090", GPUCount: 1, VCPUs: 8, MemoryGB: 64, DiskGB: 200},
		{ID: "far", DataCenterID: "US-KS-2", Cloud: compute.Community, GPU: "NVIDIA GeForce RTX 4090", GPUCount: 1, VCPUs: 8, MemoryGB: 64, DiskGB: 100},
	})
	v, err := c.CreateVolume(t.Context(), "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)

	n := NewPod{Name: "n", Image: "i", GPU: &compute.GPU{Count: 1}}
	choose := func() compute.Cloud {
		chosen, err := c.Choose(t.Context(), "u", n, []string{"NVIDIA GeForce RTX 4090"}, []compute.Cloud{compute.Secure, compute.Community})
		require.NoError(t, err)
		return chosen.Cloud
	}

	require.Equal(t, compute.Community, choose())
	for _, big := range []NewPod{{DiskGB: 101}, {Persistent: &compute.PersistentMount{SizeGB: 90, Path: "/p"}}} {
		n.DiskGB, n.Persistent = big.DiskGB, big.Persistent
		require.Equal(t, compute.Secure, choose(), "the other one has too little disk")
	}

	n.DiskGB, n.Persistent = 0, nil
	n.Network = []compute.NetworkMount{{VolumeID: v.ID, Path: "/v"}}
	require.Equal(t, compute.Secure, choose())
	n.Network[0].VolumeID = "nobody"
	_, err = c.Choose(t.Context(), "u", n, []string{"NVIDIA GeForce RTX 4090"}, []compute.Cloud{compute.Secure})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}
