package berth

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/app"
)

// Clock is the clock of one server: all that happens after a time, or is counted within one, goes by it. It runs with the
// machine's until it is frozen or advanced, and never goes back but by LoadState.
type Clock struct{ app *app.Server }

// Clock gives the server's clock. It panics unless the runtime is RuntimeSim: what really runs lives in real time.
func (s *Server) Clock() Clock {
	if s.app.Clock() == nil {
		panic("berth: only a simulated server has a clock that can be set")
	}
	return Clock{s.app}
}

// Now gives the time that the clock shows, in UTC.
func (c Clock) Now() time.Time { return c.app.Clock().Wall() }

// Freeze makes the clock stand still.
func (c Clock) Freeze() { c.app.SetClock(app.ClockFrozen, 0, 0) }

// Resume makes the clock run again from where it stood.
func (c Clock) Resume() { c.app.SetClock(app.ClockRunning, 0, 0) }

// Auto has the clock go to the next thing that is due by itself whenever everything waits, from now on until it is frozen or resumed. It
// goes on for at most that long and stands still then; 0: on and on. Who was answered, or woken by Sleep, has settle, in the machine's time, to ask
// for more; 0: 20 ms.
func (c Clock) Auto(most, settle time.Duration) { c.app.SetClock(app.ClockAuto, most, settle) }

// Sleep returns when the clock has moved on by d, or with the error of ctx. A clock that goes by itself goes on when all who could do
// something sleep or wait for something.
func (c Clock) Sleep(ctx context.Context, d time.Duration) error { return c.app.Sleep(ctx, d) }

// Advance sets the clock forward by d, frozen or not. All that falls due on the way has been done when it returns, each at its
// time.
func (c Clock) Advance(ctx context.Context, d time.Duration) error { return c.app.Advance(ctx, d) }
