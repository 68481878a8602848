package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/httpapi"
)

// tools are test controls that keep what they are told, in order. Of what they do not know they have nothing.
type tools struct {
	httpapi.Controls
	told  []string
	clock *compute.SettableClock

	mode    httpapi.ClockMode
	left    time.Duration
	reset   func(context.Context) error // nil: there is nothing to forget
	advance error                       // of who advances the clock, or has it step
	working int                         // requests that are under way
	seen    int                         // of these, when the clock was asked last
}

func (t *tools) tell(format string, values ...any) {
	t.told = append(t.told, fmt.Sprintf(format, values...))
}

// Clock is httpapi.Controls.
func (t *tools) Clock() *compute.SettableClock { return t.clock }

// ClockMode is httpapi.Controls.
func (t *tools) ClockMode() (httpapi.ClockMode, time.Duration) {
	t.seen = t.working
	return t.mode, t.left
}

// SetClock is httpapi.Controls.
func (t *tools) SetClock(mode httpapi.ClockMode, most, settle time.Duration) {
	t.tell("clock %s %s %s", mode, most, settle)
}

// Request is httpapi.Controls.
func (t *tools) Request() (answered, over func()) {
	t.working++
	gone := false
	return func() {}, func() {
		if !gone {
			gone = true
			t.working--
		}
	}
}

// InboxSleeps is httpapi.Controls.
func (t *tools) InboxSleeps() (over func()) { return func() {} }

// Advance is httpapi.Controls.
func (t *tools) Advance(_ context.Context, d time.Duration) error {
	t.tell("advance %s", d)
	return t.advance
}

// Step is httpapi.Controls.
func (t *tools) Step(_ context.Context, by time.Duration) error {
	t.tell("step %s", by)
	return t.advance
}

// Reset is httpapi.Controls.
func (t *tools) Reset(ctx context.Context) error {
	t.tell("reset")
	if t.reset == nil {
		return nil
	}
	return t.reset(ctx)
}

// SetQuotas is httpapi.Controls.
func (t *tools) SetQuotas(minute, hour, day int64) { t.tell("quotas %d %d %d", minute, hour, day) }

// SetQueueRates is httpapi.Controls.
func (t *tools) SetQueueRates(p compute.QueuePreset) error {
	t.tell("queue %s", p)
	if p != compute.QueueUnlimited {
		return errNoPreset
	}
	return nil
}

// errNoPreset is of every preset but that without limits.
var errNoPreset = &compute.Error{Code: compute.Rejected, Detail: "there is no such preset"}

// SetStorage is httpapi.Controls.
func (t *tools) SetStorage(state string) { t.tell("storage %s", state) }

// SetBoot is httpapi.Controls.
func (t *tools) SetBoot(d time.Duration) { t.tell("boot %s", d) }

// SetInterruptions is httpapi.Controls.
func (t *tools) SetInterruptions(mean time.Duration, seed int64) {
	t.tell("interruptions %s %d", mean, seed)
}

// InterruptPods is httpapi.Controls.
func (t *tools) InterruptPods(_ context.Context, id compute.PodID) (int, error) {
	t.tell("interrupt pods %s", id)
	if id == "none" {
		return 0, errors.New("the secret reason")
	}
	return 2, nil
}

// InterruptWorkers is httpapi.Controls.
func (t *tools) InterruptWorkers(e compute.EndpointID, id compute.WorkerID) int {
	t.tell("interrupt workers %s %s", e, id)
	if id == "none" {
		return 0
	}
	return 3
}
