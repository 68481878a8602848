package control

import "github.com/berthdev/berth/impl/compute"

// Place is what a pod has of the host that it was placed on last.
type Place struct {
	CUDAVersion string // the latest that the pod asks for; empty: none, or the host is not in the fleet any more
	VCPUs       int64
	MemoryGB    int64
}

// PlaceOf gives it.
func (c *Control) PlaceOf(p compute.Pod) Place {
	if p.CPU != nil {
		return Place{VCPUs: p.CPU.VCPUCount, MemoryGB: p.CPU.MemoryGB}
	}

	var at Place
	if gpu, ok := c.catalog.GPU(p.GPU.ID); ok {
		at = Place{VCPUs: gpu.VCPUPerGPU * p.GPU.Count, MemoryGB: gpu.MemoryGBPerGPU * p.GPU.Count}
	}
	c.placement.mu.Lock()
	defer c.placement.mu.Unlock()
	h := c.placement.host(p.HostID)
	if h == nil {
		return at
	}

	size := h.size()
	at.VCPUs, at.MemoryGB = size.VCPUsPerGPU*p.GPU.Count, size.MemoryGBPerGPU*p.GPU.Count
	var latest cudaVersion
	for _, v := range h.cuda {
		if v.allowed(p.Needs.CUDAVersions, p.Needs.LeastCUDA) && v.compare(latest) > 0 {
			latest, at.CUDAVersion = v, v.String()
		}
	}
	return at
}
