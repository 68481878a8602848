package control

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// Stock is the published word for how much is free, as GraphQL spells it.
type Stock string

// The levels of stock.
const (
	StockNone   Stock = "None"
	StockLow    Stock = "Low"    // room for 1 to 4 pods
	StockMedium Stock = "Medium" // room for 5 to 15
	StockHigh   Stock = "High"
)

// stockOf gives the level of so many places (rule catalog.availability.levels).
func stockOf(places int64) Stock {
	switch {
	case places <= 0:
		return StockNone
	case places <= 4:
		return StockLow
	case places <= 15:
		return StockMedium
	}
	return StockHigh
}

// Product is the published word for what something is wanted for.
type Product string

// The products.
const (
	ForPod        Product = "POD"
	ForCluster    Product = "CLUSTER"
	ForServerless Product = "SERVERLESS"
)

// Availability is what is free of a GPU type or CPU flavor.
type Availability struct {
	Stock       Stock
	DataCenters []ResourceStock // that have it, free or not, in the order of the catalog
	CUDA        []CUDAStock     // that its hosts have, free or not, the latest first
}

// ResourceStock is the stock of one resource, or in one data center.
type ResourceStock struct {
	ID, Name string
	Stock    Stock
}

// CUDAStock reports whether there is room on hosts with a version of CUDA.
type CUDAStock struct {
	Version   string
	Available bool
}

// places is for how many pods there is room now.
type places struct {
	all      int64
	byCenter map[string]int64
	byCUDA   map[cudaVersion]int64
}

// places counts the places for pods that want w, among the hosts that suit.
func (p *Placement) places(w want) places {
	r := places{byCenter: map[string]int64{}, byCUDA: map[cudaVersion]int64{}}
	sold := map[compute.Cloud]bool{}
	for _, cloud := range []compute.Cloud{compute.Secure, compute.Community} {
		sold[cloud] = p.catalog.sells(w, cloud)
	}
	var last *host // of the groups that follow each other and have the same versions of CUDA: most have
	inLast := int64(0)
	add := func() {
		for _, v := range last.cuda {
			if v.allowed(w.CUDAVersions, w.LeastCUDA) {
				r.byCUDA[v] += inLast
			}
		}
	}

	p.lockKnown()
	defer p.mu.Unlock()
	for g := range p.suiting(&w) {
		n, h := int64(0), g.hosts[0]
		if sold[h.Cloud] {
			n = g.places(&w)
		}
		r.all += n
		r.byCenter[h.DataCenterID] += n
		if last != nil && last.CUDAVersion != h.CUDAVersion {
			add()
			inLast = 0
		}
		last, inLast = h, inLast+n
	}

	if last != nil {
		add()
	}
	return r
}

// hasPlace reports whether there is a place for one pod that wants w, in the cloud that it names.
func (p *Placement) hasPlace(w *want) bool {
	if !p.catalog.sells(*w, w.Cloud) {
		return false
	}
	p.lockKnown()
	defer p.mu.Unlock()
	for g := range p.suiting(w) {
		if g.tree.lowest(g.hosts[0].need(w)) != nil {
			return true
		}
	}
	return false
}

// sells reports whether one pod can have so many in the cloud.
func (c Catalog) sells(w want, cloud compute.Cloud) bool {
	if w.CPU != "" {
		f, _ := c.CPU(w.CPU)
		return f.offers(w.Count)
	}
	t, _ := c.GPU(w.GPU)
	offer := t.Offer(cloud)
	return offer != nil && w.Count <= offer.MaxCount
}

// places gives how many pods that want w fit on the hosts of the group.
func (g *group) places(w *want) (n int64) {
	for _, h := range g.hosts {
		n += h.places(w)
	}
	return n
}

// places gives how many pods that want w fit on the host.
func (h *host) places(w *want) int64 {
	share := h.share(w)
	share.diskGB += w.PersistentGB
	if h.free.diskGB < w.LeastDiskGB {
		return 0
	}

	n := int64(-1)
	for _, part := range [][2]int64{
		{h.free.gpus, share.gpus}, {h.free.vcpus, share.vcpus}, {h.free.memoryGB, share.memoryGB}, {h.free.diskGB, share.diskGB},
	} {
		if part[1] > 0 && (n < 0 || part[0]/part[1] < n) {
			n = max(0, part[0]/part[1])
		}
	}

	return max(0, n)
}

// placesFor counts the places for a product: a cluster takes two pods in one data center of cloud SECURE, a worker cloud SECURE.
func (p *Placement) placesFor(product Product, w want) places {
	if product == ForPod {
		return p.places(w)
	}
	if product == ForServerless && w.GPU != "" {
		if t, _ := p.catalog.GPU(w.GPU); t.Pool == "" {
			return places{}
		}
	}

	if w.Cloud == compute.Community {
		return places{}
	}
	w.Cloud = compute.Secure

	r := p.places(w)
	if product == ForCluster {
		r.all = 0
		for id, n := range r.byCenter {
			r.byCenter[id] = n / 2
			r.all += n / 2
		}
		for v := range r.byCUDA { // the two of a cluster are in one data center
			w.CUDAVersions, r.byCUDA[v] = []string{v.String()}, 0
			for _, n := range p.places(w).byCenter {
				r.byCUDA[v] += n / 2
			}
		}
	}

	return r
}

// availability gives the best that is free for one of the products.
func (p *Placement) availability(products []Product, w want) Availability {
	best := places{byCenter: map[string]int64{}, byCUDA: map[cudaVersion]int64{}}
	for _, product := range products {
		r := p.placesFor(product, w)
		best.all = max(best.all, r.all)
		for id, n := range r.byCenter {
			best.byCenter[id] = max(best.byCenter[id], n)
		}
		for v, n := range r.byCUDA {
			best.byCUDA[v] = max(best.byCUDA[v], n)
		}
	}

	a := Availability{Stock: stockOf(best.all), DataCenters: []ResourceStock{}}
	for _, d := range p.catalog.DataCenters {
		if n, ok := best.byCenter[d.ID]; ok {
			a.DataCenters = append(a.DataCenters, ResourceStock{d.ID, d.Name, stockOf(n)})
		}
	}

	a.CUDA = cudaStock(best.byCUDA)
	return a
}

// cudaStock lists the versions, the latest first.
func cudaStock(places map[cudaVersion]int64) []CUDAStock {
	versions := slices.SortedFunc(maps.Keys(places), func(a, b cudaVersion) int { return b.compare(a) })
	list := make([]CUDAStock, len(versions))
	for i, v := range versions {
		list[i] = CUDAStock{v.String(), places[v] > 0}
	}
	return list
}
