package control

import (
	"cmp"
	"context"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Wanted is what a GPU pod needs of the host that is to hold it.
type Wanted struct {
	GPU           compute.GPU
	Clouds        []compute.Cloud // any of them
	DataCenterIDs []string        // any of them; empty: all
	GlobalNetwork bool            // only where it is possible
	DiskGB        int64           // that the pod takes
	Needs
}

// Quote is the cheapest way to have now what is wanted.
type Quote struct {
	Cloud compute.Cloud // empty: it cannot be had
	Price float64       // USD an hour for all the GPUs
	Stock Stock

	LeastBid float64     // USD an hour for all the GPUs, of an interruptible pod
	Counts   []int64     // of GPUs that a pod can have now in one of the clouds, ascending
	CUDA     []CUDAStock // that hosts of the clouds have, with room for the pod or without, the latest first
}

// Quote looks for the cheapest cloud with room.
func (c *Control) Quote(w Wanted) Quote {
	q := Quote{Stock: StockNone, Counts: []int64{}}
	t, _ := c.catalog.GPU(w.GPU.ID)
	can, cuda := map[int64]bool{}, map[cudaVersion]int64{}

	most := int64(0)
	for _, cloud := range w.Clouds {
		offer := t.Offer(cloud)
		if offer == nil {
			continue
		}
		x := w.want(cloud)
		asked := c.placement.places(x)
		for v, n := range asked.byCUDA {
			cuda[v] += n
		}
		if price := times(offer.Price, x.Count); asked.all > 0 && (q.Cloud == "" || price < q.Price) {
			q.Cloud, q.Price, q.Stock, q.LeastBid = cloud, price, stockOf(asked.all), times(offer.LeastBid(), x.Count)
		}
		if asked.all > 0 { // though another one may take the place before the looks below
			can[x.Count], most = true, max(most, x.Count)
		}

		for x.Count = 1; x.Count <= offer.MaxCount; x.Count++ {
			if c.placement.hasPlace(&x) {
				can[x.Count], most = true, max(most, x.Count)
			}
		}
	}

	q.CUDA = cudaStock(cuda)
	for n := int64(1); n <= most; n++ {
		if can[n] {
			q.Counts = append(q.Counts, n)
		}
	}

	return q
}

// Choose completes what the user asks for: the first of the GPU types that can be had, in the cheapest of the clouds that a bid for it reaches. When none
// can be had it takes the first of each, and CreatePod says why it cannot be. It fails as CreatePod for a network volume.
func (c *Control) Choose(ctx context.Context, user compute.UserID, n NewPod, types []string, clouds []compute.Cloud) (NewPod, error) {
	dataCenters := n.DataCenterIDs
	if len(n.Network) > 0 {
		err := c.store.Read(ctx, func(tx store.Tx) (err error) {
			dataCenters, err = dataCentersFor(tx, user, n)
			return err
		})
		if err != nil {
			return n, err
		}
	}

	disk := cmp.Or(n.DiskGB, defaultDiskGB)
	if n.Persistent != nil {
		disk += n.Persistent.SizeGB
	}
	for _, id := range types {
		t, _ := c.catalog.GPU(id)
		reached := slices.DeleteFunc(slices.Clone(clouds), func(cloud compute.Cloud) bool {
			offer := t.Offer(cloud)
			return n.BidPerGPU > 0 && offer != nil && n.BidPerGPU < offer.LeastBid()
		})
		if len(reached) == 0 {
			continue
		}
		w := Wanted{
			GPU: compute.GPU{ID: id, Count: n.GPU.Count}, Clouds: reached, DataCenterIDs: dataCenters, GlobalNetwork: n.GlobalNetworking, DiskGB: disk,
			Needs: n.Needs,
		}
		if q := c.Quote(w); q.Cloud != "" {
			n.GPU, n.Cloud = &w.GPU, q.Cloud
			return n, nil
		}
	}

	n.GPU, n.Cloud = &compute.GPU{ID: types[0], Count: n.GPU.Count}, clouds[0]
	return n, nil
}

// StockIn gives the stock of each GPU type of the catalog in the data center, for pods with so many GPUs that need w.
func (c *Control) StockIn(dataCenterID string, w Wanted) []ResourceStock {
	w.DataCenterIDs = []string{dataCenterID}
	list := make([]ResourceStock, len(c.catalog.GPUs))
	for i, t := range c.catalog.GPUs {
		w.GPU.ID = t.ID
		list[i] = ResourceStock{t.ID, t.Name, stockOf(c.places(w))}
	}
	return list
}

// places counts the pods for which there is room in any of the clouds.
func (c *Control) places(w Wanted) (n int64) {
	for _, cloud := range w.Clouds {
		n += c.placement.places(w.want(cloud)).all
	}
	return n
}

// want is what is wanted of one cloud.
func (w Wanted) want(cloud compute.Cloud) want {
	return want{
		GPU: w.GPU.ID, Count: w.GPU.Count, Cloud: cloud, DataCenterIDs: w.DataCenterIDs,
		GlobalNetwork: w.GlobalNetwork, DiskGB: w.DiskGB, Needs: w.Needs,
	}
}

// CPUOffer is what one size of a CPU flavor costs, USD an hour. A Stock of StockNone means that none can be had now.
type CPUOffer struct {
	Stock           Stock
	Price           float64
	ServerlessPrice float64 // of a worker
}

// CPUOffer looks for room for the size in cloud SECURE, in any of the data centers; none means all. For a worker of an endpoint it
// must have a price for workers. Rejected for what the catalog does not offer.
func (c *Control) CPUOffer(cpu compute.CPU, dataCenterIDs []string, worker bool) (CPUOffer, error) {
	price, memory, err := c.catalog.priceCPU(cpu)
	if err != nil {
		return CPUOffer{}, err
	}
	if worker {
		if err := c.catalog.checkServerless(cpu); err != nil {
			return CPUOffer{}, err
		}
	}
	f, _ := c.catalog.CPU(cpu.ID)
	places := c.placement.places(want{
		CPU: cpu.ID, Count: cpu.VCPUCount, MemoryGB: memory, Cloud: compute.Secure, DataCenterIDs: dataCenterIDs, DiskGB: defaultDiskGB,
	}).all
	return CPUOffer{stockOf(places), price, times(f.ServerlessPricePerVCPU, cpu.VCPUCount)}, nil
}

// checkServerless refuses a flavor that no worker of an endpoint can have, as it has no price for workers.
func (c Catalog) checkServerless(cpu compute.CPU) error {
	if f, _ := c.CPU(cpu.ID); !f.Serverless() {
		return compute.Errorf(compute.Rejected, "cpu.id: flavor %q is not for workers of endpoints", cpu.ID)
	}
	return nil
}

// Catalog gives what can be had and what it costs.
func (c *Control) Catalog() Catalog { return c.catalog }

// SmallestCPU is the first flavor of the catalog in its smallest size: what a CPU pod gets that names none.
func (c *Control) SmallestCPU() compute.CPU {
	f := c.catalog.CPUs[0]
	return compute.CPU{ID: f.ID, VCPUCount: f.MinVCPU}
}
