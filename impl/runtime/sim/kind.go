package sim

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
)

func init() {
	can := compute.AllCapabilities
	can.Simulates = true
	runtime.Register(runtime.Kind{
		Name: "sim", Summary: "simulated: nothing is started", Default: true, Can: can,
		Open: func(_ context.Context, c runtime.Config) (runtime.Opened, error) {
			return runtime.Opened{Pods: New(c.Clock), Workers: New(c.Clock)}, nil
		},
		Doctor: func(context.Context, setting.Values) runtime.Report {
			return runtime.Report{Available: true, Detail: "a simulated fleet: nothing runs"}
		},
	})
}

var _ runtime.Simulation = (*Fleet)(nil)
