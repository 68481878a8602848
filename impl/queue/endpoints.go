package queue

import (
	"cmp"
	"context"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// SetEndpoint makes an endpoint known, or its new settings.
func (q *Queue) SetEndpoint(e compute.Endpoint) {
	q.mu.Lock()
	if l := q.lines[e.ID]; l != nil {
		l.endpoint = e
	} else {
		q.lines[e.ID] = q.newLine(e)
	}
	q.mu.Unlock()
	q.hooks.Demand()
}

// RemoveEndpoint makes the endpoint unknown to clients and workers, cancels its jobs, and calls for its workers to be
// stopped. An unknown endpoint is no error. What a failure leaves is done by the sweeps.
func (q *Queue) RemoveEndpoint(ctx context.Context, id compute.EndpointID) error {
	err := q.removeEndpoint(ctx, id)
	if err != nil {
		q.doubt(id, func(ctx context.Context) error { return q.removeEndpoint(ctx, id) })
	}
	return err
}

func (q *Queue) removeEndpoint(ctx context.Context, id compute.EndpointID) error {
	q.mu.Lock()
	l := q.lines[id]
	if l == nil {
		q.mu.Unlock()
		return nil
	}
	l.gone, l.absent = true, nil
	q.mu.Unlock()
	if err := q.cancelAll(ctx, id, l); err != nil {
		return err
	}
	q.mu.Lock()
	for _, s := range l.seats {
		s.endPolls()
	}
	q.mu.Unlock()
	q.hooks.Demand()
	return nil
}

// cancelAll cancels every job of the endpoint.
func (q *Queue) cancelAll(ctx context.Context, e compute.EndpointID, l *line) error {
	for _, h := range q.heldThat(func(h *lease) bool { return h.endpoint == e }) {
		_, err := q.end(ctx, e, h.id, anyHolder, compute.Job{}, nil, func(*compute.Job) compute.JobEvent { return compute.JobCancel })
		if err != nil {
			return err
		}
	}
	_, err := q.purge(ctx, e, l)
	return err
}

// forgetGone forgets the deleted endpoints that have no workers any more. The caller has the lock.
func (q *Queue) forgetGone() {
	for id, l := range q.lines {
		if l.gone && len(l.seats) == 0 && l.waits() == 0 {
			delete(q.lines, id)
			if l.meter != nil {
				l.meter.Forget()
			}
		}
	}
}

// Absent is a worker that should be there, and why it cannot be started now.
type Absent struct {
	ID     compute.WorkerID
	Status compute.WorkerStatus // WorkerThrottled or WorkerUnhealthy
	Reason string
}

// SetAbsent replaces the workers of the endpoint that should be there and cannot be started now.
func (q *Queue) SetAbsent(e compute.EndpointID, absent []Absent) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[e]; l != nil && !l.gone {
		l.absent = absent
	}
}

// Sights tells how the endpoint's workers are seen now, those that somebody else started and those that are missing too,
// in the order of their ids.
func (q *Queue) Sights(e compute.EndpointID) (all []compute.WorkerSight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[e]
	if l == nil {
		return nil
	}
	for id, s := range l.seats {
		all = append(all, compute.WorkerSight{ID: id, Status: s.status(), Reason: s.unhealthy, Managed: s.managed})
	}
	for _, a := range l.absent {
		all = append(all, compute.WorkerSight{ID: a.ID, Status: a.Status, Reason: a.Reason, Missing: true})
	}
	slices.SortFunc(all, func(a, b compute.WorkerSight) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
