package control

import (
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// maxTemplates is how many public templates an answer has at most.
const maxTemplates = 100

// AvailabilityQuery says whether an answer shows what is free, and for what. Zero values are absent.
type AvailabilityQuery struct {
	Include      bool
	Products     []Product
	Count        int64 // GPUs or vCPUs of one pod
	Cloud        compute.Cloud
	Countries    []string
	CUDAVersions []string
	LeastCUDA    string
}

// check refuses what does not go together. countName is what Count is called.
func (q AvailabilityQuery) check(countName string) error {
	given := map[string]bool{
		countName: q.Count != 0, "cloud": q.Cloud != "", "countryCodes": q.Countries != nil,
		"cudaVersions": q.CUDAVersions != nil, "minCudaVersion": q.LeastCUDA != "",
	}
	switch {
	case q.Include && len(q.Products) == 0:
		return compute.Errorf(compute.Rejected, "include: AVAILABILITY needs product")
	case !q.Include && len(q.Products) > 0:
		return compute.Errorf(compute.Rejected, "product needs include=AVAILABILITY")
	case q.CUDAVersions != nil && q.LeastCUDA != "":
		return compute.Errorf(compute.Rejected, "cudaVersions and minCudaVersion cannot both be set")
	}

	for _, name := range []string{countName, "cloud", "countryCodes", "cudaVersions", "minCudaVersion"} {
		if given[name] && !q.Include {
			return compute.Errorf(compute.Rejected, "%s needs include=AVAILABILITY", name)
		}
	}

	return nil
}

func (q AvailabilityQuery) want() want {
	return want{
		Count: q.Count, Cloud: q.Cloud, DiskGB: defaultDiskGB,
		Needs: Needs{Countries: q.Countries, CUDAVersions: q.CUDAVersions, LeastCUDA: q.LeastCUDA},
	}
}

// GPUTypeStock is a GPU type with what is free of it; nil if that was not asked for.
type GPUTypeStock struct {
	GPUType
	Availability *Availability
}

// GPUTypes gives the GPU types in the order of the catalog. Rejected for a query that contradicts itself.
func (c *Control) GPUTypes(q AvailabilityQuery) ([]GPUTypeStock, error) {
	if err := q.check("count"); err != nil {
		return nil, err
	}
	list := make([]GPUTypeStock, len(c.catalog.GPUs))
	for i, t := range c.catalog.GPUs {
		list[i] = c.gpuStock(t, q)
	}
	return list, nil
}

// GPUType gives one GPU type. NotFound for an unknown id, Rejected as for GPUTypes.
func (c *Control) GPUType(id string, q AvailabilityQuery) (GPUTypeStock, error) {
	t, ok := c.catalog.GPU(id)
	if !ok {
		return GPUTypeStock{}, compute.Errorf(compute.NotFound, "GPU type %q does not exist", id)
	}
	return c.gpuStock(t, q), q.check("count")
}

func (c *Control) gpuStock(t GPUType, q AvailabilityQuery) GPUTypeStock {
	s := GPUTypeStock{GPUType: t}
	if q.Include {
		w := q.want()
		w.GPU, w.Count = t.ID, max(1, q.Count)
		a := c.placement.availability(q.Products, w)
		s.Availability = &a
	}
	return s
}

// CPUFlavorStock is a CPU flavor with what is free of it; nil if that was not asked for.
type CPUFlavorStock struct {
	CPUFlavor
	Availability *Availability
}

// CPUFlavors gives the CPU flavors in the order of the catalog. Rejected for a query that contradicts itself.
func (c *Control) CPUFlavors(q AvailabilityQuery) ([]CPUFlavorStock, error) {
	if err := q.check("vcpuCount"); err != nil {
		return nil, err
	}
	list := make([]CPUFlavorStock, len(c.catalog.CPUs))
	for i, f := range c.catalog.CPUs {
		list[i] = c.cpuStock(f, q)
	}
	return list, nil
}

// CPUFlavor gives one flavor. NotFound for an unknown id, Rejected as for CPUFlavors.
func (c *Control) CPUFlavor(id string, q AvailabilityQuery) (CPUFlavorStock, error) {
	f, ok := c.catalog.CPU(id)
	if !ok {
		return CPUFlavorStock{}, compute.Errorf(compute.NotFound, "CPU flavor %q does not exist", id)
	}
	return c.cpuStock(f, q), q.check("vcpuCount")
}

func (c *Control) cpuStock(f CPUFlavor, q AvailabilityQuery) CPUFlavorStock {
	s := CPUFlavorStock{CPUFlavor: f}
	if q.Include {
		w := q.want()
		w.CPU, w.Count = f.ID, f.MinVCPU
		if q.Count != 0 {
			w.Count = q.Count
		}
		w.MemoryGB = f.MemoryPerVCPU * w.Count
		a := c.placement.availability(q.Products, w)
		s.Availability = &a
	}
	return s
}

// DataCenterQuery says which data centers are asked for. Of the regions one must match, of the other lists all.
type DataCenterQuery struct {
	Regions, VolumeTypes, Compliance []string // empty: any
	GlobalNetwork                    *bool    // nil: either
	GPUs, CPUs                       bool     // show what is free of them
}

// DataCenterStock is a data center with what is free there; nil if that was not asked for.
type DataCenterStock struct {
	DataCenter
	GPUs, CPUs []ResourceStock
}

// DataCenters gives the data centers in the order of the catalog.
func (c *Control) DataCenters(q DataCenterQuery) []DataCenterStock {
	list := []DataCenterStock{}
	for _, d := range c.catalog.DataCenters {
		if d.matches(q) {
			list = append(list, DataCenterStock{DataCenter: d})
		}
	}
	c.stock(list, q)
	return list
}

// DataCenter gives one data center. NotFound for an unknown id.
func (c *Control) DataCenter(id string, q DataCenterQuery) (DataCenterStock, error) {
	d, ok := c.catalog.DataCenter(id)
	if !ok {
		return DataCenterStock{}, compute.Errorf(compute.NotFound, "data center %q does not exist", id)
	}
	one := []DataCenterStock{{DataCenter: d}}
	c.stock(one, q)
	return one[0], nil
}

func (d DataCenter) matches(q DataCenterQuery) bool {
	return (len(q.Regions) == 0 || slices.Contains(q.Regions, d.Region)) && contains(d.VolumeTypes, q.VolumeTypes) &&
		contains(d.Compliance, q.Compliance) && (q.GlobalNetwork == nil || *q.GlobalNetwork == d.GlobalNetwork)
}

// stock fills in what is free for the smallest pod of each GPU type and CPU flavor.
func (c *Control) stock(list []DataCenterStock, q DataCenterQuery) {
	if q.GPUs {
		for _, t := range c.catalog.GPUs {
			r := c.placement.places(want{GPU: t.ID, Count: 1, DiskGB: defaultDiskGB})
			for i := range list {
				list[i].GPUs = append(list[i].GPUs, ResourceStock{t.ID, t.Name, stockOf(r.byCenter[list[i].ID])})
			}
		}
	}

	if q.CPUs {
		for _, f := range c.catalog.CPUs {
			r := c.placement.places(want{CPU: f.ID, Count: f.MinVCPU, MemoryGB: f.MemoryPerVCPU * f.MinVCPU, DiskGB: defaultDiskGB})
			for i := range list {
				list[i].CPUs = append(list[i].CPUs, ResourceStock{f.ID, f.Name, stockOf(r.byCenter[list[i].ID])})
			}
		}
	}
}

// PublicTemplates gives the catalog's templates from the source: official, verified or community.
func (c *Control) PublicTemplates(source string) []PublicTemplate {
	list := []PublicTemplate{}
	for _, t := range c.catalog.Templates {
		if t.Source == source && len(list) < maxTemplates {
			list = append(list, t)
		}
	}
	return list
}

// VCPUs is how many vCPUs go with the GPUs or are the CPU's; 0 if the catalog does not know.
func (p *Placement) VCPUs(gpu *compute.GPU, cpu *compute.CPU) int64 {
	if cpu != nil {
		return cpu.VCPUCount
	}
	if gpu == nil {
		return 0
	}
	t, _ := p.catalog.GPU(gpu.ID)
	return t.VCPUPerGPU * gpu.Count
}
