package loop

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// podTick is how often pods on their way, and running ones, are looked at. Inspecting is cheap; nothing else tells when a
// container is up.
const podTick = 100 * time.Millisecond

// stopGrace is what a container gets between SIGTERM and SIGKILL.
const stopGrace = 10 * time.Second

// Pods moves pods along: PROVISIONING → STARTING → RUNNING → EXITED or ERROR.
type Pods struct {
	Store   store.Store
	Runtime runtime.Runtime
	Clock   compute.Clock
	Log     *slog.Logger

	stepping sync.Mutex // held over a Step

	mu     sync.Mutex
	hinted map[compute.PodID]bool
	wake   chan struct{}
}

// NewPods makes the loop.
func NewPods(s store.Store, r runtime.Runtime, clock compute.Clock, log *slog.Logger) *Pods {
	return &Pods{Store: s, Runtime: r, Clock: clock, Log: log, hinted: map[compute.PodID]bool{}, wake: make(chan struct{}, 1)}
}

// Hint asks for a look at the pod, soon.
func (l *Pods) Hint(id compute.PodID) {
	l.mu.Lock()
	l.hinted[id] = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends. It begins by taking up the pods that were there before a restart.
func (l *Pods) Run(ctx context.Context) {
	l.adopt(ctx)
	for {
		l.Step(ctx)
		tick, stop := l.Clock.After(podTick)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-tick:
		case id := <-l.Runtime.Ended():
			stop()
			l.Hint(compute.PodID(id))
		case <-l.wake:
			stop()
		}
	}
}

// active are the statuses in which a pod has, or is to get, a container.
var active = []compute.PodStatus{compute.PodProvisioning, compute.PodStarting, compute.PodRunning}

// adopt looks at every pod that has a container, and gives those that were up to the runtime again.
func (l *Pods) adopt(ctx context.Context) {
	for _, p := range l.list(ctx, active...) {
		if p.Status != compute.PodProvisioning {
			if err := l.Runtime.Start(ctx, allocation(p)); err != nil {
				l.Log.Error("pod could not be taken up again", "pod", p.ID, "error", err)
			}
		}
		l.Hint(p.ID)
	}
}

// Step does everything that can be done now.
func (l *Pods) Step(ctx context.Context) {
	l.stepping.Lock()
	defer l.stepping.Unlock()
	l.mu.Lock()
	hinted := l.hinted
	l.hinted = map[compute.PodID]bool{}
	l.mu.Unlock()
	for id := range hinted {
		again, err := l.look(ctx, id)
		if err != nil && ctx.Err() == nil {
			l.Log.Error("pod", "pod", id, "error", err)
		}
		if again {
			l.mu.Lock()
			l.hinted[id] = true // at the next tick
			l.mu.Unlock()
		}
	}
}

// look moves one pod by one step, and tells whether there is more to come.
func (l *Pods) look(ctx context.Context, id compute.PodID) (again bool, err error) {
	var p compute.Pod
	err = l.Store.Read(ctx, func(tx store.Tx) (err error) {
		p, err = tx.Pod(id)
		return err
	})
	if err != nil {
		return false, err
	}
	switch p.Status {
	case compute.PodProvisioning:
		return true, l.place(ctx, p)
	case compute.PodStarting, compute.PodRunning:
		return true, l.inspect(ctx, p)
	case compute.PodTerminated:
		return false, l.Runtime.Remove(ctx, string(id))
	default:
		err = l.Runtime.Stop(ctx, string(id), stopGrace)
		if errors.Is(err, runtime.ErrUnknown) {
			err = nil
		}
		return false, err
	}
}

func (l *Pods) place(ctx context.Context, p compute.Pod) error {
	p.StartedAt = time.Time{}
	if err := l.Runtime.Start(ctx, allocation(p)); err != nil {
		l.Log.Warn("pod could not be started", "pod", p.ID, "error", err)
		p.Reason = err.Error()
		return l.move(ctx, p, compute.PodFailed)
	}
	return l.move(ctx, p, compute.PodPlaced)
}

func (l *Pods) inspect(ctx context.Context, p compute.Pod) error {
	state, err := l.Runtime.Inspect(ctx, string(p.ID))
	switch {
	case errors.Is(err, runtime.ErrUnknown):
		p.Reason = "its container is gone"
		return l.move(ctx, p, compute.PodFailed)
	case err != nil:
		return err
	case state.Phase == runtime.Up && !p.RestartAt.IsZero() && !state.StartedAt.After(p.RestartAt):
		return l.again(ctx, p)
	case state.Phase == runtime.Up && p.Status == compute.PodStarting:
		p.StartedAt = state.StartedAt
		return l.move(ctx, p, compute.PodHealthy)
	case state.Phase == runtime.Ended && state.ExitCode == 0:
		return l.move(ctx, p, compute.PodFinished)
	case state.Phase == runtime.Ended:
		p.Reason = "its container failed"
		return l.move(ctx, p, compute.PodFailed)
	}
	return nil
}

// again ends a container that was up before the last start or restart was asked for, and starts the one that was.
func (l *Pods) again(ctx context.Context, p compute.Pod) error {
	if err := l.Runtime.Stop(ctx, string(p.ID), stopGrace); err != nil {
		return err
	}
	p.StartedAt = time.Time{}
	return l.Runtime.Start(ctx, allocation(p))
}

// move records an event, unless somebody moved the pod meanwhile: then the next look sees what they did.
func (l *Pods) move(ctx context.Context, p compute.Pod, on compute.PodEvent) error {
	next, err := compute.PodMachine.Next(p.Status, on)
	if err != nil {
		return err
	}
	p.Status = next
	return l.Store.Write(ctx, func(tx store.Tx) error {
		_, err := tx.MovePod(p)
		return err
	})
}

func (l *Pods) list(ctx context.Context, statuses ...compute.PodStatus) []compute.Pod {
	var pods []compute.Pod
	err := l.Store.Read(ctx, func(tx store.Tx) error {
		for _, s := range statuses {
			some, err := tx.ListPodsByStatus(s)
			if err != nil {
				return err
			}
			pods = append(pods, some...)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		l.Log.Error("pods could not be listed", "error", err)
	}
	return pods
}

func allocation(p compute.Pod) runtime.Allocation {
	return runtime.Allocation{ID: string(p.ID), Image: p.Image, Args: p.Args, Env: p.Env, StartedAt: p.StartedAt}
}
