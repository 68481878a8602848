package queue

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
)

// TakeNow is Take without a hold, for a worker that a script says what to do: it is told when to ask.
func (q *Queue) TakeNow(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int) ([]Taken, error) {
	if err := q.resolveAll(ctx, e); err != nil {
		return nil, err
	}

	q.mu.Lock()
	d, err := q.dispatcher(user, e)
	if err != nil {
		q.mu.Unlock()
		return nil, err
	}
	s := q.see(d, w)
	s.asked, s.unhealthy, s.scripted = true, "", true
	var ids []compute.JobID
	var was []waiting
	if !s.draining && !s.leaving {
		ids, was = d.pop(w, n, nil)
	}
	q.mu.Unlock()

	if len(ids) == 0 {
		return nil, nil
	}
	taken, err := q.takeJobs(ctx, e, w, s, ids, was)
	if err == nil {
		q.meterTaken(ctx, e, taken)
	}
	return taken, err
}

// StopsNow is Stops without a hold.
func (q *Queue) StopsNow(user compute.UserID, e compute.EndpointID, w compute.WorkerID) ([]compute.JobID, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d, err := q.dispatcher(user, e)
	if err != nil {
		return nil, err
	}
	return q.see(d, w).toStop(q.clock.Now()), nil
}

// Holds reports whether the worker holds the job.
func (q *Queue) Holds(e compute.EndpointID, id compute.JobID, w compute.WorkerID) bool {
	_, holds := q.heldBy(e, id, w)
	return holds
}
