package queue

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// see notes a sign of life. It extends the leases of the jobs that the worker holds as long as it never pings, as one does that
// was started without what it takes to ping; of one that pings, only a ping that names a job does, or a report of the job
// (rules queue.lease.ping, queue.lease.sign). The caller has the lock.
func (q *Queue) see(d *dispatcher, w compute.WorkerID) *workerState {
	s := q.worker(d, w)
	now := q.clock.Now()
	if !s.seen {
		s.seen, s.idleSince = true, now
	}
	s.lastSeen = now

	if !s.pinged {
		for id := range s.jobs {
			if h := q.held[id]; h != nil && h.worker == w {
				h.until = now.Add(q.settings.Lease)
			}
		}
	}

	return s
}

// contact is see of a worker of the user's endpoint.
func (q *Queue) contact(user compute.UserID, e compute.EndpointID, w compute.WorkerID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	d, err := q.dispatcher(user, e)
	if err == nil {
		q.see(d, w)
	}
	return err
}

// extend renews the lease of one job, since a report of the job is a sign of its life, and reports whether the worker holds it.
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
	d, err := q.dispatcher(user, e)
	if err == nil {
		s := q.worker(d, w)
		s.unhealthy, s.lastSeen = reason, q.clock.Now() // it counts as unhealthy until it is forgotten
	}
	return err
}

// Stops gives the jobs that the worker should stop, holding for the first one.
func (q *Queue) Stops(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID) ([]compute.JobID, error) {
	timeout, stop := q.clock.After(q.settings.TakeHold)
	defer stop()
	for {
		q.mu.Lock()
		d, err := q.dispatcher(user, e)
		if err != nil {
			q.mu.Unlock()
			return nil, err
		}

		s := q.see(d, w)
		ids := s.toStop(q.clock.Now())
		q.mu.Unlock()
		if len(ids) > 0 {
			return ids, nil
		}
		if over, err := q.awaitStop(ctx, s, timeout); over {
			return nil, err
		}
	}
}

// StopAgain has the next poll of the worker get the jobs to stop that Stops gave, as the answer that had them did not reach it.
func (q *Queue) StopAgain(e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil && d.workers[w] != nil {
		d.workers[w].again(ids)
	}
}

// awaitStop holds a stop poll until there may be something to stop, or the poll is over.
func (q *Queue) awaitStop(ctx context.Context, s *workerState, timeout <-chan time.Time) (over bool, err error) {
	defer q.Hold()()
	select {
	case <-s.stopped:
		return false, nil
	case <-timeout:
	case <-s.drain:
	case <-q.closed:
	case <-compute.Leaving(ctx):
	case <-ctx.Done():
		return true, ctx.Err()
	}
	return true, nil
}

// Demand is what an endpoint's scaling is decided on.
type Demand struct {
	Endpoint compute.Endpoint // what InMemory gives of it
	Waiting  int              // jobs in the queue, but for those of low priority, which start no worker
	Overdue  int              // of these, those that have waited for the endpoint's queue delay; at most its WorkersMax
	Held     int              // jobs in progress, but for those of low priority
	Workers  []WorkerView     // those that berth started
	Gone     bool             // the endpoint is deleted
}

// WorkerView is one worker as the queue sees it.
type WorkerView struct {
	ID        compute.WorkerID
	Status    compute.WorkerStatus
	Draining  bool // it is being stopped
	Leaving   bool // it is to be replaced as soon as it holds no job
	Stale     bool // it is made of an earlier release than the latest
	Unasked   bool // it has asked for no job yet, and will soon: of what waits, it has been offered nothing
	IdleSince time.Time
	HangsAt   time.Time // when it will have said nothing for too long; zero: it has a job or waits for one, or nobody expects it to speak
	Requests  int       // in progress, where the endpoint balances load
	Sick      time.Time // since when it has not been healthy there; zero: it is
	Reason    string    // why it is not, for people
}

// stopPatience is how long a worker that berth started may leave a job to stop unasked for, or still run it.
const stopPatience = 10 * time.Second

// reported notes that the worker is done with a job, and may have it again. One that berth started and that asks to leave is to be replaced: it gets
// nothing more. Others end by themselves. It gives what heldBy gives: if the worker does not hold the job, stopped is to be called once the report
// is seen to.
func (q *Queue) reported(e compute.EndpointID, w compute.WorkerID, id compute.JobID, leave bool) (j compute.Job, held bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j, held = q.holds(e, id, w)
	d := q.dispatchers[e]
	if d == nil {
		return j, held
	}

	if s := d.workers[w]; s != nil {
		s.reportedEnd(id)
		s.proven = true
		s.leaving = s.leaving || leave && s.managed
	}
	if held {
		d.stopped(w, id)
		d.wake()
	}
	return j, held
}

// stopped notes that a worker is not at a job any more, and hands it another one if it waits for one.
func (q *Queue) stopped(e compute.EndpointID, w compute.WorkerID, id compute.JobID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil {
		d.stopped(w, id)
		d.wake()
	}
}

// Proven reports whether the worker has reported the end of a job: what it is made of works.
func (q *Queue) Proven(e compute.EndpointID, w compute.WorkerID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.dispatchers[e]
	return d != nil && d.workers[w] != nil && d.workers[w].proven
}

// Initializing reports whether the worker has not said yet, since it was started, that it can work.
func (q *Queue) Initializing(e compute.EndpointID, w compute.WorkerID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.dispatchers[e]
	return d != nil && d.workers[w] != nil && d.workers[w].status() == compute.WorkerInitializing
}

// Demands gives the demand of every endpoint, in the order of their ids: the first ones get what room there is.
func (q *Queue) Demands() []Demand {
	now := q.clock.Now()
	q.mu.Lock()
	defer q.mu.Unlock()

	var demands []Demand
	for _, e := range slices.Sorted(maps.Keys(q.dispatchers)) {
		d := q.dispatchers[e]
		since := now.Add(-d.endpoint.QueueDelay())
		one := Demand{
			Endpoint: d.endpoint, Waiting: d.normal.len(), Overdue: d.normal.before(since.UnixMilli()+1, d.endpoint.WorkersMax), Gone: d.gone,
		}
		one.Waiting += len(d.requests)

		for _, id := range slices.Sorted(maps.Keys(d.workers)) {
			s := d.workers[id]
			one.Held += s.requests
			for _, low := range s.jobs {
				if !low {
					one.Held++
				}
			}

			if !s.managed {
				continue
			}
			for _, j := range s.stops {
				if !j.sent && now.Sub(j.since) >= stopPatience {
					s.leaving = true // it never asks what to stop, as old workers do not
				}
			}

			one.Workers = append(one.Workers, WorkerView{
				ID: id, Status: s.status(), Draining: s.draining, Leaving: s.leaving, IdleSince: s.idleSince,
				Stale: s.version < d.endpoint.Version, Unasked: d.endpoint.Type != compute.LoadBalancer && s.asksSoon(now), HangsAt: q.hangsAt(d, s), Requests: s.requests, Sick: s.sick,
				Reason: s.reason(),
			})
		}

		demands = append(demands, one)
	}

	return demands
}

// hangsAt gives when a worker is taken for one that hangs, if it says nothing before: it had spoken, and has lost what it had. A handler that
// holds up all of its process may do that. The caller has the lock.
func (q *Queue) hangsAt(d *dispatcher, s *workerState) time.Time {
	speaks := s.managed && (s.seen || s.unhealthy != "") && !s.empty && !s.scripted && d.endpoint.Type != compute.LoadBalancer
	if !speaks || len(s.jobs) > 0 || s.polls > 0 || q.paused() {
		return time.Time{}
	}
	return s.lastSeen.Add(max(silence, 2*q.settings.Lease))
}

// WorkerStarted notes that berth is starting the worker, made of a version of the endpoint's releases.
func (q *Queue) WorkerStarted(e compute.EndpointID, w compute.WorkerID, version int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil {
		s := d.worker(w)
		s.managed, s.version = true, version
		d.place()
	}
}

// place notes where the workers listen that are made of the endpoint as it is now. The caller has the lock.
func (d *dispatcher) place() {
	if d.endpoint.Type != compute.LoadBalancer {
		return
	}
	for _, s := range d.workers {
		if s.managed && s.version == d.endpoint.Version && s.serving == (compute.Serving{}) {
			s.serving = d.endpoint.Serving()
		}
	}
}

// WorkerWaits notes what the container of a worker that berth started waits for before it comes up, and whether no host holds it yet: then
// the worker is THROTTLED. An empty reason: it waits for nothing that is known.
func (q *Queue) WorkerWaits(e compute.EndpointID, w compute.WorkerID, reason string, unplaced bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil && d.workers[w] != nil {
		d.workers[w].waits, d.workers[w].unplaced = reason, unplaced
	}
}

// WorkerUp notes that the container of a worker that berth started is up. Of an empty one, in which nothing runs, nothing more ever comes: it
// is ready by that.
func (q *Queue) WorkerUp(e compute.EndpointID, w compute.WorkerID, empty bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.dispatchers[e]
	if d == nil || !empty {
		return
	}

	s := d.worker(w)
	s.empty = true
	switch {
	case d.endpoint.Type == compute.LoadBalancer:
		q.see(d, w)
		d.serve()
	case !s.seen:
		s.up, s.idleSince = true, q.clock.Now()
	}
}

// Replace has every worker of the endpoint that berth started replaced, each as soon as it holds no job.
func (q *Queue) Replace(e compute.EndpointID) {
	q.leave(e, func(compute.WorkerID) bool { return true })
}

// Leave has a worker that berth started stopped as soon as it holds no job. It gets no other one.
func (q *Queue) Leave(e compute.EndpointID, w compute.WorkerID) {
	q.leave(e, func(id compute.WorkerID) bool { return id == w })
}

// leave has those workers leave that berth started and that are meant.
func (q *Queue) leave(e compute.EndpointID, meant func(compute.WorkerID) bool) {
	q.mu.Lock()
	if d := q.dispatchers[e]; d != nil {
		for id, s := range d.workers {
			s.leaving = s.leaving || s.managed && meant(id)
		}
		d.serve()
	}
	q.mu.Unlock()
	q.hooks.Demand()
}

// Drain ends the polls of a worker that holds no job and leases it nothing more, so that it can be stopped without loss.
// It reports whether it did. One that has requests in progress gets no new ones from now on.
func (q *Queue) Drain(e compute.EndpointID, w compute.WorkerID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.dispatchers[e]
	if d == nil {
		return true
	}
	s := d.worker(w)
	if s.requests > 0 {
		s.leaving = true
		d.serve()
	}
	if len(s.jobs)+s.requests > 0 {
		return false
	}
	s.endPolls()
	d.serve()
	return true
}

// Refuse ends the polls of a worker and leases it nothing more, whatever it holds.
func (q *Queue) Refuse(e compute.EndpointID, w compute.WorkerID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil {
		d.worker(w).endPolls()
		d.serve()
	}
}

// WorkerGone forgets a worker that has ended, and puts the jobs that it held back in the queue or, with their attempts
// spent, fails them. Why it ended is one line, which clients of the queue read.
func (q *Queue) WorkerGone(ctx context.Context, e compute.EndpointID, w compute.WorkerID, why string) {
	q.workerGone(ctx, e, w, func(ctx context.Context, id compute.JobID) error { return q.lost(ctx, e, id, w, why) })
}

// WorkerInterrupted is WorkerGone of a worker whose room was taken away: its jobs go back to the queue however often they were tried,
// and this time does not count (rule spot.workers).
func (q *Queue) WorkerInterrupted(ctx context.Context, e compute.EndpointID, w compute.WorkerID) {
	q.workerGone(ctx, e, w, func(ctx context.Context, id compute.JobID) error {
		return q.giveBack(ctx, e, id, w, func(j *compute.Job) {
			j.Retries++
			j.Attempt--
		}, true)
	})
}

func (q *Queue) workerGone(ctx context.Context, e compute.EndpointID, w compute.WorkerID, take func(context.Context, compute.JobID) error) {
	for _, j := range q.heldThat(func(h *lease) bool { return h.endpoint == e && h.worker == w }) {
		lose := func(ctx context.Context) error { return take(ctx, j.id) }
		if lose(ctx) != nil {
			q.doubt(e, lose)
		}
	}
	q.mu.Lock()
	if d := q.dispatchers[e]; d != nil {
		if s := d.workers[w]; s != nil {
			s.endPolls() // nobody may have seen yet that their connection is closed
		}
		delete(d.workers, w)
		d.serve()
	}
	q.mu.Unlock()
	q.hooks.Demand()
}

// lost takes a job from a worker whose lease ended without a heartbeat (rules queue.lease, queue.attempts). If that fails the worker still holds
// it: it is to be called again.
func (q *Queue) lost(ctx context.Context, e compute.EndpointID, id compute.JobID, w compute.WorkerID, why string) error {
	gaveUp := false
	_, err := q.end(ctx, e, id, w, nil, func(j *compute.Job) compute.JobEvent {
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
	if d := q.dispatchers[e]; d != nil {
		d.lose(id, w) // it may be retried
	}
	q.mu.Unlock()

	return nil
}
