package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// sweepBatch bounds how long one transaction of a sweep holds up the others: by about 1 ms.
const sweepBatch = 25

// silence is how long a worker may say nothing before it is forgotten, or ended if berth started it; it is longer than any hold and any
// ping interval.
const silence = 2 * time.Minute

// pauseShare is which part of a lease may pass without pings, in a pause or a step of the clock, before every lease begins afresh: the
// pings that a worker sends in a lease are three, so one that is late by so much is in time still.
const pauseShare = 6

// Sweep does all that is due by the clock: leases and execution timeouts, time to live, the end of retention, and
// workers that have gone silent. What failed before is tried again first. After a sweep that failed the next ones wait:
// they do nothing.
func (q *Queue) Sweep(ctx context.Context) error {
	now := q.clock.Now()
	q.mu.Lock()
	q.renewLeases(now)
	waits := now.Before(q.doubts.until)
	q.mu.Unlock()
	if waits {
		return nil
	}

	err := cmp.Or(q.reconcile(ctx), q.sweepHeld(ctx, now))
	q.forgetSilent(now)
	err = cmp.Or(err, q.sweepExpired(ctx, now))
	q.mu.Lock()
	q.doubts.failed(err, now)
	q.mu.Unlock()

	return err
}

// renewLeases begins every lease afresh after a pause of the server or a step of its clock, which is nobody's silence (rule
// queue.lease.afresh). The caller has the lock.
func (q *Queue) renewLeases(now time.Time) {
	if q.paused() {
		q.lag = compute.Lag(q.clock)
		q.afresh(now)
	}
}

// paused reports whether there was a pause, or a step of the clock, since the leases began afresh. The caller has the lock.
func (q *Queue) paused() bool {
	return (compute.Lag(q.clock) - q.lag).Abs() >= q.settings.Lease/pauseShare
}

// Afresh begins every lease afresh: a start may take longer than one lasts, and no worker could say anything meanwhile (rule queue.lease.afresh).
func (q *Queue) Afresh() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.afresh(q.clock.Now())
}

// afresh is Afresh for who has the lock.
func (q *Queue) afresh(now time.Time) {
	for _, h := range q.held {
		h.until = now.Add(q.settings.Lease)
	}

	for _, d := range q.dispatchers {
		for _, s := range d.workers {
			s.lastSeen = now
		}
	}
}

// sweepExpired ends the jobs whose time to live is over, and deletes those whose retention is.
func (q *Queue) sweepExpired(ctx context.Context, now time.Time) error {
	next, err := q.nextExpiry(ctx)
	for more := err == nil && !next.IsZero() && !now.Before(next); more && err == nil; {
		more, err = q.expire(ctx, now)
	}
	return err
}

// nextExpiry gives when the first job is to be ended or deleted; zero if none is.
func (q *Queue) nextExpiry(ctx context.Context) (next time.Time, err error) {
	err = q.store.Read(ctx, func(tx store.Tx) (err error) {
		next, err = tx.NextExpiry()
		return err
	})
	return next, err
}

// Next gives when Sweep has something to do next; zero if nothing is planned.
func (q *Queue) Next(ctx context.Context) (time.Time, error) {
	next, err := q.nextExpiry(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()

	for _, h := range q.held {
		due := h.overrun
		if h.until.Before(due) && !h.onItsWay {
			due = h.until
		}
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}

	for _, d := range q.dispatchers {
		if len(d.workers) > 0 {
			continue // one may be about to be healthy, which no clock tells
		}
		for _, r := range d.requests {
			if next.IsZero() || r.until.Before(next) {
				next = r.until
			}
		}
	}

	if now := q.clock.Now(); len(q.doubts.work) > 0 && (next.IsZero() || now.Before(next)) {
		next = now
	}
	if !next.IsZero() && next.Before(q.doubts.until) {
		next = q.doubts.until
	}

	return next, err
}

// Clear forgets every job, as the store has, and asks the workers that hold one to stop it. Deleted endpoints are forgotten, so that
// one with the same id can be made.
func (q *Queue) Clear() {
	q.doubts.turn.Lock()
	defer q.doubts.turn.Unlock()
	q.mu.Lock()
	q.doubts.work = nil // they are of rows that are no more
	clear(q.held)
	q.recent = newRecent()
	for id, d := range q.dispatchers {
		d.empty()
		clear(d.lost)
		d.counts = compute.JobCounts{}
		if d.gone {
			q.drop(id, d)
			continue
		}
		for _, s := range d.workers {
			for id := range s.jobs {
				s.stop(id, q.clock.Now())
			}
			clear(s.jobs)
			s.idleSince = q.clock.Now()
		}
	}

	for _, w := range []watchers{q.ends, q.chunks} {
		for id := range w {
			w.wake(id)
		}
	}

	q.mu.Unlock()
	if q.hooks.Trace != nil {
		q.hooks.Trace.DroppedAll()
	}
	q.hooks.Demand()
}

// sweepHeld ends what ran too long and takes jobs from workers that went silent. One that fails holds up no other.
func (q *Queue) sweepHeld(ctx context.Context, now time.Time) (first error) {
	due := func(h *lease) bool { return h.isOver(now) || !now.Before(h.overrun) }
	for _, h := range q.heldThat(due) {
		var err error
		switch {
		case !now.Before(h.overrun):
			err = q.overrun(ctx, h, now)
		case q.isSilent(h, now):
			err = q.lost(ctx, h.endpoint, h.id, h.worker, "no worker reported in time")
		}
		first = cmp.Or(first, err)
	}
	return first
}

// isSilent reports whether the lease of a job is over still: its worker may have been heard while the others that were due were seen to.
func (q *Queue) isSilent(h heldJob, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.held[h.id]
	return l != nil && l.worker == h.worker && l.isOver(now)
}

// overrun ends a job whose execution timeout is over.
func (q *Queue) overrun(ctx context.Context, h heldJob, now time.Time) error {
	one, err := q.end(ctx, h.endpoint, h.id, anyHolder, nil, func(j *compute.Job) compute.JobEvent {
		if now.Before(j.TakenAt.Add(j.ExecutionTimeout)) {
			return "" // taken anew meanwhile
		}
		j.Error = fmt.Sprintf("executionTimeout of %d ms exceeded", j.ExecutionTimeout.Milliseconds())
		return compute.JobOverrun
	})
	if err == nil && !one.moved {
		q.doubtJobs(h.endpoint, h.id) // it has ended: who ended it is about to say so, unless they do not know it
	}
	return err
}

// expire ends jobs that are due and deletes those that have ended, a batch of them in one transaction that finds them, too: who
// gives a job more time does so before or after. It reports whether there may be more.
func (q *Queue) expire(ctx context.Context, now time.Time) (more bool, err error) {
	var ended []*ending
	err = q.store.Write(ctx, func(tx store.Tx) error {
		ended = nil
		var deleted []compute.Job
		due, err := tx.ExpiringJobs(now, sweepBatch)
		if err != nil {
			return err
		}

		for _, j := range due {
			if j.Status.Ended() {
				gone, err := tx.DeleteJob(j.ID, now)
				if err != nil {
					return err
				}
				if gone {
					deleted = append(deleted, j)
				}
				continue
			}

			one, err := q.expireOne(tx, j)
			if err != nil {
				return err
			}
			if one.moved {
				ended = append(ended, one)
			}
		}

		more = len(due) == sweepBatch && len(ended)+len(deleted) > 0
		tx.AfterCommit(func() { q.forgetDeleted(deleted) })
		return nil
	})

	if store.IsUnknown(err) {
		for _, one := range ended {
			q.doubtJobs(one.endpoint, one.job.ID)
		}
	}

	if err != nil {
		return false, err
	}
	for _, one := range ended {
		one.announce(ctx, q, nil)
	}

	return more, nil
}

// expireOne ends a job whose time to live is over.
func (q *Queue) expireOne(tx store.Queue, j compute.Job) (*ending, error) {
	one := &ending{endpoint: j.EndpointID, holder: anyHolder, decide: func(j *compute.Job) compute.JobEvent {
		j.Error = "its time to live is over" // which may be another one by now than it was submitted with
		return compute.JobExpire
	}}
	if j.Status != compute.JobInQueue { // it was listed without its output, which stays
		var err error
		if j, err = tx.Job(j.ID); err != nil {
			return one, err
		}
	}
	return one, one.move(q, tx, j)
}

// forgetDeleted drops what memory has of jobs that were deleted.
func (q *Queue) forgetDeleted(deleted []compute.Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range deleted {
		q.recent.drop(j.ID)
		if d := q.dispatchers[j.EndpointID]; d != nil {
			delete(d.lost, j.ID)
		}
	}
}

func (q *Queue) forgetSilent(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range q.dispatchers {
		for id, s := range d.workers {
			if s.forgettable() && now.Sub(s.lastSeen) > silence {
				delete(d.workers, id)
			}
		}
	}
	q.forgetGone()
}

// mostWorkers is how many workers of all endpoints are remembered, before some of those are forgotten that do nothing: whoever
// has a key for workers can make up ids of any number of them.
const mostWorkers = 20_000

// worker gives what is known of a worker that asks. The caller has the lock.
func (q *Queue) worker(d *dispatcher, w compute.WorkerID) *workerState {
	if d.workers[w] == nil {
		q.makeRoom()
	}
	return d.worker(w)
}

// makeRoom forgets, if too many workers are known, the half that has been silent longest of those that do nothing; they are known again
// with their next request. The caller has the lock.
func (q *Queue) makeRoom() {
	count := 0
	for _, d := range q.dispatchers {
		count += len(d.workers)
	}
	if count < mostWorkers {
		return
	}

	type silent struct {
		of   *dispatcher
		id   compute.WorkerID
		last time.Time
	}
	var idle []silent
	for _, d := range q.dispatchers {
		for id, s := range d.workers {
			if s.forgettable() && len(s.stops) == 0 {
				idle = append(idle, silent{d, id, s.lastSeen})
			}
		}
	}

	slices.SortFunc(idle, func(a, b silent) int { return a.last.Compare(b.last) })
	for _, s := range idle[:(len(idle)+1)/2] {
		delete(s.of.workers, s.id)
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
