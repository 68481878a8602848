package loop

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
)

// workerTick is how late an idle timeout may be noticed.
const workerTick = 250 * time.Millisecond

// The pause before an endpoint whose workers end by themselves gets the next one doubles from the first to the last.
const (
	firstBackoff = time.Second
	lastBackoff  = time.Minute
)

// initLimit is how long a worker may take from its start to its first word.
const initLimit = 7 * time.Minute

// Fleet is what the workers loop works with.
type Fleet struct {
	Queue   *queue.Queue
	Keyring *control.Keyring
	Runtime runtime.Runtime
	IDs     *compute.IDs
	Clock   compute.Clock
	Log     *slog.Logger
	URL     func() string // base of the queue, as workers reach it
}

// Workers starts workers for waiting jobs and stops idle ones. It alone decides.
type Workers struct {
	Fleet
	wake     chan struct{}
	deciding sync.Mutex // held over a Step: two at once would start a worker each for the same job
	mu       sync.Mutex
	workers  map[compute.WorkerID]worker
	backoff  map[compute.EndpointID]backoff
	stops    sync.WaitGroup
}

type worker struct {
	endpoint compute.EndpointID
	key      compute.KeyID
	started  time.Time
	stopping bool
}

type backoff struct {
	pause time.Duration
	until time.Time
}

// NewWorkers makes the loop.
func NewWorkers(f Fleet) *Workers {
	return &Workers{
		Fleet: f, wake: make(chan struct{}, 1),
		workers: map[compute.WorkerID]worker{}, backoff: map[compute.EndpointID]backoff{},
	}
}

// Hint asks for a new decision, soon.
func (l *Workers) Hint() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends, then stops every worker. It begins by putting the jobs of the workers of an earlier run back
// in the queue: those processes ended with it.
func (l *Workers) Run(ctx context.Context) {
	for _, k := range l.Keyring.Keys(true) {
		for _, d := range l.Queue.Demands() {
			if k.Allows(compute.ScopeWork(d.Endpoint.ID)) {
				l.Queue.WorkerGone(ctx, d.Endpoint.ID, k.WorkerID)
			}
		}
		if err := l.Keyring.Delete(ctx, k.ID); err != nil {
			l.Log.Error("key of an earlier worker", "worker", k.WorkerID, "error", err)
		}
	}
	for {
		l.Step(ctx)
		tick, stop := l.Clock.After(workerTick)
		select {
		case <-ctx.Done():
			stop()
			l.stopAll()
			return
		case <-tick:
		case id := <-l.Runtime.Ended():
			stop()
			l.ended(ctx, compute.WorkerID(id))
		case <-l.wake:
			stop()
		}
	}
}

// Step decides for every endpoint.
func (l *Workers) Step(ctx context.Context) {
	l.deciding.Lock()
	defer l.deciding.Unlock()
	for _, d := range l.Queue.Demands() {
		l.scale(ctx, d)
	}
}

// Next gives when Step may decide otherwise next, if nothing happens before: a worker has idled long enough, or a pause is
// over. Zero if nothing is planned.
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
	for _, b := range l.backoff {
		note(b.until)
	}
	return next
}

// scale carries out what is decided for one endpoint.
func (l *Workers) scale(ctx context.Context, d queue.Demand) {
	e, now := d.Endpoint, l.Clock.Now()
	l.giveUp(d, now)
	out := decide(d, now)
	for _, id := range out.stop {
		l.stop(e.ID, id)
	}
	l.mu.Lock()
	paused := now.Before(l.backoff[e.ID].until)
	l.mu.Unlock()
	missing := out.start
	for ; missing > 0 && !paused; missing-- {
		if err := l.start(ctx, e); err != nil {
			l.Log.Error("worker could not be started", "endpoint", e.ID, "waiting", d.Waiting, "error", err)
			l.backOff(e.ID)
			break
		}
	}
	l.Queue.Throttled(e.ID, missing)
}

// giveUp ends the workers that were started and never heard of.
func (l *Workers) giveUp(d queue.Demand, now time.Time) {
	for _, w := range d.Workers {
		l.mu.Lock()
		known, ok := l.workers[w.ID]
		l.mu.Unlock()
		if ok && w.Status == compute.WorkerInitializing && !w.Draining && now.Sub(known.started) >= initLimit {
			l.Log.Error("worker was never heard of", "endpoint", d.Endpoint.ID, "worker", w.ID, "after", initLimit)
			l.backOff(d.Endpoint.ID)
			l.stop(d.Endpoint.ID, w.ID)
		}
	}
}

// start gives a new worker its key and its environment: the documented one, with the placeholders that SDK workers fill
// in. $ID is the worker's id in the take URL and the job's id in the URLs of reports.
func (l *Workers) start(ctx context.Context, e compute.Endpoint) error {
	id := l.IDs.Worker()
	key, token, err := l.Keyring.Create(ctx, control.NewKey{
		UserID: e.UserID, Name: "worker " + string(id), WorkerID: id, Scopes: []compute.Scope{compute.ScopeWork(e.ID)},
	})
	if err != nil {
		return err
	}
	base := l.URL() + "/v2/" + string(e.ID)
	env := maps.Clone(e.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, map[string]string{
		"RUNPOD_WEBHOOK_GET_JOB":         base + "/job-take/$ID?gpu=none",
		"RUNPOD_WEBHOOK_POST_OUTPUT":     base + "/job-done/$RUNPOD_POD_ID/$ID?gpu=none",
		"RUNPOD_WEBHOOK_POST_STREAM":     base + "/job-stream/$RUNPOD_POD_ID/$ID?gpu=none",
		"RUNPOD_WEBHOOK_PING":            base + "/ping/$RUNPOD_POD_ID?gpu=none",
		"RUNPOD_PING_INTERVAL":           "10000", // milliseconds; below 1000 the SDK's pinger dies
		"RUNPOD_AI_API_KEY":              token,
		"RUNPOD_POD_ID":                  string(id),
		"RUNPOD_POD_HOSTNAME":            string(id),
		"RUNPOD_ENDPOINT_ID":             string(e.ID),
		"RUNPOD_SKIP_AUTO_SYSTEM_CHECKS": "true", // they ask a public address and need a GPU
		"RUNPOD_SKIP_GPU_CHECK":          "true",
	})
	l.mu.Lock()
	l.workers[id] = worker{endpoint: e.ID, key: key.ID, started: l.Clock.Now()}
	l.mu.Unlock()
	l.Queue.WorkerStarted(e.ID, id)
	if err := l.Runtime.Start(ctx, runtime.Allocation{ID: string(id), Image: e.Image, Env: env}); err != nil {
		l.forget(ctx, id)
		return err
	}
	l.Log.Info("worker started", "endpoint", e.ID, "worker", id)
	return nil
}

// stop drains the worker, then ends its process. Its polls end first: a job given to a worker that was told to end would be
// lost (the SDK takes it and never runs it).
func (l *Workers) stop(e compute.EndpointID, id compute.WorkerID) {
	if !l.Queue.Drain(e, id) {
		return // it took a job in this moment
	}
	l.mu.Lock()
	w, ok := l.workers[id]
	if !ok || w.stopping {
		l.mu.Unlock()
		return
	}
	w.stopping = true
	l.workers[id] = w
	l.mu.Unlock()
	l.stops.Go(func() {
		ctx := context.Background()
		if err := l.Runtime.Stop(ctx, string(id), stopGrace); err != nil {
			l.Log.Error("worker could not be stopped", "worker", id, "error", err)
		}
		l.Log.Info("worker stopped", "endpoint", e, "worker", id)
		l.forget(ctx, id)
	})
}

// ended sees to a worker whose process ended by itself.
func (l *Workers) ended(ctx context.Context, id compute.WorkerID) {
	l.mu.Lock()
	w, ok := l.workers[id]
	l.mu.Unlock()
	if !ok || w.stopping {
		return
	}
	state, _ := l.Runtime.Inspect(ctx, string(id))
	l.Log.Warn("worker ended by itself", "endpoint", w.endpoint, "worker", id, "exit", state.ExitCode)
	if state.ExitCode == 0 || l.Clock.Now().Sub(w.started) > lastBackoff {
		l.resetBackoff(w.endpoint)
	}
	if state.ExitCode != 0 {
		l.backOff(w.endpoint)
	}
	l.forget(ctx, id)
}

// forget removes every trace of a worker whose process has ended.
func (l *Workers) forget(ctx context.Context, id compute.WorkerID) {
	l.mu.Lock()
	w := l.workers[id]
	delete(l.workers, id)
	l.mu.Unlock()
	if err := l.Runtime.Remove(ctx, string(id)); err != nil {
		l.Log.Error("worker could not be removed", "worker", id, "error", err)
	}
	if err := l.Keyring.Delete(ctx, w.key); err != nil {
		l.Log.Error("worker's key could not be deleted", "worker", id, "error", err)
	}
	l.Queue.WorkerGone(ctx, w.endpoint, id)
}

func (l *Workers) backOff(e compute.EndpointID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.backoff[e]
	b.pause = min(max(firstBackoff, 2*b.pause), lastBackoff)
	b.until = l.Clock.Now().Add(b.pause)
	l.backoff[e] = b
}

func (l *Workers) resetBackoff(e compute.EndpointID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.backoff, e)
}

// stopAll ends every worker when the server stops.
func (l *Workers) stopAll() {
	l.mu.Lock()
	all := maps.Clone(l.workers)
	l.mu.Unlock()
	for id, w := range all {
		if w.stopping {
			continue
		}
		l.Queue.Drain(w.endpoint, id)
		l.stops.Go(func() {
			ctx := context.Background()
			_ = l.Runtime.Stop(ctx, string(id), stopGrace)
			l.forget(ctx, id)
		})
	}
	l.stops.Wait()
}
