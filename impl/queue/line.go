package queue

import (
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// line is one endpoint's waiting jobs and its workers. Every method needs the queue's lock.
type line struct {
	endpoint compute.Endpoint
	normal   fifo
	low      fifo
	lost     map[compute.JobID][]compute.WorkerID // workers that a job was taken from and that may still run it
	takers   []*taker                             // workers that wait for a job, longest first
	seats    map[compute.WorkerID]*seat

	early  int // jobs that were handed over and may not be committed yet
	absent []Absent
	gone   bool  // the endpoint is deleted
	meter  Meter // nil: nobody counts
}

// taker is one held take. given is buffered, so that giving never blocks.
type taker struct {
	worker   compute.WorkerID
	given    chan handed
	reserved bool // a job is being stored for it: something will be given
}

// handed is what a held take gets: the id of a job that waited, or a job that was stored as taken; neither if it could not
// be stored.
type handed struct {
	id    compute.JobID
	taken *Taken
}

// reserve takes the worker that waits longest out of the line, for a new job; nil if none waits.
func (l *line) reserve() *taker {
	if len(l.takers) == 0 {
		return nil
	}
	t := l.takers[0]
	l.takers = slices.Delete(l.takers, 0, 1)
	t.reserved = true
	return t
}

// stopping is a job that its worker is to stop and may still be running.
type stopping struct {
	id    compute.JobID
	since time.Time
	told  bool // the worker has asked what to stop
}

// seat is what is known of one worker.
type seat struct {
	managed   bool  // started by us
	version   int64 // of the release that it is made of, if it is managed
	heard     bool  // has spoken since it was started
	up        bool  // its container is up, and it is ready by that
	pinged    bool  // names its jobs: nothing else extends their leases
	unhealthy string
	draining  bool
	drain     chan struct{}          // closed when it drains: its polls end
	leaving   bool                   // to be replaced: it gets nothing more
	proven    bool                   // has reported the end of a job
	jobs      map[compute.JobID]bool // that it holds; whether they are of low priority
	named     []compute.JobID        // by its last ping
	stops     []stopping
	stopped   chan struct{} // receives when stops grew
	lastHeard time.Time
	idleSince time.Time
	polls     int // takes held now
}

func newLine(e compute.Endpoint) *line {
	return &line{
		endpoint: e, lost: map[compute.JobID][]compute.WorkerID{}, seats: map[compute.WorkerID]*seat{},
	}
}

// seat gives what is known of the worker, which may be nothing yet.
func (l *line) seat(w compute.WorkerID) *seat {
	s := l.seats[w]
	if s == nil {
		s = &seat{drain: make(chan struct{}), jobs: map[compute.JobID]bool{}, stopped: make(chan struct{}, 1)}
		l.seats[w] = s
	}
	return s
}

// push gives the job to the worker that waits longest, or puts it in the line of its priority: at the end, or at the front
// if it has waited before. fresh says that nobody else can know of it: from what others know they may have ended it since it was
// read.
func (l *line) push(j compute.Job, front, fresh bool) {
	for i, t := range l.takers {
		if !l.mayHold(t.worker, j.ID) {
			l.takers = slices.Delete(l.takers, i, i+1)
			t.given <- handed{id: j.ID}
			return
		}
	}
	f := &l.normal
	if j.LowPriority {
		f = &l.low
	}
	key, _ := j.ID.Key() // it has one: New sees to it
	w := waiting{key, wait{since: j.QueuedAt.UnixMilli(), returned: front, plain: fresh && j.Retries == 0}}
	if front {
		f.unshift(w)
	} else {
		f.push(w)
	}
}

// putBack puts jobs back at the front, whatever their priority: it was their turn.
func (l *line) putBack(ids []compute.JobID, now time.Time) {
	for _, id := range slices.Backward(ids) {
		key, _ := id.Key() // from which the id was made
		l.normal.unshift(waiting{key, wait{since: now.UnixMilli(), returned: true}})
	}
}

// pop takes at most n jobs that the worker cannot be holding, those of normal priority first.
func (l *line) pop(w compute.WorkerID, n int) []compute.JobID {
	var ids []compute.JobID
	for _, f := range []*fifo{&l.normal, &l.low} {
		var passed []waiting
		for len(ids) < n {
			next, ok := f.pop()
			if !ok {
				break
			}
			id := next.key.ID()
			if l.mayHold(w, id) {
				passed = append(passed, next)
				continue
			}
			ids = append(ids, id)
		}
		for _, p := range slices.Backward(passed) {
			f.unshift(p)
		}
	}
	return ids
}

// find gives a waiting job, if it waits.
func (l *line) find(id compute.JobID) (w waiting, ok bool) {
	key, ok := id.Key()
	if !ok {
		return waiting{}, false
	}
	if w, ok = l.normal.find(key); !ok {
		w, ok = l.low.find(key)
	}
	return w, ok
}

// shade has it that more may be to say of a waiting job than memory knows.
func (l *line) shade(id compute.JobID) {
	if key, ok := id.Key(); ok {
		l.normal.shade(key)
		l.low.shade(key)
	}
}

// leave takes a waiting job out of the line without handing it to anybody.
func (l *line) leave(id compute.JobID) {
	if key, ok := id.Key(); ok {
		l.normal.drop(key)
		l.low.drop(key)
	}
}

// waits tells how many jobs wait.
func (l *line) waits() int { return l.normal.len() + l.low.len() }

// empty takes every waiting job out of the line and gives them, those of normal priority first.
func (l *line) empty() []compute.JobID {
	return l.pop("", l.waits())
}

// lose notes that a job was taken from a worker that may still run it.
func (l *line) lose(id compute.JobID, w compute.WorkerID) {
	if !slices.Contains(l.lost[id], w) {
		l.lost[id] = append(l.lost[id], w)
	}
}

// mayHold tells whether the worker may run the job, though it does not hold it: the job was taken from it, or its last ping
// named it. It must not get the job anew (rule queue.lease.other).
func (l *line) mayHold(w compute.WorkerID, id compute.JobID) bool {
	if slices.Contains(l.lost[id], w) {
		return true
	}
	s := l.seats[w]
	return s != nil && slices.Contains(s.named, id)
}

// stopped notes that the worker does not run the job any more.
func (l *line) stopped(w compute.WorkerID, id compute.JobID) {
	if s := l.seats[w]; s != nil {
		s.named = slices.DeleteFunc(s.named, func(other compute.JobID) bool { return other == id })
	}
	l.lost[id] = slices.DeleteFunc(l.lost[id], func(other compute.WorkerID) bool { return other == w })
	if len(l.lost[id]) == 0 {
		delete(l.lost, id)
	}
}

// forgetTaker withdraws a held take that no job is being stored for, and gives what it was given in the meantime, if anything.
func (l *line) forgetTaker(t *taker) handed {
	l.takers = slices.DeleteFunc(l.takers, func(other *taker) bool { return other == t })
	select {
	case h := <-t.given:
		return h
	default:
		return handed{}
	}
}

// wake hands waiting jobs to waiting workers, as long as there is one for the other, longest first.
func (l *line) wake() {
	for i := 0; i < len(l.takers); {
		ids := l.pop(l.takers[i].worker, 1)
		if len(ids) == 0 {
			i++ // nothing waits, or nothing that this one may have
			continue
		}
		l.takers[i].given <- handed{id: ids[0]}
		l.takers = slices.Delete(l.takers, i, i+1)
	}
}
