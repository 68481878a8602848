package queue

import (
	"context"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Taken is a job as a worker gets it. A long input is to be had of Pieces.
type Taken = store.TakenJob

// Take leases at most n jobs to the worker, holding for the first one; none came if the result is empty.
func (q *Queue) Take(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int) ([]Taken, error) {
	return q.takeOpen(ctx, user, e, w, n, true, q.settings.TakeHold)
}

// moreHold is how long a take is held of a worker that has jobs in progress: some report no result before they have this answer,
// and the Python SDK asks again at once (rule queue.take.busy).
const moreHold = time.Second

// TakeMore is Take for a worker that has jobs in progress: it is held for a second at most.
func (q *Queue) TakeMore(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int) ([]Taken, error) {
	return q.takeOpen(ctx, user, e, w, n, false, min(moreHold, q.settings.TakeHold))
}

// takeOpen is take with what the jobs have sealed opened again.
func (q *Queue) takeOpen(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int, idle bool, hold time.Duration) ([]Taken, error) {
	taken, err := q.take(ctx, user, e, w, n, idle, hold)
	return q.opened(ctx, user, taken), err
}

func (q *Queue) take(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int, idle bool, hold time.Duration) ([]Taken, error) {
	timeout, stop := q.clock.After(hold)
	defer stop()
	var one [1]waiting // most takes have one job, for which this takes no more memory
	for over := false; !over; {
		if err := q.resolveFor(ctx, user, e); err != nil {
			return nil, err
		}
		ids, was, t, s, err := q.offer(user, e, w, n, idle, one[:0])
		if err != nil {
			return nil, err
		}

		if t != nil {
			var h handover
			h, over = q.await(ctx, t, s, e, timeout)
			switch {
			case h.taken != nil:
				taken := []Taken{*h.taken}
				q.meterTaken(ctx, e, taken)
				return taken, nil
			case h.id == "":
				continue
			}

			ids, was = []compute.JobID{h.id}, append(one[:0], h.was)
		}

		taken, err := q.takeJobs(ctx, e, w, s, ids, was)
		if err != nil || len(taken) > 0 {
			q.meterTaken(ctx, e, taken)
			return taken, err
		}
		select {
		case <-s.drain: // it is to end, or has ended: asked anew it would be one that nobody knows, and get the job again
			return nil, q.Known(user, e)
		default:
		}
	}

	return nil, ctx.Err()
}

// offer gives what waits, as pop does, or, if nothing does, has the take wait. idle is what the worker says of itself: that it has no job in
// progress. One that never pings says so in no other way, and may have a job again that it lost (rule queue.lease.idle).
func (q *Queue) offer(user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int, idle bool, room []waiting) ([]compute.JobID, []waiting, *heldTake, *workerState, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	d, err := q.dispatcher(user, e)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	s := q.see(d, w)
	s.asked, s.unhealthy = true, ""
	if idle && !s.pinged {
		d.stoppedAll(w)
	}

	served := !s.draining && !s.leaving
	if served {
		if ids, was := d.pop(w, n, room); len(ids) > 0 {
			return ids, was, nil, s, nil
		}
	}

	t := &heldTake{worker: w, given: make(chan handover, 1)}
	if served { // one that is to end is held, and gets nothing
		d.takes = append(d.takes, t)
	}
	s.polls++
	return nil, nil, t, s, nil
}

// await holds a take until a job is given to it. over reports that the hold is over, also with a job that was given in the last
// moment: should that job be gone, nothing would end another hold. A job given too late goes back to its dispatcher.
func (q *Queue) await(ctx context.Context, t *heldTake, s *workerState, e compute.EndpointID, timeout <-chan time.Time) (h handover, over bool) {
	release := q.Hold()
	select {
	case h = <-t.given:
	case <-timeout:
		over = true
	case <-s.drain:
		over = true
	case <-q.closed:
		over = true
	case <-compute.Leaving(ctx):
		over = true
	case <-ctx.Done():
		over = true
	}

	release()

	q.mu.Lock()
	if over && t.reserved {
		q.mu.Unlock()
		h = <-t.given // soon: its commit is under way
		q.mu.Lock()
	} else if d := q.dispatchers[e]; over && d != nil {
		h = d.withdraw(t)
	}

	s.polls--
	late := ctx.Err() != nil || s.draining || s.leaving
	if late && h.id != "" {
		q.putBack(e, []waiting{h.was})
	}
	q.mu.Unlock()
	if late && h.taken != nil {
		q.HandBack([]Taken{*h.taken})
	}
	if late {
		return handover{}, true
	}

	return h, over
}

// enoughInput is how many bytes of inputs a batch has with its last job: they are in memory while they are sent, but for long ones, and the
// leases run while they are under way (rule queue.take.batch.bytes).
const enoughInput = 8_000_000

// takeJobs makes those of the jobs the worker's that still wait, up to enough; the others wait on, as they did. A worker that hung up
// meanwhile, or is to end, loses them again at once.
func (q *Queue) takeJobs(ctx context.Context, e compute.EndpointID, w compute.WorkerID, s *workerState, ids []compute.JobID, was []waiting) ([]Taken, error) {
	if err := q.roomForDoubt(); err != nil {
		q.requeue(e, was)
		return nil, err
	}

	var got struct {
		taken []Taken
		left  int  // jobs at the end that it did not come to
		ends  bool // the worker, meanwhile
	}
	err := q.store.TakeJobs(context.WithoutCancel(ctx), store.Take{Worker: w, Jobs: ids, Enough: enoughInput, Taken: func(jobs []Taken, left int) {
		got.taken, got.left = jobs, left
		now := q.clock.Now() // the commit may have taken long
		q.mu.Lock()
		defer q.mu.Unlock()
		d := q.dispatchers[e]
		got.ends = s.draining || s.leaving // also one that is gone; memory may have been made anew without it
		for _, t := range jobs {
			q.hold(t.Job, now, q.settings.Lease)
			if d != nil {
				d.leave(t.ID) // it is there again if memory was made anew meanwhile
			}
		}
		if d != nil && d.workers[w] != nil {
			got.ends = got.ends || d.workers[w].draining || d.workers[w].leaving
		}
	}})

	switch {
	case store.IsUnknown(err):
		q.doubt(e, func(ctx context.Context) error { return q.untake(ctx, e, w, ids) })
		return nil, err
	case err != nil:
		q.requeue(e, was)
		return nil, err
	case got.left > 0:
		q.requeue(e, was[len(was)-got.left:])
	}

	q.demand(e)
	if (ctx.Err() != nil || got.ends) && len(got.taken) > 0 {
		q.HandBack(got.taken)
		return nil, ctx.Err()
	}
	return got.taken, nil
}

// OnItsWay has the leases of jobs that are being sent to their worker begin when they have arrived, since long inputs over a slow line take
// longer than a lease. They are to arrive, or to be handed back, as soon as it is known.
func (q *Queue) OnItsWay(taken []Taken) (arrived func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var sent []*lease
	for _, t := range taken {
		if h := q.held[t.ID]; h != nil && h.worker == t.WorkerID {
			h.onItsWay = true
			sent = append(sent, h)
		}
	}

	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		for _, h := range sent {
			h.onItsWay, h.until = false, q.clock.Now().Add(q.settings.Lease)
		}
	}
}

// requeue puts jobs that nobody got back to the front.
func (q *Queue) requeue(e compute.EndpointID, jobs []waiting) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.putBack(e, jobs)
}

// HandBack puts jobs that could not be handed over back in the queue as if they had never been taken.
func (q *Queue) HandBack(taken []Taken) {
	for _, t := range slices.Backward(taken) { // each to the front
		back := func(ctx context.Context) error {
			return q.giveBack(ctx, t.EndpointID, t.ID, t.WorkerID, func(j *compute.Job) {
				j.Attempt--
				j.QueuedAt = t.QueuedAt
			}, false)
		}
		if back(context.Background()) != nil {
			q.doubt(t.EndpointID, back)
		}
	}
}

// giveBack moves a held job back to the front of the queue. If it was lost, the worker may still run it. If that fails the
// worker still holds it: it is to be called again, and finds out whether it failed indeed.
func (q *Queue) giveBack(ctx context.Context, e compute.EndpointID, id compute.JobID, w compute.WorkerID, change func(*compute.Job), lost bool) error {
	err := q.store.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
		j, err := tx.Job(id)
		if err != nil {
			return err
		}
		waits := j.Status == compute.JobInQueue // it was moved, by a call of unknown outcome

		moved := false
		if j.WorkerID == w {
			moved, err = backToQueue(tx, &j, func(j *compute.Job) {
				j.QueuedAt = tx.Now()
				change(j)
			})
		}

		tx.AfterCommit(func() { q.gaveBack(e, w, j, moved, waits, lost) })
		return err
	})
	if compute.CodeOf(err) == compute.NotFound {
		q.mu.Lock()
		q.gone(e, id, w)
		q.mu.Unlock()
		return nil
	}

	if err == nil {
		q.demand(e)
	}
	return err
}

// gaveBack has memory follow what giveBack did: it moved the job, or found that it waits already or has ended.
func (q *Queue) gaveBack(e compute.EndpointID, w compute.WorkerID, j compute.Job, moved, waits, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()

	h := q.held[j.ID]
	ours := h != nil && h.worker == w
	if !moved && (!waits || !ours) {
		q.gone(e, j.ID, w)
		return
	}

	if ours {
		q.release(j.ID, q.clock.Now())
	}
	if d := q.dispatchers[e]; d != nil && lost {
		d.lose(j.ID, w)
		if d.meter != nil {
			d.meter.Lost()
		}
	}

	q.enqueue(j, true, false)
}

// gone has the row of a job looked at that is not the worker's any more, though memory says so: who ended it is about to say so,
// unless they do not know it. The caller has the lock.
func (q *Queue) gone(e compute.EndpointID, id compute.JobID, w compute.WorkerID) {
	if h := q.held[id]; h != nil && h.worker == w {
		q.doubts.add(e, func(ctx context.Context) error { return q.adopt(ctx, e, id) })
	}
}

// backToQueue moves a job in progress back to the queue, changed. It reports whether it did: it may have ended.
func backToQueue(tx store.Jobs, j *compute.Job, change func(*compute.Job)) (bool, error) {
	next := *j
	var err error
	if next.Status, err = compute.JobMachine.Next(j.Status, compute.JobLeaseLost); err != nil {
		return false, nil // the table says no
	}
	next.WorkerID, next.Output, next.OutputSize, next.TakenAt = "", nil, 0, time.Time{} // what it had reported is that attempt's
	change(&next)
	moved, err := tx.MoveJob(next, store.GuardOf(*j))
	if moved {
		*j = next
	}
	return moved, err
}
