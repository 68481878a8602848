package queue

import (
	"cmp"
	"context"
	"errors"
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

// doubt has work about the endpoint's jobs done by the next sweep, and by those after it until it succeeds. The caller does not
// have the lock.
func (q *Queue) doubt(e compute.EndpointID, do func(context.Context) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.doubts.work = append(q.doubts.work, doubt{e, do})
}

// doubtJobs has the rows of the jobs looked at by the next sweep.
func (q *Queue) doubtJobs(e compute.EndpointID, ids ...compute.JobID) {
	for _, id := range ids {
		q.doubt(e, func(ctx context.Context) error { return q.settle(ctx, e, id) })
	}
}

// roomForDoubt refuses what could leave more in doubt, while that is as much as memory may hold: Unavailable.
func (q *Queue) roomForDoubt() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.doubts.work) >= mostDoubts {
		return compute.Errorf(compute.Unavailable, "the storage has failed, and what was asked before is not settled yet")
	}
	return nil
}

// errNotRun is the error of a function that did not return.
var errNotRun = errors.New("queue: the function did not run")

// unsure runs f by one of the store's writes. Of one that failed it tells whether it may be on disk all the same: f itself did
// not fail.
func unsure(ctx context.Context, write func(context.Context, func(store.Tx) error) error, f func(store.Tx) error) (unknown bool, err error) {
	of := errNotRun
	err = write(ctx, func(tx store.Tx) error {
		of = f(tx)
		return of
	})
	return err != nil && of == nil, err
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
// a job is told so, and not held while the only job may be the one in doubt.
func (q *Queue) resolveAll(ctx context.Context, e compute.EndpointID) error {
	for {
		if more, err := q.resolve(ctx, e); !more || err != nil {
			return err
		}
	}
}

// resolve does the oldest doubt about an endpoint's jobs, or about any if the endpoint is empty, and tells whether there was one.
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

// settle makes of a job in memory what its row says.
func (q *Queue) settle(ctx context.Context, e compute.EndpointID, id compute.JobID) error {
	var j compute.Job
	var now time.Time
	err := q.store.Write(ctx, func(tx store.Tx) (err error) { // after whatever is being written
		now = tx.Now()
		j, err = tx.Job(id)
		return err
	})
	gone := compute.CodeOf(err) == compute.NotFound
	if err != nil && !gone {
		return err
	}
	q.mu.Lock()
	h, l := q.held[id], q.lines[e]
	waits := false
	if l != nil {
		_, waits = l.find(id)
	}
	known := h != nil || waits
	if !gone && j.Status == compute.JobInProgress && (h == nil || h.worker != j.WorkerID) {
		q.hold(j, now)
	}
	if waits && (gone || j.Status == compute.JobInProgress) {
		l.leave(id)
	}
	if h != nil && !gone && j.Status == compute.JobInQueue {
		q.release(id)
	}
	q.mu.Unlock()
	switch {
	case gone:
		q.ended(e, id)
	case j.Status.Ended() && known:
		one := ending{endpoint: e, id: id, holder: anyHolder, job: j, from: compute.JobInQueue}
		if h != nil && h.worker == j.WorkerID {
			one.from = compute.JobInProgress
		}
		one.tell(ctx, q, nil)
	case j.Status == compute.JobInQueue && !waits:
		q.enqueue(j, false, false)
	}
	return nil
}

// shade has the status of a waiting job read from disk from now on: it may not wait any more.
func (q *Queue) shade(e compute.EndpointID, id compute.JobID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[e]; l != nil {
		l.shade(id)
	}
}

// untake puts jobs back to the front of the line that the worker was to get in a transaction of unknown outcome, and did not
// get: as if they had never been taken.
func (q *Queue) untake(ctx context.Context, e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) error {
	var waiting []compute.JobID
	err := q.store.Write(ctx, func(tx store.Tx) error {
		waiting = waiting[:0]
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
				waiting = append(waiting, id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	q.mu.Lock()
	l := q.lines[e]
	for _, id := range waiting {
		if h := q.held[id]; h != nil && h.worker == w {
			q.release(id)
		}
	}
	if l != nil && !l.gone {
		l.putBack(waiting, q.clock.Now())
		l.wake()
	}
	gone := l == nil || l.gone
	q.mu.Unlock()
	if gone {
		q.doubtJobs(e, waiting...) // which cancels them
	}
	q.demand(e)
	return nil
}
