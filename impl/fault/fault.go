// Package fault is what operations do wrong because a test asked for it. Both edges show it, each in its own words.
package fault

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// Every as the operation of a fault means all but the test controls.
const Every = "*"

// Fault is something that an operation is to do wrong.
type Fault struct {
	Operation string
	After     int64 // calls let through first
	Times     int64 // 0: always
	Latency   time.Duration
	Status    int // HTTP; 0: the operation's own answer
	Drop      bool

	Calls, Shown int64
}

// Answer is the error of a fault that has a status.
type Answer struct {
	Status    int
	Operation string
}

func (a *Answer) Error() string { return "a scripted fault of " + a.Operation }

// Script is the faults in force. It is safe for concurrent use; the zero value and nil have none.
type Script struct {
	mu     sync.Mutex
	faults []Fault
}

// Set replaces the faults.
func (s *Script) Set(faults []Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults
}

// List gives the faults with their counts.
func (s *Script) List() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// next gives the fault that this call of the operation is to show.
func (s *Script) next(operation string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for i := range s.faults {
		f := &s.faults[i]
		if f.Operation != operation && f.Operation != Every {
			continue
		}
		f.Calls++
		if f.Calls <= f.After || f.Times > 0 && f.Shown >= f.Times {
			continue
		}

		f.Shown++
		return *f, true
	}

	return Fault{}, false
}

// Show shows the fault of this call, if it has one, before anything else happens. Latency passes on the clock. The error is
// an *Answer, or that of a context that ended; a fault that drops the connection panics as net/http wants it.
func (s *Script) Show(ctx context.Context, operation string, clock compute.Clock, log *slog.Logger) error {
	if s == nil {
		return nil
	}
	f, ok := s.next(operation)
	if !ok {
		return nil
	}

	journal.Of(ctx).Met(journal.Fault{Operation: f.Operation, Latency: f.Latency, Status: f.Status, Drop: f.Drop})
	log.Info("scripted fault", "operation", operation, "status", f.Status, "latency", f.Latency, "drop", f.Drop)
	if f.Latency > 0 {
		passed, stop := clock.After(f.Latency)
		defer stop()
		select {
		case <-passed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}

	if f.Drop {
		panic(http.ErrAbortHandler)
	}
	if f.Status > 0 {
		return &Answer{f.Status, operation}
	}

	return nil
}

// RetryAfter gives the Retry-After header of an answer, in seconds; empty: none.
func (a *Answer) RetryAfter() string {
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		return "1"
	}
	return ""
}
