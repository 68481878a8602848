package app

import (
	"context"
	"encoding/csv"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/process"
)

// Finding is what a machine has, or why it has not.
type Finding struct {
	Name      string   `json:"name"` // of a runtime, or gpu
	Available bool     `json:"available"`
	Detail    string   `json:"detail"`
	Warnings  []string `json:"warnings"`
}

// examineTime is how long each part of an examination may take.
const examineTime = 10 * time.Second

// Examine tells which runtimes this machine has for pods, and which GPUs, or why not.
func Examine(ctx context.Context) []Finding {
	return []Finding{
		{Name: RuntimeSim, Available: true, Detail: "a simulated fleet: nothing runs", Warnings: []string{}},
		examineProcess(),
		examineDocker(ctx),
		examineGPUs(ctx),
	}
}

func examineProcess() Finding {
	f := Finding{Name: RuntimeProcess, Detail: "processes of this machine", Warnings: []string{"limits nothing, mounts nothing"}}
	err := process.Supported()
	f.Available = err == nil
	if err != nil {
		f.Detail, f.Warnings = err.Error(), []string{}
	}
	return f
}

func examineDocker(ctx context.Context) Finding {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	e, err := docker.Examine(ctx, "")
	if err != nil {
		return Finding{Name: RuntimeDocker, Detail: err.Error(), Warnings: []string{}}
	}
	return Finding{
		Name: RuntimeDocker, Available: true, Warnings: e.Limits,
		Detail: fmt.Sprintf("engine %s, API %s, at %s: %s, %d CPUs, %.1f GB, %s", e.Version, e.APIVersion, e.Host, e.System, e.CPUs, float64(e.Memory)/1e9, e.Driver),
	}
}

// examineGPUs asks the vendor's own tool.
func examineGPUs(ctx context.Context) Finding {
	f := Finding{Name: "gpu", Warnings: []string{}}
	const tool = "nvidia-smi"
	path, err := exec.LookPath(tool)
	if err != nil {
		f.Detail = "none found: " + tool + " is not installed"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader").Output()
	if err != nil {
		f.Detail = fmt.Sprintf("none found: %s: %v", tool, err)
		return f
	}
	gpus, err := listGPUs(string(out))
	if err != nil || len(gpus) == 0 {
		f.Detail = "none found: " + tool + " lists none"
		return f
	}
	f.Available, f.Detail = true, strings.Join(gpus, "; ")
	return f
}

// listGPUs reads a line for each GPU: its name, memory and driver.
func listGPUs(text string) (gpus []string, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace, r.FieldsPerRecord = true, 3
	lines, err := r.ReadAll()
	for i, l := range lines {
		gpus = append(gpus, fmt.Sprintf("%d: %s, %s, driver %s", i, l[0], l[1], l[2]))
	}
	return gpus, err
}
