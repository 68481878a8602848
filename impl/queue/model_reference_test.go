package queue_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// reference is the queue as its rules describe it, in maps and lists: nothing is fast, nothing is on disk, nothing is locked.
type reference struct {
	settings queue.Settings
	now      time.Time
	lag      time.Duration // of now behind the time of day
	leaseLag time.Duration // lag when every lease last began afresh
	jobs     map[compute.JobID]*refJob
	order    []compute.JobID // of submission, of those that are not deleted
	held     []compute.JobID // in the order of their takes
	lines    map[compute.EndpointID]*refLine
	posts    []compute.Webhook
}

type refJob struct {
	compute.Job
	input  json.RawMessage
	chunks []compute.Chunk
	reads  int // of its end, through the stream
	lease  time.Time
	lost   map[compute.WorkerID]bool // those that it was taken from and that have not shown since that they stopped it
}

type refLine struct {
	normal, low []compute.JobID
	workers     map[compute.WorkerID]*refWorker
	counts      compute.JobCounts
}

func newReference(s queue.Settings, now time.Time, endpoints ...compute.EndpointID) *reference {
	m := &reference{settings: s, now: now, jobs: map[compute.JobID]*refJob{}, lines: map[compute.EndpointID]*refLine{}}
	for _, e := range endpoints {
		m.lines[e] = &refLine{workers: map[compute.WorkerID]*refWorker{}}
	}
	return m
}

func without(ids []compute.JobID, id compute.JobID) []compute.JobID {
	return slices.DeleteFunc(slices.Clone(ids), func(other compute.JobID) bool { return other == id })
}

func (l *refLine) worker(w compute.WorkerID) *refWorker {
	if l.workers[w] == nil {
		l.workers[w] = &refWorker{}
	}
	return l.workers[w]
}

func (l *refLine) of(j *refJob) *[]compute.JobID {
	if j.LowPriority {
		return &l.low
	}
	return &l.normal
}

func (m *reference) see(e compute.EndpointID, w compute.WorkerID) *refWorker {
	s := m.lines[e].worker(w)
	s.seen, s.lastSeen = true, m.now
	if !s.pinged {
		for _, id := range m.held {
			if j := m.jobs[id]; j.EndpointID == e && j.WorkerID == w {
				j.lease = m.now.Add(m.settings.Lease)
			}
		}
	}
	return s
}

// own gives a job of the endpoint that can be seen, or nil.
func (m *reference) own(e compute.EndpointID, id compute.JobID) *refJob {
	if j := m.jobs[id]; j != nil && j.EndpointID == e && (!j.Status.Ended() || m.now.Before(j.ExpiresAt)) {
		return j
	}
	return nil
}

// heldBy gives the job of the endpoint that the worker holds, or nil.
func (m *reference) heldBy(e compute.EndpointID, w compute.WorkerID, id compute.JobID) *refJob {
	if j := m.own(e, id); j != nil && j.Status == compute.JobInProgress && j.WorkerID == w {
		return j
	}
	return nil
}

func (m *reference) count(j *refJob, status compute.JobStatus, n int64) {
	c := &m.lines[j.EndpointID].counts
	switch status {
	case compute.JobInQueue:
		c.InQueue += n
	case compute.JobInProgress:
		c.InProgress += n
	case compute.JobCompleted:
		c.Completed += n
	case compute.JobFailed:
		c.Failed += n
	}
}

// move sets the status and takes the job out of wherever it stood.
func (m *reference) move(j *refJob, to compute.JobStatus) {
	l := m.lines[j.EndpointID]
	l.normal, l.low, m.held = without(l.normal, j.ID), without(l.low, j.ID), without(m.held, j.ID)
	m.count(j, j.Status, -1)
	m.count(j, to, 1)
	j.Status = to
}

func (m *reference) submit(j compute.Job, input json.RawMessage) {
	j.Status, j.CreatedAt, j.QueuedAt, j.ExpiresAt = compute.JobInQueue, m.now.Add(m.lag), m.now, m.now.Add(j.TTL)
	r := &refJob{Job: j, input: input, lost: map[compute.WorkerID]bool{}}
	m.jobs[j.ID], m.order = r, append(m.order, j.ID)
	m.count(r, j.Status, 1)
	line := m.lines[j.EndpointID].of(r)
	*line = append(*line, j.ID)
}

func (m *reference) take(e compute.EndpointID, w compute.WorkerID, n int, idle bool) (taken []*refJob) {
	s := m.see(e, w)
	s.unhealthy = false
	for _, j := range m.jobs {
		if idle && !s.pinged && j.EndpointID == e {
			delete(j.lost, w) // it holds none, as it says
		}
	}
	if s.draining || s.leaving {
		return nil
	}

	l := m.lines[e]
	for _, id := range slices.Concat(l.normal, l.low) {
		j := m.jobs[id]
		if len(taken) == n {
			break
		}
		if j.lost[w] || slices.Contains(s.named, id) {
			continue // it may still hold it
		}

		m.move(j, compute.JobInProgress)
		m.held = append(m.held, id)
		j.WorkerID, j.TakenAt, j.lease = w, m.now, m.now.Add(m.settings.Lease)
		j.Attempt++
		s.ended(id) // an earlier attempt
		s.looked = without(s.looked, id)
		taken = append(taken, j)
	}

	return taken
}

// back puts a job in progress back at the front of its line.
func (m *reference) back(j *refJob, queued time.Time) {
	m.move(j, compute.JobInQueue)
	line := m.lines[j.EndpointID].of(j)
	*line = append([]compute.JobID{j.ID}, *line...)
	j.WorkerID, j.Output, j.QueuedAt, j.TakenAt, j.chunks, j.reads = "", nil, queued, time.Time{}, nil, 0
}

// handBack undoes the takes, the last one first.
func (m *reference) handBack(taken []*refJob, queued []time.Time) {
	for i, j := range slices.Backward(taken) {
		j.Attempt--
		m.back(j, queued[i])
	}
}

func (m *reference) end(j *refJob, to compute.JobStatus) {
	m.move(j, to)
	j.EndedAt, j.ExpiresAt = m.now, m.now.Add(j.Retention)
	if j.Webhook != "" {
		body, _ := document(j.Job)
		m.posts = append(m.posts, compute.Webhook{JobID: j.ID, URL: j.Webhook, Body: body, NextAt: m.now, CreatedAt: m.now.Add(m.lag)})
	}
}

// stop ends a job that may be in progress against the will of its worker, which is asked to stop it.
func (m *reference) stop(j *refJob, to compute.JobStatus) {
	if j.Status == compute.JobInProgress {
		s := m.lines[j.EndpointID].worker(j.WorkerID)
		s.stops = append(s.stops, refStop{id: j.ID, since: m.now})
		if s.pinged {
			j.lost[j.WorkerID] = true
		}
	}
	m.end(j, to)
}

func (m *reference) finish(e compute.EndpointID, w compute.WorkerID, id compute.JobID, r queue.Report) {
	s := m.see(e, w)
	s.leaving = s.leaving || r.Leave && s.managed
	if s.isToStop(id) {
		s.looked = append(s.looked, id)
	}
	s.ended(id)
	s.named = without(s.named, id)
	if j := m.jobs[id]; j != nil && j.EndpointID == e {
		delete(j.lost, w)
	}
	j := m.heldBy(e, w, id)
	if j == nil {
		return
	}

	limit := m.limit(j)
	j.Output, j.Error = r.Output, r.Error
	if len(r.Output) > limit {
		j.Output, j.Error = nil, fmt.Sprintf("the output of %d bytes is over the limit of %d bytes", len(r.Output), limit)
	}
	to := compute.JobCompleted
	if j.Error != "" {
		to = compute.JobFailed
	}
	m.end(j, to)
}

func (m *reference) yield(e compute.EndpointID, w compute.WorkerID, id compute.JobID, c compute.Chunk) {
	m.see(e, w)
	if j := m.heldBy(e, w, id); j != nil {
		j.chunks, j.lease = append(j.chunks, c), m.now.Add(m.settings.Lease)
	}
}

func (m *reference) stream(e compute.EndpointID, id compute.JobID) (*refJob, []compute.Chunk) {
	j := m.own(e, id)
	if j == nil {
		return nil, nil
	}

	if j.Status == compute.JobCancelled || j.Status == compute.JobTimedOut {
		if j.reads == 2 {
			return nil, nil
		}
		j.reads++
	}

	chunks := j.chunks
	j.chunks = nil
	return j, chunks
}

func (m *reference) cancel(e compute.EndpointID, id compute.JobID) *refJob {
	j := m.own(e, id)
	if j != nil && !j.Status.Ended() {
		m.stop(j, compute.JobCancelled)
	}
	return j
}

func (m *reference) retry(e compute.EndpointID, id compute.JobID) (*refJob, compute.Code) {
	j := m.own(e, id)
	if j == nil {
		return nil, compute.NotFound
	}
	if j.Status != compute.JobFailed && j.Status != compute.JobTimedOut {
		return nil, compute.Conflict
	}

	m.move(j, compute.JobInQueue)
	line := m.lines[e].of(j)
	*line = append(*line, id)
	j.WorkerID, j.Output, j.Error, j.Attempt, j.Retries, j.chunks, j.reads = "", nil, "", 0, 0, nil, 0
	j.QueuedAt, j.TakenAt, j.EndedAt, j.ExpiresAt = m.now, time.Time{}, time.Time{}, m.now.Add(j.TTL)
	return j, ""
}

func (m *reference) purge(e compute.EndpointID) (removed int) {
	for _, id := range slices.Concat(m.lines[e].normal, m.lines[e].low) {
		m.end(m.jobs[id], compute.JobCancelled)
		removed++
	}
	return removed
}

func (m *reference) setTTL(e compute.EndpointID, id compute.JobID, ttl time.Duration) *refJob {
	j := m.own(e, id)
	if j != nil {
		until := m.now.Add(min(ttl, 7*24*time.Hour))
		if !j.Status.Ended() || until.Before(j.ExpiresAt) {
			j.ExpiresAt = until
		}
	}
	return j
}

// lose takes a job from its worker.
func (m *reference) lose(j *refJob, why string) {
	j.lost[j.WorkerID] = true
	if j.Attempt >= m.settings.MaxAttempts {
		attempts := "attempts"
		if j.Attempt == 1 {
			attempts = "attempt"
		}
		j.Error = fmt.Sprintf("gave up after %d %s: %s", j.Attempt, attempts, why)
		m.end(j, compute.JobFailed)
		return
	}

	j.Retries++
	m.lines[j.EndpointID].counts.Retried++
	m.back(j, m.now)
}

func (m *reference) sweep() {
	if (m.lag - m.leaseLag).Abs() >= m.settings.Lease/6 {
		m.leaseLag = m.lag
		for _, id := range m.held {
			m.jobs[id].lease = m.now.Add(m.settings.Lease)
		}
		for _, l := range m.lines {
			for _, w := range l.workers {
				w.lastSeen = m.now
			}
		}
	}

	for _, id := range slices.Backward(slices.Clone(m.held)) {
		j := m.jobs[id]
		switch {
		case !m.now.Before(j.TakenAt.Add(j.ExecutionTimeout)):
			j.Error = fmt.Sprintf("executionTimeout of %d ms exceeded", j.ExecutionTimeout.Milliseconds())
			m.stop(j, compute.JobTimedOut)
		case !m.now.Before(j.lease):
			m.lose(j, "no worker reported in time")
		}
	}

	for e, l := range m.lines {
		for w, s := range l.workers {
			if !s.managed && m.holds(e, w) == 0 && m.now.Sub(s.lastSeen) > 2*time.Minute {
				delete(l.workers, w)
			}
		}
	}

	due := slices.DeleteFunc(slices.Clone(m.order), func(id compute.JobID) bool { return m.now.Before(m.jobs[id].ExpiresAt) })
	slices.SortStableFunc(due, func(a, b compute.JobID) int { return m.jobs[a].ExpiresAt.Compare(m.jobs[b].ExpiresAt) })
	for _, id := range due {
		j := m.jobs[id]
		if j.Status.Ended() {
			delete(m.jobs, id)
			m.order = without(m.order, id)
			continue
		}
		j.Error = "its time to live is over"
		m.stop(j, compute.JobTimedOut)
	}
}

// next gives when a sweep has something to do.
func (m *reference) next() (next time.Time) {
	soonest := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}

	for _, id := range m.order {
		soonest(m.jobs[id].ExpiresAt)
	}
	for _, id := range m.held {
		j := m.jobs[id]
		soonest(j.TakenAt.Add(j.ExecutionTimeout))
		soonest(j.lease)
	}

	return next
}

// restart forgets what is not on disk: the workers, and the order but for the times. What is held gets a fresh lease.
func (m *reference) restart() {
	m.leaseLag = m.lag
	sorted := func(ids []compute.JobID, at func(*refJob) time.Time) []compute.JobID {
		ids = slices.Clone(ids)
		slices.SortFunc(ids, func(a, b compute.JobID) int { return slices.Index(m.order, a) - slices.Index(m.order, b) })
		slices.SortStableFunc(ids, func(a, b compute.JobID) int { return at(m.jobs[a]).Compare(at(m.jobs[b])) })
		return ids
	}

	queued := func(j *refJob) time.Time { return j.QueuedAt }
	for _, l := range m.lines {
		l.normal, l.low = sorted(l.normal, queued), sorted(l.low, queued)
		l.workers = map[compute.WorkerID]*refWorker{}
	}
	m.held = sorted(m.held, func(j *refJob) time.Time { return j.TakenAt })
	for _, j := range m.jobs {
		j.lost = map[compute.WorkerID]bool{}
	}

	for _, id := range m.held {
		j := m.jobs[id]
		j.lease = m.now.Add(m.settings.Lease)
		m.lines[j.EndpointID].worker(j.WorkerID)
	}
}
