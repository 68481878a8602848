package queue

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// hear notes a sign of life: the leases of the jobs that the worker holds are not extended by it, only by a ping that
// names them. The caller has the lock.
func (q *Queue) hear(l *line, w compute.WorkerID) *seat {
	s := l.seat(w)
	now := q.clock.Now()
	if !s.heard {
		s.heard, s.idleSince = true, now
	}
	s.lastHeard = now
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

// Ping extends the leases of those named jobs that the worker holds.
func (q *Queue) Ping(user compute.UserID, e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.line(user, e)
	if err != nil {
		return err
	}
	q.hear(l, w).pinged = true
	for _, id := range ids {
		q.extendHeld(id, w)
	}
	return nil
}

// extend renews the lease of one job: a report of the job is a sign of its life.
func (q *Queue) extend(id compute.JobID, w compute.WorkerID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.extendHeld(id, w)
}

func (q *Queue) extendHeld(id compute.JobID, w compute.WorkerID) {
	if h := q.held[id]; h != nil && h.worker == w {
		h.lease = q.clock.Now().Add(q.settings.Lease)
	}
}

// Unhealthy notes why a worker is about to exit. It is no sign of life.
func (q *Queue) Unhealthy(user compute.UserID, e compute.EndpointID, w compute.WorkerID, reason string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.line(user, e)
	if err == nil {
		l.seat(w).unhealthy = reason
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
		ids := s.stops
		s.stops = nil
		q.mu.Unlock()
		if len(ids) > 0 {
			return ids, nil
		}
		select {
		case <-s.stopped:
		case <-timeout:
			return nil, nil
		case <-s.drain:
			return nil, nil
		case <-q.closed:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// stop tells the worker to stop a job. The caller has the lock.
func (s *seat) stop(id compute.JobID) {
	s.stops = append(s.stops, id)
	select {
	case s.stopped <- struct{}{}:
	default:
	}
}

// Demand is what an endpoint's scaling is decided on.
type Demand struct {
	Endpoint compute.Endpoint
	Waiting  int // normal jobs in the queue: low-priority ones start no worker
	Low      int
	Held     int
	Workers  []WorkerView // those that berth started
}

// WorkerView is one worker as the queue sees it.
type WorkerView struct {
	ID        compute.WorkerID
	Status    compute.WorkerStatus
	Draining  bool
	IdleSince time.Time
}

// Demands gives the demand of every endpoint.
func (q *Queue) Demands() []Demand {
	q.mu.Lock()
	defer q.mu.Unlock()
	var demands []Demand
	for _, l := range q.lines {
		d := Demand{Endpoint: l.endpoint}
		d.Waiting, d.Low = l.waiting()
		for id, s := range l.seats {
			d.Held += len(s.jobs)
			if s.managed {
				d.Workers = append(d.Workers, WorkerView{ID: id, Status: s.status(), Draining: s.draining, IdleSince: s.idleSince})
			}
		}
		demands = append(demands, d)
	}
	return demands
}

// WorkerStarted notes that berth is starting the worker.
func (q *Queue) WorkerStarted(e compute.EndpointID, w compute.WorkerID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[e]; l != nil {
		l.seat(w).managed = true
	}
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
	if !s.draining {
		s.draining = true
		close(s.drain)
	}
	return true
}

// WorkerGone forgets a worker that has ended, and puts the jobs that it held back in the queue or, with their attempts
// spent, fails them.
func (q *Queue) WorkerGone(ctx context.Context, e compute.EndpointID, w compute.WorkerID) {
	q.mu.Lock()
	var ids []compute.JobID
	for id, h := range q.held {
		if h.endpoint == e && h.worker == w {
			ids = append(ids, id)
		}
	}
	q.mu.Unlock()
	for _, id := range ids {
		q.lost(ctx, e, id, w, "the worker ended")
	}
	q.mu.Lock()
	if l := q.lines[e]; l != nil {
		delete(l.seats, w)
	}
	q.mu.Unlock()
	q.demand()
}

// lost takes a job from a worker that was not heard of (rules queue.lease, queue.attempts).
func (q *Queue) lost(ctx context.Context, e compute.EndpointID, id compute.JobID, w compute.WorkerID, why string) {
	gaveUp := false
	_ = q.end(ctx, e, id, w, func(j *compute.Job) compute.JobEvent {
		if j.Attempt < q.settings.MaxAttempts {
			return "" // no row: it goes back to the queue below
		}
		gaveUp = true
		j.Error = "gave up after " + plural(j.Attempt, "attempt") + ": " + why
		return compute.JobGiveUp
	})
	if !gaveUp {
		q.giveBack(id, w, func(j *compute.Job) { j.Retries++ }, w)
	}
}
