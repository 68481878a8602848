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
func (c Clock) Freeze() { c.app.Clock().Freeze() }

// Resume makes the clock run again from where it stood.
func (c Clock) Resume() { c.app.Clock().Resume() }

// Advance sets the clock forward by d, frozen or not. All that falls due on the way has been done when it returns, each at its
// time.
func (c Clock) Advance(ctx context.Context, d time.Duration) error { return c.app.Advance(ctx, d) }
