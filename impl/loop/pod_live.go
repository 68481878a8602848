package loop

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// statsTick is how often it is measured what a RUNNING pod uses.
const statsTick = 5 * time.Second

// usage is what is known of one pod. It is no object of its own, of which there would be thousands.
type usage struct {
	ports       []compute.PublishedPort
	gpus        []compute.GPUUse
	cpu, memory float64
	measured    bool  // or else there are no gpus, cpu and memory
	startedAt   int64 // of the run that was measured, in milliseconds since 1970
	measuredAt  int64 // in milliseconds since 1970
}

// Live reports what the pod was last seen to do; zero if it is not up, or was not looked at since berth started. It asks nobody.
func (l *Pods) Live(id compute.PodID) compute.PodRuntime {
	state, _ := l.reconciler.Memory(id)
	one := state.usage
	r := compute.PodRuntime{Ports: one.ports, GPUs: one.gpus}
	if one.measured {
		use := &[2]float64{one.cpu, one.memory}
		r.CPUPercent, r.MemoryPercent = &use[0], &use[1]
	}
	return r
}

// Measured gives to each the pods of which it is known what they use, in the order of their ids. It asks nobody.
func (l *Pods) Measured(each func(compute.PodID, compute.PodRuntime)) {
	for _, id := range l.reconciler.Keys() {
		if r := l.Live(id); r.CPUPercent != nil || r.GPUs != nil {
			each(id, r)
		}
	}
}

// note takes in how a pod is, and measures what it uses if it is up and that is due. A measurement that fails is no trouble of
// the pod's: it comes again.
func (l *Pods) note(ctx context.Context, one *podLook, s runtime.State) {
	last := one.Memory.usage
	if s.Phase != runtime.Up || s.Generation != one.pod.Generation() {
		one.Memory.usage = usage{}
		return
	}

	next := usage{ports: s.Ports, startedAt: s.StartedAt.UnixMilli(), measuredAt: l.Clock.Now().UnixMilli()}
	if last.measuredAt != 0 && last.startedAt == next.startedAt {
		next.cpu, next.memory, next.gpus, next.measured = last.cpu, last.memory, last.gpus, last.measured
		if next.measuredAt-last.measuredAt < statsTick.Milliseconds() {
			if next.measuredAt = last.measuredAt; slices.Equal(last.ports, next.ports) {
				next.ports = last.ports // of two equal ones, the older one
			}
			one.Memory.usage = next
			return
		}
	}

	stats, err := l.Runtime.Stats(ctx, string(one.Key))
	switch {
	case err == nil:
		next.cpu, next.memory, next.gpus, next.measured = stats.CPUPercent, stats.MemoryPercent, stats.GPUs, true
	case !errors.Is(err, runtime.ErrNoStats) && ctx.Err() == nil:
		l.Log.Debug("pod: it could not be measured", "pod", one.Key, "error", err)
	}

	one.Memory.usage = next
}
