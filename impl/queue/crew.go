package queue

import (
	"cmp"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// BalancedHealth is the published word for how a worker of an endpoint that balances load is.
type BalancedHealth string

// How workers are.
const (
	HealthHealthy   BalancedHealth = "healthy"  // it gets requests
	HealthStarting  BalancedHealth = "starting" // it is not up yet, or says so
	HealthUnhealthy BalancedHealth = "unhealthy"
	HealthLeaving   BalancedHealth = "leaving" // it ends once its last request is answered
)

// Balanced is a worker of an endpoint that balances load, as clients see it.
type Balanced struct {
	ID       compute.WorkerID
	Health   BalancedHealth
	Because  string // empty: it is healthy, or nobody knows
	Requests int    // that it has
}

// Crew gives where the workers of the user's endpoint listen, and how each is, by their ids. NotFound for an endpoint that has a queue (rule
// balance.workers).
func (q *Queue) Crew(user compute.UserID, e compute.EndpointID) (at compute.Serving, crew []Balanced, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d, err := q.balanced(user, e)
	if err != nil {
		return at, nil, err
	}

	for id, s := range d.workers {
		crew = append(crew, Balanced{ID: id, Health: s.health(), Because: s.reason(), Requests: s.requests})
	}
	slices.SortFunc(crew, func(a, b Balanced) int { return cmp.Compare(a.ID, b.ID) })
	return d.endpoint.Serving(), crew, nil
}

// health is how the worker of an endpoint that balances load is. The caller has the lock.
func (s *workerState) health() BalancedHealth {
	switch {
	case s.draining || s.leaving:
		return HealthLeaving
	case s.unhealthy != "":
		return HealthUnhealthy
	case s.serves():
		return HealthHealthy
	}
	return HealthStarting
}
