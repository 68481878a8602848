package app

import (
	"context"

	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/shell"
	"github.com/berthdev/berth/store"
)

// newShells makes what runs commands in pods and workers, until ending ends.
func newShells(ending context.Context, c Config, s store.Store, runs *runtimes, use *useCases) *shell.Shells {
	// A storage that takes no writes keeps nobody from the shell by which they may mend it.
	opened := func(ctx context.Context, kind, id string, by shell.By) {
		a := audit.Actor{User: by.User, Key: compute.KeyID(by.Of), Request: by.Request, Operation: "session by " + by.Through, Client: audit.Client(by.From)}
		if err := audit.Note(ctx, s, a, kind, id, compute.AuditOpened); err != nil && ctx.Err() == nil {
			c.Log.Error("a session is not in the audit log", kind, id, "user", by.User, "error", err)
		}
	}
	return shell.New(shell.Config{
		Pods: use.control, Workers: use.endpoints, OfPods: runs.Pods, OfWorker: use.workers.On, Ending: ending, Clock: compute.SystemClock{}, Log: c.Log, Opened: opened,
	})
}
