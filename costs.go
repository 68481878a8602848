package berth

import (
	"context"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// What costs are asked for and given, as spec/controls.yaml describes it.
type (
	// Costs are what would have been paid, in USD: the highest first, and the total of all.
	Costs = controls.Costs
	// Cost is what one resource, kind of resource or user would have cost.
	Cost = controls.Cost
	// CostFilter says what costs are asked for. What is nil has its default.
	CostFilter = controls.GetCostsParams
)

// Costs gives what would have been paid for what ran since the server's first start or the last reset, on its clock. It panics unless the runtime
// is RuntimeSim. The error is that of a filter that makes no sense, or of ctx.
func (s *Server) Costs(ctx context.Context, f CostFilter) (all Costs, err error) {
	s.needControls("costs")
	err = s.ask(&all, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.GetCosts(ctx, &f) })
	return all, err
}
