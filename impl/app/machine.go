package app

import (
	"context"
	"os/exec"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
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
		VCPUs: int64(goruntime.NumCPU()), MemoryGB: int64(memory >> 30), DiskGB: int64(disk >> 30),
	}
	for _, f := range c.CPUs {
		h.CPUs = append(h.CPUs, f.ID)
	}

	list, err := saidBy(ctx, runtime.GPUListCommand)
	if err != nil {
		return h, nil // no NVIDIA driver, or one that hangs, so no GPU that a pod could be given
	}
	summary, err := saidBy(ctx, runtime.GPUSummaryCommand)
	if err != nil {
		return h, nil
	}

	gpus, cuda := runtime.ParseGPUs(list, summary)
	return withGPUs(h, gpus, cuda, c), nil
}

// saidBy gives what a command writes that ends in time: a driver may hang for ever.
func saidBy(ctx context.Context, command []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.WaitDelay = time.Second
	text, err := c.Output()
	return string(text), err
}

// withGPUs gives the host the GPUs. A host has one type: the first one that the catalog knows.
func withGPUs(h control.Host, gpus []runtime.GPU, cuda string, c control.Catalog) control.Host {
	for _, g := range gpus {
		i := slices.IndexFunc(c.GPUs, func(t control.GPUType) bool { return compute.SameGPU(t.ID, g.Product) })
		if i >= 0 && (h.GPU == "" || h.GPU == c.GPUs[i].ID) {
			h.GPU = c.GPUs[i].ID
			h.GPUCount++
			h.GPUDevices = append(h.GPUDevices, g.ID)
		}
	}
	if h.GPU != "" {
		h.CUDAVersion = cuda
	}
	return h
}
