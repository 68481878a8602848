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
	if d := q.dispatchers[e.ID]; d != nil {
		d.endpoint = e.InMemory()
		d.place()
		d.serve()
	} else {
		q.dispatchers[e.ID] = q.newDispatcher(e)
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
	d := q.dispatchers[id]
	if d == nil {
		q.mu.Unlock()
		return nil
	}

	d.gone, d.absent = true, nil
	d.endPolls() // who is just being given a job hands it back: it is none of those that are cancelled below
	q.mu.Unlock()
	if err := q.cancelAll(ctx, id); err != nil {
		return err
	}

	q.mu.Lock()
	d.endPolls()
	d.serve()
	q.mu.Unlock()
	q.hooks.Demand()

	return nil
}

// Serves reports whether the endpoint is known, be it that it was deleted and has workers still.
func (q *Queue) Serves(e compute.EndpointID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dispatchers[e] != nil
}

// cancelAll cancels every job of the endpoint.
func (q *Queue) cancelAll(ctx context.Context, e compute.EndpointID) error {
	for _, h := range q.heldThat(func(h *lease) bool { return h.endpoint == e }) {
		_, err := q.end(ctx, e, h.id, anyHolder, nil, func(*compute.Job) compute.JobEvent { return compute.JobCancel })
		if err != nil {
			return err
		}
	}
	_, err := q.purge(ctx, e)
	return err
}

// forgetGone forgets the deleted endpoints that have no workers any more. The caller has the lock.
func (q *Queue) forgetGone() {
	for id, d := range q.dispatchers {
		if d.gone && len(d.workers) == 0 && d.waits() == 0 {
			q.drop(id, d)
		}
	}
}

// drop forgets a deleted endpoint. The caller has the lock.
func (q *Queue) drop(id compute.EndpointID, d *dispatcher) {
	delete(q.dispatchers, id)
	if d.meter != nil {
		d.meter.Forget()
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
	if d := q.dispatchers[e]; d != nil && !d.gone {
		d.absent = absent
	}
}

// WorkerStates reports how the endpoint's workers are seen now, those that somebody else started and those that are missing too,
// in the order of their ids.
func (q *Queue) WorkerStates(e compute.EndpointID) (all []compute.WorkerState) {
	q.mu.Lock()
	defer q.mu.Unlock()

	d := q.dispatchers[e]
	if d == nil {
		return nil
	}
	for id, s := range d.workers {
		all = append(all, compute.WorkerState{ID: id, Status: s.status(), Reason: s.reason(), Managed: s.managed})
	}
	for _, a := range d.absent {
		all = append(all, compute.WorkerState{ID: a.ID, Status: a.Status, Reason: a.Reason, Missing: true})
	}
	slices.SortFunc(all, func(a, b compute.WorkerState) int { return cmp.Compare(a.ID, b.ID) })

	return all
}
