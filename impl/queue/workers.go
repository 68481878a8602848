package queue

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// hear notes a sign of life. It extends the leases of the jobs that the worker holds as long as it never pings, as one does that
// was started without what it takes to ping; of one that pings, only a ping that names a job does, or a report of the job
// (rules queue.lease.ping, queue.lease.sign). The caller has the lock.
func (q *Queue) hear(l *line, w compute.WorkerID) *seat {
	s := l.seat(w)
	now := q.clock.Now()
	if !s.heard {
		s.heard, s.idleSince = true, now
	}
	s.lastHeard = now
	if !s.pinged {
		for id := range s.jobs {
			if h := q.held[id]; h != nil && h.worker == w {
				h.until = now.Add(q.settings.Lease)
			}
		}
	}
	return s
}

func (q *Queue) heardOf(user compute.UserID, e compute.EndpointID, w compute.WorkerID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.line(user, e)
	if err == nil {
		q.hear(l, w)
	}
	return err
}

// Ping extends the leases of those named jobs that the worker holds. A job that it lost and does not name it may have again.
func (q *Queue) Ping(user compute.UserID, e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.line(user, e)
	if err != nil {
		return err
	}
	l.seat(w).pinged = true // from its first one on, its pings alone count
	s := q.hear(l, w)
	for id := range l.lost {
		if !slices.Contains(ids, id) {
			l.stopped(w, id)
		}
	}
	s.named = ids
	s.stillRuns(ids, q.clock.Now())
	for _, id := range ids {
		q.extendHeld(e, id, w)
	}
	l.wake()
	return nil
}

// extend renews the lease of one job, since a report of the job is a sign of its life, and tells whether the worker holds it.
func (q *Queue) extend(e compute.EndpointID, id compute.JobID, w compute.WorkerID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.extendHeld(e, id, w)
}

func (q *Queue) extendHeld(e compute.EndpointID, id compute.JobID, w compute.WorkerID) bool {
	h := q.held[id]
	holds := h != nil && h.endpoint == e && h.worker == w
	if holds {
		h.until = q.clock.Now().Add(q.settings.Lease)
	}
	return holds
}

// Unhealthy notes why a worker is about to exit. It is no sign of life: the leases of its jobs run on (rule
// queue.ping.unhealthy.lease).
func (q *Queue) Unhealthy(user compute.UserID, e compute.EndpointID, w compute.WorkerID, reason string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.line(user, e)
	if err == nil {
		s := l.seat(w)
		s.unhealthy, s.lastHeard = reason, q.clock.Now() // it counts as unhealthy until it is forgotten
	}
	return err
}

// Stops gives the jobs that the worker should stop, holding for the first one.
func (q *Queue) Stops(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID) ([]compute.JobID, error) {
	timeout, stop := q.clock.After(q.settings.TakeHold)
	defer stop()
	for {
		q.mu.Lock()
		l, err := q.line(user, e)
		if err != nil {
			q.mu.Unlock()
			return nil, err
		}
		s := q.hear(l, w)
		ids := s.tell()
		q.mu.Unlock()
		if len(ids) > 0 {
			return ids, nil
		}
		if over, err := q.awaitStop(ctx, s, timeout); over {
			return nil, err
		}
	}
}

// awaitStop holds a stop poll until there may be something to stop, or the poll is over.
func (q *Queue) awaitStop(ctx context.Context, s *seat, timeout <-chan time.Time) (over bool, err error) {
	defer q.Hold()()
	select {
	case <-s.stopped:
		return false, nil
	case <-timeout:
	case <-s.drain:
	case <-q.closed:
	case <-ctx.Done():
		return true, ctx.Err()
	}
	return true, nil
}

// mostStops is how many jobs a worker can be told to stop that has not asked: one that never asks makes the list no longer.
const mostStops = 1000

// stop tells the worker to stop a job. The caller has the lock.
func (s *seat) stop(id compute.JobID, now time.Time) {
	if len(s.stops) >= mostStops {
		s.stops = slices.Delete(s.stops, 0, 1)
	}
	s.stops = append(s.stops, stopping{id: id, since: now})
	select {
	case s.stopped <- struct{}{}:
	default:
	}
}

// tell gives the jobs to stop that the worker was not told of before.
func (s *seat) tell() (ids []compute.JobID) {
	for i := range s.stops {
		if !s.stops[i].told {
			s.stops[i].told = true
			ids = append(ids, s.stops[i].id)
		}
	}
	return ids
}

// stillRuns notes which jobs the worker names. One that it was told to stop and does not name has stopped; one that it still
// names after a while holds it up, as a handler does that nothing can interrupt: the worker is to be replaced.
func (s *seat) stillRuns(named []compute.JobID, now time.Time) {
	s.stops = slices.DeleteFunc(s.stops, func(j stopping) bool { return j.told && !slices.Contains(named, j.id) })
	for _, j := range s.stops {
		if j.told && s.managed && now.Sub(j.since) >= stopPatience {
			s.leaving = true
		}
	}
}

// hasEnded notes a worker's own report of a job's end: there is nothing left to stop.
func (s *seat) hasEnded(id compute.JobID) {
	s.stops = slices.DeleteFunc(s.stops, func(j stopping) bool { return j.id == id })
}

// Demand is what an endpoint's scaling is decided on.
type Demand struct {
	Endpoint compute.Endpoint
	Waiting  int          // jobs in the queue, but for those of low priority, which start no worker
	Overdue  int          // of these, those that have waited for the endpoint's queue delay; at most its WorkersMax
	Held     int          // jobs in progress, but for those of low priority
	Workers  []WorkerView // those that berth started
	Gone     bool         // the endpoint is deleted
}

// WorkerView is one worker as the queue sees it.
type WorkerView struct {
	ID        compute.WorkerID
	Status    compute.WorkerStatus
	Draining  bool // it is being stopped
	Leaving   bool // it is to be replaced as soon as it holds no job
	Stale     bool // it is made of an earlier release than the latest
	Unheard   bool // it has not said anything yet: of what waits, it has been offered nothing
	IdleSince time.Time
}

// stopPatience is how long a worker that berth started may leave a job to stop unasked for, or still run it.
const stopPatience = 10 * time.Second

// reported notes that the worker is done with a job, and may have it again. One that berth started and that asks to leave is to be replaced: it gets
// nothing more. Others end by themselves.
func (q *Queue) reported(e compute.EndpointID, w compute.WorkerID, id compute.JobID, leave bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[e]; l != nil {
		if s := l.seats[w]; s != nil {
			s.hasEnded(id)
			s.proven = true
			s.leaving = s.leaving || leave && s.managed
		}
		l.stopped(w, id)
		l.wake()
	}
}

// Proven tells whether the worker has reported the end of a job: what it is made of works.
func (q *Queue) Proven(e compute.EndpointID, w compute.WorkerID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[e]
	return l != nil && l.seats[w] != nil && l.seats[w].proven
}

// Demands gives the demand of every endpoint, in the order of their ids: the first ones get what room there is.
func (q *Queue) Demands() []Demand {
	now := q.clock.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	var demands []Demand
	for _, e := range slices.Sorted(maps.Keys(q.lines)) {
		l := q.lines[e]
		since := now.Add(-l.endpoint.QueueDelay())
		d := Demand{
			Endpoint: l.endpoint, Waiting: l.normal.len(), Overdue: l.normal.before(since.UnixMilli()+1, l.endpoint.WorkersMax), Gone: l.gone,
		}
		for _, id := range slices.Sorted(maps.Keys(l.seats)) {
			s := l.seats[id]
			for _, low := range s.jobs {
				if !low {
					d.Held++
				}
			}
			if !s.managed {
				continue
			}
			for _, j := range s.stops {
				if !j.told && now.Sub(j.since) >= stopPatience {
					s.leaving = true // it never asks what to stop, as old workers do not
				}
			}
			d.Workers = append(d.Workers, WorkerView{
				ID: id, Status: s.status(), Draining: s.draining, Leaving: s.leaving, IdleSince: s.idleSince,
				Stale: s.version < l.endpoint.Version, Unheard: !s.heard,
			})
		}
		demands = append(demands, d)
	}
	return demands
}

// WorkerStarted notes that berth is starting the worker, made of a version of the endpoint's releases.
func (q *Queue) WorkerStarted(e compute.EndpointID, w compute.WorkerID, version int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[e]; l != nil {
		s := l.seat(w)
		s.managed, s.version = true, version
	}
}

// WorkerUp notes that the container of a worker that berth started is up. That is all that is ever heard of a worker of an endpoint
// without a queue, and of one that says nothing since nothing runs in it: those are ready by that.
func (q *Queue) WorkerUp(e compute.EndpointID, w compute.WorkerID, silent bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[e]
	switch {
	case l == nil:
	case l.endpoint.Type == compute.LoadBalancer:
		q.hear(l, w)
	case silent:
		if s := l.seat(w); !s.heard {
			s.up, s.idleSince = true, q.clock.Now()
		}
	}
}

// Replace has every worker of the endpoint that berth started replaced, each as soon as it holds no job.
func (q *Queue) Replace(e compute.EndpointID) {
	q.mu.Lock()
	if l := q.lines[e]; l != nil {
		for _, s := range l.seats {
			s.leaving = s.leaving || s.managed
		}
	}
	q.mu.Unlock()
	q.hooks.Demand()
}

// Drain ends the polls of a worker that holds no job and leases it nothing more, so that it can be stopped without loss.
// It tells whether it did.
func (q *Queue) Drain(e compute.EndpointID, w compute.WorkerID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[e]
	if l == nil {
		return true
	}
	s := l.seat(w)
	if len(s.jobs) > 0 {
		return false
	}
	s.endPolls()
	return true
}

// endPolls ends what the worker waits for, and leases it nothing more. The caller has the lock.
func (s *seat) endPolls() {
	if !s.draining {
		s.draining = true
		close(s.drain)
	}
}

// WorkerGone forgets a worker that has ended, and puts the jobs that it held back in the queue or, with their attempts
// spent, fails them. Why it ended is one line, which clients of the queue read.
func (q *Queue) WorkerGone(ctx context.Context, e compute.EndpointID, w compute.WorkerID, why string) {
	for _, j := range q.heldThat(func(h *lease) bool { return h.endpoint == e && h.worker == w }) {
		lose := func(ctx context.Context) error { return q.lost(ctx, e, j.id, w, why) }
		if lose(ctx) != nil {
			q.doubt(e, lose)
		}
	}
	q.mu.Lock()
	if l := q.lines[e]; l != nil {
		delete(l.seats, w)
	}
	q.mu.Unlock()
	q.hooks.Demand()
}

// lost takes a job from a worker that was not heard of (rules queue.lease, queue.attempts). If that fails the worker still holds
// it: it is to be called again.
func (q *Queue) lost(ctx context.Context, e compute.EndpointID, id compute.JobID, w compute.WorkerID, why string) error {
	gaveUp := false
	_, err := q.end(ctx, e, id, w, compute.Job{}, nil, func(j *compute.Job) compute.JobEvent {
		if j.Attempt < q.settings.MaxAttempts {
			return "" // no row: it goes back to the queue below
		}
		gaveUp = true
		j.Error = "gave up after " + plural(j.Attempt, "attempt") + ": " + why
		return compute.JobGiveUp
	})
	if err != nil {
		return err
	}
	if !gaveUp {
		return q.giveBack(ctx, e, id, w, func(j *compute.Job) { j.Retries++ }, true)
	}
	q.mu.Lock()
	if l := q.lines[e]; l != nil {
		l.lose(id, w) // it may be retried
	}
	q.mu.Unlock()
	return nil
}
