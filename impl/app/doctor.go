package app

import (
	"context"
	"encoding/csv"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
)

// Finding is what a machine has, or why it has not.
type Finding struct {
	Name      string   `json:"name"` // of a runtime, engine of host and its id, gpu, tls, store or backup
	Available bool     `json:"available"`
	Detail    string   `json:"detail"`
	Warnings  []string `json:"warnings"`
	Lacks     []string `json:"lacks"` // of a runtime: what pods and workers cannot have on it, which is refused
}

// examineTime is how long the examination of GPUs may take.
const examineTime = 10 * time.Second

// Examine reports which runtimes there are for pods, as the settings of them have it, and which GPUs, or why not; and how the database
// stands that the settings name, if they do.
func Examine(ctx context.Context, v setting.Values) (all []Finding) {
	for _, k := range runtime.Kinds() {
		f := findingOf(k.Name, k.Doctor(ctx, v))
		f.Lacks = k.Can.Lacks()
		all = append(all, f)
	}
	all = append(all, examineEngines(ctx, v)...)
	all = append(all, examineGPUs(ctx))
	if url := v.Text("store"); url != "" {
		all = append(all, examineStore(ctx, url))
	}
	if place := v.Text("backup-to"); place != "" {
		all = append(all, examineBackup(ctx, place, v.Text("backup-endpoint")))
	}
	if v.Text("tls-cert") != "" || v.Text("tls-key") != "" {
		all = append(all, examineTLS(v))
	}
	return all
}

func findingOf(name string, r runtime.Report) Finding {
	f := Finding{Name: name, Available: r.Available, Detail: r.Detail, Warnings: r.Warnings, Lacks: []string{}}
	if f.Warnings == nil {
		f.Warnings = []string{}
	}
	return f
}

// examineEngines reports which engines of hosts answer that the file of the fleet names.
func examineEngines(ctx context.Context, v setting.Values) (all []Finding) {
	file := v.Text("fleet")
	kind, err := runtime.Find(v.Text("runtime"))
	if file == "" || file == FleetMachine || err != nil || kind.DoctorEngine == nil {
		return nil
	}
	_, fleet, err := catalogAndFleet(ctx, Config{Catalog: v.Text("catalog"), Fleet: file, Runtime: kind.Name, RuntimeSettings: v})
	if err != nil {
		return []Finding{findingOf("fleet", runtime.Report{Detail: err.Error()})}
	}
	for _, h := range fleet {
		if h.Engine != "" {
			all = append(all, findingOf("engine of host "+h.ID, kind.DoctorEngine(ctx, v, runtime.Engine{HostID: h.ID, Address: h.Engine, Ask: h.Asks()})))
		}
	}
	return all
}

// examineGPUs asks the vendor's own tool.
func examineGPUs(ctx context.Context) Finding {
	f := findingOf("gpu", runtime.Report{})
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
