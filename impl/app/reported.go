package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
)

// hostsTick is how late a change of the machines of a runtime that schedules is seen, and hostsAnew after how many ticks they are read
// anyhow.
const (
	hostsTick = time.Second
	hostsAnew = 30
)

// reported keeps the fleet as the runtimes of pods and of workers report it, which schedule.
type reported struct {
	placement *control.Placement
	catalog   control.Catalog
	reporters []runtime.HostReporter
	log       *slog.Logger

	read    bool            // once at least
	ticks   int             // since they were read last
	unknown map[string]bool // products of which it was logged that the catalog has none
}

// newReported gives nil for runtimes that do not schedule. They are read for the first time.
func newReported(ctx context.Context, runs *runtimes, p *control.Placement, c control.Catalog, log *slog.Logger) (*reported, error) {
	if !runs.kind.Can.Schedules {
		return nil, nil //nolint:nilnil // most do not, and nothing reads it then
	}
	r := &reported{placement: p, catalog: c, log: log, unknown: map[string]bool{}}
	for _, one := range []runtime.Runtime{runs.Pods, runs.Workers} {
		reporter, ok := one.(runtime.HostReporter)
		if !ok {
			return nil, fmt.Errorf("the runtime %s schedules, and reports no hosts", runs.kind.Name)
		}
		r.reporters = append(r.reporters, reporter)
	}

	if err := r.refresh(ctx); err != nil {
		log.Warn("the hosts are not known yet: nothing can be placed", "error", err)
	}
	return r, nil
}

// refresh reads the hosts if they changed, or were not read for long.
func (r *reported) refresh(ctx context.Context) error {
	r.ticks++
	due := !r.read || r.ticks >= hostsAnew
	for _, one := range r.reporters {
		select {
		case <-one.HostsChanged():
			due = true
		default:
		}
	}
	if !due {
		return nil
	}

	r.read, r.ticks = false, 0
	var all []control.ReportedHost
	byID := map[string]int{}
	for i, one := range r.reporters {
		reports, err := one.Hosts(ctx)
		if err != nil {
			return fmt.Errorf("read the hosts: %w", err)
		}

		for _, h := range reports {
			at, known := byID[h.ID]
			switch {
			case known: // pods and workers are two runtimes on the same machines
				all[at].Taken = all[at].Taken.Plus(taken(h))
			case i == 0:
				byID[h.ID] = len(all)
				all = append(all, r.host(h))
			}
		}
	}

	r.read = true
	return r.placement.SetReported(all)
}

func taken(h runtime.HostReport) compute.Claimed {
	return compute.Claimed{GPUs: h.Taken.GPUs, VCPUs: h.Taken.VCPUs, MemoryGB: h.Taken.MemoryGB, DiskGB: h.Taken.DiskGB}
}

// host describes a machine in the words of the catalog. A machine in a zone that is no data center of the catalog is in the first one; one
// whose GPUs the catalog does not know takes CPU pods alone, or nothing if it is for GPUs alone.
func (r *reported) host(report runtime.HostReport) control.ReportedHost {
	h := control.Host{
		ID: report.ID, DataCenterID: r.catalog.DataCenters[0].ID, Cloud: compute.Secure, VCPUs: report.Has.VCPUs, MemoryGB: report.Has.MemoryGB,
		DiskGB: report.Has.DiskGB,
	}
	i := slices.IndexFunc(r.catalog.DataCenters, func(d control.DataCenter) bool { return strings.EqualFold(d.ID, report.Zone) })
	if i >= 0 {
		h.DataCenterID = r.catalog.DataCenters[i].ID
	}
	if !report.GPUsAlone {
		for _, f := range r.catalog.CPUs {
			h.CPUs = append(h.CPUs, f.ID)
		}
	}

	if report.Has.GPUs > 0 {
		i := slices.IndexFunc(r.catalog.GPUs, func(t control.GPUType) bool { return compute.SameGPU(t.ID, report.GPUProduct) })
		if i >= 0 {
			h.GPU, h.GPUCount, h.CUDAVersion = r.catalog.GPUs[i].ID, report.Has.GPUs, report.CUDA
		} else if !r.unknown[report.GPUProduct] {
			r.unknown[report.GPUProduct] = true
			r.log.Warn("the catalog knows no such GPU type: nothing can ask for it", "host", report.ID, "product", report.GPUProduct)
		}
	}

	return control.ReportedHost{Host: h, Taken: taken(report), Draining: report.Draining || !report.Ready}
}
