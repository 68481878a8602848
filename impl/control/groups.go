package control

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// group is hosts that are alike in all that a choice looks at, but for what is free of them: each says for all whether they suit. A fleet
// of thousands has few groups, and a choice looks at one or two hosts of each.
type group struct {
	hosts []*host // in the order of the fleet
	sizes []*host // the first of each size
	tree  *host   // by what is free of them
}

// likeness is what the hosts of a group have in common.
type likeness struct {
	center, gpu, cpus, cuda string
	cloud                   compute.Cloud
	vcpus, memoryGB         int64 // that come with each GPU
	downMbps, upMbps        int64
	publicIP, draining      bool
	engine                  bool // each its own
}

func (h *host) likeness() likeness {
	l := likeness{
		center: h.DataCenterID, gpu: h.GPU, cpus: strings.Join(h.CPUs, ","), cuda: h.CUDAVersion, cloud: h.Cloud,
		downMbps: h.DownloadMbps, upMbps: h.UploadMbps, publicIP: h.hasPublicIP(), draining: h.draining,
		engine: h.Engine != "",
	}
	if h.GPU != "" {
		size := h.size()
		l.vcpus, l.memoryGB = size.VCPUsPerGPU, size.MemoryGBPerGPU
	}
	return l
}

// kind is what a host is looked for by: a GPU type or a CPU flavor.
type kind struct{ gpu, cpu string }

// has reports whether the host is of the kind.
func (h *host) has(k kind) bool {
	if k.cpu != "" {
		return k.gpu == "" && slices.Contains(h.CPUs, k.cpu)
	}
	return k.gpu != "" && k.gpu == h.GPU
}

// groups are all of one kind.
type groups struct {
	all      []*group // in the order of their data centers in the catalog
	byCenter map[string][]*group
}

// of gives the groups of a kind. They are made when somebody asks first. The caller has the lock.
func (p *Placement) of(k kind) groups {
	if p.kinds == nil {
		p.kinds = map[kind]groups{}
		for _, g := range p.group() {
			h := g.hosts[0]
			if h.GPU != "" {
				p.add(kind{gpu: h.GPU}, g)
			}
			for _, id := range h.CPUs {
				p.add(kind{cpu: id}, g)
			}
		}
	}
	return p.kinds[k]
}

// group makes groups of the hosts, in the order of their data centers in the catalog.
func (p *Placement) group() (all []*group) {
	type size struct {
		*group
		amount
	}
	alike, sizes := map[likeness]*group{}, map[size]bool{}
	for i := range p.hosts {
		h := &p.hosts[i]
		l := h.likeness()
		g := alike[l]
		if g == nil {
			g = &group{}
			alike[l], all = g, append(all, g)
		}

		h.group, g.hosts, g.tree = g, append(g.hosts, h), g.tree.with(h)
		if s := (size{g, h.whole()}); !sizes[s] {
			sizes[s], g.sizes = true, append(g.sizes, h)
		}
	}

	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(a.hosts[0].rank, b.hosts[0].rank) })
	return all
}

// add adds a group to those of a kind.
func (p *Placement) add(k kind, g *group) {
	of := p.kinds[k]
	if of.byCenter == nil {
		of.byCenter = map[string][]*group{}
	}
	center := g.hosts[0].DataCenterID
	of.all, of.byCenter[center] = append(of.all, g), append(of.byCenter[center], g)
	p.kinds[k] = of
}

// setFree sets what is free of the host. The caller has the lock.
func (h *host) setFree(free amount) {
	if h.group == nil {
		h.free = free
		return
	}
	h.group.tree = h.group.tree.without(h)
	h.free = free
	h.group.tree = h.group.tree.with(h)
}

// suiting gives the groups of the asked sort, free or not, the most preferred data center first. The caller has the lock.
func (p *Placement) suiting(w *want) iter.Seq[*group] {
	return func(yield func(*group) bool) {
		for g := range p.asked(w) {
			if h := g.hosts[0]; !h.draining && h.suits(w) && !yield(g) {
				return
			}
		}
	}
}

// asked gives the groups in which the want may be looked for: those of its kind in its data centers, or what it names as its host.
func (p *Placement) asked(w *want) iter.Seq[*group] {
	return func(yield func(*group) bool) {
		k := kind{w.GPU, w.CPU}
		if w.HostID != "" {
			for _, h := range p.named(w.HostID) {
				if h.has(k) && !yield(h.alone()) {
					return
				}
			}
			return
		}

		of := p.of(k)
		if len(w.DataCenterIDs) == 0 {
			slices.Values(of.all)(yield)
			return
		}
		for i, id := range w.DataCenterIDs {
			if slices.Index(w.DataCenterIDs, id) < i {
				continue // it is named twice
			}
			for _, g := range of.byCenter[id] {
				if !yield(g) {
					return
				}
			}
		}
	}
}

// named gives the hosts of that id: two if one has the id, and one had it as a version of CUDA.
func (p *Placement) named(id string) (all []*host) {
	first := p.host(id)
	if first == nil {
		return nil
	}
	all = append(all, first)
	if other := p.byID[withoutVersion(id)]; other != nil && other != first && other.is(id) {
		all = append(all, other)
	}
	return all
}

// ever gives the first host of the group that could hold the want if nothing else were there; nil if there is none.
func (g *group) ever(w *want) *host {
	for _, h := range g.sizes {
		if h.fits(w, h.whole()) {
			return h
		}
	}
	return nil
}

// alone gives a group of this host and no other.
func (h *host) alone() *group {
	one := *h
	return &group{hosts: []*host{h}, sizes: []*host{h}, tree: one.join(nil, nil)}
}

// rooms are the hosts of a group that have room for a want, as a policy asks for them. They are there until anything changes.
type rooms struct {
	placement *Placement
	want      *want
	need      amount
	tree      *host
	lowest    *host
}

// look looks at another group, and reports whether any of its hosts has room.
func (r *rooms) look(g *group) bool {
	r.need, r.tree = g.hosts[0].need(r.want), g.tree
	r.lowest = r.tree.lowest(r.need)
	return r.lowest != nil
}

// Least gives the host with the least left, among equals the first.
func (r *rooms) Least() compute.HostRoom { return r.firstLike(r.lowest) }

// Most gives the host with the most left, among equals the first.
func (r *rooms) Most() compute.HostRoom { return r.firstLike(r.tree.highest(r.need)) }

// Left gives what nobody holds of all of them.
func (r *rooms) Left() (gpus, vcpus int64) {
	all := r.tree.spareOf(r.need)
	return all.gpus, all.vcpus
}

// firstLike gives the first host in the order of the fleet that has room and as much left as h.
func (r *rooms) firstLike(h *host) compute.HostRoom {
	return r.placement.hosts[r.tree.first(r.need, h.free.spare(), h.number)].room(r.want)
}

// room is the host as a runtime is asked to choose it.
func (h *host) room(w *want) compute.HostRoom {
	return compute.HostRoom{
		Number: h.number, HostID: h.ID, Rank: w.rankOf(h), Named: len(w.DataCenterIDs) > 0, GPUs: h.free.gpus, VCPUs: h.free.vcpus,
	}
}
