package queue

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// The pause after a sweep that failed doubles from the first to the last.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 10 * time.Second
)

// mostDoubts bounds what waits to be done again, and so the memory that it takes: while there is so much, nothing that could
// make more is begun.
const mostDoubts = 10_000

// doubts is what memory has to do because a write failed. Such a write may be on disk all the same, so the row is asked: rows
// decide. All of it is tried again, with every sweep and before a take of its endpoint, until it succeeds. Every method needs
// the queue's lock.
type doubts struct {
	work  []doubt
	pause time.Duration // after the last sweep, if that failed
	until time.Time     // no sweep before

	turn sync.Mutex // of who does one: two may be about the same job. It is taken before the queue's lock
}

// doubt is something to be done about an endpoint's jobs, which may be done twice.
type doubt struct {
	endpoint compute.EndpointID
	do       func(context.Context) error
}

// oldest gives where the oldest doubt of the endpoint is, or of any if the endpoint is empty; -1 if there is none.
func (d *doubts) oldest(e compute.EndpointID) int {
	return slices.IndexFunc(d.work, func(one doubt) bool { return e == "" || one.endpoint == e })
}

// failed notes how a sweep went.
func (d *doubts) failed(err error, now time.Time) {
	if err == nil {
		d.pause, d.until = 0, time.Time{}
		return
	}
	d.pause = min(max(firstPause, 2*d.pause), lastPause)
	d.until = now.Add(d.pause)
}

// add has work about the endpoint's jobs done.
func (d *doubts) add(e compute.EndpointID, do func(context.Context) error) {
	d.work = append(d.work, doubt{e, do})
}

// doubt has work about the endpoint's jobs done by the next sweep, and by those after it until it succeeds. The caller does not
// have the lock.
func (q *Queue) doubt(e compute.EndpointID, do func(context.Context) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.doubts.add(e, do)
}

// doubtJobs has the rows of the jobs looked at by the next sweep.
func (q *Queue) doubtJobs(e compute.EndpointID, ids ...compute.JobID) {
	for _, id := range ids {
		q.doubt(e, func(ctx context.Context) error { return q.adopt(ctx, e, id) })
	}
}

// roomForDoubt refuses what could leave more in doubt, while that is as much as memory may hold: Unavailable.
func (q *Queue) roomForDoubt() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.doubts.work) >= mostDoubts {
		return &compute.Error{
			Code: compute.Unavailable, Detail: "the storage has failed, and the outcome of earlier requests is not known yet", RetryAfter: lastPause, // the next sweep has been by then
		}
	}
	return nil
}

// reconcile does what is in doubt. What fails stays.
func (q *Queue) reconcile(ctx context.Context) error {
	q.mu.Lock()
	n := len(q.doubts.work)
	q.mu.Unlock()
	var first error
	for range n {
		_, err := q.resolve(ctx, "")
		first = cmp.Or(first, err)
	}
	return first
}

// resolveAll does what is in doubt about an endpoint's jobs, up to the first that fails: with its error. A worker that asked for
// a job gets that error, and is not held while the only job may be the one in doubt.
func (q *Queue) resolveAll(ctx context.Context, e compute.EndpointID) error {
	for {
		if more, err := q.resolve(ctx, e); !more || err != nil {
			return err
		}
	}
}

// resolveFor is resolveAll for a request of the user's: at somebody else's endpoint nothing is done, and nothing told.
func (q *Queue) resolveFor(ctx context.Context, user compute.UserID, e compute.EndpointID) error {
	q.mu.Lock()
	_, err := q.dispatcher(user, e)
	none := q.doubts.oldest(e) < 0
	q.mu.Unlock()
	if err != nil || none {
		return err
	}
	return q.resolveAll(ctx, e)
}

// resolve does the oldest doubt about an endpoint's jobs, or about any if the endpoint is empty, and reports whether there was one.
func (q *Queue) resolve(ctx context.Context, e compute.EndpointID) (bool, error) {
	q.mu.Lock()
	none := q.doubts.oldest(e) < 0
	q.mu.Unlock()
	if none {
		return false, nil
	}

	q.doubts.turn.Lock()
	defer q.doubts.turn.Unlock()
	q.mu.Lock()
	i := q.doubts.oldest(e)
	if i < 0 {
		q.mu.Unlock()
		return false, nil
	}

	one := q.doubts.work[i]
	q.mu.Unlock()

	err := one.do(ctx)

	q.mu.Lock()
	defer q.mu.Unlock()
	q.doubts.work = slices.Delete(q.doubts.work, i, i+1) // where it was: only who has the turn takes any out
	if err != nil {
		q.doubts.work = append(q.doubts.work, one)
	}

	return true, err
}

// adopt makes of a job in memory what its row says.
func (q *Queue) adopt(ctx context.Context, e compute.EndpointID, id compute.JobID) error {
	var ended *ending
	var over bool
	err := q.store.Write(ctx, func(tx store.Tx) error { // after whatever is being written
		ended = nil
		j, err := tx.Job(id)
		gone := compute.CodeOf(err) == compute.NotFound
		if err != nil && !gone {
			return err
		}
		over = gone || j.Status.Ended()
		now := tx.Now()
		tx.AfterCommit(func() { ended = q.follow(e, id, j, gone, now) })
		return nil
	})

	switch {
	case err != nil:
		return err
	case ended != nil:
		ended.announce(ctx, q, nil)
	case over:
		q.wakeEnd(e, id)
	default:
		q.demand(e)
	}

	return nil
}

// follow has memory believe the row of a job that it may have wrong. It gives the end of one that has ended, if nobody was notified.
func (q *Queue) follow(e compute.EndpointID, id compute.JobID, j compute.Job, gone bool, now time.Time) (ended *ending) {
	q.mu.Lock()
	h, d := q.held[id], q.dispatchers[e]
	waits := false
	if d != nil {
		_, waits = d.find(id)
	}

	switch {
	case gone:
		q.release(id, now)
		if waits {
			d.leave(id)
		}
	case j.Status == compute.JobInProgress:
		if h == nil || h.worker != j.WorkerID {
			q.hold(j, now, q.settings.Lease)
		}
		if waits {
			d.leave(id)
		}
	case j.Status == compute.JobInQueue:
		q.release(id, now)
		if !waits {
			q.enqueue(j, false, false)
		}
	case h != nil || waits:
		ended = &ending{endpoint: e, holder: anyHolder, job: j, from: compute.JobInQueue}
		if h != nil && h.worker == j.WorkerID {
			ended.from = compute.JobInProgress
		}
	}

	q.mu.Unlock()
	if ended != nil {
		ended.follow(q)
	}
	return ended
}

// markStale has the status of a waiting job read from disk from now on: it may not wait any more.
func (q *Queue) markStale(e compute.EndpointID, id compute.JobID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil {
		d.markStale(id)
	}
}

// untake puts jobs back to the front that the worker was to get in a transaction of unknown outcome, and did not get: as if they
// had never been taken.
func (q *Queue) untake(ctx context.Context, e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) error {
	err := q.store.Write(ctx, func(tx store.Tx) error {
		var back []waiting
		for _, id := range ids {
			j, err := tx.Job(id)
			if compute.CodeOf(err) == compute.NotFound {
				continue
			}
			if err != nil {
				return err
			}

			if j.Status == compute.JobInProgress && j.WorkerID == w {
				if _, err = backToQueue(tx, &j, func(j *compute.Job) { j.Attempt-- }); err != nil {
					return err
				}
			}

			if j.Status == compute.JobInQueue {
				back = append(back, waitingJob(&j))
			}
		}

		tx.AfterCommit(func() { q.untook(e, w, back) })
		return nil
	})
	if err == nil {
		q.demand(e)
	}
	return err
}

// untook has memory follow what untake did.
func (q *Queue) untook(e compute.EndpointID, w compute.WorkerID, back []waiting) {
	q.mu.Lock()
	defer q.mu.Unlock()

	now := q.clock.Now()
	for i := range back {
		id := back[i].key.ID()
		if h := q.held[id]; h != nil && h.worker == w {
			q.release(id, now)
		}
	}
	q.putBack(e, back)
}

// putBack puts jobs that nobody got back to the front. The caller has the lock.
func (q *Queue) putBack(e compute.EndpointID, jobs []waiting) {
	if d := q.dispatchers[e]; d != nil && !d.gone {
		d.putBack(jobs)
		d.wake()
		return
	}
	for i := range jobs { // adopting cancels them
		id := jobs[i].key.ID()
		q.doubts.add(e, func(ctx context.Context) error { return q.adopt(ctx, e, id) })
	}
}
