package control

import (
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// QueueRates counts the requests of each user to each operation of each endpoint's queue, in memory alone: its windows are
// too short for a restart to matter.
type QueueRates struct {
	clock compute.Clock

	mu     sync.Mutex
	quotas map[string]int64 // by operation
	start  time.Time        // of the window that is counted
	counts map[queueCalls]*compute.RequestCount
}

// longestEndpoint is how long the id of an endpoint may be to be counted by itself: the path of a request says anything.
const longestEndpoint = 64

// queueCalls are what is counted together.
type queueCalls struct {
	user      compute.UserID
	endpoint  compute.EndpointID
	operation string
}

// NewQueueRates makes QueueRates with the quotas of compute.QueueQuotas.
func NewQueueRates(clock compute.Clock, quotas map[string]int64) *QueueRates {
	return &QueueRates{clock: clock, quotas: quotas, counts: map[queueCalls]*compute.RequestCount{}}
}

// Count counts one request, refused or not, and reports where the user stands; limited is false for an operation without a quota.
func (r *QueueRates) Count(u compute.UserID, e compute.EndpointID, operation string) (rate compute.Rate, limited bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	quota, limited := r.quotas[operation]
	if !limited {
		return rate, false
	}
	now := r.clock.Wall()
	if start := now.Truncate(compute.QueueWindow); !start.Equal(r.start) {
		r.start = start
		clear(r.counts) // nobody stands anywhere in a fresh window
	}

	if len(e) > longestEndpoint {
		e = ""
	}
	calls := queueCalls{u, e, operation}
	if r.counts[calls] == nil {
		calls.endpoint = compute.EndpointID(strings.Clone(string(e))) // it is a part of the whole head of a request
		r.counts[calls] = &compute.RequestCount{}
	}
	w := compute.Window{Name: compute.QueueWindow.String(), Length: compute.QueueWindow, Quota: quota}
	return w.Count(r.counts[calls], now), true
}

// SetQuotas replaces the quotas and begins to count anew.
func (r *QueueRates) SetQuotas(quotas map[string]int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quotas = quotas
	clear(r.counts)
}
