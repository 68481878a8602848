// Package history is how endpoints, pods and the fleet stood in the last hour, for charts. It is sampled every ten seconds by the server's clock and
// kept in memory alone: a start begins anew. What stands as it did takes no room.
package history

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

const (
	// Tick is how often it is sampled.
	Tick = 10 * time.Second
	// Span is how long a sample is kept.
	Span = time.Hour
	// Most is of how many endpoints, and of how many pods, there is a history: of those that came first.
	Most = 1000

	fresh = time.Second // a sample that is no older is not taken again when somebody asks
)

// Sources are what is sampled. They ask nobody but the store.
type Sources struct {
	Dispatchers func() []queue.DispatcherView
	Pods        func(each func(compute.PodID, compute.PodRuntime)) // those that were measured
	Running     func(context.Context) (int64, error)               // how many pods are RUNNING
}

// Endpoint is how an endpoint stood.
type Endpoint struct {
	Waiting, InProgress                               int64 // jobs
	Initializing, Idle, Running, Throttled, Unhealthy int64 // workers
	Completed, Failed                                 int64 // jobs that have ended since the server was started; failed ones did not get an output in time, too
}

// Fleet is how everything stood.
type Fleet struct {
	Pods                         int64 // RUNNING
	Endpoints                    int64
	Workers, Waiting, InProgress int64
	Completed, Failed            int64
}

// History is the samples. It is safe for concurrent use.
type History struct {
	clock    compute.Clock
	sources  Sources
	sampling sync.Mutex         // held while a sample is taken
	asked    singleflight.Group // of those who ask

	mu        sync.Mutex
	taken     time.Time // when the last sample was
	meters    map[compute.EndpointID]*meter
	endpoints map[compute.EndpointID]*series[Endpoint]
	pods      map[compute.PodID]*series[compute.PodRuntime]
	fleet     series[Fleet]

	completed, failed atomic.Int64 // of all endpoints, those that are no more too
}

// New makes an empty history. Its Sources come with Begin.
func New(clock compute.Clock) *History {
	return &History{
		clock: clock, meters: map[compute.EndpointID]*meter{}, endpoints: map[compute.EndpointID]*series[Endpoint]{},
		pods: map[compute.PodID]*series[compute.PodRuntime]{},
	}
}

// Of gives the history of these sources, with what was counted before.
func (h *History) Of(s Sources) *History {
	h.sources = s
	return h
}

// Sample takes a sample of everything. The error is that of the store.
func (h *History) Sample(ctx context.Context) error {
	h.sampling.Lock()
	defer h.sampling.Unlock()
	running, err := h.sources.Running(ctx)
	if err != nil {
		return err
	}
	views, pods := h.sources.Dispatchers(), map[compute.PodID]compute.PodRuntime{}
	h.sources.Pods(func(id compute.PodID, r compute.PodRuntime) {
		if len(pods) < Most {
			pods[id] = r
		}
	})

	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken = h.clock.Now()
	at, all := h.clock.Wall().Truncate(time.Millisecond), Fleet{Pods: running, Endpoints: int64(len(views)), Completed: h.completed.Load(), Failed: h.failed.Load()}
	there := map[compute.EndpointID]bool{}
	for _, v := range views {
		there[v.Endpoint] = true
	}
	forget(h.endpoints, func(id compute.EndpointID) bool { return there[id] })
	forget(h.pods, func(id compute.PodID) bool { _, is := pods[id]; return is })

	for _, v := range views {
		one := h.endpoint(v)
		keep(h.endpoints, v.Endpoint, at, one, same)
		all.add(one)
	}
	h.fleet.add(at, all, same)
	for id, r := range pods {
		keep(h.pods, id, at, r, sameUse)
	}
	return nil
}

// endpoint gives how an endpoint stands. The caller has the lock.
func (h *History) endpoint(v queue.DispatcherView) Endpoint {
	e := Endpoint{
		Waiting: int64(v.Waiting), InProgress: int64(v.InProgress), Initializing: v.Workers[compute.WorkerInitializing], Idle: v.Workers[compute.WorkerIdle],
		Running: v.Workers[compute.WorkerRunning], Throttled: v.Workers[compute.WorkerThrottled], Unhealthy: v.Workers[compute.WorkerUnhealthy],
	}
	if m := h.meters[v.Endpoint]; m != nil {
		e.Completed, e.Failed = m.completed.Load(), m.failed.Load()
	}
	return e
}

func (f *Fleet) add(e Endpoint) {
	f.Workers += e.Initializing + e.Idle + e.Running + e.Throttled + e.Unhealthy
	f.Waiting += e.Waiting
	f.InProgress += e.InProgress
}

// now takes a sample unless there is one of this moment, so that who asks sees how it stands. All who ask at once have the same one, which is
// taken to its end, whoever of them goes.
func (h *History) now(ctx context.Context) error {
	_, err, _ := h.asked.Do("", func() (any, error) {
		h.mu.Lock()
		old := h.taken.IsZero() || h.clock.Now().Sub(h.taken) >= fresh
		h.mu.Unlock()
		if !old {
			return nil, nil
		}
		return nil, h.Sample(context.WithoutCancel(ctx))
	})
	return err
}

// Endpoint gives the samples of an endpoint, oldest first; none of an unknown one. The error is that of the store.
func (h *History) Endpoint(ctx context.Context, id compute.EndpointID) ([]Sample[Endpoint], error) {
	err := h.now(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.endpoints[id].all(), err
}

// Pod gives the samples of a pod, likewise.
func (h *History) Pod(ctx context.Context, id compute.PodID) ([]Sample[compute.PodRuntime], error) {
	err := h.now(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pods[id].all(), err
}

// Fleet gives the samples of everything.
func (h *History) Fleet(ctx context.Context) ([]Sample[Fleet], error) {
	err := h.now(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fleet.all(), err
}

// same reports whether two samples are the same.
func same[T comparable](a, b T) bool { return a == b }

// sameUse is same of what pods use; where their ports are is no part of it.
func sameUse(a, b compute.PodRuntime) bool {
	number := func(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	return number(a.CPUPercent, b.CPUPercent) && number(a.MemoryPercent, b.MemoryPercent) && slices.Equal(a.GPUs, b.GPUs)
}
