package queue

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// The limits of requests to endpoints that balance load. They bound the connections that requests hold, which are the server's and not one
// endpoint's alone.
const (
	mostRequests   = 2048 // waiting or in progress, of all endpoints
	mostOfUser     = 1536 // of those of one user, who may fill one endpoint and use others still
	mostOfEndpoint = 1024 // of one
	mostOfWorker   = 512  // in progress
)

// Why a request to an endpoint that balances load gets no worker.
var (
	ErrNoWorker      = errors.New("no worker of the endpoint could take the request in time")
	ErrWorkerGone    = errors.New("the worker that the request asks for is none of the endpoint's, or is about to end")
	ErrWorkerTimeout = errors.New("the worker that the request asks for could not take it in time")
	ErrCrowded       = errors.New("too many requests wait or are in progress")
)

// Wish says which worker a request is to go to; the zero Wish says any.
type Wish struct {
	Worker compute.WorkerID // empty: any
	Strict bool             // and no other
}

// Turn is a request at a worker.
type Turn struct {
	Worker compute.WorkerID

	q       *Queue
	d       *dispatcher
	s       *workerState
	user    compute.UserID // who asked
	entered bool           // it counts among the endpoint's, and the user's
}

// request is a request that waits for a worker. given is buffered, so that giving never blocks.
type request struct {
	wish  Wish
	until time.Time
	given chan offer
}

// offer is what a request that waits gets: a worker, or why it gets none.
type offer struct {
	s   *workerState
	id  compute.WorkerID
	err error
}

// Condition is what the health check of a worker of an endpoint that balances load says.
type Condition int

// The conditions.
const (
	Healthy     Condition = iota
	Loading               // it answers that it is not ready yet
	Unhealthy             // it answers anything else
	Unreachable           // it does not answer: it is not up yet, or no more
)

// Enter gives a request to an endpoint that balances load a worker: a healthy one, that with the fewest requests, of those the one that
// has idled longest. While there is none it waits, and has one started. Over must be called once the request is answered.
// NotFound for an unknown endpoint, for somebody else's and for one with a queue; else one of the errors above, or that of ctx.
func (q *Queue) Enter(ctx context.Context, user compute.UserID, e compute.EndpointID, wish Wish) (*Turn, error) {
	q.mu.Lock()
	d, err := q.balanced(user, e)
	if err == nil && (d.entered >= mostOfEndpoint || !q.entered.Enter(user, mostRequests, mostOfUser)) {
		err = ErrCrowded
	}
	if err != nil {
		q.mu.Unlock()
		return nil, err
	}

	d.entered++
	t := &Turn{q: q, d: d, user: user, entered: true}
	err = t.wait(ctx, wish)
	if err != nil {
		t.leave()
		return nil, err
	}
	return t, nil
}

// Again gives the request another turn, since the worker of this one could not be reached: nothing of the request was sent.
func (t *Turn) Again(ctx context.Context, wish Wish) error {
	t.q.mu.Lock()
	t.release()
	return t.wait(ctx, wish)
}

// Over notes that the request was answered, or that it failed.
func (t *Turn) Over(failed bool) {
	t.q.mu.Lock()
	if failed {
		t.d.counts.Failed++
	} else {
		t.d.counts.Completed++
	}
	t.release()
	t.q.mu.Unlock()
	t.leave()
}

// leave has the request count no more. The caller does not have the lock.
func (t *Turn) leave() {
	t.q.mu.Lock()
	if t.entered {
		t.entered = false
		t.q.entered.Leave(t.user)
		t.d.entered--
	}
	t.q.mu.Unlock()
	t.q.hooks.Demand()
}

// release takes the request from its worker, which others may have. The caller has the lock.
func (t *Turn) release() {
	if t.s == nil {
		return
	}
	if t.s.requests--; t.s.requests == 0 {
		t.s.idleSince = t.q.clock.Now()
	}
	t.s = nil
	t.d.serve()
}

// wait waits for a worker. The caller has the lock, which is given back.
func (t *Turn) wait(ctx context.Context, wish Wish) error {
	q, d := t.q, t.d
	if s, id := d.free(wish); s != nil {
		t.take(offer{s: s, id: id})
		q.mu.Unlock()
		q.hooks.Demand()
		return nil
	}
	if err := d.hopeless(wish); err != nil {
		q.mu.Unlock()
		return err
	}

	patience, late := q.settings.RequestWait, ErrNoWorker
	if wish.Strict {
		patience, late = strictWait, ErrWorkerTimeout
	}
	r := &request{wish: wish, until: q.clock.Now().Add(patience), given: make(chan offer, 1)}
	d.requests = append(d.requests, r)
	timeout, stop := compute.Await(q.clock, patience) // before anybody can see that it waits, and set the clock
	defer stop()
	q.mu.Unlock()
	q.hooks.Demand()

	var err error
	select {
	case o := <-r.given:
		if o.err == nil {
			t.s, t.Worker = o.s, o.id
		}
		return o.err
	case <-timeout:
		err = late
	case <-q.closed:
		err = compute.Errorf(compute.Unavailable, "the server is about to stop")
	case <-compute.Leaving(ctx):
		err = compute.Errorf(compute.Unavailable, "the server is about to stop")
	case <-ctx.Done():
		err = ctx.Err()
	}
	return t.withdraw(r, err)
}

// strictWait is how long a request waits for the one worker that it asks for (rule balance.affinity.timeout).
const strictWait = 5 * time.Minute

// withdraw takes a request back that waits no longer, and gives why; nil if it got a worker in this moment.
func (t *Turn) withdraw(r *request, why error) error {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.d.requests = slices.DeleteFunc(t.d.requests, func(other *request) bool { return other == r })
	select {
	case o := <-r.given:
		if o.err != nil {
			return o.err
		}
		t.s, t.Worker = o.s, o.id
		if errors.Is(why, context.Canceled) || errors.Is(why, context.DeadlineExceeded) {
			t.release()
			return why
		}
		return nil
	default:
		return why
	}
}

// take notes that the request is the worker's. The caller has the lock.
func (t *Turn) take(o offer) {
	o.s.requests++
	t.s, t.Worker = o.s, o.id
}

// balanced gives the dispatcher of an endpoint that balances load. NotFound for any other. The caller has the lock.
func (q *Queue) balanced(user compute.UserID, id compute.EndpointID) (*dispatcher, error) {
	d, err := q.any(user, id)
	if err != nil {
		return nil, err
	}
	if d.endpoint.Type != compute.LoadBalancer {
		return nil, compute.Errorf(compute.NotFound, "endpoint %q has a queue, and no workers to send requests to: its type is %s", id, d.endpoint.Type)
	}
	return d, nil
}

// Serving gives where a worker of an endpoint listens: as the release says that it is made of, whatever the latest one says. Of a worker
// of an earlier release that was taken up after a restart only the latter is known.
func (q *Queue) Serving(e compute.EndpointID, w compute.WorkerID) compute.Serving {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil {
		return d.serving(w)
	}
	return compute.Endpoint{}.Serving()
}

// serving is Serving. The caller has the lock.
func (d *dispatcher) serving(w compute.WorkerID) compute.Serving {
	if s := d.workers[w]; s != nil && s.serving != (compute.Serving{}) {
		return s.serving
	}
	return d.endpoint.Serving()
}

// serves reports whether the worker gets new requests.
func (s *workerState) serves() bool {
	return s.managed && s.seen && s.unhealthy == "" && !s.draining && !s.leaving
}

// free gives the worker that a request goes to; nil if there is none now. The caller has the lock.
func (d *dispatcher) free(wish Wish) (best *workerState, id compute.WorkerID) {
	takes := func(s *workerState) bool { return s != nil && s.serves() && s.requests < mostOfWorker }
	if wish.Worker != "" {
		if s := d.workers[wish.Worker]; takes(s) {
			return s, wish.Worker
		}
		if wish.Strict {
			return nil, ""
		}
	}

	for other, s := range d.workers {
		if !takes(s) {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(s.requests, best.requests), s.idleSince.Compare(best.idleSince), cmp.Compare(other, id)) < 0 {
			best, id = s, other
		}
	}
	return best, id
}

// hopeless gives why a request need not wait; nil if it may get a worker yet. The caller has the lock.
func (d *dispatcher) hopeless(wish Wish) error {
	if d.gone {
		return compute.Errorf(compute.NotFound, "endpoint %q does not exist", d.endpoint.ID)
	}
	if wish.Strict {
		s := d.workers[wish.Worker]
		if s == nil || s.draining || s.leaving {
			return ErrWorkerGone
		}
		return nil
	}
	if d.endpoint.WorkersMax > 0 {
		return nil
	}
	for _, s := range d.workers {
		if !s.draining && !s.leaving {
			return nil
		}
	}
	return ErrNoWorker
}

// serve gives workers to the requests that wait, those first that have waited longest, and ends the wait of those that can have none. The
// caller has the lock.
func (d *dispatcher) serve() {
	d.requests = slices.DeleteFunc(d.requests, func(r *request) bool {
		if s, id := d.free(r.wish); s != nil {
			s.requests++
			r.given <- offer{s: s, id: id}
			return true
		}
		if err := d.hopeless(r.wish); err != nil {
			r.given <- offer{err: err}
			return true
		}
		return false
	})
}

// inProgress is how many requests the workers have. The caller has the lock.
func (d *dispatcher) inProgress() (n int) {
	for _, s := range d.workers {
		n += s.requests
	}
	return n
}

// Served is a worker of an endpoint that balances load, as far as its health goes.
type Served struct {
	User     compute.UserID // whose it is
	Endpoint compute.EndpointID
	Worker   compute.WorkerID
	At       compute.Serving // where it listens
	Ready    bool            // it was healthy when it was asked last
}

// Served gives the workers whose health is to be checked: those that are not about to end.
func (q *Queue) Served() (all []Served) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for e, d := range q.dispatchers {
		if d.endpoint.Type != compute.LoadBalancer {
			continue
		}
		for id, s := range d.workers {
			if s.managed && !s.draining && !s.leaving {
				all = append(all, Served{d.endpoint.UserID, e, id, d.serving(id), s.serves()})
			}
		}
	}
	return all
}

// SetCondition notes how a worker of an endpoint that balances load is; detail says it for people. A worker that was healthy once and is not
// reached any more is unhealthy, and one that never was is still on its way.
func (q *Queue) SetCondition(e compute.EndpointID, w compute.WorkerID, c Condition, detail string) {
	q.mu.Lock()
	d := q.dispatchers[e]
	if d == nil || d.workers[w] == nil || d.endpoint.Type != compute.LoadBalancer {
		q.mu.Unlock()
		return
	}

	s := d.workers[w]
	served, now := s.serves(), q.clock.Now()
	switch {
	case c == Healthy:
		if !s.seen {
			s.idleSince = now
		}
		s.seen, s.proven, s.unhealthy, s.waits, s.lastSeen, s.sick = true, true, "", "", now, time.Time{}
	case c == Loading || c == Unreachable && !s.proven:
		s.seen, s.unhealthy, s.waits = false, "", detail
	default:
		s.unhealthy = cmp.Or(detail, "its health check fails")
	}
	if c != Healthy && s.sick.IsZero() {
		s.sick = now
	}

	d.serve()
	changed := served != s.serves()
	q.mu.Unlock()
	if changed {
		q.hooks.Demand()
	}
}
