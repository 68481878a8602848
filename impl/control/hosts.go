package control

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// amount is a part of a host, with what comes with its GPUs.
type amount struct{ gpus, vcpus, memoryGB, diskGB int64 }

func (a amount) plus(b amount, times int64) amount {
	return amount{a.gpus + times*b.gpus, a.vcpus + times*b.vcpus, a.memoryGB + times*b.memoryGB, a.diskGB + times*b.diskGB}
}

// covers reports whether there is room for b.
func (a amount) covers(b amount) bool {
	return b.gpus <= a.gpus && b.vcpus <= a.vcpus && b.memoryGB <= a.memoryGB && b.diskGB <= a.diskGB
}

// host is a Host with what is free of it.
type host struct {
	*Host
	center   *DataCenter
	rank     int // of the data center in the catalog
	cuda     []cudaVersion
	draining bool    // or its engine is not used: nothing more is placed on it
	anyCloud bool    // it is of a runtime that schedules, whose machines are of none
	devices  devices // that are claimed
	group    *group  // nil as long as nobody asked for the groups
	number   int     // its place in the fleet
	free     amount
	branch
}

// size is what the host has, as the store guards it.
func (h *host) size() compute.HostSize {
	n := max(1, h.GPUCount)
	return compute.HostSize{
		GPUs: h.GPUCount, VCPUs: h.VCPUs, MemoryGB: h.MemoryGB, DiskGB: h.DiskGB, VCPUsPerGPU: h.VCPUs / n, MemoryGBPerGPU: h.MemoryGB / n,
	}
}

// whole is all that the host has.
func (h *host) whole() amount { return amount{h.GPUCount, h.VCPUs, h.MemoryGB, h.DiskGB} }

// amountOf is what claims take of the host.
func (h *host) amountOf(c compute.Claimed) amount {
	s := h.size()
	return amount{c.GPUs, c.VCPUs + c.GPUs*s.VCPUsPerGPU, c.MemoryGB + c.GPUs*s.MemoryGBPerGPU, c.DiskGB}
}

// setHosts replaces the hosts; what is free of them is to be read. Nothing is in flight, and the caller has the lock.
func (p *Placement) setHosts(hosts []Host) {
	hosts = p.seen(hosts)
	ranks := map[string]int{}
	for i, d := range p.catalog.DataCenters {
		ranks[d.ID] = i
	}
	versions := map[string][]cudaVersion{} // hosts with the same share them
	made := make([]host, len(hosts))       // one piece: the simulated fleet is made at every start
	p.hosts, p.byID, p.kinds, p.known, p.chosen = made, nil, nil, false, map[*host]amount{}

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
		*h = host{
			Host: n, number: i, rank: rank, center: &p.catalog.DataCenters[rank], cuda: cuda, draining: p.draining[n.ID] || p.away(n) != "",
			anyCloud: p.options.Schedules, branch: branch{priority: priorityOf(i)},
		}
		h.free = h.whole()
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
	if h := p.byID[withoutVersion(id)]; h != nil && h.is(id) {
		return h
	}

	return nil
}

// withoutVersion gives the id of a host without the version of CUDA that it may end with.
func withoutVersion(id string) string {
	return id[:max(0, strings.LastIndexByte(id, '/'))]
}

// is reports whether it is the host of that id. A simulated host has the versions of CUDA for which there was one host each before,
// and takes their place for what was stored then.
func (h *host) is(id string) bool {
	rest, within := strings.CutPrefix(id, h.ID+"/")
	return id == h.ID || within && slices.Contains(strings.Split(h.CUDAVersion, ","), rest)
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
	HostID        string           // this host alone; empty: any
	Shared        bool             // only a host without an engine of its own: all of these share one
	VolumeID      compute.VolumeID // that it mounts, which says what HostID and Shared are; empty: none
	Together      int64            // so many of it are to be on one host; 0: each where there is room
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

// keep asks for what the pod asks of each of its hosts.
func (w *want) keep(p compute.Pod) {
	n := p.Needs
	if p.GPU == nil {
		return
	}
	if len(w.CUDAVersions) == 0 {
		w.CUDAVersions = n.CUDAVersions
	}
	if w.LeastCUDA == "" {
		w.LeastCUDA = n.LeastCUDA
	}
	of := func(each int64) int64 { return min(each, math.MaxInt64/p.GPU.Count) * p.GPU.Count } // what is more no host has, either
	w.LeastVCPUs = max(w.LeastVCPUs, of(n.VCPUsPerGPU))
	w.LeastMemoryGB = max(w.LeastMemoryGB, of(n.MemoryGBPerGPU))
}

// suits reports whether the host is of the asked sort, free or not, and draining or not.
func (h *host) suits(w *want) bool {
	return (w.HostID == "" || h.is(w.HostID)) && (!w.Shared || h.Engine == "") && (w.Cloud == "" || w.Cloud == h.Cloud || h.anyCloud) &&
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

// need is what must be free of the host, for all that is to be there together.
func (h *host) need(w *want) amount {
	need, others := h.share(w), max(0, w.Together-1)
	if most := math.MaxInt64 / (others + 1); need.diskGB > most || w.PersistentGB > most-need.diskGB { // more than any host has
		need.diskGB = math.MaxInt64
		return need
	}
	need.diskGB += w.PersistentGB
	need = need.plus(need, others)
	need.diskGB = max(need.diskGB, w.LeastDiskGB)
	return need
}

// fits reports whether there is room for it if so much is free.
func (h *host) fits(w *want, free amount) bool { return free.covers(h.need(w)) }

// outOfUse are hosts that could hold something if nothing else were there, and on which nothing is placed now.
type outOfUse struct {
	draining int
	away     int // their engines do not answer
	unknown  int // likewise, and what they have was never found out: they may hold it or not
}

// words gives why what is refused cannot be held later, either, unless something else happens than that others leave; empty if it can.
// found reports whether a host in use could hold it.
func (o outOfUse) words(found bool) string {
	var all []string
	if o.draining > 0 {
		all = append(all, hostsThat(o.draining, "is draining", "are draining"))
	}
	if o.away > 0 {
		all = append(all, hostsThat(o.away, "does not answer", "do not answer"))
	}
	if o.unknown > 0 {
		all = append(all, hostsThat(o.unknown, "has not said yet what it has", "have not said yet what they have"))
	}

	switch {
	case found:
		return ""
	case o.draining+o.away > 0:
		return "; of the hosts that could hold it with nothing else on them none is in use: " + strings.Join(all, ", ")
	case o.unknown > 0:
		return "; no host that is known could hold it with nothing else on it, either: " + strings.Join(all, ", ")
	}
	return "; no host could hold it with nothing else on it, either"
}

func hostsThat(n int, is, are string) string {
	if n == 1 {
		return "1 " + is
	}
	return fmt.Sprintf("%d %s", n, are)
}

// couldEver reports whether a host in use could hold it if nothing else were there, and else which could that are not in use. The caller
// has the lock.
func (p *Placement) couldEver(w *want) (found bool, others outOfUse) {
	for g := range p.suiting(w) {
		if g.ever(w) != nil {
			return true, others
		}
	}

	for g := range p.asked(w) {
		if h := g.hosts[0]; !h.draining || !h.suits(w) || g.ever(w) == nil {
			continue
		}
		for _, h := range g.hosts {
			switch {
			case h.Asks() || !h.fits(w, h.whole()):
			case p.away(h.Host) != "":
				others.away++
			default:
				others.draining++
			}
		}
	}

	for i := range p.hosts {
		if h := &p.hosts[i]; h.Asks() && !w.Shared && (w.HostID == "" || h.is(w.HostID)) && h.inPlace(w) {
			others.unknown++
		}
	}
	return false, others
}

// inPlace reports whether the host is where it is asked for.
func (h *host) inPlace(w *want) bool {
	return (w.Cloud == "" || w.Cloud == h.Cloud || h.anyCloud) && (len(w.DataCenterIDs) == 0 || slices.Contains(w.DataCenterIDs, h.DataCenterID))
}

// rankOf gives the place of the host's data center among those that are asked for.
func (w *want) rankOf(h *host) int {
	if len(w.DataCenterIDs) > 0 {
		return slices.Index(w.DataCenterIDs, h.DataCenterID)
	}
	return h.rank
}

// unit names what is counted, for people: "GPUs of", and the type.
func (w *want) unit() (unit, name string) {
	if w.CPU != "" {
		return "vCPUs of", w.CPU
	}
	return "GPUs of", w.GPU
}

// best has the runtime choose among the hosts with room. Nil if there is none. The caller has the lock.
func (p *Placement) best(w *want) *host {
	all := rooms{placement: p, want: w}
	chosen, ok := p.options.Place(func(yield func(compute.HostRoom) bool) {
		for g := range p.suiting(w) {
			room := compute.HostRoom{Rank: w.rankOf(g.hosts[0]), Named: len(w.DataCenterIDs) > 0, Alike: &all}
			if all.look(g) && !yield(room) {
				return
			}
		}
	})
	if !ok {
		return nil
	}

	return &p.hosts[chosen.Number]
}
