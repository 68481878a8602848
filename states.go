package berth

import (
	"context"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// SavedState is a saved state, as spec/controls.yaml describes it.
type SavedState = controls.State

// SaveState saves everything that the server has under a name of lower-case letters, digits, hyphens and underscores, in place of what was saved
// under it: a file below states of Dir, which later versions of berth load too. It panics unless the runtime is RuntimeSim. The error is that
// of a name that is none, of too many states, or of ctx.
func (s *Server) SaveState(ctx context.Context, name string) error {
	s.needControls("states")
	return s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.SaveState(ctx, name) })
}

// LoadState goes back to a saved state, as if the server were started again on it. Its keys are those of the state. It panics unless the runtime is
// RuntimeSim. The error is that there is none of the name, that it cannot be loaded, or that of ctx.
func (s *Server) LoadState(ctx context.Context, name string) error {
	s.needControls("states")
	return s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.LoadState(ctx, name) })
}

// States gives the saved states, by name. It panics unless the runtime is RuntimeSim.
func (s *Server) States(ctx context.Context) ([]SavedState, error) {
	s.needControls("states")
	var list controls.StateList
	err := s.ask(&list, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ListStates(ctx) })
	return list.States, err
}

// DeleteState deletes a saved state. It panics unless the runtime is RuntimeSim. The error is that there is none of the name, or that of ctx.
func (s *Server) DeleteState(ctx context.Context, name string) error {
	s.needControls("states")
	return s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.DeleteState(ctx, name) })
}
