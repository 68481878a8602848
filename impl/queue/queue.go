// Package queue is a job's life: submitted, taken, finished. Rows decide: every move is guarded in its row, so that whatever memory
// believes can at worst offer a job that is not to be had. Memory remembers who waits, who is idle and whose lease ends when: the ids
// of waiting jobs (not their inputs) stand in an endpoint's dispatcher and are handed to waiting workers without polling. All of
// it can be lost at any time and is made anew from the rows; what commits do to it is done in their order.
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
	Lease          time.Duration // how long the worker of a job may be silent before another one gets the job
	MaxAttempts    int           // takes before a job fails
	TakeHold       time.Duration // how long a take or a stop poll is held
	RequestWait    time.Duration // how long a request to an endpoint that balances load waits for a worker
	RunOutputLimit int           // bytes of a /run job's output
	SyncLimit      int           // bytes of a /runsync job's output
}

// DefaultSettings are the documented ones (rules queue.lease, queue.attempts, queue.output.limit). The hold stays well
// under the 90 s after which workers hang up.
func DefaultSettings() Settings {
	return Settings{Lease: 30 * time.Second, MaxAttempts: 3, TakeHold: 25 * time.Second, RequestWait: 2 * time.Minute, RunOutputLimit: 10_000_000, SyncLimit: 20_000_000}
}

// Queue carries out the operations on jobs. It is safe for concurrent use.
type Queue struct {
	store    store.Store
	clock    compute.Clock
	ids      *compute.IDs
	settings Settings
	hooks    Hooks
	holding  atomic.Int64 // requests that are held now

	mu      sync.Mutex
	memory                                // can be lost at any time
	entered compute.Share[compute.UserID] // requests to endpoints that balance load, waiting or in progress
	early   map[compute.EndpointID]int    // jobs that were handed over and may not be committed yet
	doubts  doubts
	lag     time.Duration // of the clock when the leases last began afresh
	ends    watchers      // of the ends of jobs
	chunks  watchers      // of the chunks of jobs
	closed  chan struct{} // closed when the server stops: every hold ends
}

// memory is what the rows say, and what workers reported since it was made of them. Every method needs the queue's lock.
type memory struct {
	dispatchers map[compute.EndpointID]*dispatcher
	held        map[compute.JobID]*lease
	takes       int64 // so far
	recent      recent
}

// Hooks are what the queue calls, without locks held. All may be nil.
type Hooks struct {
	Demand   func()                                     // an endpoint may need more or fewer workers
	Document func(compute.Job) (json.RawMessage, error) // gives the status document that a webhook gets
	Delivery func()                                     // a webhook is to be delivered
	Meter    func(compute.EndpointID) Meter             // makes the meter of an endpoint that has a queue
	Sealer   Sealer                                     // seals what jobs have that must not be stored in clear
	Trace    Trace
}

// lease is a job in progress.
type lease struct {
	job      compute.Job // as it was taken
	endpoint compute.EndpointID
	worker   compute.WorkerID
	turn     int64     // its place among the takes
	onItsWay bool      // to its worker, which cannot say anything of it yet: the lease has not begun
	until    time.Time // without a heartbeat: the job is lost
	overrun  time.Time // end of its execution timeout
}

// isOver reports whether the job is lost unless its worker is heard of.
func (l *lease) isOver(now time.Time) bool { return !l.onItsWay && !now.Before(l.until) }

// storedAs notes the job as it was stored, which may be at another time than that at which it was handed over.
func (l *lease) storedAs(j compute.Job) {
	j.S3Config = nil // handed over
	l.job, l.overrun = j, j.TakenAt.Add(j.ExecutionTimeout)
}

// New loads the endpoints and the jobs and makes a Queue. Every job in progress gets a fresh lease: its worker could not
// report while the server was down.
func New(ctx context.Context, s store.Store, clock compute.Clock, ids *compute.IDs, settings Settings, hooks Hooks) (*Queue, error) {
	if hooks.Demand == nil {
		hooks.Demand = func() {}
	}
	if hooks.Delivery == nil {
		hooks.Delivery = func() {}
	}
	if _, err := compute.JobMachine.Next(compute.JobInQueue, compute.JobTake); err != nil {
		return nil, err // the move that the store's takes make is the table's
	}

	q := &Queue{
		store: s, clock: clock, ids: ids, settings: settings, hooks: hooks, early: map[compute.EndpointID]int{},
		ends: watchers{}, chunks: watchers{}, closed: make(chan struct{}), lag: compute.Lag(clock),
	}
	err := s.Read(ctx, func(tx store.Tx) (err error) {
		q.memory, err = q.load(tx, true)
		return err
	})

	return q, err
}

// load makes memory of the rows. fresh says that nobody can change them until it is the queue's: otherwise a job that waits by then
// may be taken by a later part of the same commit, and its status is read from disk.
func (q *Queue) load(tx store.Tx, fresh bool) (memory, error) {
	m := memory{dispatchers: map[compute.EndpointID]*dispatcher{}, held: map[compute.JobID]*lease{}, recent: newRecent()}
	endpoints, err := tx.ListEndpoints()
	if err != nil {
		return m, err
	}

	for _, e := range endpoints {
		d := q.newDispatcher(e)
		d.gone = !e.DeletedAt.IsZero()
		m.dispatchers[e.ID] = d
	}

	last, err := tx.LastJob()
	if err != nil {
		return m, err
	}
	q.ids.Follow(last)

	waits := m.fill(fresh)
	var strange error
	err = tx.UnfinishedJobs(func(j compute.Job) {
		if j.Status == compute.JobInQueue {
			waits.add(j)
			return
		}
		if strange == nil {
			_, unknown := keyOf(j.ID)
			strange = cmp.Or(waits.end(), unknown)
		}
		if strange == nil {
			m.hold(j, tx.Now(), q.settings.Lease)
		}
	})

	return m, cmp.Or(err, waits.end(), strange)
}

// Reload drops all that memory holds and makes it anew of the rows, as whoever becomes the owner of the endpoints does: leases begin
// afresh, and workers that wait ask again. It may be called at any time.
func (q *Queue) Reload(ctx context.Context) error {
	return q.store.Write(ctx, func(tx store.Tx) error {
		m, err := q.load(tx, false)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() { q.replace(m) })
		return nil
	})
}

// replace puts another memory in the place of the one there is.
func (q *Queue) replace(m memory) {
	q.mu.Lock()
	defer q.mu.Unlock()

	for id, d := range q.dispatchers {
		for _, t := range d.takes {
			t.given <- handover{}
		}
		for _, s := range d.workers {
			s.look()
		}
		if next := m.dispatchers[id]; next != nil {
			next.meter = d.meter
		}
	}

	q.recent.forgetAll()
	m.recent = q.recent
	q.memory, q.lag = m, compute.Lag(q.clock)
}

// hold notes a job in progress, whose lease begins now.
func (m *memory) hold(j compute.Job, now time.Time, length time.Duration) {
	m.release(j.ID, now) // whoever had it
	j.S3Config = nil     // handed over
	m.takes++
	m.held[j.ID] = &lease{
		job: j, endpoint: j.EndpointID, worker: j.WorkerID, turn: m.takes, until: now.Add(length),
		overrun: j.TakenAt.Add(j.ExecutionTimeout),
	}
	if d := m.dispatchers[j.EndpointID]; d != nil {
		s := d.worker(j.WorkerID)
		s.jobs[j.ID] = j.LowPriority
		s.begins(j.ID)
	}
}

// release forgets a job in progress.
func (m *memory) release(id compute.JobID, now time.Time) {
	h := m.held[id]
	if h == nil {
		return
	}
	delete(m.held, id)
	if d := m.dispatchers[h.endpoint]; d != nil {
		if s := d.workers[h.worker]; s != nil {
			delete(s.jobs, id)
			s.idleSince = now
		}
	}
}

// heldJob is a job in progress, and how it was held when that was asked.
type heldJob struct {
	id compute.JobID
	lease
}

// heldThat gives the jobs in progress of which the condition holds, the last one taken first: each goes back to the front
// of its queue, and so they wait again in the order in which they were taken.
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

// Close ends every hold, so that the server can stop.
func (q *Queue) Close() { close(q.closed) }

// Closed reports whether Close was called.
func (q *Queue) Closed() bool {
	select {
	case <-q.closed:
		return true
	default:
		return false
	}
}

// dispatcher gives that of the endpoint. NotFound for an unknown endpoint, for somebody else's and for one that has no queue. The
// caller has the lock.
func (q *Queue) dispatcher(user compute.UserID, id compute.EndpointID) (*dispatcher, error) {
	d, err := q.any(user, id)
	if err != nil {
		return nil, err
	}
	if d.endpoint.Type == compute.LoadBalancer {
		return nil, compute.Errorf(compute.NotFound, "endpoint %q has no queue: its type is %s", id, compute.LoadBalancer)
	}
	return d, nil
}

// any gives the dispatcher of the endpoint, whatever its type. NotFound for an unknown endpoint and for somebody else's. The caller has
// the lock.
func (q *Queue) any(user compute.UserID, id compute.EndpointID) (*dispatcher, error) {
	d := q.dispatchers[id]
	if d == nil || d.endpoint.UserID != user || d.gone {
		return nil, compute.Errorf(compute.NotFound, "endpoint %q does not exist", id)
	}
	return d, nil
}

// Known refuses an endpoint that does not exist or is not the user's: NotFound.
func (q *Queue) Known(user compute.UserID, id compute.EndpointID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, err := q.dispatcher(user, id)
	return err
}

// wakeEnd wakes those who wait for the job's end or its chunks, and calls for a look at the workers. The caller does not have the
// lock.
func (q *Queue) wakeEnd(e compute.EndpointID, id compute.JobID) {
	q.mu.Lock()
	q.ends.wake(id)
	q.chunks.wake(id)
	q.mu.Unlock()
	q.demand(e)
}

// demand calls for a look at the workers of the endpoint, unless it may have none: then nothing hangs on a job more or less.
func (q *Queue) demand(e compute.EndpointID) {
	q.mu.Lock()
	d := q.dispatchers[e]
	none := d != nil && d.endpoint.WorkersMax == 0
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

// Holding reports how many requests are held now.
func (q *Queue) Holding() int { return int(q.holding.Load()) }

// Working reports whether a worker runs a job or serves a request, but for those that a script says what to do of: they go by the clock.
func (q *Queue) Working() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range q.dispatchers {
		if d.endpoint.Type == compute.LoadBalancer && d.inProgress() > 0 {
			return true
		}
	}
	for _, h := range q.held {
		d := q.dispatchers[h.endpoint]
		if d == nil || d.workers[h.worker] == nil || !d.workers[h.worker].scripted {
			return true
		}
	}
	return false
}

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

// rename has those who wait for something of a job wait for that of another.
func (w watchers) rename(from, to compute.JobID) {
	if waiting := w[from]; waiting != nil {
		delete(w, from)
		w[to] = waiting
	}
}

func (w watchers) wake(id compute.JobID) {
	for _, c := range w[id] {
		close(c)
	}
	delete(w, id)
}
