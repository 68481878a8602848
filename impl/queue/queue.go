// Package queue is a job's life: submitted, taken, finished. The store is the log, memory the dispatcher: the ids of
// waiting jobs (not their inputs) stand in lines, rebuilt at start, and are handed to waiting workers without polling.
package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Settings are the times and limits of the queue.
type Settings struct {
	Lease          time.Duration // how long a job may go unheard of before another worker gets it
	MaxAttempts    int           // takes before a job fails
	TakeHold       time.Duration // how long a take or a stop poll is held
	RunOutputLimit int           // bytes of a /run job's output
	SyncLimit      int           // bytes of a /runsync job's output
}

// DefaultSettings are the documented ones (rules queue.lease, queue.attempts, queue.output.limit). The hold stays well
// under the 90 s after which workers hang up.
func DefaultSettings() Settings {
	return Settings{Lease: 30 * time.Second, MaxAttempts: 3, TakeHold: 25 * time.Second, RunOutputLimit: 10_000_000, SyncLimit: 20_000_000}
}

// Queue carries out the operations on jobs. It is safe for concurrent use.
type Queue struct {
	store    store.Store
	clock    compute.Clock
	ids      *compute.IDs
	settings Settings
	hooks    Hooks
	holding  atomic.Int64 // requests that are held now

	mu     sync.Mutex
	lines  map[compute.EndpointID]*line
	held   map[compute.JobID]*lease
	takes  int64 // so far
	recent recent
	doubts doubts
	lag    time.Duration // of the clock when the leases last began afresh
	ends   watchers      // of the ends of jobs
	chunks watchers      // of the chunks of jobs
	closed chan struct{} // closed when the server stops: every hold ends
}

// Hooks are what the queue calls, without locks held. All may be nil.
type Hooks struct {
	Demand   func()                                     // an endpoint may need more or fewer workers
	Document func(compute.Job) (json.RawMessage, error) // gives the status document that a webhook gets
	Delivery func()                                     // a webhook is to be delivered
	Meter    func(compute.EndpointID) Meter             // makes the meter of an endpoint that has a queue
	Trace    Trace
}

// lease is a job in progress.
type lease struct {
	job      compute.Job // as it was taken
	endpoint compute.EndpointID
	worker   compute.WorkerID
	turn     int64     // its place among the takes
	until    time.Time // not heard of since: lost
	overrun  time.Time // end of its execution timeout
}

// New loads the endpoints and the jobs and makes a Queue. Every job in progress gets a fresh lease: its worker could not
// be heard while the server was down.
func New(ctx context.Context, s store.Store, clock compute.Clock, ids *compute.IDs, settings Settings, hooks Hooks) (*Queue, error) {
	if hooks.Demand == nil {
		hooks.Demand = func() {}
	}
	if hooks.Delivery == nil {
		hooks.Delivery = func() {}
	}
	q := &Queue{
		store: s, clock: clock, ids: ids, settings: settings, hooks: hooks,
		lines: map[compute.EndpointID]*line{}, held: map[compute.JobID]*lease{}, recent: newRecent(),
		ends: watchers{}, chunks: watchers{}, closed: make(chan struct{}), lag: compute.Lag(clock),
	}
	err := s.Read(ctx, func(tx store.Tx) error {
		endpoints, err := tx.ListEndpoints()
		if err != nil {
			return err
		}
		for _, e := range endpoints {
			q.lines[e.ID] = q.newLine(e)
			q.lines[e.ID].gone = !e.DeletedAt.IsZero()
		}
		last, err := tx.LastJob()
		if err != nil {
			return err
		}
		ids.Follow(last)
		held, err := tx.HeldJobs()
		if err != nil {
			return err
		}
		var strange error
		known := func(j compute.Job) bool {
			if _, ok := j.ID.Key(); !ok {
				strange = compute.Errorf(compute.Internal, "the store has a job %q, which is no id that berth gives", j.ID)
			}
			return strange == nil
		}
		for _, j := range held {
			if known(j) {
				q.hold(j, tx.Now())
			}
		}
		err = tx.WaitingJobs(func(j compute.Job) {
			if l := q.lines[j.EndpointID]; l != nil && known(j) {
				l.push(j, false, true)
			}
		})
		return cmp.Or(err, strange)
	})
	return q, err
}

// hold notes a job in progress. The caller has the lock, or is New.
func (q *Queue) hold(j compute.Job, now time.Time) {
	j.S3Config = nil // handed over
	q.takes++
	q.held[j.ID] = &lease{
		job: j, endpoint: j.EndpointID, worker: j.WorkerID, turn: q.takes, until: now.Add(q.settings.Lease),
		overrun: j.TakenAt.Add(j.ExecutionTimeout),
	}
	if l := q.lines[j.EndpointID]; l != nil {
		s := l.seat(j.WorkerID)
		s.jobs[j.ID] = j.LowPriority
		s.hasEnded(j.ID) // an earlier attempt
	}
}

// heldJob is a job in progress, and how it was held when that was asked.
type heldJob struct {
	id compute.JobID
	lease
}

// heldThat gives the jobs in progress of which the condition holds, the last one taken first: each goes back to the front
// of its line, and so they wait again in the order in which they were taken.
func (q *Queue) heldThat(condition func(*lease) bool) (jobs []heldJob) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, h := range q.held {
		if condition(h) {
			jobs = append(jobs, heldJob{id, *h})
		}
	}
	slices.SortFunc(jobs, func(a, b heldJob) int { return cmp.Compare(b.turn, a.turn) })
	return jobs
}

// release forgets a job in progress. The caller has the lock.
func (q *Queue) release(id compute.JobID) {
	h := q.held[id]
	if h == nil {
		return
	}
	delete(q.held, id)
	if l := q.lines[h.endpoint]; l != nil {
		if s := l.seats[h.worker]; s != nil {
			delete(s.jobs, id)
			s.idleSince = q.clock.Now()
		}
	}
}

// Close ends every hold, so that the server can stop.
func (q *Queue) Close() { close(q.closed) }

// Closed tells whether Close was called.
func (q *Queue) Closed() bool {
	select {
	case <-q.closed:
		return true
	default:
		return false
	}
}

// line gives the endpoint's line. NotFound for an unknown endpoint, for somebody else's and for one that has no queue. The
// caller has the lock.
func (q *Queue) line(user compute.UserID, id compute.EndpointID) (*line, error) {
	l := q.lines[id]
	if l == nil || l.endpoint.UserID != user || l.gone {
		return nil, compute.Errorf(compute.NotFound, "endpoint %q does not exist", id)
	}
	if l.endpoint.Type == compute.LoadBalancer {
		return nil, compute.Errorf(compute.NotFound, "endpoint %q has no queue: its type is %s", id, compute.LoadBalancer)
	}
	return l, nil
}

// Known refuses an endpoint that does not exist or is not the user's: NotFound.
func (q *Queue) Known(user compute.UserID, id compute.EndpointID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, err := q.line(user, id)
	return err
}

// ended wakes those who wait for the job's end or its chunks. The caller does not have the lock.
func (q *Queue) ended(e compute.EndpointID, id compute.JobID) {
	q.mu.Lock()
	q.release(id)
	q.ends.wake(id)
	q.chunks.wake(id)
	q.mu.Unlock()
	q.demand(e)
}

// demand calls for a look at the workers of the endpoint, unless it may have none: then nothing hangs on a job more or less.
func (q *Queue) demand(e compute.EndpointID) {
	q.mu.Lock()
	l := q.lines[e]
	none := l != nil && l.endpoint.WorkersMax == 0
	q.mu.Unlock()
	if !none {
		q.hooks.Demand()
	}
}

// Hold counts a request that is held from now on, until the function that it gives is called.
func (q *Queue) Hold() (over func()) {
	q.holding.Add(1)
	return func() { q.holding.Add(-1) }
}

// Holding tells how many requests are held now.
func (q *Queue) Holding() int { return int(q.holding.Load()) }

// watchers are those who wait for something of a job: their channels are closed when it comes. Every method needs the
// queue's lock.
type watchers map[compute.JobID][]chan struct{}

func (w watchers) add(id compute.JobID) chan struct{} {
	c := make(chan struct{})
	w[id] = append(w[id], c)
	return c
}

func (w watchers) remove(id compute.JobID, c chan struct{}) {
	left := slices.DeleteFunc(w[id], func(other chan struct{}) bool { return other == c })
	if len(left) == 0 {
		delete(w, id)
	} else {
		w[id] = left
	}
}

func (w watchers) wake(id compute.JobID) {
	for _, c := range w[id] {
		close(c)
	}
	delete(w, id)
}
