package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// Host is a machine that pods are placed on. It has GPUs of one type, or none.
type Host struct {
	ID           string        `json:"id"`
	Engine       string        `json:"engine"` // address of its own; empty: that of the settings
	DataCenterID string        `json:"dataCenterId"`
	Cloud        compute.Cloud `json:"cloud"`
	GPU          string        `json:"gpu"` // type; empty: none
	GPUCount     int64         `json:"gpuCount"`
	GPUDevices   []string      `json:"gpuDevices"`  // their ids, as the vendor's tools give them; empty: 0, 1, 2 …
	CUDAVersion  string        `json:"cudaVersion"` // empty: none; a simulated host has several, separated by commas
	CPUs         []string      `json:"cpus"`        // flavors of the CPU pods that it takes
	VCPUs        int64         `json:"vcpus"`
	MemoryGB     int64         `json:"memoryGb"`
	DiskGB       int64         `json:"diskGb"`
	PublicIP     *bool         `json:"publicIp"`     // whether it has an address that everybody reaches; nil: it has
	DownloadMbps int64         `json:"downloadMbps"` // 0: not known, so that no pod that asks for some is placed there
	UploadMbps   int64         `json:"uploadMbps"`   // likewise
}

func (h Host) hasPublicIP() bool { return h.PublicIP == nil || *h.PublicIP }

// LoadFleet reads a file with the hosts, {"hosts": [...]}, which must fit the catalog. The error names what does not make
// sense.
func LoadFleet(path string, c Catalog) ([]Host, error) {
	return load(path, func(text []byte) ([]Host, error) {
		var file struct {
			Hosts []Host `json:"hosts"`
		}
		if err := decodeStrictly(text, &file); err != nil {
			return nil, err
		}
		return file.Hosts, c.checkHosts(file.Hosts)
	})
}

func (c Catalog) checkHosts(hosts []Host) error {
	var f faults
	seen := map[string]bool{}
	for i, h := range hosts {
		at := fmt.Sprintf("hosts[%d].", i)
		f.unique(seen, h.ID, at+"id")
		c.checkHost(&f, h, at)
	}
	uniqueEngines(&f, hosts)
	return errors.Join(f.list...)
}

// checkHost notes what of a host makes no sense; at begins the names of its members.
func (c Catalog) checkHost(f *faults, h Host, at string) {
	checkEngine(f, h, at)
	_, ok := c.DataCenter(h.DataCenterID)
	f.must(ok, at+"dataCenterId", "%q is not in the catalog", h.DataCenterID)
	f.oneOf(string(h.Cloud), []string{string(compute.Secure), string(compute.Community)}, at+"cloud")
	if h.GPU != "" {
		_, ok = c.GPU(h.GPU)
		f.must(ok, at+"gpu", "%q is not in the catalog", h.GPU)
	}
	f.must(h.GPUCount >= 0 && (h.GPUCount == 0 || h.GPU != ""), at+"gpuCount", "must be 0 without a gpu, and never negative")
	f.must(len(h.GPUDevices) == 0 || int64(len(h.GPUDevices)) == h.GPUCount, at+"gpuDevices", "must name gpuCount devices, or none")

	devices := map[string]bool{}
	for j, id := range h.GPUDevices {
		f.unique(devices, id, fmt.Sprintf("%sgpuDevices[%d]", at, j))
	}
	_, ok = parseCUDA(h.CUDAVersion)
	f.must(ok || h.CUDAVersion == "", at+"cudaVersion", "is %q; it must be like 12.8", h.CUDAVersion)
	for j, id := range h.CPUs {
		_, ok = c.CPU(id)
		f.must(ok, fmt.Sprintf("%scpus[%d]", at, j), "%q is not in the catalog", id)
	}
	f.must(h.VCPUs >= 0, at+"vcpus", "must not be negative")
	f.must(h.MemoryGB >= 0, at+"memoryGb", "must not be negative")
	f.must(h.DiskGB >= 0, at+"diskGb", "must not be negative")
	f.must(h.DownloadMbps >= 0, at+"downloadMbps", "must not be negative")
	f.must(h.UploadMbps >= 0, at+"uploadMbps", "must not be negative")
}

// The simulated fleet is as large as nobody asks for: contract tests must not run out of it by accident. Each of its hosts
// stands for a hall full of machines.
const (
	simulatedGPUs   = 10_000
	simulatedVCPUs  = 500_000
	simulatedDiskGB = 1_000_000_000_000
	simulatedMbps   = 10_000
)

// knownCUDA are the versions that clients know, besides those that templates of the catalog name.
var knownCUDA = []string{"11.8", "12.0", "12.1", "12.2", "12.3", "12.4", "12.5", "12.6", "12.7", "12.8", "12.9", "13.0"}

// cudaVersions gives the versions of CUDA that the catalog knows, separated by commas.
func (c Catalog) cudaVersions() string {
	all := slices.Clone(knownCUDA)
	for _, t := range c.Templates {
		all = append(all, t.CUDAVersions...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

// SimulatedFleet makes a fleet that has everything of the catalog in every data center, and every version of CUDA on the hosts
// of each NVIDIA type.
func SimulatedFleet(c Catalog) []Host {
	var flavors []string
	var memory int64
	for _, f := range c.CPUs {
		flavors = append(flavors, f.ID)
		memory = max(memory, f.MemoryPerVCPU)
	}
	const clouds = 2
	versions := c.cudaVersions()

	hosts := make([]Host, 0, len(c.DataCenters)*clouds*(1+len(c.GPUs)))
	for _, d := range c.DataCenters {
		for _, cloud := range [clouds]compute.Cloud{compute.Secure, compute.Community} {
			at := d.ID + "/" + string(cloud) + "/"
			hosts = append(hosts, Host{
				ID: at + "cpu", DataCenterID: d.ID, Cloud: cloud, CPUs: flavors,
				VCPUs: simulatedVCPUs, MemoryGB: simulatedVCPUs * memory, DiskGB: simulatedDiskGB, DownloadMbps: simulatedMbps, UploadMbps: simulatedMbps,
			})

			for _, t := range c.GPUs {
				if t.Offer(cloud) == nil {
					continue
				}
				h := Host{
					ID: at + t.ID, DataCenterID: d.ID, Cloud: cloud, GPU: t.ID, GPUCount: simulatedGPUs,
					VCPUs: simulatedGPUs * t.VCPUPerGPU, MemoryGB: simulatedGPUs * t.MemoryGBPerGPU, DiskGB: simulatedDiskGB,
					DownloadMbps: simulatedMbps, UploadMbps: simulatedMbps,
				}

				if t.Manufacturer == manufacturerNVIDIA {
					h.CUDAVersion = versions
				}
				hosts = append(hosts, h)
			}
		}
	}

	return hosts
}

// Capacity is one host that a test asks for. Exactly one of GPU and CPU is set.
type Capacity struct {
	GPU, CPU     string // type or flavor
	DataCenterID string
	Count        int64         // GPUs or vCPUs
	Cloud        compute.Cloud // empty: SECURE
	CUDAVersion  string        // empty: none
	DiskGB       *int64        // nil: plenty
	PublicIP     *bool         // nil: it has one
	DownloadMbps *int64        // nil: plenty
	UploadMbps   *int64        // nil: plenty
}

// withCapacity gives a fleet that has of the named types and flavors nothing but the capacity. Rejected for what the
// catalog does not know.
func (c Catalog) withCapacity(hosts []Host, capacity []Capacity) ([]Host, error) {
	named := map[string]bool{}
	var added []Host
	for i, n := range capacity {
		h := Host{
			ID:           fmt.Sprintf("capacity/%d/%s/%s%s", i, n.DataCenterID, n.GPU, n.CPU),
			DataCenterID: n.DataCenterID, Cloud: n.Cloud, CUDAVersion: n.CUDAVersion, DiskGB: simulatedDiskGB, PublicIP: n.PublicIP,
			DownloadMbps: simulatedMbps, UploadMbps: simulatedMbps,
		}
		if h.Cloud == "" {
			h.Cloud = compute.Secure
		}
		set(&h.DiskGB, n.DiskGB)
		set(&h.DownloadMbps, n.DownloadMbps)
		set(&h.UploadMbps, n.UploadMbps)
		if _, ok := c.DataCenter(n.DataCenterID); !ok {
			return nil, compute.Errorf(compute.Rejected, "capacity[%d].dataCenterId: there is no data center %q", i, n.DataCenterID)
		}

		t, isGPU := c.GPU(n.GPU)
		f, isCPU := c.CPU(n.CPU)
		switch {
		case (n.GPU == "") == (n.CPU == ""):
			return nil, compute.Errorf(compute.Rejected, "capacity[%d]: exactly one of gpu and cpu must be set", i)
		case isGPU:
			h.GPU, h.GPUCount, h.VCPUs, h.MemoryGB = t.ID, n.Count, n.Count*t.VCPUPerGPU, n.Count*t.MemoryGBPerGPU
		case isCPU:
			h.CPUs, h.VCPUs, h.MemoryGB = []string{f.ID}, n.Count, n.Count*f.MemoryPerVCPU
		default:
			return nil, compute.Errorf(compute.Rejected, "capacity[%d]: there is no %q in the catalog", i, n.GPU+n.CPU)
		}

		named[n.GPU+n.CPU] = true
		added = append(added, h)
	}

	var kept []Host
	for _, h := range hosts {
		h.CPUs = slices.DeleteFunc(slices.Clone(h.CPUs), func(id string) bool { return named[id] })
		if !named[h.GPU] {
			kept = append(kept, h)
		}
	}

	return append(kept, added...), nil
}
