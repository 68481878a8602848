package control

import (
	"context"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// plain is a choice as it is without groups: it looks at each host of the fleet.
type plain struct{ *Placement }

// suiting gives all hosts of the asked sort, free or not.
func (p plain) suiting(w *want) (all []*host) {
	for i := range p.hosts {
		h := &p.hosts[i]
		ofKind := w.GPU != "" && h.GPU == w.GPU || w.CPU != "" && slices.Contains(h.CPUs, w.CPU)
		if ofKind && !h.draining && h.suits(w) && (len(w.DataCenterIDs) == 0 || slices.Contains(w.DataCenterIDs, h.DataCenterID)) {
			all = append(all, h)
		}
	}
	return all
}

// hasRoom says itself what room is: for the disk of the pod, its storage, and what it wants to be free.
func (plain) hasRoom(h *host, w *want) bool {
	return h.free.covers(h.share(w)) && h.free.diskGB-w.DiskGB >= w.PersistentGB && h.free.diskGB >= w.LeastDiskGB
}

// best compares each host with room with the best of those before.
func (p plain) best(w *want, policy runtime.Policy) (best *host) {
	var rooms []*host
	sums := map[int]spare{}
	for _, h := range p.suiting(w) {
		if p.hasRoom(h, w) {
			rooms = append(rooms, h)
			sums[w.rankOf(h)] = sums[w.rankOf(h)].plus(h.free.spare())
		}
	}

	better := func(a, b *host) bool {
		rankA, rankB := w.rankOf(a), w.rankOf(b)
		switch {
		case rankA != rankB && policy == runtime.PolicySpreadCenters && len(w.DataCenterIDs) == 0 && sums[rankA] != sums[rankB]:
			return sums[rankA].compare(sums[rankB]) > 0
		case rankA != rankB:
			return rankA < rankB
		case policy == runtime.PolicyPack:
			return a.free.spare().compare(b.free.spare()) < 0
		}
		return a.free.spare().compare(b.free.spare()) > 0
	}

	for _, h := range rooms {
		if best == nil || better(h, best) {
			best = h
		}
	}
	return best
}

// freeFor is what a refusal says is free.
func (p plain) freeFor(w *want) (all, most, disk int64) {
	for _, h := range p.suiting(w) {
		free := h.free.gpus
		if w.CPU != "" {
			free = h.free.vcpus
		}
		all, most, disk = all+max(0, free), max(most, free), max(disk, h.free.diskGB)
	}
	return all, most, disk
}

func pick[T any](r *mathrand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// anyFleet is a fleet of many hosts, of which many are alike.
func anyFleet(r *mathrand.Rand, c Catalog) []Host {
	fleet := make([]Host, 1+r.IntN(200))
	for i := range fleet {
		h := Host{
			ID: fmt.Sprint("h", i), DataCenterID: c.DataCenters[r.IntN(6)].ID, Cloud: pick(r, compute.Secure, compute.Secure, compute.Community),
			VCPUs: pick[int64](r, 32, 64), MemoryGB: pick[int64](r, 128, 256), DiskGB: pick[int64](r, 200, 300), DownloadMbps: pick[int64](r, 0, 1000),
			CPUs: pick(r, nil, []string{"cpu3g"}, []string{"cpu3g", "cpu5c"}),
		}
		if r.IntN(2) == 0 {
			h.GPU, h.GPUCount, h.CUDAVersion = pick(r, "NVIDIA L4", "NVIDIA A40"), pick[int64](r, 2, 4), pick(r, "12.8", "11.8,12.8")
		}
		if r.IntN(8) == 0 {
			h.PublicIP = new(bool)
		}
		fleet[i] = h
	}
	return fleet
}

// anyWant asks for something that there may be room for.
func anyWant(r *mathrand.Rand, p *Placement) want {
	w := want{Cloud: pick(r, "", compute.Secure, compute.Community), DiskGB: r.Int64N(60), GlobalNetwork: r.IntN(6) == 0}
	if r.IntN(2) == 0 {
		w.GPU, w.Count, w.PersistentGB = pick(r, "NVIDIA L4", "NVIDIA A40"), 1+r.Int64N(3), pick(r, 0, r.Int64N(100))
	} else {
		w.CPU, w.Count, w.MemoryGB = pick(r, "cpu3g", "cpu5c"), 2<<r.IntN(4), 4<<r.IntN(5)
	}

	for range pick(r, 0, 0, 1, 3) {
		w.DataCenterIDs = append(w.DataCenterIDs, p.catalog.DataCenters[r.IntN(7)].ID)
	}
	switch r.IntN(13) {
	case 0:
		w.HostID = p.hosts[r.IntN(len(p.hosts))].ID
	case 1:
		w.HostID = p.hosts[r.IntN(len(p.hosts))].ID + "/12.8" // an id as it was stored before
	case 2:
		w.CUDAVersions = []string{"11.8"}
	case 3:
		w.PublicIP = true
	case 4:
		w.DownloadMbps = 500
	case 5:
		w.LeastVCPUs = 30
	case 6:
		w.LeastDiskGB = 150
	case 7:
		w.DiskGB, w.PersistentGB = math.MaxInt64-1, pick[int64](r, 0, 1, 2, math.MaxInt64)
	}
	return w
}

// agree holds the choices for a want against those of a walk over all hosts. It gives the host that is chosen.
func agree(t *testing.T, p *Placement, policy runtime.Policy, w want) *host {
	t.Helper()
	walk := plain{p}
	want, got := walk.best(&w, policy), p.best(&w)
	require.Same(t, want, got, "%s for %+v", policy, w)

	all, most, disk := walk.freeFor(&w)
	gotAll, gotMost, gotDisk := p.freeFor(&w)
	require.Equal(t, []int64{all, most, disk}, []int64{gotAll, gotMost, gotDisk}, "%+v", w)
	ever := slices.ContainsFunc(walk.suiting(&w), func(h *host) bool { return h.fits(&w, h.whole()) })
	found, _ := p.couldEver(&w)
	require.Equal(t, ever, found, "%+v", w)

	return got
}

func TestPlacement_ChoosesAsAWalkOverAllHosts(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	for seed := range uint64(30) {
		for _, name := range runtime.Policies() {
			policy := runtime.Policy(name)
			r := mathrand.New(mathrand.NewPCG(seed, 5))
			p := PrepareFleet(catalog, anyFleet(r, catalog)).placement
			p.options.Place = policy.Choose
			for i := range p.hosts {
				p.hosts[i].draining = r.IntN(20) == 0
			}

			var made []choice
			found := 0
			for range 300 {
				w := anyWant(r, p)
				if agree(t, p, policy, w) != nil {
					found++
				}

				switch n := r.IntN(10); {
				case n < 7:
					if c, ok := p.chooseOne([]want{w}); ok {
						made = append(made, c)
					}
				case n < 9 && len(made) > 0:
					i := r.IntN(len(made))
					p.count(made[i:i+1], 1)
					made = slices.Delete(made, i, i+1)
				default: // more is held than there is, as in a fleet that has become smaller
					h := &p.hosts[r.IntN(len(p.hosts))]
					h.setFree(h.free.plus(amount{r.Int64N(3), r.Int64N(9), r.Int64N(9), r.Int64N(99)}, -1))
				}
			}
			require.Positive(t, found, "seed %d", seed)
		}
	}
}

// depth is that of a tree.
func (t *host) depth() int {
	if t == nil {
		return 0
	}
	return 1 + max(t.left.depth(), t.right.depth())
}

func TestPlacement_TreesStayFlat(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	fleet := largeFleet(catalog, 10_000)
	for i := range fleet { // one group
		fleet[i] = fleet[0]
		fleet[i].ID = fmt.Sprint(i)
	}
	p := PrepareFleet(catalog, fleet).placement
	p.options.Place = runtime.Pack
	for i := range p.hosts { // in order, which is the worst for a tree without priorities
		p.hosts[i].setFree(amount{8, int64(i), 1, 1})
	}

	w := want{GPU: "NVIDIA L4", Count: 1}
	require.Len(t, p.of(kind{gpu: "NVIDIA L4"}).all, 1)
	require.Less(t, p.of(kind{gpu: "NVIDIA L4"}).all[0].tree.depth(), 50)
	for i := range p.hosts {
		p.hosts[i].setFree(amount{8, int64(len(fleet) - i), 1, 1})
	}
	require.Less(t, p.of(kind{gpu: "NVIDIA L4"}).all[0].tree.depth(), 50)
	require.Nil(t, p.best(&w), "none has the memory")
}

// reads counts the reads of a store.
type reads struct {
	store.Store
	count atomic.Int64
}

func (s *reads) Read(ctx context.Context, f func(store.Tx) error) error {
	s.count.Add(1)
	return s.Store.Read(ctx, f)
}

func TestPlacement_RefusalsLookAtTheRowsNowAndThen(t *testing.T) {
	t.Parallel()
	const hosts = 3 * hostsOfRefusal
	s := &reads{Store: openStore(t)}
	fleet := make([]Host, hosts)
	for i := range fleet {
		fleet[i] = l4s(fmt.Sprint("h", i), 0)
	}
	fleet[7] = l4s("h7", 1)
	first, second := openControl(t, s, fleet), openControl(t, s, fleet)
	pod, err := first.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)

	create := func() error {
		_, err := second.CreatePod(t.Context(), "u", oneL4())
		return err
	}
	require.ErrorIs(t, create(), ErrFull, "the rows refuse what it believes to be free")
	s.count.Store(0)
	for range 40 {
		require.ErrorIs(t, create(), ErrFull)
	}
	require.EqualValues(t, 10, s.count.Load(), "one of four looks at the rows")

	require.NoError(t, first.DeletePod(t.Context(), "u", pod.ID))
	refused := 0
	for create() != nil {
		refused++
	}
	require.LessOrEqual(t, refused, 3, "what another server released is seen soon")
}

func TestPlacement_WaitsForWhatMayComeToNothing(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 1)})
	p, w := c.placement, []want{{GPU: "NVIDIA L4", Count: 1, DiskGB: 1}}
	later := make(chan error)
	err := p.place(t.Context(), "pod", 1, w, func([]choice) error {
		go func() { later <- p.place(t.Context(), "pod", 1, w, func([]choice) error { return nil }) }()
		require.Eventually(t, func() bool { // the other waits for this one
			if !p.flight.TryRLock() {
				return true
			}
			p.flight.RUnlock()
			return false
		}, time.Minute, time.Millisecond)
		return errFlaky
	})
	require.ErrorIs(t, err, errFlaky)
	require.NoError(t, <-later)
	require.Empty(t, p.chosen)
}

func TestPlacement_Named_AreTheHostsThatHaveTheIDOrHadIt(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	one, other := l4s("x", 1), l4s("x/12.8", 1)
	one.CUDAVersion = "12.4,12.8"
	p := PrepareFleet(catalog, []Host{one, other}).placement
	p.options.Place = runtime.Pack
	for id, hosts := range map[string][]*host{
		"x": {&p.hosts[0]}, "x/12.4": {&p.hosts[0]}, "x/12.8": {&p.hosts[1], &p.hosts[0]}, "x/12.9": nil, "none": nil,
	} {
		require.Len(t, p.named(id), len(hosts), id)
		for i, h := range p.named(id) {
			require.Same(t, hosts[i], h, id)
		}
	}

	w := want{GPU: "NVIDIA L4", Count: 1, DiskGB: 1, HostID: "x/12.8"}
	require.Same(t, &p.hosts[0], p.best(&w), "among equals the first")
	p.hosts[0].setFree(amount{})
	require.Same(t, &p.hosts[1], p.best(&w))
	w.HostID = "x/12.4"
	require.Nil(t, p.best(&w))
	require.False(t, p.hosts[0].has(kind{gpu: "NVIDIA L4", cpu: "cpu3g"}))
	require.False(t, p.hosts[0].has(kind{}))
}
