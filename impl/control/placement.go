package control

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Placement knows the hosts and what pods and workers hold of them. Their rows are the truth: this is a picture of them in
// memory, made from the store at the start, so that placing a pod costs no query. What a transaction takes counts at once, and
// what it gives back only once it is on disk; so the picture may show too little room for a moment, but never too much.
// It is safe for concurrent use.
type Placement struct {
	store   store.Store
	options PlacementOptions
	catalog Catalog
	fleet   []Host // as the operator has it

	mu    sync.Mutex
	hosts []host
	byID  map[string]*host   // nil until somebody asks: a server without pods never does
	kinds map[kind][]*host   // in the order of the fleet
	held  map[holder]holding // what pods and workers hold
	last  int64              // number of a claim
}

// kind is what a host is looked for by: a GPU type or a CPU flavor.
type kind struct{ gpu, cpu string }

// amount is a part of a host.
type amount struct{ gpus, vcpus, memoryGB, diskGB int64 }

func (a amount) plus(b amount, times int64) amount {
	return amount{a.gpus + times*b.gpus, a.vcpus + times*b.vcpus, a.memoryGB + times*b.memoryGB, a.diskGB + times*b.diskGB}
}

// covers tells whether there is room for b.
func (a amount) covers(b amount) bool {
	return b.gpus <= a.gpus && b.vcpus <= a.vcpus && b.memoryGB <= a.memoryGB && b.diskGB <= a.diskGB
}

// host is a Host with what is free of it.
type host struct {
	*Host
	center  *DataCenter
	rank    int // of the data center in the catalog
	cuda    []cudaVersion
	free    amount
	devices devices // that pods have
}

// holder is the id of a pod or a worker: no two are the same.
type holder string

// claim is a part of a host that a pod or a worker holds.
type claim struct {
	number  int64 // that no other claim has
	host    *host
	amount  amount
	devices []int // numbers of its GPUs on the host
	stays   bool  // while the pod is stopped: its persistent storage
}

// holding is all that one of them holds. Most hold one thing: it stands in the map itself, since of tens of thousands the
// garbage collector would have each to look at.
type holding struct {
	first claim
	more  []claim
}

// all gives the claims, to be changed.
func (h *holding) all() []*claim {
	claims := []*claim{&h.first}
	for i := range h.more {
		claims = append(claims, &h.more[i])
	}
	return claims
}

// PlacementOptions are what a placement works with.
type PlacementOptions struct {
	// Place chooses among the hosts that have room: that of the runtime.
	Place func(rooms iter.Seq[compute.HostRoom]) (compute.HostRoom, bool)
	// Looked is told of each look for room, for a pod or a worker, and how it came out; it must be quick. Nil: nobody counts.
	Looked func(who string, o Outcome)
}

// NewPlacement makes the picture of the fleet from the pods and workers in the store.
func NewPlacement(ctx context.Context, s store.Store, c Catalog, fleet []Host, o PlacementOptions) (*Placement, error) {
	return PrepareFleet(c, fleet).Open(ctx, s, o)
}

// PreparedFleet is a fleet in memory on which nothing is placed yet.
type PreparedFleet struct{ placement *Placement }

// PrepareFleet is the part of NewPlacement that needs no store, and takes longest.
func PrepareFleet(c Catalog, fleet []Host) PreparedFleet {
	p := &Placement{catalog: c, fleet: fleet, held: map[holder]holding{}}
	p.setHosts(fleet)
	return PreparedFleet{p}
}

// Open counts what the pods and workers of a store hold, and gives the placement of those in it. It may be called once.
func (f PreparedFleet) Open(ctx context.Context, s store.Store, o PlacementOptions) (*Placement, error) {
	p := f.placement
	p.store, p.options = s, o
	return p, s.Read(ctx, func(tx store.Tx) error {
		for _, status := range []compute.PodStatus{
			compute.PodProvisioning, compute.PodStarting, compute.PodRunning, compute.PodExited, compute.PodError,
		} {
			pods, err := tx.ListPodsByStatus(status)
			if err != nil {
				return err
			}
			for _, pod := range pods {
				p.adopt(pod)
			}
		}
		workers, err := tx.ListWorkers()
		for _, w := range workers {
			p.adoptWorker(w)
		}
		return err
	})
}

// adopt counts what a stored pod holds. One whose host is not in the fleet any more holds nothing of it.
func (p *Placement) adopt(pod compute.Pod) {
	h := p.host(pod.HostID)
	if h == nil {
		return
	}
	if pod.Status.HoldsHost() {
		w := wantOf(pod)
		p.hold(holder(pod.ID), claim{host: h, amount: h.share(&w), devices: h.numbers(pod.Devices)})
	}
	if pod.Persistent != nil {
		p.hold(holder(pod.ID), claim{host: h, amount: amount{diskGB: pod.Persistent.SizeGB}, stays: true})
	}
}

// hold counts a claim and gives its number.
func (p *Placement) hold(id holder, c claim) int64 {
	c.host.free = c.host.free.plus(c.amount, -1)
	c.host.devices.set(c.devices, true)
	return p.note(id, c)
}

// note gives the holder a claim that is counted, and gives its number.
func (p *Placement) note(id holder, c claim) int64 {
	p.last++
	c.number = p.last
	h, holds := p.held[id]
	if holds {
		h.more = append(h.more, c)
	} else {
		h.first = c
	}
	p.held[id] = h
	return c.number
}

// setHosts replaces the hosts. Pods and workers keep what they hold of those that stay.
func (p *Placement) setHosts(hosts []Host) {
	ranks := map[string]int{}
	for i, d := range p.catalog.DataCenters {
		ranks[d.ID] = i
	}
	versions := map[string][]cudaVersion{} // hosts with the same share them
	made := make([]host, len(hosts))       // one piece: the simulated fleet is made at every start
	p.hosts, p.byID, p.kinds = made, nil, map[kind][]*host{}
	for i := range hosts {
		n, h := &hosts[i], &made[i]
		cuda, known := versions[n.CUDAVersion]
		if !known {
			for text := range strings.SplitSeq(n.CUDAVersion, ",") {
				if version, ok := parseCUDA(text); ok {
					cuda = append(cuda, version)
				}
			}
			versions[n.CUDAVersion] = cuda
		}
		rank := ranks[n.DataCenterID]
		*h = host{Host: n, free: amount{n.GPUCount, n.VCPUs, n.MemoryGB, n.DiskGB}, rank: rank, center: &p.catalog.DataCenters[rank], cuda: cuda}
		if h.GPU != "" {
			p.kinds[kind{gpu: h.GPU}] = append(p.kinds[kind{gpu: h.GPU}], h)
		}
		for _, id := range h.CPUs {
			p.kinds[kind{cpu: id}] = append(p.kinds[kind{cpu: id}], h)
		}
	}
	for id, held := range p.held {
		for _, c := range held.all() {
			if h := p.host(c.host.ID); h != nil {
				c.host = h
				h.free = h.free.plus(c.amount, -1)
				h.devices.set(c.devices, true)
			}
		}
		p.held[id] = held
	}
}

// host gives the host of that id; nil if there is none. The caller has the lock.
func (p *Placement) host(id string) *host {
	if p.byID == nil {
		p.byID = make(map[string]*host, len(p.hosts))
		for i := range p.hosts {
			p.byID[p.hosts[i].ID] = &p.hosts[i]
		}
	}
	if h := p.byID[id]; h != nil {
		return h
	}
	i := strings.LastIndexByte(id, '/')
	if h := p.byID[id[:max(0, i)]]; h != nil && h.is(id) {
		return h
	}
	return nil
}

// is tells whether it is the host of that id. A simulated host has the versions of CUDA for which there was one host each before,
// and takes their place for what was stored then.
func (h *host) is(id string) bool {
	rest, within := strings.CutPrefix(id, h.ID+"/")
	return id == h.ID || within && slices.Contains(strings.Split(h.CUDAVersion, ","), rest)
}

// SetCapacity makes the fleet have of the named types and flavors nothing but the capacity, and of all others what the
// operator has. Rejected for what the catalog does not know.
func (p *Placement) SetCapacity(capacity []Capacity) error {
	hosts, err := p.catalog.withCapacity(p.fleet, capacity)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setHosts(hosts)
	return nil
}

// Clear forgets what is held and what capacity was set: pods and workers are gone.
func (p *Placement) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.held)
	p.setHosts(p.fleet)
}

// want is what is to be placed.
type want struct {
	GPU, CPU      string        // type or flavor: one of them
	Count         int64         // GPUs or vCPUs
	MemoryGB      int64         // with vCPUs; GPUs bring theirs
	Cloud         compute.Cloud // empty: either
	DataCenterIDs []string      // in the order of preference; empty: any, in the order of the catalog
	GlobalNetwork bool          // only where it is possible
	DiskGB        int64
	PersistentGB  int64
	HostID        string // this host alone; empty: any
	Needs
}

// wantOf is what a pod needs to run. What it keeps while it is stopped is not in it.
func wantOf(p compute.Pod) want {
	w := want{Cloud: p.Cloud, DiskGB: p.DiskGB, GlobalNetwork: p.GlobalNetworking}
	if p.GPU != nil {
		w.GPU, w.Count = p.GPU.ID, p.GPU.Count
	}
	if p.CPU != nil {
		w.CPU, w.Count, w.MemoryGB = p.CPU.ID, p.CPU.VCPUCount, p.CPU.MemoryGB
	}
	return w
}

// suits tells whether the host is of the asked sort, free or not.
func (h *host) suits(w *want) bool {
	return (w.HostID == "" || h.is(w.HostID)) && (w.Cloud == "" || w.Cloud == h.Cloud) &&
		(len(w.DataCenterIDs) == 0 || slices.Contains(w.DataCenterIDs, h.DataCenterID)) &&
		(!w.GlobalNetwork || h.center.GlobalNetwork) && h.meets(&w.Needs, h.share(w))
}

// share is what the pod takes of the host but for its persistent storage. With its GPUs it gets as much of the host's
// vCPUs and memory.
func (h *host) share(w *want) amount {
	if w.GPU != "" {
		n := max(1, h.GPUCount)
		return amount{w.Count, h.VCPUs / n * w.Count, h.MemoryGB / n * w.Count, w.DiskGB}
	}
	return amount{vcpus: w.Count, memoryGB: w.MemoryGB, diskGB: w.DiskGB}
}

// fits tells whether there is room for it now.
func (h *host) fits(w *want) bool {
	return h.free.covers(h.share(w)) && w.PersistentGB <= h.free.diskGB-w.DiskGB && w.LeastDiskGB <= h.free.diskGB
}

// choose has the runtime choose among the hosts with room. Nil if there is none. The caller has the lock.
func (p *Placement) choose(w want) *host {
	hosts := p.kinds[kind{w.GPU, w.CPU}]
	chosen, ok := p.options.Place(func(yield func(compute.HostRoom) bool) {
		for i, h := range hosts {
			if !h.suits(&w) || !h.fits(&w) {
				continue
			}
			rank := h.rank
			if len(w.DataCenterIDs) > 0 {
				rank = slices.Index(w.DataCenterIDs, h.DataCenterID)
			}
			if !yield(compute.HostRoom{Number: i, HostID: h.ID, Rank: rank, GPUs: h.free.gpus, VCPUs: h.free.vcpus}) {
				return
			}
		}
	})
	if !ok {
		return nil
	}
	return hosts[chosen.Number]
}

// full says what was asked and what is free (rule placement.full). The caller has the lock.
func (p *Placement) full(noun string, w want) error {
	unit, name := "GPUs of", w.GPU
	if w.CPU != "" {
		unit, name = "vCPUs of", w.CPU
	}
	asked := fmt.Sprintf("asked for %d %s %s and %d GB of disk in cloud %s", w.Count, unit, name, w.DiskGB, w.Cloud)
	if w.PersistentGB > 0 {
		asked += fmt.Sprintf(", %d GB of persistent storage", w.PersistentGB)
	}
	if len(w.DataCenterIDs) > 0 {
		asked += ", data center " + strings.Join(w.DataCenterIDs, " or ")
	}
	if w.GlobalNetwork {
		asked += ", with global networking"
	}
	asked += w.words()
	if w.HostID != "" {
		asked += ", on the host that holds its data"
	}
	var all, most, disk int64
	for _, h := range p.kinds[kind{w.GPU, w.CPU}] {
		if !h.suits(&w) {
			continue
		}
		free := h.free.gpus
		if w.CPU != "" {
			free = h.free.vcpus
		}
		all, most, disk = all+max(0, free), max(most, free), max(disk, h.free.diskGB)
	}
	e := compute.Errorf(compute.Rejected, "nothing can hold the %s now: %s; free there: %d in all, at most %d and %d GB of disk on one host", noun, asked, all, most, disk)
	e.Cause = ErrFull
	return e
}
