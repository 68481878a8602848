package control

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// workerMount is where a worker finds the volume of its endpoint.
const workerMount = "/runpod-volume"

// StartWorker places a worker of the endpoint and stores it: it gives what the worker gets, its host, and what that costs, and the volume
// that it is to mount, nil for none. Rejected, with the cause ErrFull, when nothing can hold the worker now (rule
// serverless.workers.capacity). The worker of a declared endpoint holds no host. The error of check, which is asked about the host and its
// devices before anything is stored, is given as it is; nil: nothing is asked.
func (p *Placement) StartWorker(ctx context.Context, id compute.WorkerID, e compute.Endpoint, check func(compute.Worker) error) (w compute.Worker, mount *compute.NetworkMount, err error) {
	w = compute.Worker{ID: id, EndpointID: e.ID, Version: e.Version, Image: e.Image, DiskGB: e.DiskGB}
	if check == nil {
		check = func(compute.Worker) error { return nil }
	}

	if e.Declared {
		if err := check(w); err != nil {
			return w, nil, err
		}
		err := p.store.Write(ctx, func(tx store.Tx) error {
			w.CreatedAt = tx.Wall()
			return p.insertWorker(tx, w, e.UserID)
		})
		return w, nil, err
	}

	var centers []string
	var mounts func(dataCenterID string) *compute.NetworkMount
	err = p.store.Read(ctx, func(tx store.Tx) (err error) {
		centers, mounts, err = workerPlaces(tx, e)
		return err
	})
	if err != nil {
		return w, nil, err
	}

	wants := p.mounting(e, p.catalog.workerWants(e, centers), centers, mounts)
	err = p.place(ctx, "worker", 1, wants, func(at []choice) error {
		p.put(&w, &at[0])
		if err := check(w); err != nil {
			return err
		}

		return p.store.Write(ctx, func(tx store.Tx) error {
			if _, _, err := workerPlaces(tx, e); err != nil { // a volume may be gone by now
				return err
			}
			if err := at[0].claim(tx, string(w.ID)); err != nil {
				return err
			}
			if err := p.holdVolume(tx, mounts(w.DataCenterID), &at[0]); err != nil {
				return err
			}
			w.CreatedAt = tx.Wall()
			return p.insertWorker(tx, w, e.UserID)
		})
	})

	return w, mounts(w.DataCenterID), err
}

// put sets what the worker gets by the choice.
func (p *Placement) put(w *compute.Worker, at *choice) {
	x := *at.want
	w.HostID, w.DataCenterID, w.Devices, w.CostPerHour = at.hostID(), at.host.DataCenterID, at.deviceNames(), p.catalog.workerPrice(x)
	w.GPU, w.CPU = nil, nil
	if x.GPU != "" {
		w.GPU = &compute.GPU{ID: x.GPU, Count: x.Count}
	} else {
		w.CPU = &compute.CPU{ID: x.CPU, VCPUCount: x.Count, MemoryGB: x.MemoryGB}
	}
}

// insertWorker stores the worker, begins its log (rule serverless.workers.logs.system) and begins to bill it.
func (p *Placement) insertWorker(tx store.Containers, w compute.Worker, user compute.UserID) error {
	if err := tx.InsertWorker(w); err != nil {
		return err
	}
	if err := tx.BeginSystemLines(string(w.ID), "worker is "+string(compute.WorkerInitializing)); err != nil {
		return err
	}
	return p.catalog.meterWorker(tx, w, user)
}

// EndWorker removes a worker that has ended as DeleteWorker does, and keeps what is to be kept of it, unless its endpoint is
// deleted (rules serverless.workers.ended, serverless.workers.logs.kept): the end that the caller gives, with the lines of its
// container, and what berth wrote in its log. An unknown worker is no error.
func (c *Claims) EndWorker(tx store.Tx, end compute.EndedWorker) error {
	w, err := tx.Worker(end.ID)
	var e compute.Endpoint
	if err == nil {
		e, err = tx.Endpoint(w.EndpointID)
	}
	if compute.CodeOf(err) == compute.NotFound || err == nil && !e.DeletedAt.IsZero() {
		return c.DeleteWorker(tx, end.ID)
	}
	if err != nil {
		return err
	}

	why, _, _ := strings.Cut(end.Reason, "\n")
	if err := tx.AddSystemLine(string(end.ID), why); err != nil {
		return err
	}
	lines, err := tx.SystemLines(string(end.ID), 0)
	if err != nil {
		return err
	}

	end.EndpointID, end.Version = w.EndpointID, w.Version
	if !w.StartedAt.IsZero() { // else nobody saw it up, and the end may have the time
		end.StartedAt = w.StartedAt
	}
	end.Log = append(slices.Clip(end.Log), lines...)
	slices.SortStableFunc(end.Log, func(a, b compute.LogLine) int { return cmp.Compare(a.Position, b.Position) })
	if err := tx.InsertEndedWorker(end); err != nil {
		return err
	}

	return c.DeleteWorker(tx, end.ID)
}

// DeleteWorker removes the worker and its log, releases what it held and ends its bill.
func (c *Claims) DeleteWorker(tx store.Containers, id compute.WorkerID) error {
	if err := tx.DeleteWorker(id); err != nil {
		return err
	}
	if err := tx.DeleteSystemLines(string(id)); err != nil {
		return err
	}
	if err := c.give(tx, string(id), true); err != nil {
		return err
	}
	return tx.CloseCharge(string(id))
}

// workerPlaces gives the data centers in which a worker may be placed, none for all, and what it mounts in each.
func workerPlaces(tx store.Resources, e compute.Endpoint) ([]string, func(dataCenterID string) *compute.NetworkMount, error) {
	if id := e.GlobalVolumeID; id != "" {
		_, err := tx.GlobalVolume(id)
		return e.DataCenterIDs, func(string) *compute.NetworkMount { return &compute.NetworkMount{VolumeID: id, Path: workerMount} }, err
	}
	if len(e.VolumeIDs) == 0 {
		return e.DataCenterIDs, func(string) *compute.NetworkMount { return nil }, nil
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

	return centers, func(dataCenterID string) *compute.NetworkMount { return mounts[dataCenterID] }, nil
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
