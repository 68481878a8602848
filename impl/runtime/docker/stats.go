package docker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/runtime"
)

// sample is a measurement: how much CPU time a container had used by then.
type sample struct {
	container string
	at        time.Time
	used      time.Duration
}

// Stats measures once, without waiting for a second measurement as the engine would: what was used since the last one is
// known from that.
func (h *Runtime) Stats(ctx context.Context, id string) (runtime.Stats, error) {
	c, err := h.find(ctx, id)
	if errors.Is(err, runtime.ErrUnknown) {
		_, err = h.Inspect(ctx, id) // it may be on its way
		return runtime.Stats{}, err
	}
	if err != nil || !isUp(c) {
		return runtime.Stats{}, err
	}

	measured, err := ask(ctx, func(ctx context.Context) (m container.StatsResponse, err error) {
		answer, err := h.engine.ContainerStats(ctx, c.ID, client.ContainerStatsOptions{})
		if err != nil {
			return m, err
		}
		defer func() { _ = answer.Body.Close() }()
		err = json.NewDecoder(answer.Body).Decode(&m)
		return m, err
	})
	if err != nil || measured.Read.IsZero() { // it ended meanwhile
		return runtime.Stats{}, err
	}

	now := sample{container: c.ID, at: measured.Read, used: time.Duration(measured.CPUStats.CPUUsage.TotalUsage)}
	h.mu.Lock()
	last, ok := h.samples[id]
	h.samples[id] = now
	h.mu.Unlock()
	if !ok || last.container != c.ID || !now.at.After(last.at) {
		last = sample{at: startedAt(c)}
	}
	vcpus := float64(c.HostConfig.NanoCPUs) / 1e9
	if vcpus == 0 {
		vcpus = float64(max(measured.CPUStats.OnlineCPUs, 1))
	}

	return runtime.Stats{
		GPUs:          h.gpuUse(ctx, c),
		CPUPercent:    percent(float64(now.used-last.used), float64(now.at.Sub(last.at))*vcpus),
		MemoryPercent: percent(inUse(measured.MemoryStats), float64(measured.MemoryStats.Limit)),
	}, nil
}

// inUse leaves out of the memory what the kernel would give back: file pages that nobody used for a while.
func inUse(m container.MemoryStats) float64 {
	for _, name := range []string{"total_inactive_file", "inactive_file"} { // cgroups v1, v2
		if idle, ok := m.Stats[name]; ok {
			return float64(m.Usage - min(idle, m.Usage))
		}
	}
	return float64(m.Usage)
}

func percent(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(100, max(0, 100*part/whole))
}
