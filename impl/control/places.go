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

	at.VCPUs, at.MemoryGB = h.shareOf(*p.GPU)
	var latest cudaVersion
	for _, v := range h.cuda {
		if v.allowed(p.Needs.CUDAVersions, p.Needs.LeastCUDA) && v.compare(latest) > 0 {
			latest, at.CUDAVersion = v, v.String()
		}
	}
	return at
}

// ShareOf gives the vCPUs and the memory that come with GPUs on a host, and that whoever has the GPUs may use. Zero is no bound: the host
// is not in the fleet any more, says nothing of it, or is of a runtime that schedules. There a limit would also be what the scheduler looks
// for, and the share of a whole machine is never free beside what the machine itself runs.
func (p *Placement) ShareOf(hostID string, gpu compute.GPU) (vcpus, memoryGB int64) {
	if p.options.Schedules {
		return 0, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.host(hostID)
	if h == nil {
		return 0, 0
	}
	return h.shareOf(gpu)
}

// shareOf is what of the host comes with the GPUs.
func (h *host) shareOf(gpu compute.GPU) (vcpus, memoryGB int64) {
	size := h.size()
	return size.VCPUsPerGPU * gpu.Count, size.MemoryGBPerGPU * gpu.Count
}
