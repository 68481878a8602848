package loop

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// workerTick is how late an idle timeout may be noticed.
const workerTick = 250 * time.Millisecond

// The pause before an endpoint whose workers end by themselves gets the next one doubles from the first to the last.
const (
	firstBackoff = time.Second
	lastBackoff  = time.Minute
)

// pauseMemory is how long after a pause the next one is longer: a worker that never sends a request fails after initLimit.
const pauseMemory = initLimit + 3*time.Minute

// fullPause is how long an endpoint waits whose worker nothing can hold, before room is looked for again.
const fullPause = time.Second

// How long a worker may take.
const (
	initLimit  = 7 * time.Minute // from its start, or from when its image is there, to its first word
	fetchLimit = time.Hour       // to get its image
)

// Fleet is what the workers loop works with.
type Fleet struct {
	Store     store.Store
	Placement *control.Placement
	Queue     *queue.Queue
	Keyring   *control.Keyring
	Local     runtime.Runtime // what the workers of declared endpoints run on
	Runtime   runtime.Runtime // what all others run on
	Simulated bool            // nothing runs on Runtime: its workers are ready when they are up, and take no jobs
	IDs       *compute.IDs
	Clock     compute.Clock
	Log       *slog.Logger
	URL       func() string // base of the queue, as processes of this machine reach it
	OuterURL  func() string // base of the queue, as what Runtime runs reaches it
	Ping      time.Duration // between two pings of a worker; in whole seconds, which is all that the SDK knows
	// Undeclared reports a declared endpoint whether only an earlier start of the server declared it: nothing says what its
	// workers are. Nil: none is.
	Undeclared func(compute.EndpointID) bool
	// Held reports whether the container of a pod still has one of the GPUs of the host. Nil: nothing is to be held.
	Held func(hostID string, devices []string) bool
	// Login opens the credential for a private image.
	Login func(context.Context, compute.RegistryID) (compute.Login, error)
	// Secrets opens those that an endpoint's environment refers to; nil: there are none.
	Secrets OpenSecrets
	// Artifact gives the file that the workers of an endpoint in a flash environment run; empty: nothing was deployed there. Nil: there are
	// none. An error says why a worker cannot have it.
	Artifact func(context.Context, compute.FlashEnvironmentID) (string, error)
	// Demand is the hint that an endpoint may need more or fewer workers; nil: the loop's own, see Workers.Hint.
	Demand Hint
	// Scripts are those of endpoints on Runtime, whose workers are ready when the script says. Nil: there are none.
	Scripts *Scripts
}

// workersAtOnce is how many workers are looked at at once, at most. The end of one takes as long as its container may take to end.
const workersAtOnce = 256

// Workers starts workers for waiting jobs and stops idle ones. It alone decides: for one endpoint after the other, so that the first ones
// get what room there is, and no job gets two workers. What was decided about a worker is seen to on its own.
type Workers struct {
	Fleet
	endpoints  *reconcile.Reconciler[compute.EndpointID, scaling]
	containers *reconcile.Reconciler[compute.WorkerID, worker]
	scriptedUp atomic.Bool    // a scripted worker came up, and the scripted workers do not know of it
	adopted    [2]atomic.Bool // whether the workers of before were taken up: those of declared endpoints, and the others; see adoptedOf
}

// scaling is what is remembered of an endpoint.
type scaling struct {
	pause   pause
	missing []compute.WorkerID // the ids that those get who should be there
	needs   needs              // of an endpoint that balances load
	relief  relief
}

// pause is why an endpoint gets no worker now.
type pause struct {
	length time.Duration // of the last backoff
	until  time.Time
	status compute.WorkerStatus
	cause  compute.PauseCause
	reason string
}

// NewWorkers makes the loop.
func NewWorkers(f Fleet) *Workers {
	if f.Demand == nil {
		f.Demand = NewHint()
	}

	l := &Workers{Fleet: f}
	l.endpoints = reconcile.New(reconcile.Config[compute.EndpointID, scaling]{
		Name: "endpoint", Clock: f.Clock, Log: f.Log, Reconcile: l.scaleAll, Together: math.MaxInt, Tick: reviewTick,
		List: func(context.Context, bool) (all []compute.EndpointID, err error) {
			for _, d := range l.Queue.Demands() {
				all = append(all, d.Endpoint.ID)
			}
			return all, nil
		},
	})

	l.containers = reconcile.New(reconcile.Config[compute.WorkerID, worker]{
		Name: "worker", Clock: f.Clock, Log: f.Log, Reconcile: l.look, List: l.list, Tick: reviewTick, AtOnce: workersAtOnce, Leave: endTime,
		Behind: l.behind, Looked: l.hintScripts,
	})
	return l
}

// hintScripts wakes the scripted workers if one of them came up. Before it can be seen that it is up, they would sleep on.
func (l *Workers) hintScripts() {
	if l.scriptedUp.Swap(false) {
		l.Scripts.Hint.Give()
	}
}

// behind shows the user in the worker's log why the worker is behind.
func (l *Workers) behind(ctx context.Context, id compute.WorkerID, reason string) {
	l.say(ctx, id, behindLine("worker", reason))
}

// Hint asks for a new decision, soon.
func (l *Workers) Hint() { l.Demand.Give() }

// hintEndpoints asks for a new decision about every endpoint.
func (l *Workers) hintEndpoints() {
	for _, d := range l.Queue.Demands() {
		l.endpoints.Hint(d.Endpoint.ID)
	}
}

// Run works until ctx ends, then stops every worker. What cannot be ended then is ended after the next start.
func (l *Workers) Run(ctx context.Context) {
	all, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var beside sync.WaitGroup
	beside.Go(func() { l.containers.Run(all) })
	for _, r := range []runtime.Runtime{l.Local, l.Runtime} {
		beside.Go(func() { forward(ctx, r.Ended(), func(id string) { l.containers.Hint(compute.WorkerID(id)) }) })
	}
	beside.Go(func() { forward(ctx, l.Demand, func(struct{}) { l.hintEndpoints() }) })

	l.endpoints.Run(ctx)
	for _, id := range l.containers.Keys() {
		if w, _ := l.containers.Memory(id); w.runtime != nil {
			l.Queue.Drain(w.endpoint, id)
			l.end(id, ending{why: "the server was stopped"})
		}
	}

	end()
	beside.Wait()
}

// Step takes up what was there before, looks how the workers are, decides for every endpoint, and sees to what was decided.
// Errors are of single workers, which are looked at again.
func (l *Workers) Step(ctx context.Context) {
	now := l.Clock.Now()
	for _, id := range l.containers.Keys() {
		if w, _ := l.containers.Memory(id); !w.up && !w.upAt.IsZero() && !w.upAt.After(now) {
			l.containers.Hint(id) // a look was planned for about that time
		}
	}
	_ = l.containers.Step(ctx)
	l.hintEndpoints()
	_ = l.endpoints.Step(ctx)
	_ = l.containers.Step(ctx)
}

// Next gives when Step may decide otherwise next, if nothing happens before: a worker has idled long enough or has sent no
// request for too long, or a pause is over. Zero if nothing is planned.
func (l *Workers) Next() time.Time {
	now := l.Clock.Now()
	var next time.Time
	note := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}

	for _, d := range l.Queue.Demands() {
		for _, w := range d.Workers {
			if w.Status == compute.WorkerIdle || w.Status == compute.WorkerUnhealthy && d.Endpoint.Type == compute.LoadBalancer {
				note(w.IdleSince.Add(d.Endpoint.IdleTimeout))
			}
			note(w.HangsAt)
		}

		if d.Waiting > 0 && d.Overdue == 0 && d.Endpoint.Type != compute.LoadBalancer && d.Endpoint.WorkersMax > 0 {
			note(now.Add(workerTick)) // until the first one is overdue
		}
		one, _ := l.endpoints.Memory(d.Endpoint.ID)
		note(one.pause.until)
	}

	for _, id := range l.containers.Keys() {
		w, _ := l.containers.Memory(id)
		note(w.started.Add(w.limit()))
	}
	return next
}

// scaleAll decides for endpoints. One that is no more is forgotten.
func (l *Workers) scaleAll(ctx, _ context.Context, looks []*reconcile.Look[compute.EndpointID, scaling]) {
	byID := map[compute.EndpointID]*reconcile.Look[compute.EndpointID, scaling]{}
	for _, one := range looks {
		byID[one.Key] = one
	}

	now := l.Clock.Now() // of what the demands say: a start for one endpoint may take long, and others' workers have not idled meanwhile
	for _, d := range l.Queue.Demands() {
		one := byID[d.Endpoint.ID]
		if one == nil {
			continue
		}
		if l.adoptedOf(d.Endpoint.Declared).Load() {
			l.scale(ctx, d, &one.Memory, now)
		}
		one.Next = reconcile.At(onTick(workerTick, l.Clock.Now(), time.Time{}))
	}
}

// scale carries out what is decided for one endpoint, of which the demand is as of now.
func (l *Workers) scale(ctx context.Context, d queue.Demand, s *scaling, now time.Time) {
	e := d.Endpoint
	if now.Sub(s.pause.until) > pauseMemory {
		s.pause = pause{}
	}
	l.giveUp(d, s, now)
	var cause compute.PauseCause
	if len(s.missing) > 0 || now.Before(s.pause.until) {
		cause = s.pause.cause
	}
	out := decide(d, &s.relief, cause, now)
	if e.Type == compute.LoadBalancer && !d.Gone {
		out.stop = append(out.stop, unneeded(d, out.stop, s.needs.most(byCount(d), now, e.IdleTimeout))...)
	}
	for _, id := range out.stop {
		l.stop(e.ID, id, ending{why: "the worker was not needed any more, or was to be replaced"})
	}
	for _, id := range out.leave {
		l.Queue.Leave(e.ID, id)
	}

	ids := l.idsFor(s, out.start)
	if len(ids) > 0 && e.Declared && l.Undeclared != nil && l.Undeclared(e.ID) {
		s.rest(now)
	}

	for len(ids) > 0 && !now.Before(s.pause.until) {
		err := l.start(ctx, e.ID, ids[0])
		switch {
		case err == nil:
			if s.relief.standIn == "" && (out.standIn || s.relief.cleared) {
				s.relief.standIn = ids[0]
			}
			ids = ids[1:]
		case errors.Is(err, control.ErrFull):
			l.throttle(d, s, err)
		default:
			l.Log.Error("worker could not be started", "endpoint", e.ID, "waiting", d.Waiting, "error", err)
			s.backOff(l.Clock.Now(), err.Error())
			ids[0] = l.IDs.Worker() // the runtime may have something of the old one, with a key that is no more
		}
	}

	s.missing = ids
	l.logMissing(e.ID, s)
}

// idsFor gives the ids of so many workers to be started: first those that could not be started before.
func (l *Workers) idsFor(s *scaling, n int) []compute.WorkerID {
	ids := s.missing[:min(n, len(s.missing))]
	for len(ids) < n {
		ids = append(ids, l.IDs.Worker())
	}
	return ids
}

// logMissing reports to the queue which workers should be there and why they are not.
func (l *Workers) logMissing(e compute.EndpointID, s *scaling) {
	var absent []queue.Absent
	for _, id := range s.missing {
		absent = append(absent, queue.Absent{ID: id, Status: cmp.Or(s.pause.status, compute.WorkerThrottled), Reason: s.pause.reason})
	}
	l.Queue.SetAbsent(e, absent)
}

// silence is the ending of a worker that was at work and says nothing any more.
var silence = ending{why: "the worker was up and sent no request for too long", alone: true}

// giveUp ends the workers that were started and never sent a request, that have not been healthy for as long, or that hang.
func (l *Workers) giveUp(d queue.Demand, s *scaling, now time.Time) {
	for _, w := range d.Workers {
		known, ok := l.containers.Memory(w.ID)
		if d.Endpoint.Type == compute.LoadBalancer {
			since := w.Sick
			if since.IsZero() && w.Status == compute.WorkerInitializing { // nobody could ask it yet
				since = known.started
			}
			if ok && !w.Draining && !w.Leaving && !since.IsZero() && now.Sub(since) >= known.limit() {
				l.giveUpSick(d.Endpoint.ID, w, known, s, now)
			}
			continue
		}
		if ok && w.Status == compute.WorkerInitializing && !w.Draining && now.Sub(known.started) >= known.limit() {
			why := known.late("sent no request")
			l.Log.Error("worker never sent a request", "endpoint", d.Endpoint.ID, "worker", w.ID, "after", known.limit())
			s.backOff(now, "worker "+string(w.ID)+": "+why.why)
			l.stop(d.Endpoint.ID, w.ID, why)
		}
		if hangs := !w.HangsAt.IsZero() && !now.Before(w.HangsAt); ok && hangs && !w.Draining {
			l.Log.Error("worker hangs: it sends no requests any more", "endpoint", d.Endpoint.ID, "worker", w.ID)
			s.backOff(now, "worker "+string(w.ID)+": "+silence.why)
			l.stop(d.Endpoint.ID, w.ID, silence)
		}
	}
}

// giveUpSick ends a worker of an endpoint that balances load which has not been healthy for too long.
func (l *Workers) giveUpSick(e compute.EndpointID, w queue.WorkerView, known worker, s *scaling, now time.Time) {
	why := known.late("was not healthy")
	if w.Reason != "" {
		why.why += ": " + w.Reason
	}
	l.Log.Error("worker is not healthy", "endpoint", e, "worker", w.ID, "after", known.limit())
	s.backOff(now, "worker "+string(w.ID)+": "+why.why)
	l.stop(e, w.ID, why)
}

// throttle notes that nothing can hold a worker now, and says so unless it did already.
func (l *Workers) throttle(d queue.Demand, s *scaling, why error) {
	reason := why.Error()
	if e := (&compute.Error{}); errors.As(why, &e) {
		reason = e.Detail
	}
	p := &s.pause
	if p.reason != reason {
		l.Log.Warn("workers are throttled", "endpoint", d.Endpoint.ID, "waiting", d.Waiting, "reason", reason)
	}
	p.until, p.status, p.cause, p.reason = l.Clock.Now().Add(fullPause), compute.WorkerThrottled, compute.PauseFull, reason
	if errors.Is(why, control.ErrNever) {
		p.cause = compute.PauseNever
	}
}

// backOff has the endpoint get no worker for a while, which is longer each time. Workers that fail while it lasts were started before it.
func (s *scaling) backOff(now time.Time, reason string) {
	p := &s.pause
	if p.cause == compute.PauseFailing && now.Before(p.until) {
		p.reason = reason
		return
	}
	p.length = min(max(firstBackoff, 2*p.length), lastBackoff)
	p.until, p.status, p.cause, p.reason = now.Add(p.length), compute.WorkerUnhealthy, compute.PauseFailing, reason
}

// rest notes that the settings of this start of the server do not declare the endpoint: no worker is started, and its jobs wait.
func (s *scaling) rest(now time.Time) {
	s.pause = pause{
		until: now.Add(lastBackoff), status: compute.WorkerUnhealthy, cause: compute.PauseUndeclared,
		reason: "the server was started without the command of its workers: declare the endpoint again, or delete it",
	}
}

// resetBackoff has the endpoint get workers at once.
func (s *scaling) resetBackoff() { s.pause = pause{} }

// Pause gives why the endpoint gets no worker now; zero if it gets one when it needs one.
func (l *Workers) Pause(e compute.EndpointID) compute.WorkerPause {
	s, _ := l.endpoints.Memory(e)
	over := !l.Clock.Now().Before(s.pause.until)
	if over && len(s.missing) == 0 && s.pause.cause != compute.PauseFailing { // of those that failed, the next one has yet to do better
		return compute.WorkerPause{}
	}
	return compute.WorkerPause{Cause: s.pause.cause, Reason: s.pause.reason, Until: s.pause.until, Missing: len(s.missing)}
}

// Behind gives, for people, why the last look at the worker failed; empty if it did not.
func (l *Workers) Behind(id compute.WorkerID) string { return l.containers.Reason(id) }

// Replace has the workers of an endpoint replaced, each as soon as it holds no job, and at once where workers had failed.
func (l *Workers) Replace(e compute.EndpointID) {
	l.endpoints.Update(e, (*scaling).resetBackoff)
	l.Queue.Replace(e)
	l.Hint()
}
