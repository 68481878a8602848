package control

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// workerMount is where a worker finds the network volume of its endpoint.
const workerMount = "/runpod-volume"

// InsertWorker places the worker of the endpoint and stores it: it sets what the worker gets, its host, and what that costs.
// It gives the volume that the worker is to mount, nil for none. Rejected, with the cause ErrFull, when nothing can hold the
// worker now (rule serverless.workers.capacity). The worker of a declared endpoint holds no host.
func (b *Booking) InsertWorker(tx store.Tx, w *compute.Worker, e compute.Endpoint) (*compute.NetworkMount, error) {
	w.EndpointID, w.Version, w.Image, w.DiskGB, w.CreatedAt = e.ID, e.Version, e.Image, e.DiskGB, tx.Wall()
	if e.Declared {
		return nil, b.insertWorker(tx, *w, e.UserID)
	}
	centers, mounts, err := workerPlaces(tx, e)
	if err != nil {
		return nil, err
	}
	if err := b.placeWorker(w, b.placement.catalog.workerWants(e, centers)); err != nil {
		return nil, err
	}
	return mounts[w.DataCenterID], b.insertWorker(tx, *w, e.UserID)
}

// insertWorker stores the worker, begins its log (rule serverless.workers.logs.system) and begins to bill it.
func (b *Booking) insertWorker(tx store.Tx, w compute.Worker, user compute.UserID) error {
	if err := tx.InsertWorker(w); err != nil {
		return err
	}
	if err := tx.AddSystemLine(string(w.ID), "worker is "+string(compute.WorkerInitializing)); err != nil {
		return err
	}
	return b.placement.catalog.meterWorker(tx, w, user)
}

// EndWorker removes a worker that has ended as DeleteWorker does, and keeps what is to be kept of it, unless its endpoint is
// deleted (rules serverless.workers.ended, serverless.workers.logs.kept): the end that the caller gives, with the lines of its
// container, and what berth said in its log. An unknown worker is no error.
func (b *Booking) EndWorker(tx store.Tx, end compute.EndedWorker) error {
	w, err := tx.Worker(end.ID)
	var e compute.Endpoint
	if err == nil {
		e, err = tx.Endpoint(w.EndpointID)
	}
	if compute.CodeOf(err) == compute.NotFound || err == nil && !e.DeletedAt.IsZero() {
		return b.DeleteWorker(tx, end.ID)
	}
	if err != nil {
		return err
	}

	why, _, _ := strings.Cut(end.Reason, "\n")
	if err := tx.AddSystemLine(string(end.ID), why); err != nil {
		return err
	}
	said, err := tx.SystemLines(string(end.ID), 0)
	if err != nil {
		return err
	}

	end.EndpointID, end.Version = w.EndpointID, w.Version
	if !w.StartedAt.IsZero() { // else nobody saw it up, and the end may tell
		end.StartedAt = w.StartedAt
	}
	end.Log = append(slices.Clip(end.Log), said...)
	slices.SortStableFunc(end.Log, func(a, b compute.LogLine) int { return cmp.Compare(a.Position, b.Position) })
	if err := tx.InsertEndedWorker(end); err != nil {
		return err
	}
	return b.DeleteWorker(tx, end.ID)
}

// DeleteWorker removes the worker and its log, gives back what it held and ends its bill.
func (b *Booking) DeleteWorker(tx store.Tx, id compute.WorkerID) error {
	if err := tx.DeleteWorker(id); err != nil {
		return err
	}
	if err := tx.DeleteSystemLines(string(id)); err != nil {
		return err
	}
	b.give(holder(id), true)
	return tx.CloseCharge(string(id))
}

// placeWorker takes room for the first of the wants for which there is some.
func (b *Booking) placeWorker(w *compute.Worker, wants []want) error {
	p := b.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range wants {
		c, ok := b.room(holder(w.ID), x)
		if !ok {
			continue
		}
		p.looked("worker", true)
		w.HostID, w.DataCenterID, w.Devices, w.CostPerHour = c.host.ID, c.host.DataCenterID, c.deviceNames(), p.catalog.workerPrice(x)
		if x.GPU != "" {
			w.GPU = &compute.GPU{ID: x.GPU, Count: x.Count}
		} else {
			w.CPU = &compute.CPU{ID: x.CPU, VCPUCount: x.Count, MemoryGB: x.MemoryGB}
		}
		return nil
	}
	p.looked("worker", false, wants...)
	if len(wants) == 0 {
		return &compute.Error{Code: compute.Rejected, Detail: "the catalog has nothing any more that the worker may get", Cause: ErrFull}
	}
	return p.full("worker", wants[0])
}

// adoptWorker counts what a stored worker holds.
func (p *Placement) adoptWorker(w compute.Worker) {
	h := p.host(w.HostID)
	if h == nil {
		return
	}
	x := want{DiskGB: w.DiskGB}
	if w.GPU != nil {
		x.GPU, x.Count = w.GPU.ID, w.GPU.Count
	}
	if w.CPU != nil {
		x.CPU, x.Count, x.MemoryGB = w.CPU.ID, w.CPU.VCPUCount, w.CPU.MemoryGB
	}
	p.hold(holder(w.ID), claim{host: h, amount: h.share(&x), devices: h.numbers(w.Devices)})
}

// workerPlaces gives the data centers in which a worker may be placed, none for all, and what it mounts there.
func workerPlaces(tx store.Tx, e compute.Endpoint) ([]string, map[string]*compute.NetworkMount, error) {
	if len(e.VolumeIDs) == 0 {
		return e.DataCenterIDs, nil, nil
	}
	var centers []string
	mounts := map[string]*compute.NetworkMount{}
	for _, id := range e.VolumeIDs {
		v, err := tx.Volume(id)
		if err != nil {
			return nil, nil, err
		}
		centers = append(centers, v.DataCenterID)
		mounts[v.DataCenterID] = &compute.NetworkMount{VolumeID: id, Path: workerMount}
	}
	return centers, mounts, nil
}

// workerWants are the ways in which a worker can be had, in the order of preference: the pools' types or the flavors.
func (c Catalog) workerWants(e compute.Endpoint, centers []string) (wants []want) {
	base := want{Cloud: compute.Secure, DataCenterIDs: centers, DiskGB: e.DiskGB, Needs: Needs{Compliance: e.Compliance}}
	if g := e.GPU; g != nil {
		base.CUDAVersions, base.LeastCUDA, base.Count = g.CUDAVersions, g.LeastCUDA, g.Count
		for _, id := range c.workerTypes(*g) {
			base.GPU = id
			wants = append(wants, base)
		}
	}
	for _, one := range e.CPUs {
		base.CPU, base.Count, base.MemoryGB = one.ID, one.VCPUCount, one.MemoryGB
		wants = append(wants, base)
	}
	return wants
}

// workerTypes are the GPU types of the pools that a worker can have so many of.
func (c Catalog) workerTypes(g compute.EndpointGPU) (ids []string) {
	for _, pool := range g.Pools {
		for _, t := range c.GPUs {
			offer := t.Offer(compute.Secure)
			if t.Pool == pool && offer != nil && g.Count <= offer.MaxCount && !slices.Contains(g.Excluded, t.ID) {
				ids = append(ids, t.ID)
			}
		}
	}
	return ids
}

// workerPrice is USD an hour. A type without a price for workers costs what it does for pods.
func (c Catalog) workerPrice(w want) float64 {
	if w.CPU != "" {
		f, _ := c.CPU(w.CPU)
		return times(f.ServerlessPricePerVCPU, w.Count)
	}
	t, _ := c.GPU(w.GPU)
	price := t.ServerlessPrice
	if offer := t.Offer(compute.Secure); price == 0 && offer != nil {
		price = offer.Price
	}
	return times(price, w.Count)
}
