package queue

import (
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// dispatcher is one endpoint's waiting jobs and its workers. It remembers what the rows say, and may be made anew from them at any time. Every method needs the queue's lock.
type dispatcher struct {
	endpoint compute.Endpoint // what InMemory gives of it
	normal   fifo
	low      fifo
	lost     map[compute.JobID][]compute.WorkerID // workers that a job was taken from and that may still run it
	takes    []*heldTake                          // held, longest first
	workers  map[compute.WorkerID]*workerState

	requests []*request        // that wait for a worker, longest first, where the endpoint balances load
	entered  int               // requests, waiting or in progress
	counts   compute.JobCounts // of requests that were answered, and that failed, since the server was started

	absent []Absent
	gone   bool  // the endpoint is deleted
	meter  Meter // nil: nobody counts
}

// heldTake is a take that waits for a job. given is buffered, so that giving never blocks.
type heldTake struct {
	worker   compute.WorkerID
	given    chan handover
	reserved bool // a job is being stored for it: something will be given
}

// handover is what a held take gets: the id of a job that waited, and how, or a job that was stored as taken; neither if it could not
// be stored.
type handover struct {
	id    compute.JobID
	was   waiting
	taken *Taken
}

// reserve takes out the take that waits longest, for a new job; nil if none waits.
func (d *dispatcher) reserve() *heldTake {
	if len(d.takes) == 0 {
		return nil
	}
	t := d.takes[0]
	d.takes = slices.Delete(d.takes, 0, 1)
	t.reserved = true
	return t
}

func newDispatcher(e compute.Endpoint) *dispatcher {
	return &dispatcher{
		endpoint: e.InMemory(), lost: map[compute.JobID][]compute.WorkerID{}, workers: map[compute.WorkerID]*workerState{},
	}
}

// worker gives what is known of the worker, which may be nothing yet.
func (d *dispatcher) worker(w compute.WorkerID) *workerState {
	s := d.workers[w]
	if s == nil {
		s = &workerState{drain: make(chan struct{}), jobs: map[compute.JobID]bool{}, stopped: make(chan struct{}, 1)}
		d.workers[w] = s
	}
	return s
}

// push gives the job to the worker that waits longest, or puts it in the queue of its priority: at the end, or at the front
// if it has waited before. fresh says that nobody else can know of it: from what others know they may have ended it since it was
// read.
func (d *dispatcher) push(j compute.Job, front, fresh bool) {
	w := waitingJob(&j)
	w.returned, w.plain = front, fresh && j.Retries == 0
	for i, t := range d.takes {
		if !d.mayHold(t.worker, j.ID) {
			d.takes = slices.Delete(d.takes, i, i+1)
			t.given <- handover{id: j.ID, was: w}
			return
		}
	}

	f := d.line(j.LowPriority)
	if front {
		f.unshift(w)
	} else {
		f.push(w)
	}
}

// waitingJob gives how a job waits whose row is IN_QUEUE.
func waitingJob(j *compute.Job) waiting {
	key, _ := j.ID.Key() // it has one: New sees to it
	return waiting{key, wait{since: j.QueuedAt.UnixMilli(), low: j.LowPriority}}
}

// line gives the fifo of a priority.
func (d *dispatcher) line(low bool) *fifo {
	if low {
		return &d.low
	}
	return &d.normal
}

// putBack puts jobs that were taken out back at the front of the queue of their priority, in their order: it was their turn. Others may
// know of them by now, and have ended them.
func (d *dispatcher) putBack(jobs []waiting) {
	for _, w := range slices.Backward(jobs) {
		w.returned, w.plain = true, false
		d.line(w.low).unshift(w)
	}
}

// pop takes at most n jobs out that the worker cannot be holding, those of normal priority first. It gives their ids, and appends how they
// waited to was.
func (d *dispatcher) pop(w compute.WorkerID, n int, was []waiting) ([]compute.JobID, []waiting) {
	var ids []compute.JobID
	for _, f := range []*fifo{&d.normal, &d.low} {
		var passed []waiting
		for len(ids) < n {
			next, ok := f.pop()
			if !ok {
				break
			}
			id := next.key.ID()
			if d.mayHold(w, id) {
				passed = append(passed, next)
				continue
			}

			ids, was = append(ids, id), append(was, next)
		}

		for _, p := range slices.Backward(passed) {
			f.unshift(p)
		}
	}

	return ids, was
}

// find gives a waiting job, if it waits.
func (d *dispatcher) find(id compute.JobID) (w waiting, ok bool) {
	key, ok := id.Key()
	if !ok {
		return waiting{}, false
	}
	if w, ok = d.normal.find(key); !ok {
		w, ok = d.low.find(key)
	}
	return w, ok
}

// markStale has it that more may be to say of a waiting job than memory knows.
func (d *dispatcher) markStale(id compute.JobID) {
	if key, ok := id.Key(); ok {
		d.normal.markStale(key)
		d.low.markStale(key)
	}
}

// leave takes a waiting job out of its queue without handing it to anybody.
func (d *dispatcher) leave(id compute.JobID) {
	if key, ok := id.Key(); ok {
		d.normal.drop(key)
		d.low.drop(key)
	}
}

// waits reports how many jobs wait.
func (d *dispatcher) waits() int { return d.normal.len() + d.low.len() }

// empty takes every waiting job out of its queue and gives them, each priority in its order.
func (d *dispatcher) empty() (normal, low []waiting) { return d.normal.empty(), d.low.empty() }

// lose notes that a job was taken from a worker that may still run it.
func (d *dispatcher) lose(id compute.JobID, w compute.WorkerID) {
	if !slices.Contains(d.lost[id], w) {
		d.lost[id] = append(d.lost[id], w)
	}
}

// mayHold reports whether the worker may run the job, though it does not hold it: the job was taken from it, or its last ping
// named it. It must not get the job anew (rule queue.lease.other).
func (d *dispatcher) mayHold(w compute.WorkerID, id compute.JobID) bool {
	if slices.Contains(d.lost[id], w) {
		return true
	}
	s := d.workers[w]
	return s != nil && slices.Contains(s.named, id)
}

// stopped notes that the worker does not run the job any more.
func (d *dispatcher) stopped(w compute.WorkerID, id compute.JobID) {
	if s := d.workers[w]; s != nil {
		s.named = slices.DeleteFunc(s.named, func(other compute.JobID) bool { return other == id })
	}
	d.lost[id] = slices.DeleteFunc(d.lost[id], func(other compute.WorkerID) bool { return other == w })
	if len(d.lost[id]) == 0 {
		delete(d.lost, id)
	}
}

// stoppedAll notes that the worker runs none of the jobs that it lost.
func (d *dispatcher) stoppedAll(w compute.WorkerID) {
	for id := range d.lost {
		d.stopped(w, id)
	}
}

// withdraw withdraws a held take that no job is being stored for, and gives what it was given in the meantime, if anything.
func (d *dispatcher) withdraw(t *heldTake) handover {
	d.takes = slices.DeleteFunc(d.takes, func(other *heldTake) bool { return other == t })
	select {
	case h := <-t.given:
		return h
	default:
		return handover{}
	}
}

// wake hands waiting jobs to waiting workers, as long as there is one for the other, longest first.
func (d *dispatcher) wake() {
	var one [1]waiting
	for i := 0; i < len(d.takes); {
		ids, was := d.pop(d.takes[i].worker, 1, one[:0])
		if len(ids) == 0 {
			i++ // nothing waits, or nothing that this one may have
			continue
		}
		d.takes[i].given <- handover{id: ids[0], was: was[0]}
		d.takes = slices.Delete(d.takes, i, i+1)
	}
}
