package loop

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// statsTick is how often it is measured what a RUNNING pod uses.
const statsTick = 5 * time.Second

// live is what is known of the pods that are up. Whoever lists ten thousand pods reads it and asks no runtime.
type live struct {
	mu   sync.RWMutex
	pods map[compute.PodID]usage
}

// usage is what is known of one pod. It is no object of its own, of which there would be thousands.
type usage struct {
	ports       []compute.PublishedPort
	gpus        []compute.GPUUse
	cpu, memory float64
	measured    bool  // or else there are no gpus, cpu and memory
	startedAt   int64 // of the run that was measured, in milliseconds since 1970
	measuredAt  int64 // in milliseconds since 1970
}

// Live tells what the pod was last seen to do; zero if it is not up, or was not looked at since berth started. It asks nobody.
func (l *Pods) Live(id compute.PodID) compute.PodRuntime {
	l.live.mu.RLock()
	defer l.live.mu.RUnlock()
	one := l.live.pods[id]
	r := compute.PodRuntime{Ports: one.ports, GPUs: one.gpus}
	if one.measured {
		use := &[2]float64{one.cpu, one.memory}
		r.CPUPercent, r.MemoryPercent = &use[0], &use[1]
	}
	return r
}

// note takes in how a pod is, and measures what it uses if it is up and that is due. A measurement that fails is no trouble of
// the pod's: it comes again.
func (l *Pods) note(ctx context.Context, p compute.Pod, s runtime.State) {
	if s.Phase != runtime.Up || s.Generation != p.Generation() {
		l.forget(p.ID)
		return
	}
	next := usage{ports: s.Ports, startedAt: s.StartedAt.UnixMilli(), measuredAt: l.Clock.Now().UnixMilli()}
	l.live.mu.RLock()
	last, known := l.live.pods[p.ID]
	l.live.mu.RUnlock()
	if known && last.startedAt == next.startedAt {
		next.cpu, next.memory, next.gpus, next.measured = last.cpu, last.memory, last.gpus, last.measured
		if next.measuredAt-last.measuredAt < statsTick.Milliseconds() {
			if !slices.Equal(last.ports, next.ports) {
				next.measuredAt = last.measuredAt
				l.keep(p.ID, next)
			}
			return
		}
	}
	stats, err := l.Runtime.Stats(ctx, string(p.ID))
	switch {
	case err == nil:
		next.cpu, next.memory, next.gpus, next.measured = stats.CPUPercent, stats.MemoryPercent, stats.GPUs, true
	case !errors.Is(err, runtime.ErrNoStats) && ctx.Err() == nil:
		l.Log.Debug("pod: it could not be measured", "pod", p.ID, "error", err)
	}
	l.keep(p.ID, next)
}

func (l *Pods) keep(id compute.PodID, one usage) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.live.pods[id] = one
}

// forget says that the pod is not up.
func (l *Pods) forget(id compute.PodID) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	delete(l.live.pods, id)
}
