package loop

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
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

// pauseMemory is how long after a pause the next one is longer: a worker that is never heard of fails after initLimit.
const pauseMemory = initLimit + 3*time.Minute

// fullPause is how long an endpoint waits whose worker nothing can hold, before room is looked for again.
const fullPause = time.Second

// initLimit is how long a worker may take from its start to its first word.
const initLimit = 7 * time.Minute

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
	// Undeclared tells of a declared endpoint whether only an earlier start of the server declared it: nothing says what its
	// workers are. Nil: none is.
	Undeclared func(compute.EndpointID) bool
	// Held tells whether the container of a pod still has one of the GPUs of the host. Nil: nothing is to be held.
	Held func(hostID string, devices []string) bool
	// Login opens the credential for a private image.
	Login func(context.Context, compute.RegistryID) (compute.Login, error)
	// Secrets opens those that an endpoint's environment refers to; nil: there are none.
	Secrets OpenSecrets
	// Demand is the hint that an endpoint may need more or fewer workers; nil: the loop's own, see Workers.Hint.
	Demand Hint
}

// Workers starts workers for waiting jobs and stops idle ones. It alone decides.
type Workers struct {
	Fleet
	deciding sync.Mutex    // held over a Step: two at once would start a worker each for the same job
	adopted  map[bool]bool // whether the workers of before were taken up: of declared endpoints, and of others
	watched  time.Time     // when the runtimes were last asked about every worker
	reviewed time.Time     // when it was last looked for what nobody knows
	mu       sync.Mutex
	workers  map[compute.WorkerID]worker
	pauses   map[compute.EndpointID]pause
	missing  map[compute.EndpointID][]compute.WorkerID // the ids that those get who should be there
	stops    sync.WaitGroup
}

type worker struct {
	endpoint compute.EndpointID
	host     string // empty: it holds none
	key      compute.KeyID
	runtime  runtime.Runtime
	started  time.Time
	up       bool
	stopping bool                 // somebody sees to its end
	left     bool                 // its end was seen to, but something of it could not be removed
	told     bool                 // the log has that
	end      *compute.EndedWorker // what is kept of it once it has ended; nil: not known yet
}

// pause is why an endpoint gets no worker now.
type pause struct {
	length time.Duration // of the last backoff
	until  time.Time
	status compute.WorkerStatus
	reason string
}

// NewWorkers makes the loop.
func NewWorkers(f Fleet) *Workers {
	if f.Demand == nil {
		f.Demand = NewHint()
	}
	return &Workers{
		Fleet: f, adopted: map[bool]bool{}, workers: map[compute.WorkerID]worker{},
		pauses: map[compute.EndpointID]pause{}, missing: map[compute.EndpointID][]compute.WorkerID{},
	}
}

// Hint asks for a new decision, soon.
func (l *Workers) Hint() { l.Demand.Give() }

// Run works until ctx ends, then stops every worker.
func (l *Workers) Run(ctx context.Context) {
	for {
		l.Step(ctx)
		tick, stop := l.Clock.After(workerTick)
		select {
		case <-ctx.Done():
			stop()
			l.stopAll()
			return
		case <-tick:
		case id := <-l.Local.Ended():
			l.inspect(ctx, compute.WorkerID(id))
		case id := <-l.Runtime.Ended():
			l.inspect(ctx, compute.WorkerID(id))
		case <-l.Demand:
		}
		stop()
	}
}

// Step takes up what was there before, looks how the workers are, and decides for every endpoint.
func (l *Workers) Step(ctx context.Context) {
	l.deciding.Lock()
	defer l.deciding.Unlock()
	l.adopt(ctx)
	if now := l.Clock.Now(); now.Sub(l.watched) >= watchTick {
		l.watched = now
		for _, id := range l.ids() {
			l.inspect(ctx, id)
			l.forgetAgain(id)
		}
	}
	demands := l.Queue.Demands()
	for _, d := range demands {
		if l.adopted[d.Endpoint.Declared] {
			l.scale(ctx, d)
		}
	}
	l.forgetPauses(demands)
}

// forgetPauses forgets the pauses of endpoints that are no more, and those that have been over for long.
func (l *Workers) forgetPauses(demands []queue.Demand) {
	there := map[compute.EndpointID]bool{}
	for _, d := range demands {
		there[d.Endpoint.ID] = !d.Gone
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Clock.Now()
	maps.DeleteFunc(l.pauses, func(id compute.EndpointID, p pause) bool { return !there[id] || now.Sub(p.until) > pauseMemory })
}

func (l *Workers) ids() (ids []compute.WorkerID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.workers {
		ids = append(ids, id)
	}
	return ids
}

// Next gives when Step may decide otherwise next, if nothing happens before: a worker has idled long enough or was not heard
// of for too long, or a pause is over. Zero if nothing is planned.
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
			if w.Status == compute.WorkerIdle {
				note(w.IdleSince.Add(d.Endpoint.IdleTimeout))
			}
		}
		if d.Waiting > 0 && d.Overdue == 0 && d.Endpoint.WorkersMax > 0 {
			note(now.Add(workerTick)) // until the first one is overdue
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.workers {
		note(w.started.Add(initLimit))
	}
	for _, p := range l.pauses {
		note(p.until)
	}
	return next
}

// scale carries out what is decided for one endpoint.
func (l *Workers) scale(ctx context.Context, d queue.Demand) {
	e, now := d.Endpoint, l.Clock.Now()
	l.giveUp(d, now)
	out := decide(d, now)
	for _, id := range out.stop {
		l.stop(e.ID, id, ending{why: "the worker was not needed any more, or was to be replaced"})
	}
	ids := l.idsFor(e.ID, out.start)
	if len(ids) > 0 && e.Declared && l.Undeclared != nil && l.Undeclared(e.ID) {
		l.rest(e.ID, now)
	}
	for len(ids) > 0 && !now.Before(l.pauseOf(e.ID).until) {
		err := l.start(ctx, e, ids[0])
		switch {
		case err == nil:
			ids = ids[1:]
		case errors.Is(err, control.ErrFull):
			l.throttle(d, err)
		default:
			l.Log.Error("worker could not be started", "endpoint", e.ID, "waiting", d.Waiting, "error", err)
			l.backOff(e.ID, err.Error())
		}
	}
	l.setMissing(e.ID, ids)
}

// idsFor gives the ids of so many workers to be started: first those that could not be started before.
func (l *Workers) idsFor(e compute.EndpointID, n int) []compute.WorkerID {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := l.missing[e]
	ids = ids[:min(n, len(ids))]
	for len(ids) < n {
		ids = append(ids, l.IDs.Worker())
	}
	return ids
}

// setMissing tells the queue which workers should be there and why they are not.
func (l *Workers) setMissing(e compute.EndpointID, ids []compute.WorkerID) {
	l.mu.Lock()
	p := l.pauses[e]
	if len(ids) == 0 {
		delete(l.missing, e)
	} else {
		l.missing[e] = ids
	}
	l.mu.Unlock()
	var absent []queue.Absent
	for _, id := range ids {
		absent = append(absent, queue.Absent{ID: id, Status: cmp.Or(p.status, compute.WorkerThrottled), Reason: p.reason})
	}
	l.Queue.SetAbsent(e, absent)
}

// unheard is the ending of a worker that was started and said nothing.
var unheard = ending{why: "the worker was not heard of within " + initLimit.String(), alone: true}

// giveUp ends the workers that were started and never heard of.
func (l *Workers) giveUp(d queue.Demand, now time.Time) {
	for _, w := range d.Workers {
		l.mu.Lock()
		known, ok := l.workers[w.ID]
		l.mu.Unlock()
		if ok && w.Status == compute.WorkerInitializing && !w.Draining && now.Sub(known.started) >= initLimit {
			l.Log.Error("worker was never heard of", "endpoint", d.Endpoint.ID, "worker", w.ID, "after", initLimit)
			l.backOff(d.Endpoint.ID, "worker "+string(w.ID)+": "+unheard.why)
			l.stop(d.Endpoint.ID, w.ID, unheard)
		}
	}
}

func (l *Workers) pauseOf(e compute.EndpointID) pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pauses[e]
}

// throttle notes that nothing can hold a worker now, and says so unless it did already.
func (l *Workers) throttle(d queue.Demand, why error) {
	reason := why.Error()
	if e := (&compute.Error{}); errors.As(why, &e) {
		reason = e.Detail
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pauses[d.Endpoint.ID]
	if p.reason != reason {
		l.Log.Warn("workers are throttled", "endpoint", d.Endpoint.ID, "waiting", d.Waiting, "reason", reason)
	}
	p.until, p.status, p.reason = l.Clock.Now().Add(fullPause), compute.WorkerThrottled, reason
	l.pauses[d.Endpoint.ID] = p
}

func (l *Workers) backOff(e compute.EndpointID, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pauses[e]
	p.length = min(max(firstBackoff, 2*p.length), lastBackoff)
	p.until, p.status, p.reason = l.Clock.Now().Add(p.length), compute.WorkerUnhealthy, reason
	l.pauses[e] = p
}

// rest notes that the settings of this start of the server do not declare the endpoint: no worker is started, and its jobs wait.
func (l *Workers) rest(e compute.EndpointID, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pauses[e] = pause{
		until: now.Add(lastBackoff), status: compute.WorkerUnhealthy,
		reason: "the server was started without the command of its workers: declare the endpoint again, or delete it",
	}
}

// Replace has the workers of an endpoint replaced, each as soon as it holds no job, and at once where workers had failed.
func (l *Workers) Replace(e compute.EndpointID) {
	l.resetBackoff(e)
	l.Queue.Replace(e)
	l.Hint()
}

func (l *Workers) resetBackoff(e compute.EndpointID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pauses, e)
}

// stopAll ends every worker when the server stops. What cannot be ended now is ended after the next start.
func (l *Workers) stopAll() {
	for _, id := range l.ids() {
		l.forgetAgain(id)
		w, mine := l.claim(id)
		if !mine {
			continue
		}
		l.Queue.Drain(w.endpoint, id)
		l.stops.Go(func() { l.end(id, w, ending{why: "the server was stopped"}) })
	}
	l.stops.Wait()
}
