package berth

import (
	"context"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// What faults are, as spec/controls.yaml describes it.
type (
	// Fault is something that an operation does wrong, and for which calls.
	Fault = controls.Fault
	// FaultWhen says where in a call a fault is met.
	FaultWhen = controls.FaultWhen
	// ScriptedFault is a fault in force, with how many calls it matched and how many of them met it.
	ScriptedFault = controls.ShownFault
)

// Where in a call a fault is met.
const (
	FaultBefore FaultWhen = controls.FaultWhenBefore // instead of the operation, or before it
	FaultAfter  FaultWhen = controls.FaultWhenAfter  // the operation is done, and its effect is kept
)

// Faults is what operations of one server do wrong: what a test scripts to know that its code gets over it.
type Faults struct{ s *Server }

// Faults gives the server's faults. It panics unless the runtime is RuntimeSim: what really runs has no test controls.
func (s *Server) Faults() Faults {
	s.needControls("faults")
	return Faults{s}
}

// Add scripts one more fault, and gives it with its id. The error is that of a fault that makes no sense, of an id that there is, or of ctx.
func (f Faults) Add(ctx context.Context, fault Fault) (added ScriptedFault, err error) {
	err = f.s.ask(&added, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.AddFault(ctx, fault) })
	return added, err
}

// Set replaces all faults. The error is that of a fault that makes no sense, or of ctx.
func (f Faults) Set(ctx context.Context, faults ...Fault) error {
	all := controls.Faults{Faults: append([]Fault{}, faults...)}
	return f.s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.SetFaults(ctx, all) })
}

// List gives the faults in their order, with their counts.
func (f Faults) List(ctx context.Context) ([]ScriptedFault, error) {
	var list controls.FaultList
	err := f.s.ask(&list, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.GetFaults(ctx) })
	return list.Faults, err
}

// Delete takes a fault back. The error is that there is none of that id, or that of ctx.
func (f Faults) Delete(ctx context.Context, id string) error {
	return f.s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.DeleteFault(ctx, id) })
}

// Clear takes all faults back.
func (f Faults) Clear(ctx context.Context) error {
	return f.s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ClearFaults(ctx) })
}
