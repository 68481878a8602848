package loop

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// workerPids is how many processes and threads a worker may have.
const workerPids = podPids

// errHeld says that the GPU that a worker would get is free only in a moment.
var errHeld = &compute.Error{Code: compute.Rejected, Detail: "the container of a pod that has the GPU is still being stopped", Cause: control.ErrFull}

// runtimeOf gives what the endpoint's workers run on.
func (l *Workers) runtimeOf(e compute.Endpoint) runtime.Runtime {
	if e.Declared {
		return l.Processes
	}
	return l.Runtime
}

// start takes room for a worker and starts it with a key of its own. The cause is control.ErrFull when nothing can hold it.
func (l *Workers) start(ctx context.Context, e compute.Endpoint, id compute.WorkerID) error {
	w := compute.Worker{ID: id}
	var mount *compute.NetworkMount
	err := l.Placement.Write(ctx, func(tx store.Tx, b *control.Booking) (err error) {
		w = compute.Worker{ID: id}
		mount, err = b.InsertWorker(tx, &w, e)
		if err == nil && l.Held != nil && l.Held(w.HostID, w.Devices) {
			err = errHeld
		}
		return err
	})
	if err != nil {
		return err
	}
	started := worker{endpoint: e.ID, runtime: l.runtimeOf(e), started: l.Clock.Now()}
	l.mu.Lock()
	l.workers[id] = started
	l.mu.Unlock()
	l.Queue.WorkerStarted(e.ID, id, w.Version)
	if err := l.run(ctx, e, w, mount); err != nil {
		l.forget(ctx, id)
		return err
	}
	l.Log.Info("worker started", "endpoint", e.ID, "worker", id, "release", w.Version, "host", w.HostID)
	return nil
}

// run gives the worker its key and has it started.
func (l *Workers) run(ctx context.Context, e compute.Endpoint, w compute.Worker, mount *compute.NetworkMount) error {
	key, token, err := l.Keyring.Create(ctx, control.NewKey{
		UserID: e.UserID, Name: "worker " + string(w.ID), WorkerID: w.ID, Scopes: []compute.Scope{compute.ScopeWork(e.ID)},
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	one := l.workers[w.ID]
	one.key = key.ID
	l.workers[w.ID] = one
	l.mu.Unlock()
	told, own := l.environment(e, w, token)
	a := runtime.Allocation{
		ID: string(w.ID), Image: e.Image, Args: e.Args, Hostname: string(w.ID), Env: own, Told: told, Ports: e.Ports, DiskGB: e.DiskGB,
		Pids: workerPids, Network: mount, Labels: map[string]string{labelName: e.Name}, GPUs: w.Devices,
	}
	if w.CPU != nil {
		a.VCPUs, a.MemoryBytes = w.CPU.VCPUCount, w.CPU.MemoryGB<<30
	}
	if e.RegistryID != "" {
		a.Credential = func(ctx context.Context) (runtime.Credential, error) {
			login, err := l.Login(ctx, e.RegistryID)
			return runtime.Credential{User: login.Username, Password: login.Password}, err
		}
	}
	return l.runtimeOf(e).Start(ctx, a)
}

// inspect looks how a worker is: it notes when it came up, and sees to one that ended by itself.
func (l *Workers) inspect(ctx context.Context, id compute.WorkerID) {
	l.mu.Lock()
	w, ok := l.workers[id]
	l.mu.Unlock()
	if !ok || w.stopping {
		return
	}
	state, err := w.runtime.Inspect(ctx, string(id))
	switch {
	case errors.Is(err, runtime.ErrUnknown):
		l.ended(ctx, id, w, runtime.State{Phase: runtime.Ended, ExitCode: -1, Reason: "its container is gone"})
	case err == nil && state.Phase == runtime.Ended:
		l.ended(ctx, id, w, state)
	case err == nil && state.Phase == runtime.Up && !w.up:
		l.cameUp(ctx, id, w, state.StartedAt)
	}
}

func (l *Workers) cameUp(ctx context.Context, id compute.WorkerID, w worker, at time.Time) {
	err := l.Store.Write(ctx, func(tx store.Tx) error {
		if err := tx.SetWorkerStarted(id, at); err != nil {
			return err
		}
		return tx.AddSystemLine(string(id), "worker is up")
	})
	if err != nil {
		l.Log.Error("worker's start could not be stored", "worker", id, "error", err)
		return
	}
	l.mu.Lock()
	if now, ok := l.workers[id]; ok {
		now.up = true
		l.workers[id] = now
	}
	l.mu.Unlock()
	l.Queue.WorkerUp(w.endpoint, id)
}

// ended sees to a worker that ended by itself. One that had finished a job is replaced at once: only those that never do make
// their endpoint wait.
func (l *Workers) ended(ctx context.Context, id compute.WorkerID, w worker, state runtime.State) {
	if !l.claim(id) {
		return
	}
	l.Log.Warn("worker ended by itself", "endpoint", w.endpoint, "worker", id, "exit", state.ExitCode, "reason", state.Reason)
	proven := l.Queue.Proven(w.endpoint, id)
	if state.ExitCode == 0 || proven || l.Clock.Now().Sub(w.started) > lastBackoff {
		l.resetBackoff(w.endpoint)
	}
	if state.ExitCode != 0 && !proven {
		l.backOff(w.endpoint, "a worker ended by itself: "+reason(state))
	}
	l.forget(ctx, id)
}

// stop drains the worker, then ends its container. Its polls end first: a job given to a worker that was told to end would be
// lost (the SDK takes it and never runs it).
func (l *Workers) stop(e compute.EndpointID, id compute.WorkerID) {
	if !l.Queue.Drain(e, id) {
		return // it took a job in this moment
	}
	if !l.claim(id) {
		return
	}
	l.mu.Lock()
	w := l.workers[id]
	l.mu.Unlock()
	l.stops.Go(func() {
		ctx := context.Background()
		if err := w.runtime.Stop(ctx, string(id), stopGrace); err != nil && !errors.Is(err, runtime.ErrUnknown) {
			l.Log.Error("worker could not be stopped", "worker", id, "error", err)
		}
		l.Log.Info("worker stopped", "endpoint", e, "worker", id)
		l.forget(ctx, id)
	})
}

// claim tells whether the worker is there and nobody sees to its end yet; from now on the caller does.
func (l *Workers) claim(id compute.WorkerID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, ok := l.workers[id]
	if !ok || w.stopping {
		return false
	}
	w.stopping = true
	l.workers[id] = w
	return true
}

// forget removes every trace of a worker that has ended, and gives back what it held.
func (l *Workers) forget(ctx context.Context, id compute.WorkerID) {
	l.mu.Lock()
	w := l.workers[id]
	delete(l.workers, id)
	l.mu.Unlock()
	if err := w.runtime.Remove(ctx, string(id)); err != nil {
		l.Log.Error("worker could not be removed", "worker", id, "error", err)
	}
	l.erase(ctx, w.endpoint, id, w.key)
}

// erase removes what is stored of a worker, and puts its jobs back in the queue.
func (l *Workers) erase(ctx context.Context, e compute.EndpointID, id compute.WorkerID, key compute.KeyID) {
	if err := l.Keyring.Delete(ctx, key); err != nil {
		l.Log.Error("worker's key could not be deleted", "worker", id, "error", err)
	}
	err := l.Placement.Write(ctx, func(tx store.Tx, b *control.Booking) error { return b.DeleteWorker(tx, id) })
	if err != nil {
		l.Log.Error("worker could not be deleted", "worker", id, "error", err)
	}
	l.Queue.WorkerGone(ctx, e, id)
}
