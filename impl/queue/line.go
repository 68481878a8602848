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
	avoid    map[compute.JobID]compute.WorkerID // jobs that a silent worker may still hold
	takers   []*taker                           // workers that wait for a job, longest first
	seats    map[compute.WorkerID]*seat
}

// taker is one held take. given is buffered, so that giving never blocks.
type taker struct {
	worker compute.WorkerID
	given  chan compute.JobID
}

// seat is what is known of one worker.
type seat struct {
	managed   bool // started by us
	heard     bool // has spoken since it was started
	pinged    bool // names its jobs: their leases can be judged
	unhealthy string
	draining  bool
	drain     chan struct{} // closed when it drains: its polls end
	jobs      map[compute.JobID]bool
	stops     []compute.JobID
	stopped   chan struct{} // receives when stops grew
	lastHeard time.Time
	idleSince time.Time
	polls     int // takes held now
}

func newLine(e compute.Endpoint) *line {
	return &line{
		endpoint: e, avoid: map[compute.JobID]compute.WorkerID{}, seats: map[compute.WorkerID]*seat{},
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
// if it has waited before. It never goes to the worker named by avoid.
func (l *line) push(id compute.JobID, low, front bool, avoid compute.WorkerID) {
	if avoid != "" {
		l.avoid[id] = avoid
	}
	for i, t := range l.takers {
		if t.worker != avoid || avoid == "" {
			l.takers = slices.Delete(l.takers, i, i+1)
			delete(l.avoid, id)
			t.given <- id
			return
		}
	}
	f := &l.normal
	if low {
		f = &l.low
	}
	if front {
		f.unpop([]compute.JobID{id})
	} else {
		f.push(id)
	}
}

// pop takes at most n jobs that the worker may have, those of normal priority first.
func (l *line) pop(w compute.WorkerID, n int) []compute.JobID {
	var ids []compute.JobID
	for _, f := range []*fifo{&l.normal, &l.low} {
		var avoided []compute.JobID
		for len(ids) < n {
			id, ok := f.pop()
			if !ok {
				break
			}
			switch {
			case l.avoid[id] == w && w != "":
				avoided = append(avoided, id)
			default:
				delete(l.avoid, id)
				ids = append(ids, id)
			}
		}
		f.unpop(avoided)
	}
	return ids
}

// leave takes a waiting job out of the line without handing it to anybody.
func (l *line) leave(id compute.JobID) {
	delete(l.avoid, id)
	if !l.normal.remove(id) {
		l.low.remove(id)
	}
}

// forgetTaker withdraws a held take, and gives the job that it was given in the meantime, if any.
func (l *line) forgetTaker(t *taker) (compute.JobID, bool) {
	l.takers = slices.DeleteFunc(l.takers, func(other *taker) bool { return other == t })
	select {
	case id := <-t.given:
		return id, true
	default:
		return "", false
	}
}

// waiting counts the jobs in the line; low-priority ones apart, since they start no worker.
func (l *line) waiting() (normal, low int) {
	return l.normal.len(), l.low.len()
}

// fifo is a queue of job ids that gives its memory back as it drains.
type fifo struct {
	ids  []compute.JobID
	head int
}

func (f *fifo) len() int              { return len(f.ids) - f.head }
func (f *fifo) push(id compute.JobID) { f.ids = append(f.ids, id) }

func (f *fifo) pop() (compute.JobID, bool) {
	if f.len() == 0 {
		return "", false
	}
	id := f.ids[f.head]
	f.ids[f.head] = ""
	f.head++
	if f.head >= 1024 && f.head*2 >= len(f.ids) {
		f.ids, f.head = slices.Clone(f.ids[f.head:]), 0
	}
	return id, true
}

// remove takes out one id, wherever it stands.
func (f *fifo) remove(id compute.JobID) bool {
	i := slices.Index(f.ids[f.head:], id)
	if i >= 0 {
		f.ids = slices.Delete(f.ids, f.head+i, f.head+i+1)
	}
	return i >= 0
}

// unpop puts ids back at the front, in their order.
func (f *fifo) unpop(ids []compute.JobID) {
	if len(ids) <= f.head {
		f.head -= len(ids)
		copy(f.ids[f.head:], ids)
		return
	}
	f.ids, f.head = append(slices.Clone(ids), f.ids[f.head:]...), 0
}
