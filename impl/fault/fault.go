// Package fault is what operations do wrong because a test asked for it: before they are done, or to their answers after that. Both edges
// show it, each in its own words.
package fault

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// Every as the operation of a fault means all but the test controls.
const Every = "*"

// When says where in a call a fault is met.
type When string

// The places of a fault in a call.
const (
	Before When = "before" // instead of the operation, or before it
	After  When = "after"  // the operation is done, and its effect is kept
)

// Most is how many faults there are at most.
const Most = 100

// Fault is something that an operation is to do wrong.
type Fault struct {
	ID        string // unique among the faults; empty: the script gives it one
	Operation string
	When      When

	Resource string // an id in the path; empty: any
	KeyID    compute.KeyID
	Body     []journal.Value // of the request

	LetThrough  int64 // calls that are let through first
	Nth         int64 // the one call that meets it, from 1; 0: each
	Every       int64 // each so manieth call meets it; 0: each
	Times       int64 // 0: always
	Probability *float64
	Seed        *int64

	Latency, LatencyMax time.Duration // LatencyMax 0: it is not drawn
	Status              int           // HTTP; 0: the operation's own answer
	RetryAfter          *int64        // seconds; nil: what the status asks for
	Drop                bool
	Half                *int64 // percent of the body of the answer; nil: all
	Garbage             bool
	BytesPerSecond      int64 // 0: as fast as it goes

	Calls, Shown int64
}

// Answer is the error of a fault that has a status.
type Answer struct {
	Status    int
	Operation string

	retryAfter *int64
}

func (a *Answer) Error() string { return "a scripted fault of " + a.Operation }

// RetryAfter gives the Retry-After header of an answer, in seconds; empty: none.
func (a *Answer) RetryAfter() string {
	if a.retryAfter != nil {
		return strconv.FormatInt(*a.retryAfter, 10)
	}
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		return "1"
	}
	return ""
}

// Script is the faults in force. It is safe for concurrent use; the zero value and nil have none.
type Script struct {
	count atomic.Int64 // of faults, for those that only ask whether there are any

	mu      sync.Mutex
	faults  []Fault
	last    int64  // number in an id that was given
	changed func() // nil: nobody asks
}

// Watch has f called, from now on, whenever the faults or their counts change. It is quick, and asks the script nothing.
func (s *Script) Watch(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = f
}

// tell calls who watches. The caller has the lock.
func (s *Script) tell() {
	if s.changed != nil {
		s.changed()
	}
}

// None reports whether there are no faults, at next to no cost.
func (s *Script) None() bool { return s == nil || s.count.Load() == 0 }

// replace has the faults be these. The caller has the lock.
func (s *Script) replace(faults []Fault) {
	s.faults = faults
	s.count.Store(int64(len(faults)))
	s.tell()
}

// Set replaces the faults. Rejected for an id that is there twice.
func (s *Script) Set(faults []Fault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := map[string]bool{}
	for i, f := range faults {
		if f.ID != "" && ids[f.ID] {
			return compute.Errorf(compute.Rejected, "/faults/%d/id: there are two faults %q", i, f.ID)
		}
		ids[f.ID] = true
	}

	s.replace(slices.Clone(faults))
	for i := range s.faults {
		s.name(&s.faults[i])
	}
	return nil
}

// Add adds a fault after the others, and gives it with its id. Conflict for an id that is there, Rejected if there are too many.
func (s *Script) Add(f Fault) (Fault, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) >= Most {
		return f, compute.Errorf(compute.Rejected, "there are %d faults already, and no more at a time", Most)
	}
	if f.ID != "" && s.has(f.ID) {
		return f, compute.Errorf(compute.Conflict, "there is a fault %q already", f.ID)
	}
	s.name(&f)
	s.replace(append(s.faults, f))
	return f, nil
}

// Delete takes a fault back. NotFound if there is none of that id.
func (s *Script) Delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.has(id) {
		return compute.Errorf(compute.NotFound, "there is no fault %q", id)
	}
	s.replace(slices.DeleteFunc(s.faults, func(f Fault) bool { return f.ID == id }))
	return nil
}

// Clear takes all faults back.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(nil)
}

// List gives the faults with their counts.
func (s *Script) List() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// has reports whether there is a fault of that id. The caller has the lock.
func (s *Script) has(id string) bool {
	return slices.ContainsFunc(s.faults, func(f Fault) bool { return f.ID == id })
}

// name gives the fault an id that no other one has, if it has none. The caller has the lock.
func (s *Script) name(f *Fault) {
	for f.ID == "" {
		s.last++
		if id := "fault-" + strconv.FormatInt(s.last, 10); !s.has(id) {
			f.ID = id
		}
	}
}
