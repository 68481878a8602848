package app

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/shell"
)

// newShells makes what runs commands in pods and workers, until ending ends.
func newShells(ending context.Context, c Config, runs *runtimes, use *useCases) *shell.Shells {
	return shell.New(shell.Config{
		Pods: use.control, Workers: use.endpoints, OfPods: runs.Pods, OfWorker: use.workers.On, Ending: ending, Clock: compute.SystemClock{}, Log: c.Log,
	})
}
