package control

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// Catalog is what can be had and what it costs. Prices are USD an hour.
type Catalog struct {
	GPUs        []GPUType        `json:"gpus"`
	CPUs        []CPUFlavor      `json:"cpus"`
	Volumes     VolumePrices     `json:"volumes"`
	DataCenters []DataCenter     `json:"dataCenters"`
	Templates   []PublicTemplate `json:"templates"`
}

// GPUType is a kind of GPU. A cloud that does not offer it is nil.
type GPUType struct {
	ID              string    `json:"id"`
	Name            string    `json:"name"`
	Manufacturer    string    `json:"manufacturer"` // NVIDIA or AMD
	MemoryGB        int64     `json:"memoryGb"`
	Pool            string    `json:"pool"` // of which endpoints take it; empty: none does
	Secure          *GPUOffer `json:"secure"`
	Community       *GPUOffer `json:"community"`
	ServerlessPrice float64   `json:"serverlessPrice"` // 0: none
	VCPUPerGPU      int64     `json:"vcpuPerGpu"`      // of a typical host
	MemoryGBPerGPU  int64     `json:"memoryGbPerGpu"`  // of a typical host
}

// GPUOffer is what a cloud asks for one GPU, and how many one pod can have.
type GPUOffer struct {
	Price     float64 `json:"price"`
	SpotPrice float64 `json:"spotPrice"` // that an interruptible pod bids at least; 0: half the price
	MaxCount  int64   `json:"maxCount"`
}

// LeastBid gives what an interruptible pod bids for a GPU at least.
func (o GPUOffer) LeastBid() float64 {
	if o.SpotPrice > 0 {
		return o.SpotPrice
	}
	return (compute.ToNanoUSD(o.Price) / 2).USD()
}

// Offer gives what the cloud offers, nil for nothing.
func (t GPUType) Offer(cloud compute.Cloud) *GPUOffer {
	if cloud == compute.Community {
		return t.Community
	}
	return t.Secure
}

// CPUFlavor is a kind of CPU. It is offered in powers of two from MinVCPU to MaxVCPU and, to clients of GraphQL, with one vCPU.
type CPUFlavor struct {
	ID                     string  `json:"id"`
	Name                   string  `json:"name"`
	Group                  string  `json:"group"`
	MemoryPerVCPU          int64   `json:"memoryPerVcpuGb"`
	MinVCPU                int64   `json:"minVcpu"`
	MaxVCPU                int64   `json:"maxVcpu"`
	DiskPerVCPU            int64   `json:"diskGbPerVcpu"`
	PricePerVCPU           float64 `json:"pricePerVcpu"`
	ServerlessPricePerVCPU float64 `json:"serverlessPricePerVcpu"`
}

// Serverless reports whether it has a price for workers of endpoints.
func (f CPUFlavor) Serverless() bool { return f.ServerlessPricePerVCPU > 0 }

// offers reports whether a pod can have so many vCPUs.
func (f CPUFlavor) offers(vcpus int64) bool {
	return vcpus == 1 || vcpus >= f.MinVCPU && vcpus <= f.MaxVCPU && powerOfTwo(vcpus)
}

// VolumePrices are what a GB of a network volume costs. Absent ones are 0.
type VolumePrices struct {
	Standard        float64 `json:"standard"`
	HighPerformance float64 `json:"highPerformance"`
}

// DataCenter is where hosts stand.
type DataCenter struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Region        string   `json:"region"`
	Country       string   `json:"country"` // two letters
	GlobalNetwork bool     `json:"globalNetwork"`
	VolumeTypes   []string `json:"networkVolumeTypes"`
	Compliance    []string `json:"compliance"`
}

// PublicTemplate is a template that everybody may read.
type PublicTemplate struct {
	ID           string                 `json:"id"`
	Source       string                 `json:"source"` // official, verified or community
	Name         string                 `json:"name"`
	Category     string                 `json:"category"` // CPU, NVIDIA or AMD
	Image        string                 `json:"image"`
	Args         string                 `json:"args"`
	DiskGB       int64                  `json:"diskGb"`
	Persistent   *PublicTemplateStorage `json:"persistent"` // nil: none
	Ports        []string               `json:"ports"`
	Env          map[string]string      `json:"env"`
	Serverless   bool                   `json:"serverless"` // for endpoints, not for pods
	StartSSH     bool                   `json:"startSsh"`
	StartJupyter bool                   `json:"startJupyter"`
	CUDAVersions []string               `json:"allowedCudaVersions"`
}

const sourceOfficial = "official"

// Official reports whether the template comes with the service.
func (t PublicTemplate) Official() bool { return t.Source == sourceOfficial }

// Template gives it in the form of those of users. Nobody owns it.
func (t PublicTemplate) Template() compute.Template {
	made := compute.Template{
		ID: compute.TemplateID(t.ID), Name: t.Name, Image: t.Image, Args: t.Args, DiskGB: t.DiskGB, Ports: append([]string{}, t.Ports...), PortNames: map[string]string{}, Env: map[string]string{},
		Category: compute.TemplateCategory(t.Category), Public: true, Serverless: t.Serverless, StartSSH: t.StartSSH,
		StartJupyter: t.StartJupyter, CUDAVersions: append([]string{}, t.CUDAVersions...),
	}
	maps.Copy(made.Env, t.Env)
	if p := t.Persistent; p != nil {
		made.Persistent = &compute.PersistentMount{SizeGB: p.SizeGB, Path: p.Path}
	}
	return made
}

// PublicTemplateStorage is the persistent mount that a template proposes.
type PublicTemplateStorage struct {
	SizeGB int64  `json:"sizeGb"`
	Path   string `json:"path"`
}

//go:embed catalog.json
var catalogJSON []byte

// BuiltInCatalog gives the catalog that ships with berth.
func BuiltInCatalog() (Catalog, error) {
	c, err := parseCatalog(catalogJSON)
	if err != nil {
		err = fmt.Errorf("the built-in catalog: %w", err)
	}
	return c, err
}

// LoadCatalog reads a catalog from a file of the built-in one's form. The error names what does not make sense.
func LoadCatalog(path string) (Catalog, error) { return load(path, parseCatalog) }

func parseCatalog(text []byte) (c Catalog, err error) {
	if err = decodeStrictly(text, &c); err == nil {
		err = c.check()
	}
	return c, err
}

// GPU gives the type of that id.
func (c Catalog) GPU(id string) (GPUType, bool) {
	return find(c.GPUs, func(t GPUType) bool { return t.ID == id })
}

// CPU gives the flavor of that id.
func (c Catalog) CPU(id string) (CPUFlavor, bool) {
	return find(c.CPUs, func(f CPUFlavor) bool { return f.ID == id })
}

// DataCenter gives the data center of that id.
func (c Catalog) DataCenter(id string) (DataCenter, bool) {
	return find(c.DataCenters, func(d DataCenter) bool { return d.ID == id })
}

// Template gives the public template of that id.
func (c Catalog) Template(id compute.TemplateID) (PublicTemplate, bool) {
	return find(c.Templates, func(t PublicTemplate) bool { return t.ID == string(id) })
}

func find[T any](list []T, is func(T) bool) (found T, ok bool) {
	i := slices.IndexFunc(list, is)
	if i < 0 {
		return found, false
	}
	return list[i], true
}

// priceGPU gives the price of the GPUs. Rejected for what the catalog does not offer.
func (c Catalog) priceGPU(g compute.GPU, cloud compute.Cloud) (float64, error) {
	t, ok := c.GPU(g.ID)
	if !ok {
		return 0, compute.Errorf(compute.Rejected, "gpu.id: there is no GPU type %q", g.ID)
	}
	offer := t.Offer(cloud)
	switch {
	case offer == nil:
		return 0, compute.Errorf(compute.Rejected, "gpu.id: %q is not offered in cloud %s", g.ID, cloud)
	case g.Count > offer.MaxCount:
		return 0, compute.Errorf(compute.Rejected, "gpu.count: asked for %d of %q, a pod can have %d", g.Count, g.ID, offer.MaxCount)
	}
	return times(offer.Price, g.Count), nil
}

// mostBid is what may be bid for a GPU, USD an hour: sums of it are far from what a NanoUSD holds.
const mostBid = 1_000_000

// priceBid gives the price of interruptible GPUs: the bid for each. Rejected for one below the least, and over mostBid (rule graphql.spot.bid).
func (c Catalog) priceBid(g compute.GPU, cloud compute.Cloud, bid float64) (float64, error) {
	if _, err := c.priceGPU(g, cloud); err != nil {
		return 0, err
	}
	t, _ := c.GPU(g.ID)
	if least := t.Offer(cloud).LeastBid(); bid < least {
		return 0, compute.Errorf(compute.Rejected, "bidPerGpu: %g USD an hour is below the minimum bid price of %g for %q in cloud %s", bid, least, g.ID, cloud)
	}
	if bid > mostBid {
		return 0, compute.Errorf(compute.Rejected, "bidPerGpu: %g USD an hour is over %d", bid, mostBid)
	}
	return times(bid, g.Count), nil
}

// priceCPU gives the price and the memory in GB. Rejected for what the catalog does not offer.
func (c Catalog) priceCPU(cpu compute.CPU) (float64, int64, error) {
	f, ok := c.CPU(cpu.ID)
	if !ok {
		return 0, 0, compute.Errorf(compute.Rejected, "cpu.id: there is no CPU flavor %q", cpu.ID)
	}
	if !f.offers(cpu.VCPUCount) {
		return 0, 0, compute.Errorf(compute.Rejected, "cpu.vcpuCount: flavor %q offers the powers of two from %d to %d, not %d", cpu.ID, f.MinVCPU, f.MaxVCPU, cpu.VCPUCount)
	}
	memory := f.MemoryPerVCPU * cpu.VCPUCount
	if cpu.MemoryGB != 0 && cpu.MemoryGB != memory {
		return 0, 0, compute.Errorf(compute.Rejected, "cpu.memory: flavor %q has %d GB with %d vCPUs, not %d", cpu.ID, memory, cpu.VCPUCount, cpu.MemoryGB)
	}
	return times(f.PricePerVCPU, cpu.VCPUCount), memory, nil
}

// checkPlace refuses data centers that do not exist, and global networking where it is not possible.
func (c Catalog) checkPlace(gpu *compute.GPU, dataCenterIDs []string, globalNetworking bool) error {
	possible := len(dataCenterIDs) == 0
	for _, id := range dataCenterIDs {
		d, ok := c.DataCenter(id)
		if !ok {
			return compute.Errorf(compute.Rejected, "dataCenterIds: there is no data center %q", id)
		}
		possible = possible || d.GlobalNetwork
	}

	if !globalNetworking {
		return nil
	}
	if !c.canNetwork(gpu) {
		return compute.Errorf(compute.Rejected, "globalNetworking needs an NVIDIA GPU")
	}
	if !possible {
		return compute.Errorf(compute.Rejected, "globalNetworking: none of the data centers asked for has it")
	}

	return nil
}

// compliant reports whether one of the data centers, of all if none is named, meets all of the standards.
func (c Catalog) compliant(dataCenterIDs, standards []string) bool {
	return slices.ContainsFunc(c.DataCenters, func(d DataCenter) bool {
		return (len(dataCenterIDs) == 0 || slices.Contains(dataCenterIDs, d.ID)) && contains(d.Compliance, standards)
	})
}

func (c Catalog) canNetwork(g *compute.GPU) bool {
	if g == nil {
		return false
	}
	t, _ := c.GPU(g.ID)
	return t.Manufacturer == manufacturerNVIDIA
}
