package app

import (
	"context"
	"os/exec"
	"regexp"
	"runtime"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// FleetMachine as Config.Fleet makes this machine the only host.
const FleetMachine = "machine"

// machine describes this machine as a host in the first data center of the catalog. Its disk is what is free of the one
// that the directory is on.
func machine(ctx context.Context, dir string, c control.Catalog) (control.Host, error) {
	memory, disk, err := machineBytes(dir)
	if err != nil {
		return control.Host{}, err
	}
	h := control.Host{
		ID: "this-machine", DataCenterID: c.DataCenters[0].ID, Cloud: compute.Secure,
		VCPUs: int64(runtime.NumCPU()), MemoryGB: int64(memory >> 30), DiskGB: int64(disk >> 30),
	}
	for _, f := range c.CPUs {
		h.CPUs = append(h.CPUs, f.ID)
	}

	names, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=uuid,name", "--format=csv,noheader").Output()
	if err != nil {
		return h, nil // no NVIDIA driver, so no GPU that a pod could be given
	}
	summary, err := exec.CommandContext(ctx, "nvidia-smi").Output()
	if err != nil {
		return h, nil
	}

	return withGPUs(h, string(names), string(summary), c), nil
}

// withGPUs gives the host the GPUs of the list, each a line with its id and its name. A host has one type: the first one that
// the catalog knows.
func withGPUs(h control.Host, list, summary string, c control.Catalog) control.Host {
	for line := range strings.Lines(list) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), ", ")
		if _, known := c.GPU(name); known && (h.GPU == "" || h.GPU == name) {
			h.GPU = name
			h.GPUCount++
			h.GPUDevices = append(h.GPUDevices, id)
		}
	}

	cudaInSummary := regexp.MustCompile(`CUDA Version: ([0-9]+\.[0-9]+)`)
	if match := cudaInSummary.FindStringSubmatch(summary); match != nil && h.GPU != "" {
		h.CUDAVersion = match[1]
	}
	return h
}
