package loop

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// podTick is how often pods on their way are looked at: nothing else tells when a container is up.
const podTick = 100 * time.Millisecond

// watchTick is how often a RUNNING pod is looked at, whatever the runtime reports.
const watchTick = time.Second

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
	// Simulated says that containers have nothing that another one could be in want of, and hear nothing: Key and URL may be nil.
	Simulated bool
}

// Pods moves pods along: PROVISIONING → STARTING → RUNNING → EXITED or ERROR.
type Pods struct {
	PodFleet
	adopting sync.Mutex
	adopted  bool // what was there before was taken up
	reviewed time.Time
	looks    sync.WaitGroup // of Run
	wake     Hint

	live    live
	shared  shared
	volumes atomic.Bool // one may be no more

	mu       sync.Mutex
	free     sync.Cond                  // a pod is not busy any more
	busy     map[compute.PodID]bool     // somebody looks at it
	hinted   map[compute.PodID]bool     // to be looked at now
	pending  map[compute.PodID]*look    // to be looked at with the next tick, as they were seen last
	watched  map[compute.PodID]podState // to be looked at from time to time, as they were seen last
	troubled map[compute.PodID]bool     // its last look failed
}

// NewPods makes the loop.
func NewPods(f PodFleet) *Pods {
	l := &Pods{
		PodFleet: f, wake: NewHint(),
		busy: map[compute.PodID]bool{}, hinted: map[compute.PodID]bool{},
		pending: map[compute.PodID]*look{}, watched: map[compute.PodID]podState{}, troubled: map[compute.PodID]bool{},
		live:   live{pods: map[compute.PodID]usage{}},
		shared: shared{holder: map[string]compute.PodID{}, held: map[compute.PodID][]string{}},
	}
	l.free.L = &l.mu
	l.volumes.Store(true) // with those of before
	return l
}

// Hint asks for a look at the pod, soon.
func (l *Pods) Hint(id compute.PodID) {
	l.hint(id)
	l.wake.Give()
}

func (l *Pods) hint(id compute.PodID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hinted[id] = true
}

// Run works until ctx ends, and sees pods that were stopped or terminated to their end even then. It looks at each pod on its own:
// one that takes its time to stop holds up no other. Simulated ones take no time, and are looked at together.
func (l *Pods) Run(ctx context.Context) {
	ends, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var next, watch time.Time // when those on their way and the running ones are looked at
	for {
		now := l.Clock.Now()
		moving, running := !now.Before(next), !now.Before(watch)
		if moving {
			next = now.Add(podTick)
		}
		if running {
			watch = now.Add(watchTick)
			l.adopt(ctx)
			if !l.Simulated && now.Sub(l.reviewed) >= reviewTick {
				l.reviewed = now
				l.volumes.Store(true)
				l.looks.Go(func() { l.review(ctx) })
			}
			if l.volumes.Swap(false) {
				l.looks.Go(func() { l.sweepVolumes(ctx) })
			}
		}
		l.lookAt(ctx, ends, &l.looks, l.claim(now, moving, running))
		tick, stop := l.Clock.After(podTick)
		select {
		case <-ctx.Done():
			stop()
			l.leave(ctx, ends, cancel)
			return
		case <-tick:
		case id := <-l.Runtime.Ended():
			l.hint(compute.PodID(id))
		case <-l.wake:
		}
		stop()
	}
}

// leave sees to the ends that were asked for and are not done yet: nothing else would before the next start. ctx has ended, so
// that nothing is started any more.
func (l *Pods) leave(ctx, ends context.Context, cancel func()) {
	late, stop := compute.SystemClock{}.After(leaveTime)
	defer stop()
	left := make(chan struct{})
	defer close(left)
	go func() {
		select {
		case <-late:
			l.Log.Warn("pods that were stopped or terminated may have containers that are up: they are ended after the next start")
			cancel()
		case <-left:
		}
	}()
	l.mu.Lock()
	for id := range l.troubled {
		if id != podsOfBefore {
			l.hinted[id] = true
		}
	}
	l.mu.Unlock()
	hinted := func() []*look { return l.claim(l.Clock.Now(), false, false) }
	for claimed := hinted(); ; {
		l.lookAt(ctx, ends, &l.looks, claimed)
		l.looks.Wait()
		if claimed = hinted(); len(claimed) == 0 { // also none while it was looked at
			return
		}
	}
}

// Step takes up what was there before, then looks once at every pod that has something to do or is RUNNING. It begins when
// looks that are under way have ended.
func (l *Pods) Step(ctx context.Context) {
	l.adopt(ctx)
	l.mu.Lock()
	for len(l.busy) > 0 {
		l.free.Wait()
	}
	l.mu.Unlock()
	var looks sync.WaitGroup
	l.lookAt(ctx, ctx, &looks, l.claim(time.Time{}, true, true))
	looks.Wait()
	if l.volumes.Swap(false) {
		l.sweepVolumes(ctx)
	}
}

// lookAt looks at what was claimed: at simulated pods at once, at each of the others on its own. What is to end, ends as long as
// the second context lasts.
func (l *Pods) lookAt(ctx, ends context.Context, looks *sync.WaitGroup, claimed []*look) {
	if l.Simulated {
		for some := range slices.Chunk(claimed, together) {
			l.look(ctx, ends, some)
		}
		return
	}
	for _, one := range claimed {
		looks.Go(func() { l.look(ctx, ends, []*look{one}) })
	}
}

// claim takes the pods that are to be looked at and that nobody looks at: the hinted ones and, of those on their way and of
// those that are RUNNING, if it is for these, what is due now; all of them if now is zero. A hint costs nothing for all the
// others: thousands may come while thousands start.
func (l *Pods) claim(now time.Time, moving, running bool) (all []*look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	due := func(until time.Time) bool { return now.IsZero() || !now.Before(until) }
	for id := range l.hinted {
		if !l.busy[id] {
			all = append(all, &look{id: id})
			l.busy[id] = true
		}
	}
	if moving {
		for id, one := range l.pending {
			if due(one.until) && !l.busy[id] {
				all = append(all, one)
				l.busy[id] = true
			}
		}
	}
	if running {
		for id, seen := range l.watched {
			if due(seen.until) && !l.busy[id] {
				all = append(all, seen.look(id))
				l.busy[id] = true
			}
		}
	}
	for _, one := range all {
		delete(l.hinted, one.id)
		delete(l.pending, one.id)
		delete(l.watched, one.id)
	}
	return all
}
