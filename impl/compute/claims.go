package compute

// Claim is what a pod or a worker holds of a host. Two claims on one device cannot be stored.
type Claim struct {
	HolderID string // of the pod or the worker: no two have one id
	HostID   string
	Kept     bool     // also while the pod is stopped: its persistent storage
	Devices  []string // GPUs, by their names on the host; each brings its share of the host's vCPUs and memory
	VCPUs    int64    // beside those that come with the devices
	MemoryGB int64    // likewise
	DiskGB   int64
}

// Claimed is what all claims on a host hold of it together. GPUs is the number of devices; VCPUs and MemoryGB are beside what comes
// with them.
type Claimed struct{ GPUs, VCPUs, MemoryGB, DiskGB int64 }

// Plus gives what both hold.
func (c Claimed) Plus(d Claimed) Claimed {
	return Claimed{c.GPUs + d.GPUs, c.VCPUs + d.VCPUs, c.MemoryGB + d.MemoryGB, c.DiskGB + d.DiskGB}
}

// Minus gives what c holds beside d.
func (c Claimed) Minus(d Claimed) Claimed {
	return Claimed{c.GPUs - d.GPUs, c.VCPUs - d.VCPUs, c.MemoryGB - d.MemoryGB, c.DiskGB - d.DiskGB}
}

// Claimed is what the claim alone holds.
func (c Claim) Claimed() Claimed {
	return Claimed{int64(len(c.Devices)), c.VCPUs, c.MemoryGB, c.DiskGB}
}

// HostSize is what a host has, and what of it comes with each of its GPUs.
type HostSize struct {
	GPUs, VCPUs, MemoryGB, DiskGB int64
	VCPUsPerGPU, MemoryGBPerGPU   int64
}

// Free gives what is left of the host beside what is claimed: negative where more is claimed than it has by now.
func (s HostSize) Free(c Claimed) Claimed {
	return Claimed{s.GPUs - c.GPUs, s.VCPUs - c.VCPUs - c.GPUs*s.VCPUsPerGPU, s.MemoryGB - c.MemoryGB - c.GPUs*s.MemoryGBPerGPU, s.DiskGB - c.DiskGB}
}
