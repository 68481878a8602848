package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Standing is how the waiting jobs and the workers of an endpoint stand.
type Standing struct {
	Waiting int // jobs IN_QUEUE, or requests that wait for a worker
	Workers []StandingWorker
}

// StandingWorker is a worker as the queue sees it. Times are by the clock's Now.
type StandingWorker struct {
	ID        compute.WorkerID
	Status    compute.WorkerStatus
	Reason    string // why it is UNHEALTHY, THROTTLED or not up, for people
	Managed   bool   // berth started it
	Leaving   bool   // it is to end, and gets nothing more
	Asks      bool   // it waits for a job now
	Unseen    bool   // it has sent no request yet
	Jobs      int    // in progress, or requests
	LastSeen  time.Time
	IdleSince time.Time
}

// Line is where a job stands in the line of its endpoint.
type Line struct {
	Waits bool
	Ahead int  // jobs that are handed out before it
	Lost  bool // a worker that is there may still run it, though it lost it, and does not get it anew
}

// Standing gives how an endpoint stands, its workers in the order of their ids. It asks nobody.
func (q *Queue) Standing(e compute.EndpointID) (s Standing) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.dispatchers[e]
	if d == nil {
		return s
	}

	s.Waiting = d.waits() + len(d.requests)
	for id, w := range d.workers {
		s.Workers = append(s.Workers, StandingWorker{
			ID: id, Status: w.status(), Reason: w.reason(), Managed: w.managed, Leaving: w.draining || w.leaving, Asks: w.polls > 0, Unseen: !w.seen,
			Jobs: len(w.jobs) + w.requests, LastSeen: w.lastSeen, IdleSince: w.idleSince,
		})
	}
	slices.SortFunc(s.Workers, func(a, b StandingWorker) int { return cmp.Compare(a.ID, b.ID) })
	return s
}

// Line gives where a job stands in line.
func (q *Queue) Line(e compute.EndpointID, id compute.JobID) (l Line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key, ok := id.Key()
	d := q.dispatchers[e]
	if d == nil || !ok {
		return l
	}

	if l.Ahead, l.Waits = d.normal.ahead(key); !l.Waits {
		if l.Ahead, l.Waits = d.low.ahead(key); l.Waits {
			l.Ahead += d.normal.len()
		}
	}
	for w := range d.workers {
		l.Lost = l.Lost || d.mayHold(w, id)
	}
	return l
}
