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
	pods map[compute.PodID]*lively
}

// lively is what is known of one pod.
type lively struct {
	compute.PodRuntime
	startedAt  time.Time // of the run that was measured
	measuredAt time.Time
}

// Live tells what the pod was last seen to do; zero if it is not up, or was not looked at since berth started. It asks nobody.
func (l *Pods) Live(id compute.PodID) compute.PodRuntime {
	l.live.mu.RLock()
	defer l.live.mu.RUnlock()
	if one := l.live.pods[id]; one != nil {
		return one.PodRuntime
	}
	return compute.PodRuntime{}
}

// note takes in how a pod is, and measures what it uses if it is up and that is due. A measurement that fails is no trouble of
// the pod's: it comes again.
func (l *Pods) note(ctx context.Context, p compute.Pod, s runtime.State) {
	if s.Phase != runtime.Up || s.Generation != generation(p) {
		l.forget(p.ID)
		return
	}
	next := lively{PodRuntime: compute.PodRuntime{Ports: s.Ports}, startedAt: s.StartedAt, measuredAt: l.Clock.Now()}
	l.live.mu.RLock()
	last := l.live.pods[p.ID]
	l.live.mu.RUnlock()
	if last != nil && last.startedAt.Equal(s.StartedAt) {
		next.CPUPercent, next.MemoryPercent, next.GPUs = last.CPUPercent, last.MemoryPercent, last.GPUs
		if next.measuredAt.Sub(last.measuredAt) < statsTick {
			if !slices.Equal(last.Ports, next.Ports) {
				next.measuredAt = last.measuredAt
				l.keep(p.ID, next)
			}
			return
		}
	}
	stats, err := l.Runtime.Stats(ctx, string(p.ID))
	switch {
	case err == nil:
		next.CPUPercent, next.MemoryPercent, next.GPUs = &stats.CPUPercent, &stats.MemoryPercent, stats.GPUs
	case !errors.Is(err, runtime.ErrNoStats) && ctx.Err() == nil:
		l.Log.Debug("pod: it could not be measured", "pod", p.ID, "error", err)
	}
	l.keep(p.ID, next)
}

func (l *Pods) keep(id compute.PodID, one lively) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.live.pods[id] = &one
}

// forget says that the pod is not up.
func (l *Pods) forget(id compute.PodID) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	delete(l.live.pods, id)
}
