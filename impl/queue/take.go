package queue

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Taken is a job as a worker gets it.
type Taken struct {
	compute.Job
	Input     json.RawMessage
	InputSize int // bytes of an input that is to be had of Pieces; Input is nil then
}

// Take leases at most n jobs to the worker, holding for the first one; none came if the result is empty.
func (q *Queue) Take(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int) ([]Taken, error) {
	return q.take(ctx, user, e, w, n, q.settings.TakeHold)
}

// moreHold is how long a take is held of a worker that has jobs in progress: some report no result before they have this answer,
// and the Python SDK asks again at once (rule queue.take.busy).
const moreHold = time.Second

// TakeMore is Take for a worker that has jobs in progress: it is held for a second at most.
func (q *Queue) TakeMore(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int) ([]Taken, error) {
	return q.take(ctx, user, e, w, n, min(moreHold, q.settings.TakeHold))
}

func (q *Queue) take(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int, hold time.Duration) ([]Taken, error) {
	timeout, stop := q.clock.After(hold)
	defer stop()
	for over := false; !over; {
		if err := q.resolveAll(ctx, e); err != nil {
			return nil, err
		}
		ids, t, s, err := q.queueUp(user, e, w, n)
		if err != nil {
			return nil, err
		}
		if t != nil {
			var h handed
			h, over = q.await(ctx, t, s, e, timeout)
			switch {
			case h.taken != nil:
				taken := []Taken{*h.taken}
				q.tellTaken(ctx, e, taken)
				return taken, nil
			case h.id == "":
				continue
			}
			ids = []compute.JobID{h.id}
		}
		taken, err := q.lease(ctx, e, w, ids)
		if err != nil || len(taken) > 0 {
			q.tellTaken(ctx, e, taken)
			return taken, err
		}
	}
	return nil, ctx.Err()
}

// queueUp takes what waits or, if nothing does, lines the worker up.
func (q *Queue) queueUp(user compute.UserID, e compute.EndpointID, w compute.WorkerID, n int) ([]compute.JobID, *taker, *seat, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.line(user, e)
	if err != nil {
		return nil, nil, nil, err
	}
	s := q.hear(l, w)
	s.unhealthy = ""
	served := !s.draining && !s.leaving
	if served {
		if ids := l.pop(w, n); len(ids) > 0 {
			return ids, nil, s, nil
		}
	}
	t := &taker{worker: w, given: make(chan handed, 1)}
	if served { // one that is to end is held, and gets nothing
		l.takers = append(l.takers, t)
	}
	s.polls++
	return nil, t, s, nil
}

// await holds a take until a job is given to it. over tells that the hold is over, also with a job that was given in the last
// moment: should that job be gone, nothing would end another hold. A job given too late goes back to the line.
func (q *Queue) await(ctx context.Context, t *taker, s *seat, e compute.EndpointID, timeout <-chan time.Time) (h handed, over bool) {
	release := q.Hold()
	select {
	case h = <-t.given:
	case <-timeout:
		over = true
	case <-s.drain:
		over = true
	case <-q.closed:
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
	} else if l := q.lines[e]; over && l != nil {
		h = l.forgetTaker(t)
	}
	s.polls--
	late := ctx.Err() != nil || s.draining || s.leaving
	if l := q.lines[e]; late && h.id != "" && l != nil {
		l.putBack([]compute.JobID{h.id}, q.clock.Now())
		l.wake()
	}
	q.mu.Unlock()
	if late && h.taken != nil {
		q.HandBack([]Taken{*h.taken})
	}
	if late {
		return handed{}, true
	}
	return h, over
}

// lease makes those of the jobs that still wait the worker's, in one transaction. A worker that hung up meanwhile loses
// them again at once.
func (q *Queue) lease(ctx context.Context, e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) ([]Taken, error) {
	if _, err := compute.JobMachine.Next(compute.JobInQueue, compute.JobTake); err != nil {
		return nil, err // the move that TakeJob makes is the table's
	}
	if err := q.roomForDoubt(); err != nil {
		q.backInLine(e, ids)
		return nil, err
	}
	var taken []Taken
	now := q.clock.Now()
	unknown, err := unsure(context.WithoutCancel(ctx), q.store.WriteSure, func(tx store.Tx) error {
		taken, now = taken[:0], tx.Now()
		for _, id := range ids {
			j, input, size, ok, err := tx.TakeJob(id, w)
			if err != nil {
				return err
			}
			if !ok {
				continue // cancelled, expired or swept while it stood in the line
			}
			taken = append(taken, Taken{Job: j, Input: input, InputSize: size})
		}
		return nil
	})
	switch {
	case unknown:
		q.doubt(e, func(ctx context.Context) error { return q.untake(ctx, e, w, ids) })
		return nil, err
	case err != nil:
		q.backInLine(e, ids)
		return nil, err
	}
	q.mu.Lock()
	for _, t := range taken {
		q.hold(t.Job, now)
	}
	q.mu.Unlock()
	q.demand(e)
	if ctx.Err() != nil && len(taken) > 0 {
		q.HandBack(taken)
		return nil, ctx.Err()
	}
	return taken, nil
}

// backInLine puts jobs that nobody got back to the front of the line.
func (q *Queue) backInLine(e compute.EndpointID, ids []compute.JobID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[e]; l != nil {
		l.putBack(ids, q.clock.Now())
		l.wake()
	}
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
	var j compute.Job
	moved, waits := false, false
	err := q.store.Write(context.WithoutCancel(ctx), func(tx store.Tx) (err error) {
		moved, waits = false, false
		if j, err = tx.Job(id); err != nil {
			return err
		}
		waits = j.Status == compute.JobInQueue // it was moved, by a call of unknown outcome
		if j.WorkerID != w {
			return nil
		}
		moved, err = backToQueue(tx, &j, func(j *compute.Job) {
			j.QueuedAt = tx.Now()
			change(j)
		})
		return err
	})
	if err != nil && compute.CodeOf(err) != compute.NotFound {
		return err
	}
	q.mu.Lock()
	h := q.held[id]
	ours := h != nil && h.worker == w
	back := moved || waits && ours
	if back && ours {
		q.release(id)
	}
	if l := q.lines[e]; l != nil && back && lost {
		l.lose(id, w)
		if l.meter != nil {
			l.meter.Lost()
		}
	}
	q.mu.Unlock()
	switch {
	case back:
		q.enqueue(j, true, false)
	case ours: // it has ended: who ended it is about to say so, unless they do not know it
		q.doubtJobs(e, id)
	}
	return nil
}

// backToQueue moves a job in progress back to the queue, changed. It tells whether it did: it may have ended.
func backToQueue(tx store.Tx, j *compute.Job, change func(*compute.Job)) (bool, error) {
	next := *j
	var err error
	if next.Status, err = compute.JobMachine.Next(j.Status, compute.JobLeaseLost); err != nil {
		return false, nil // the table says no
	}
	next.WorkerID, next.Output, next.TakenAt = "", nil, time.Time{}
	change(&next)
	moved, err := tx.MoveJob(next, j.Status, j.WorkerID)
	if moved {
		*j = next
	}
	return moved, err
}
