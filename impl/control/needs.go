package control

import (
	"fmt"
	"slices"
	"strings"
)

// Needs are what a pod asks of the host that is to hold it, beside room for itself. Zero values ask for nothing.
type Needs struct {
	LeastVCPUs    int64    // that a pod must get with its GPUs
	LeastMemoryGB int64    // that a pod must get with its GPUs
	LeastDiskGB   int64    // that the host has free
	CUDAVersions  []string // any of them
	LeastCUDA     string   // this one or a later one
	Countries     []string // any of them
	Compliance    []string // all of them, of the data center
	PublicIP      bool
	DownloadMbps  int64 // at least
	UploadMbps    int64 // at least
}

// meets reports whether the host is one that the needs ask for, free or not. The share is what the pod would get of it.
func (h *host) meets(n *Needs, share amount) bool {
	return share.vcpus >= n.LeastVCPUs && share.memoryGB >= n.LeastMemoryGB &&
		(len(n.Countries) == 0 || slices.Contains(n.Countries, h.center.Country)) && contains(h.center.Compliance, n.Compliance) &&
		(!n.PublicIP || h.hasPublicIP()) && h.DownloadMbps >= n.DownloadMbps && h.UploadMbps >= n.UploadMbps &&
		h.hasCUDA(n.CUDAVersions, n.LeastCUDA)
}

// contains reports whether a list has all that is wanted.
func contains(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// words say what is asked for, to follow what the pod takes.
func (n *Needs) words() string {
	var b strings.Builder
	if len(n.Countries) > 0 {
		b.WriteString(", country " + strings.Join(n.Countries, " or "))
	}
	if len(n.Compliance) > 0 {
		b.WriteString(", compliance with " + strings.Join(n.Compliance, " and "))
	}
	if n.LeastVCPUs > 0 || n.LeastMemoryGB > 0 {
		fmt.Fprintf(&b, ", with %d vCPUs and %d GB of memory at least", n.LeastVCPUs, n.LeastMemoryGB)
	}

	if len(n.CUDAVersions) > 0 || n.LeastCUDA != "" {
		b.WriteString(", CUDA")
		if len(n.CUDAVersions) > 0 {
			b.WriteString(" " + strings.Join(n.CUDAVersions, " or "))
		}
		if n.LeastCUDA != "" {
			b.WriteString(" from " + n.LeastCUDA)
		}
	}

	if n.LeastDiskGB > 0 {
		fmt.Fprintf(&b, ", %d GB of free disk", n.LeastDiskGB)
	}
	if n.PublicIP {
		b.WriteString(", with a public address")
	}
	if n.DownloadMbps > 0 || n.UploadMbps > 0 {
		fmt.Fprintf(&b, ", with %d Mbit/s down and %d up at least", n.DownloadMbps, n.UploadMbps)
	}

	return b.String()
}
