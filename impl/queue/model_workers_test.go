package queue_test

import (
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// refWorker is a worker as the rules describe it.
type refWorker struct {
	seen, pinged, managed, leaving, draining, unhealthy bool
	named                                               []compute.JobID
	looked                                              []compute.JobID // of which the rows were asked, or that it has reported
	stops                                               []refStop
	lastSeen                                            time.Time
}

// refStop is a job that a worker was to stop and has not shown to have stopped.
type refStop struct {
	id    compute.JobID
	since time.Time
	sent  bool
	told  time.Time
}

func (w *refWorker) isToStop(id compute.JobID) bool {
	return slices.ContainsFunc(w.stops, func(j refStop) bool { return j.id == id })
}

func (w *refWorker) ended(id compute.JobID) {
	w.stops = slices.DeleteFunc(w.stops, func(j refStop) bool { return j.id == id })
}

func (m *reference) ping(e compute.EndpointID, w compute.WorkerID, ids []compute.JobID) {
	m.lines[e].worker(w).pinged = true
	s := m.see(e, w)
	for _, id := range ids {
		if j := m.heldBy(e, w, id); j != nil {
			j.lease = m.now.Add(m.settings.Lease)
		}
	}

	for _, j := range m.jobs {
		if j.EndpointID == e && !slices.Contains(ids, j.ID) {
			delete(j.lost, w)
		}
	}

	s.named = ids
	s.looked = slices.DeleteFunc(s.looked, func(id compute.JobID) bool { return !slices.Contains(ids, id) })
	s.stops = slices.DeleteFunc(s.stops, func(j refStop) bool { return !j.told.IsZero() && !slices.Contains(ids, j.id) })
	for i, j := range s.stops {
		if j.sent && m.now.Sub(j.since) >= 10*time.Second {
			s.leaving = s.leaving || s.managed
			s.stops[i].sent = s.managed || m.now.Sub(j.told) < 5*time.Second
		}
	}

	for _, id := range ids { // what it names may have ended before a restart
		if j := m.jobs[id]; m.heldBy(e, w, id) == nil && !s.isToStop(id) && !slices.Contains(s.looked, id) {
			s.looked = append(s.looked, id)
			if j != nil && j.EndpointID == e && j.WorkerID == w && (j.Status == compute.JobCancelled || j.Status == compute.JobTimedOut) {
				s.stops = append(s.stops, refStop{id: id, since: m.now})
			}
		}
	}
}

// gone forgets a worker; the jobs that it held go back in the order in which it took them.
func (m *reference) gone(e compute.EndpointID, w compute.WorkerID) {
	for _, id := range slices.Backward(slices.Clone(m.held)) {
		if j := m.jobs[id]; j.EndpointID == e && j.WorkerID == w {
			m.lose(j, "the worker ended")
		}
	}
	delete(m.lines[e].workers, w)
}

func (m *reference) drain(e compute.EndpointID, w compute.WorkerID) bool {
	s := m.lines[e].worker(w)
	if m.holds(e, w) > 0 {
		return false
	}
	s.draining = true
	return true
}

func (m *reference) holds(e compute.EndpointID, w compute.WorkerID) (n int) {
	for _, id := range m.held {
		if j := m.jobs[id]; j.EndpointID == e && j.WorkerID == w {
			n++
		}
	}
	return n
}

// health gives the endpoint in numbers.
func (m *reference) health(e compute.EndpointID) queue.Health {
	h := queue.Health{Jobs: m.lines[e].counts, Workers: map[compute.WorkerStatus]int64{compute.WorkerThrottled: 0}}
	for w, s := range m.lines[e].workers {
		status := m.workerStatus(e, w)
		h.Workers[status]++
		if status == compute.WorkerIdle && !s.draining && !s.leaving {
			h.Ready = append(h.Ready, w)
		}
	}
	slices.Sort(h.Ready)
	return h
}

func (m *reference) workerStatus(e compute.EndpointID, w compute.WorkerID) compute.WorkerStatus {
	s := m.lines[e].workers[w]
	switch {
	case s.unhealthy:
		return compute.WorkerUnhealthy
	case m.holds(e, w) > 0:
		return compute.WorkerRunning
	case !s.seen:
		return compute.WorkerInitializing
	}
	return compute.WorkerIdle
}
