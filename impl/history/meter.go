package history

import (
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// Meter gives what makes the meters of endpoints, which count for the history and for those that next makes; nil: nobody else counts.
func (h *History) Meter(next func(compute.EndpointID) queue.Meter) func(compute.EndpointID) queue.Meter {
	return func(id compute.EndpointID) queue.Meter {
		m := &meter{history: h, id: id}
		if next != nil {
			m.next = next(id)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.meters[id] = m
		return m
	}
}

// meter counts the jobs of one endpoint.
type meter struct {
	history           *History
	id                compute.EndpointID
	next              queue.Meter // nil: nobody else counts
	completed, failed atomic.Int64
}

// Submitted is that of the other meter.
func (m *meter) Submitted() {
	if m.next != nil {
		m.next.Submitted()
	}
}

// Taken is that of the other meter.
func (m *meter) Taken(delay time.Duration) {
	if m.next != nil {
		m.next.Taken(delay)
	}
}

// Lost is that of the other meter.
func (m *meter) Lost() {
	if m.next != nil {
		m.next.Lost()
	}
}

// Ended counts the job.
func (m *meter) Ended(status compute.JobStatus, taken bool, execution time.Duration) {
	switch status {
	case compute.JobCompleted:
		m.completed.Add(1)
		m.history.completed.Add(1)
	case compute.JobFailed, compute.JobTimedOut:
		m.failed.Add(1)
		m.history.failed.Add(1)
	}
	if m.next != nil {
		m.next.Ended(status, taken, execution)
	}
}

// Forget forgets what was counted.
func (m *meter) Forget() {
	m.history.mu.Lock()
	if m.history.meters[m.id] == m {
		delete(m.history.meters, m.id)
	}
	m.history.mu.Unlock()
	if m.next != nil {
		m.next.Forget()
	}
}
