package loop

import (
	"context"
	"log/slog"
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

// Pods moves pods along: PROVISIONING → STARTING → RUNNING → EXITED or ERROR.
type Pods struct {
	Store     store.Store
	Placement *control.Placement
	Runtime   runtime.Runtime
	Clock     compute.Clock
	Log       *slog.Logger
	Login     func(context.Context, compute.RegistryID) (compute.Login, error) // opens the credential of a private image
	// Simulated says that containers have nothing that another one could be in want of.
	Simulated bool

	adopting sync.Mutex
	adopted  bool           // what was there before was taken up
	looks    sync.WaitGroup // of Run
	wake     chan struct{}

	live    live
	shared  shared
	volumes atomic.Bool // one may be no more

	mu       sync.Mutex
	free     sync.Cond                     // a pod is not busy any more
	busy     map[compute.PodID]bool        // somebody looks at it
	hinted   map[compute.PodID]bool        // to be looked at now
	pending  map[compute.PodID]compute.Pod // to be looked at with the next tick, as they were seen last
	watched  map[compute.PodID]compute.Pod // to be looked at from time to time, as they were seen last
	troubled map[compute.PodID]bool        // its last look failed
}

// NewPods makes the loop.
func NewPods(s store.Store, p *control.Placement, r runtime.Runtime, clock compute.Clock, log *slog.Logger) *Pods {
	l := &Pods{
		Store: s, Placement: p, Runtime: r, Clock: clock, Log: log, wake: make(chan struct{}, 1),
		busy: map[compute.PodID]bool{}, hinted: map[compute.PodID]bool{},
		pending: map[compute.PodID]compute.Pod{}, watched: map[compute.PodID]compute.Pod{}, troubled: map[compute.PodID]bool{},
		live:   live{pods: map[compute.PodID]*lively{}},
		shared: shared{holder: map[string]compute.PodID{}, held: map[compute.PodID][]string{}},
	}
	l.free.L = &l.mu
	l.volumes.Store(true) // with those of before
	return l
}

// Hint asks for a look at the pod, soon.
func (l *Pods) Hint(id compute.PodID) {
	l.hint(id)
	l.rouse()
}

// rouse has Run look at what is hinted now.
func (l *Pods) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Pods) hint(id compute.PodID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hinted[id] = true
}

// Run works until ctx ends. It looks at each pod on its own: one that takes its time to stop holds up no other.
func (l *Pods) Run(ctx context.Context) {
	defer l.looks.Wait()
	var next, watch time.Time // when those on their way and the running ones are looked at
	for {
		now := l.Clock.Now()
		var due []map[compute.PodID]compute.Pod
		if !now.Before(next) {
			next = now.Add(podTick)
			due = append(due, l.pending)
		}
		if !now.Before(watch) {
			watch = now.Add(watchTick)
			due = append(due, l.watched)
			l.adopt(ctx)
			if l.volumes.Swap(false) {
				l.looks.Go(func() { l.sweepVolumes(ctx) })
			}
		}
		for _, one := range l.claim(due...) {
			l.looks.Go(func() { l.lookClaimed(ctx, one) })
		}
		tick, stop := l.Clock.After(podTick)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-tick:
		case id := <-l.Runtime.Ended():
			l.hint(compute.PodID(id))
		case <-l.wake:
		}
		stop()
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
	for _, one := range l.claim(l.pending, l.watched) {
		looks.Go(func() { l.lookClaimed(ctx, one) })
	}
	looks.Wait()
	if l.volumes.Swap(false) {
		l.sweepVolumes(ctx)
	}
}

// claimed is a pod that somebody is to look at. One that is not hinted comes as it was seen last: whoever changes a pod hints
// it, so that watching thousands that do well takes no read of the store.
type claimed struct {
	id   compute.PodID
	seen compute.Pod // zero: its row is to be read
}

// claim takes the pods that are to be looked at and that nobody looks at: the hinted ones and those that are due. A hint costs
// nothing for all the others: thousands may come while thousands start.
func (l *Pods) claim(due ...map[compute.PodID]compute.Pod) (all []claimed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	take := func(one claimed) {
		if !l.busy[one.id] {
			l.busy[one.id] = true
			all = append(all, one)
		}
	}
	for id := range l.hinted {
		take(claimed{id: id})
	}
	for _, pods := range due {
		for id, p := range pods {
			take(claimed{id, p})
		}
	}
	for _, one := range all {
		delete(l.hinted, one.id)
		delete(l.pending, one.id)
		delete(l.watched, one.id)
	}
	return all
}

// lookClaimed looks at a pod and notes when to look again.
func (l *Pods) lookClaimed(ctx context.Context, one claimed) {
	id := one.id
	var p compute.Pod
	var next again
	var err error
	if next = l.glance(ctx, one.seen); next != never {
		p = one.seen
	} else {
		p, next, err = l.look(ctx, id)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, id)
	l.free.Broadcast()
	if l.hinted[id] { // while it was looked at, when nobody else could
		l.rouse()
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		if !l.troubled[id] { // and not at every look
			l.Log.Error("pod: it is tried again", "pod", id, "error", err)
		}
		l.troubled[id], l.watched[id] = true, compute.Pod{} // of which nothing is known
		return
	case l.troubled[id]:
		l.Log.Info("pod: the trouble is over", "pod", id)
		delete(l.troubled, id)
	}
	switch next {
	case soon:
		l.pending[id] = p
	case later:
		l.watched[id] = p
	}
}

// again says when to look at a pod the next time.
type again int

const (
	never again = iota
	soon
	later
)

// look moves one pod by one step, and tells when there is more to come.
func (l *Pods) look(ctx context.Context, id compute.PodID) (p compute.Pod, next again, err error) {
	err = l.Store.Read(ctx, func(tx store.Tx) (err error) {
		p, err = tx.Pod(id)
		return err
	})
	switch {
	case compute.CodeOf(err) == compute.NotFound: // left over from a store that was cleared
		return p, never, l.remove(ctx, id)
	case err != nil:
		return p, soon, err
	}
	switch p.Status {
	case compute.PodProvisioning:
		return p, soon, l.place(ctx, p)
	case compute.PodStarting:
		return p, soon, l.inspect(ctx, p)
	case compute.PodRunning:
		return p, later, l.inspect(ctx, p)
	case compute.PodTerminated:
		return p, never, l.remove(ctx, id)
	default:
		return p, never, l.stop(ctx, p)
	}
}

// move records an event, unless somebody moved the pod meanwhile: then the next look sees what they did.
func (l *Pods) move(ctx context.Context, p compute.Pod, on compute.PodEvent) error {
	next, err := compute.PodMachine.Next(p.Status, on)
	if err != nil {
		return err
	}
	p.Status = next
	return l.write(ctx, p)
}

func (l *Pods) write(ctx context.Context, p compute.Pod) error {
	err := l.Placement.WriteSure(ctx, func(tx store.Tx, b *control.Booking) error {
		_, err := b.Move(tx, p)
		return err
	})
	if err == nil {
		l.hint(p.ID)
	}
	return err
}
