package fault

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// Call is a call of an operation, as faults are matched with it.
type Call struct {
	Operation string
	Resources []journal.Resource // ids in its path
	KeyID     compute.KeyID
	Body      func() []byte // as it was sent; it is asked for if a fault depends on it
	Meets     func()        // is called once it meets a fault, before the latency of that; nil: nobody asks

	// Sleeps is called once the latency of a fault has begun on the clock, and what it gives when that is over; nil: nobody asks.
	Sleeps func() (over func())

	entry *journal.Entry // with a copy of the body; nil: nothing asked for it
}

// names reports whether the fault is of the operation.
func (f *Fault) names(operation string) bool { return f.Operation == operation || f.Operation == Every }

// matches reports whether the fault is for the call.
func (f *Fault) matches(c *Call) bool {
	if !f.names(c.Operation) {
		return false
	}
	asked := journal.Expectation{Filter: journal.Filter{KeyID: string(f.KeyID), Resource: f.Resource}}
	entry := &journal.Entry{KeyID: c.KeyID, Resources: c.Resources}
	if !asked.Matches(entry) {
		return false
	}
	if len(f.Body) == 0 {
		return true
	}

	if c.entry == nil {
		return false // the fault is newer than the look at the body
	}
	asked.Body = f.Body
	return asked.Matches(c.entry)
}

// met is a fault that a call met, with what was drawn for it.
type met struct {
	Fault
	latency time.Duration
	draws   *rand.Rand
}

// draw gives what is random about a call of a fault: the same for the same seed and call, whatever other calls there are.
func (f *Fault) draw(call int64) *rand.Rand {
	var seed int64
	if f.Seed != nil {
		seed = *f.Seed
	}
	return rand.New(rand.NewPCG(uint64(seed), uint64(call))) //nolint:gosec // it shall be known what it draws
}

// turn counts a call that matches, and gives what it meets of the fault: nil if it is not its turn.
func (f *Fault) turn() *met {
	f.Calls++
	n := f.Calls - f.LetThrough
	if n <= 0 || f.Nth > 0 && n != f.Nth || f.Every > 0 && n%f.Every != 0 || f.Times > 0 && f.Shown >= f.Times {
		return nil
	}
	draws := f.draw(f.Calls)
	if f.Probability != nil && draws.Float64() >= *f.Probability {
		return nil
	}

	m := &met{Fault: *f, latency: f.Latency, draws: draws}
	if f.LatencyMax > f.Latency {
		m.latency += time.Duration(draws.Int64N((f.LatencyMax-f.Latency).Milliseconds()+1)) * time.Millisecond
	}
	return m
}

// awaits reports whether there is a fault of the operation at that place, whatever else it depends on.
func (s *Script) awaits(operation string, when When) bool {
	if s.None() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.faults, func(f Fault) bool { return f.When == when && f.names(operation) })
}

// look takes a copy of the body of the call, if it has none yet and a fault at that place depends on it: reading it may take long, and what
// is read is not kept until the answer.
func (s *Script) look(c *Call, when When) {
	s.mu.Lock()
	needed := c.entry == nil && slices.ContainsFunc(s.faults, func(f Fault) bool { return f.When == when && f.names(c.Operation) && len(f.Body) > 0 })
	s.mu.Unlock()
	if !needed {
		return
	}
	seen, body := journal.Body{Truncated: true}, c.Body()
	if len(body) <= mostBody {
		seen = journal.NewBody(body)
	}
	c.entry = &journal.Entry{KeyID: c.KeyID, Resources: c.Resources, Request: journal.Message{Body: seen}}
}

// mostBody is how long a body may be that is held against the values of faults, in bytes.
const mostBody = 1 << 20

// meet gives the fault that the call meets at that place: the first that it matches and whose turn it is, or none if it has met one already.
// All that it matches count it.
func (s *Script) meet(c Call, when When, already bool) (first *met) {
	s.look(&c, when)
	s.mu.Lock()
	defer s.mu.Unlock()

	for i := range s.faults {
		f := &s.faults[i]
		if f.When != when || !f.matches(&c) {
			continue
		}
		if m := f.turn(); m != nil && first == nil && !already {
			f.Shown++
			s.tell()
			first = m
		}
	}
	return first
}

// begin notes that the call met the fault, and lets its latency pass on the clock. The error is that of a context that ended.
func (m *met) begin(ctx context.Context, c Call, clock compute.Clock, log *slog.Logger) error {
	if c.Meets != nil {
		c.Meets()
	}
	journal.Of(ctx).Met(journal.Fault{
		ID: m.ID, Operation: m.Operation, When: string(m.When), Latency: m.latency, Status: m.Status, Drop: m.Drop,
		Half: m.Half, Garbage: m.Garbage, BytesPerSecond: m.BytesPerSecond,
	})
	log.Info("scripted fault", "fault", m.ID, "operation", c.Operation, "when", string(m.When), "status", m.Status, "latency", m.latency, "drop", m.Drop)
	return compute.SleepNoted(ctx, clock, m.latency, c.Sleeps)
}

// end is what is left of a fault that leaves nothing of the answer: nil if it does. A fault that drops the connection panics as net/http
// wants it.
func (m *met) end(operation string) error {
	if m.Drop {
		panic(http.ErrAbortHandler)
	}
	if m.Status > 0 {
		return &Answer{m.Status, operation, m.RetryAfter}
	}
	return nil
}

// Show shows the fault before the operation that the call meets, if it meets one, and reports that. Latency passes on the clock. The error
// is an *Answer, or that of a context that ended; a fault that drops the connection panics as net/http wants it.
func (s *Script) Show(ctx context.Context, c Call, clock compute.Clock, log *slog.Logger) (shown bool, err error) {
	if !s.awaits(c.Operation, Before) {
		return false, nil
	}
	m := s.meet(c, Before, false)
	if m == nil {
		return false, nil
	}
	if err := m.begin(ctx, c, clock, log); err != nil {
		return true, err
	}
	return true, m.end(c.Operation)
}
