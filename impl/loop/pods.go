package loop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// podTick is how often pods on their way are looked at: nothing else reports when a container is up.
const podTick = 100 * time.Millisecond

// watchTick is how often a RUNNING pod is looked at, whatever the runtime reports. With more than watchedOften pods, or workers, each is
// looked at less often, so that in all there are no more looks: the runtime reports what ends by itself, and 100,000 looks a second would
// keep half a processor busy.
const watchTick = time.Second

const watchedOften = 10_000

// watchPause is how long what is up need not be looked at, of so many, beside the watchTick.
func watchPause(known int) time.Duration {
	return max(0, time.Duration(known)*watchTick/watchedOften-watchTick)
}

// stopGrace is what a container gets between SIGTERM and SIGKILL.
const stopGrace = 10 * time.Second

// leaveTime is how long a stop of berth waits for the ends of pods that were stopped or terminated before. What is left then is
// ended after the next start.
const leaveTime = stopGrace + 5*time.Second

// reviewTick is how often it is looked for what a runtime has and nobody knows, such as a container that the engine made for a
// call of a berth that was killed.
const reviewTick = time.Minute

// PodFleet is what the pods loop works with.
type PodFleet struct {
	Store     store.Store
	Placement *control.Placement
	Runtime   runtime.Runtime
	Clock     compute.Clock
	Log       *slog.Logger
	Login     func(context.Context, compute.RegistryID) (compute.Login, error) // opens the credential of a private image
	Secrets   OpenSecrets                                                      // nil: there are none
	Key       func(compute.Pod) string                                         // makes the pod's own key
	URL       func() string                                                    // base of all interfaces, as what Runtime runs reaches it
	// LastWall is the time of day when what ran before was last known to run: before this start of the server, it was seen then.
	LastWall time.Time
	// Simulated says that containers have nothing that another one could be in want of, and receive nothing: Key and URL may be nil.
	Simulated bool
}

// podsAtOnce is how many pods are looked at at once, at most. A stop takes as long as its container may take to end.
const podsAtOnce = 256

// together is how many simulated pods are moved in one transaction at most. Requests stand in line behind it: it is so few that a flood
// of new pods is answered first, and their lives go on beside.
const together = 32

// Pods moves pods along: PROVISIONING → STARTING → RUNNING → EXITED or ERROR. Each is looked at on its own: one that takes its time to
// stop holds up no other. Simulated ones take no time, and are looked at together.
type Pods struct {
	PodFleet
	reconciler *reconcile.Reconciler[compute.PodID, podState]
	volumes    *reconcile.Reconciler[compute.VolumeID, struct{}]
	shared     shared
	unseen     unseen
}

// NewPods makes the loop.
func NewPods(f PodFleet) *Pods {
	l := &Pods{PodFleet: f}
	c := reconcile.Config[compute.PodID, podState]{
		Name: "pod", Clock: f.Clock, Log: f.Log, Reconcile: l.look, List: l.list, Tick: reviewTick, AtOnce: podsAtOnce, Leave: leaveTime,
		Behind: l.behind,
	}
	if f.Simulated {
		c.Tick, c.AtOnce, c.Together = 0, 1, together
	}
	l.reconciler = reconcile.New(c)
	l.volumes = newVolumes(l, c.Tick)
	return l
}

// Hint asks for a look at the pod, soon.
func (l *Pods) Hint(id compute.PodID) { l.reconciler.Hint(id) }

// Behind gives, for people, why the last look at the pod failed; empty if it did not.
func (l *Pods) Behind(id compute.PodID) string { return l.reconciler.Reason(id) }

// Run works until ctx ends, and sees pods that were stopped or terminated to their end even then, for leaveTime at most.
func (l *Pods) Run(ctx context.Context) {
	var beside sync.WaitGroup
	beside.Go(func() { l.volumes.Run(ctx) })
	beside.Go(func() { forward(ctx, l.Runtime.Ended(), func(id string) { l.Hint(compute.PodID(id)) }) })
	l.reconciler.Run(ctx)
	beside.Wait()
}

// forward hands on what comes until ctx ends.
func forward[T any](ctx context.Context, from <-chan T, to func(T)) {
	for {
		select {
		case <-ctx.Done():
			return
		case one := <-from:
			to(one)
		}
	}
}

// Step takes up what was there before, then looks at every pod that has something to do or is RUNNING, and at the network volumes that
// were deleted. Errors are of single pods, which are looked at again.
func (l *Pods) Step(ctx context.Context) {
	_ = l.reconciler.StepAll(ctx)
	_ = l.volumes.Step(ctx)
}

// behind shows the user in the pod's log why the pod is behind.
func (l *Pods) behind(ctx context.Context, id compute.PodID, reason string) {
	l.say(ctx, id, behindLine("pod", reason))
}
