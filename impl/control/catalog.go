package control

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// Catalog is what can be had: GPU types, CPU flavors and data centers. Prices are USD an hour.
type Catalog struct {
	GPUs []struct {
		ID           string  `json:"id"`
		Manufacturer string  `json:"manufacturer"`
		MemoryGB     int64   `json:"memoryGb"`
		MaxCount     int64   `json:"maxCount"`
		Secure       float64 `json:"secure"`    // 0: not offered there
		Community    float64 `json:"community"` // 0: not offered there
	} `json:"gpus"`
	CPUs []struct {
		ID            string  `json:"id"`
		MemoryPerVCPU int64   `json:"memoryPerVcpuGb"`
		MinVCPU       int64   `json:"minVcpu"`
		MaxVCPU       int64   `json:"maxVcpu"`
		PerVCPU       float64 `json:"pricePerVcpu"`
	} `json:"cpus"`
	DataCenters []struct {
		ID            string `json:"id"`
		GlobalNetwork bool   `json:"globalNetwork"`
	} `json:"dataCenters"`
}

//go:embed catalog.json
var catalogJSON []byte

// BuiltInCatalog gives the catalog that ships with berth.
func BuiltInCatalog() (Catalog, error) {
	var c Catalog
	if err := json.Unmarshal(catalogJSON, &c); err != nil {
		return c, fmt.Errorf("the built-in catalog: %w", err)
	}
	return c, nil
}

// priceGPU gives the price of the GPUs. Rejected for what the catalog does not offer.
func (c Catalog) priceGPU(g compute.GPU, cloud compute.Cloud) (float64, error) {
	for _, t := range c.GPUs {
		if t.ID != g.ID {
			continue
		}
		price := t.Secure
		if cloud == compute.Community {
			price = t.Community
		}
		if price == 0 {
			return 0, compute.Errorf(compute.Rejected, "gpu.id: %q is not offered in cloud %s", g.ID, cloud)
		}
		if g.Count > t.MaxCount {
			return 0, compute.Errorf(compute.Rejected, "gpu.count: asked for %d of %q, a pod can have %d", g.Count, g.ID, t.MaxCount)
		}
		return price * float64(g.Count), nil
	}
	return 0, compute.Errorf(compute.Rejected, "gpu.id: there is no GPU type %q", g.ID)
}

// priceCPU gives the price and the memory in GB. Rejected for what the catalog does not offer.
func (c Catalog) priceCPU(cpu compute.CPU) (float64, int64, error) {
	for _, f := range c.CPUs {
		if f.ID != cpu.ID {
			continue
		}
		if cpu.VCPUCount < f.MinVCPU || cpu.VCPUCount > f.MaxVCPU {
			return 0, 0, compute.Errorf(compute.Rejected, "cpu.vcpuCount: flavor %q offers %d to %d, not %d", cpu.ID, f.MinVCPU, f.MaxVCPU, cpu.VCPUCount)
		}
		return f.PerVCPU * float64(cpu.VCPUCount), f.MemoryPerVCPU * cpu.VCPUCount, nil
	}
	return 0, 0, compute.Errorf(compute.Rejected, "cpu.id: there is no CPU flavor %q", cpu.ID)
}

// place chooses the data center: the first preferred one that fits, or the catalog's first one.
func (c Catalog) place(n NewPod) (string, error) {
	if n.GlobalNetworking && !c.canNetwork(n.GPU) {
		return "", compute.Errorf(compute.Rejected, "globalNetworking needs an NVIDIA GPU")
	}
	for _, id := range n.DataCenterIDs {
		if !slices.Contains(c.dataCenterIDs(), id) {
			return "", compute.Errorf(compute.Rejected, "dataCenterIds: there is no data center %q", id)
		}
	}
	for _, d := range c.DataCenters {
		if (len(n.DataCenterIDs) == 0 || slices.Contains(n.DataCenterIDs, d.ID)) && (!n.GlobalNetworking || d.GlobalNetwork) {
			return d.ID, nil
		}
	}
	return "", compute.Errorf(compute.Rejected, "globalNetworking: none of the data centers asked for has it")
}

func (c Catalog) dataCenterIDs() []string {
	ids := make([]string, len(c.DataCenters))
	for i, d := range c.DataCenters {
		ids[i] = d.ID
	}
	return ids
}

func (c Catalog) canNetwork(g *compute.GPU) bool {
	if g == nil {
		return false
	}
	for _, t := range c.GPUs {
		if t.ID == g.ID {
			return t.Manufacturer == "Nvidia"
		}
	}
	return false
}
