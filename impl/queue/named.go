package queue

import (
	"context"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Ping extends the leases of those named jobs that the worker holds. A job that it lost and does not name it may have again, and one that
// it names it is asked to stop (rule queue.stop.lost), as it is one that was cancelled or has timed out, also if memory was lost since (rule
// queue.stop.named). The ids are sorted in place.
func (q *Queue) Ping(user compute.UserID, e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) error {
	strange, err := q.ping(user, e, w, eachOnce(ids)) // each once without the lock: a ping may name very many
	if len(strange) > 0 {
		q.stopEnded(e, w, strange)
	}
	return err
}

// ping is Ping as far as memory goes. It gives the named jobs whose rows are to be asked.
func (q *Queue) ping(user compute.UserID, e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) (strange []compute.JobID, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	d, err := q.dispatcher(user, e)
	if err != nil {
		return nil, err
	}
	q.worker(d, w).pinged = true // from its first one on, its pings alone count

	s, now := q.see(d, w), q.clock.Now()
	for id, losers := range d.lost {
		switch {
		case !names(ids, id):
			d.stopped(w, id)
		case slices.Contains(losers, w) && !s.isToStop(id):
			s.stop(id, now) // whatever it makes of it, nobody gets it
		}
	}

	s.stillRuns(ids, now)
	s.named, strange = q.named(s, w, ids)
	for _, id := range ids {
		q.extendHeld(e, id, w)
	}
	d.wake()

	return strange, nil
}

// eachOnce gives the ids that jobs can have, sorted and each once, in the memory of those that it gets.
func eachOnce(ids []compute.JobID) []compute.JobID {
	ids = slices.DeleteFunc(ids, func(id compute.JobID) bool {
		_, is := id.Key()
		return !is
	})
	slices.Sort(ids)
	return slices.Compact(ids)
}

// names reports whether the id is among those that eachOnce gave.
func names(ids []compute.JobID, id compute.JobID) bool {
	_, is := slices.BinarySearch(ids, id)
	return is
}

// mostNamed is how many jobs that a worker names and does not hold are remembered: those that it may still run although they were
// taken from it before the server was started.
const mostNamed = 100

// named gives what to remember of the jobs that a worker names: not all that it can think of, and nothing of its request. Of what it does
// not hold, strange is what memory knows nothing of and the rows were not asked about. The caller has the lock.
func (q *Queue) named(s *workerState, w compute.WorkerID, ids []compute.JobID) (known, strange []compute.JobID) {
	for others := 0; len(ids) > 0; ids = ids[1:] {
		if h := q.held[ids[0]]; h != nil && h.worker == w {
			known = append(known, h.job.ID)
		} else if _, is := ids[0].Key(); is && others < mostNamed {
			known = append(known, compute.JobID(strings.Clone(string(ids[0]))))
			others++
			if id := known[len(known)-1]; !s.isToStop(id) && !slices.Contains(s.looked, id) {
				strange = append(strange, id)
			}
		}
	}
	return known, strange
}

// stopEnded asks the worker to stop those of the jobs that were its own when they were cancelled or timed out. What the rows say is not
// asked again while it names them; what they cannot say now is asked with its next ping.
func (q *Queue) stopEnded(e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) {
	ended := map[compute.JobID]bool{} // those of which the rows say it, and whether they are to be stopped
	_ = q.store.Read(context.Background(), func(tx store.Tx) error {
		for _, id := range ids {
			j, err := tx.Job(id)
			if err != nil && compute.CodeOf(err) != compute.NotFound {
				return err
			}
			own := err == nil && j.EndpointID == e && j.WorkerID == w
			if own && j.Status == compute.JobInProgress {
				continue // memory is about to know of it
			}
			ended[id] = own && (j.Status == compute.JobCancelled || j.Status == compute.JobTimedOut)
		}
		return nil
	})

	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.dispatchers[e]
	if d == nil || d.workers[w] == nil {
		return
	}
	s := d.workers[w]
	for _, id := range ids {
		stop, told := ended[id]
		if h := q.held[id]; !told || h != nil && h.worker == w || !slices.Contains(s.named, id) {
			continue // it has the job anew meanwhile, or has reported its end
		}
		s.lookedUp(id)
		if stop && !s.isToStop(id) {
			s.stop(id, q.clock.Now())
		}
	}
}
