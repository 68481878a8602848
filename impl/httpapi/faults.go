package httpapi

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
)

// fault is something that an operation does wrong because a test asked for it.
type fault struct {
	operation string // "*": all
	after     int64  // calls let through first
	times     int64  // 0: always
	latency   time.Duration
	status    int // 0: the operation's own answer
	drop      bool

	calls, shown int64
}

// scripted is the error of a fault that has a status.
type scripted struct {
	status    int
	operation string
}

func (s *scripted) Error() string { return "a scripted fault of " + s.operation }

// everyOperation as the operation of a fault means all but the test controls.
const everyOperation = "*"

// newFault reads the i-th fault of a request. Rejected for an operation that does not exist and for a fault that does nothing.
func newFault(i int, r controls.Fault) (fault, error) {
	f := fault{
		operation: r.Operation, after: value(r.After), times: value(r.Times), latency: milliseconds(value(r.Latency)),
		status: int(value(r.Status)), drop: value(r.Drop),
	}
	_, isREST := rest.Ops[f.operation]
	_, isQueue := queue.Ops[f.operation]
	_, isWorker := worker.Ops[f.operation]
	if !isREST && !isQueue && !isWorker && f.operation != everyOperation {
		return f, compute.Errorf(compute.Rejected, "/faults/%d/operation: there is no operation %q", i, f.operation)
	}
	if f.latency == 0 && f.status == 0 && !f.drop {
		return f, compute.Errorf(compute.Rejected, "/faults/%d: it needs latency, status or drop", i)
	}
	return f, nil
}

func faultView(f fault) controls.ShownFault {
	v := controls.ShownFault{Operation: f.operation, After: f.after, Drop: f.drop, Calls: f.calls, Shown: f.shown}
	if f.times > 0 {
		v.Times = &f.times
	}
	if ms := f.latency.Milliseconds(); ms > 0 {
		v.Latency = &ms
	}
	if status := int64(f.status); status > 0 {
		v.Status = &status
	}
	return v
}

// faults are the faults in force. It is safe for concurrent use; the zero value has none.
type faults struct {
	mu     sync.Mutex
	script []fault
}

func (f *faults) set(list []fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = list
}

func (f *faults) list() []fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.script)
}

// next gives the fault that this call of the operation is to show.
func (f *faults) next(operation string) (fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.script {
		c := &f.script[i]
		if c.operation != operation && c.operation != everyOperation {
			continue
		}
		c.calls++
		if c.calls <= c.after || c.times > 0 && c.shown >= c.times {
			continue
		}
		c.shown++
		return *c, true
	}
	return fault{}, false
}

// faulty shows the fault of this call, if it has one, before anything else happens. Latency passes on the server's clock.
func (s Services) faulty(operation string, c echo.Context) error {
	if _, ours := controls.Ops[operation]; ours {
		return nil // or a test could not take its faults back
	}
	f, ok := s.faults.next(operation)
	if !ok {
		return nil
	}
	s.Log.Info("scripted fault", "operation", operation, "status", f.status, "latency", f.latency, "drop", f.drop)
	if f.latency > 0 {
		passed, stop := s.Clock.After(f.latency)
		defer stop()
		select {
		case <-passed:
		case <-contextOf(c).Done():
			return contextOf(c).Err()
		}
	}
	if f.drop {
		panic(http.ErrAbortHandler)
	}
	if f.status > 0 {
		if f.status == http.StatusTooManyRequests || f.status == http.StatusServiceUnavailable {
			c.Response().Header().Set(echo.HeaderRetryAfter, "1")
		}
		return &scripted{f.status, operation}
	}
	return nil
}
