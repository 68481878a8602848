package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// stopping is a job that its worker is to stop and may still be running.
type stopping struct {
	id    compute.JobID
	since time.Time
	sent  bool      // the worker has asked what to stop
	told  time.Time // when it was last sent; zero: it never was
}

// workerState is what is known of one worker. It is the owner's memory: the rows say which jobs it holds, and the rest is reported again.
type workerState struct {
	managed   bool  // started by us
	scripted  bool  // what it does is said by a script
	empty     bool  // nothing runs in it: it says nothing by itself
	version   int64 // of the release that it is made of, if it is managed
	seen      bool  // has spoken since it was started
	asked     bool  // has asked for a job since it was started
	up        bool  // its container is up, and it is ready by that
	pinged    bool  // names its jobs: nothing else extends their leases
	unhealthy string
	waits     string // what its container waits for, while it does not come up
	unplaced  bool   // and no host holds it
	draining  bool
	drain     chan struct{}          // closed when it drains: its polls end
	leaving   bool                   // to be replaced: it gets nothing more
	proven    bool                   // has reported the end of a job, or was healthy
	jobs      map[compute.JobID]bool // that it holds; whether they are of low priority
	requests  int                    // in progress, where the endpoint balances load
	sick      time.Time              // since when it has not been healthy there; zero: it is
	serving   compute.Serving        // where it listens there; zero: nobody knows but from the endpoint as it is now
	named     []compute.JobID        // by its last ping
	looked    []compute.JobID        // named or not held, and nothing is to be asked about them; at most mostNamed
	stops     []stopping
	stopped   chan struct{} // receives when stops grew
	lastSeen  time.Time
	idleSince time.Time
	polls     int // takes held now
}

// mostStops is how many jobs a worker can be asked to stop that does not poll: one that never asks makes the list no longer.
const mostStops = 1000

// stop asks the worker to stop a job. The caller has the lock.
func (s *workerState) stop(id compute.JobID, now time.Time) {
	if len(s.stops) >= mostStops {
		s.stops = slices.Delete(s.stops, 0, 1)
	}
	s.stops = append(s.stops, stopping{id: id, since: now})
	s.look()
}

// look has the poll that asks what to stop look again.
func (s *workerState) look() {
	select {
	case s.stopped <- struct{}{}:
	default:
	}
}

// toStop gives the jobs to stop that the worker was not sent before.
func (s *workerState) toStop(now time.Time) (ids []compute.JobID) {
	for i := range s.stops {
		if !s.stops[i].sent {
			s.stops[i].sent, s.stops[i].told = true, now
			ids = append(ids, s.stops[i].id)
		}
	}
	return ids
}

// again has the worker be sent the jobs once more that it was sent in vain.
func (s *workerState) again(ids []compute.JobID) {
	for i := range s.stops {
		if slices.Contains(ids, s.stops[i].id) {
			s.stops[i].sent, s.stops[i].told = false, time.Time{}
			s.look()
		}
	}
}

// tellAgain is how long after it was told a worker is told again to stop a job at the soonest.
const tellAgain = 5 * time.Second

// stillRuns notes which jobs the worker names, as eachOnce gives them. One that it was asked to stop and does not name has stopped; one
// that it still names after a while holds it up, as a handler does that nothing can interrupt: the worker is to be replaced. Where berth
// replaces none, the worker is told again: it may not have read what it was told (rule queue.stop.again).
func (s *workerState) stillRuns(named []compute.JobID, now time.Time) {
	s.looked = slices.DeleteFunc(s.looked, func(id compute.JobID) bool { return !names(named, id) })
	s.stops = slices.DeleteFunc(s.stops, func(j stopping) bool { return !j.told.IsZero() && !names(named, j.id) })
	for i := range s.stops {
		j := &s.stops[i]
		switch {
		case !j.sent || now.Sub(j.since) < stopPatience:
		case s.managed:
			s.leaving = true
		case now.Sub(j.told) >= tellAgain:
			j.sent = false
			s.look()
		}
	}
}

// isToStop reports whether the worker is asked to stop the job.
func (s *workerState) isToStop(id compute.JobID) bool {
	return slices.ContainsFunc(s.stops, func(j stopping) bool { return j.id == id })
}

// lookedUp notes that nothing is to be asked about a job that the worker does not hold.
func (s *workerState) lookedUp(id compute.JobID) {
	if slices.Contains(s.looked, id) {
		return
	}
	if len(s.looked) >= mostNamed {
		s.looked = slices.Delete(s.looked, 0, 1)
	}
	s.looked = append(s.looked, id)
}

// reportedEnd notes a worker's own report of a job's end: there is nothing left to stop, though a ping that was under way may name it.
func (s *workerState) reportedEnd(id compute.JobID) {
	s.stops = slices.DeleteFunc(s.stops, func(j stopping) bool {
		if j.id == id {
			s.lookedUp(j.id)
		}
		return j.id == id
	})
}

// begins notes that the worker has the job: nothing of an earlier attempt is left to stop.
func (s *workerState) begins(id compute.JobID) {
	s.stops = slices.DeleteFunc(s.stops, func(j stopping) bool { return j.id == id })
	s.looked = slices.DeleteFunc(s.looked, func(other compute.JobID) bool { return other == id })
}

// endPolls ends what the worker waits for, and leases it nothing more. The caller has the lock.
func (s *workerState) endPolls() {
	if !s.draining {
		s.draining = true
		close(s.drain)
	}
}

// endPolls ends what the workers wait for. The caller has the lock.
func (d *dispatcher) endPolls() {
	for _, s := range d.workers {
		s.endPolls()
	}
}

// forgettable reports whether nothing is lost when the worker is forgotten: berth did not start it, and it does nothing.
func (s *workerState) forgettable() bool {
	return !s.managed && len(s.jobs) == 0 && s.polls == 0
}

// firstAsk is how long after the first that it said a worker has asked for its first job: the SDK's ping before they ask.
const firstAsk = 10 * time.Second

// asksSoon reports whether the worker has asked for no job yet, and is expected to. One that speaks and does not ask is not waited for.
func (s *workerState) asksSoon(now time.Time) bool {
	return !s.asked && (!s.seen || now.Sub(s.idleSince) < firstAsk)
}

// reason is why the worker does no work; empty if it does, or if nobody knows.
func (s *workerState) reason() string {
	if s.seen || s.up {
		return s.unhealthy
	}
	return cmp.Or(s.unhealthy, s.waits)
}

// status is what clients see of the worker.
func (s *workerState) status() compute.WorkerStatus {
	switch {
	case s.unhealthy != "":
		return compute.WorkerUnhealthy
	case len(s.jobs)+s.requests > 0:
		return compute.WorkerRunning
	case !s.seen && !s.up && s.unplaced:
		return compute.WorkerThrottled
	case !s.seen && !s.up:
		return compute.WorkerInitializing
	default:
		return compute.WorkerIdle
	}
}
