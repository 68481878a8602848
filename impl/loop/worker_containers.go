package loop

import (
	"cmp"
	"context"
	"errors"
	"strings"
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
		return l.Local
	}
	return l.Runtime
}

// start places a worker and starts it with a key of its own. The cause is control.ErrFull when nothing can hold it.
func (l *Workers) start(ctx context.Context, e compute.Endpoint, id compute.WorkerID) error {
	w, mount, err := l.Placement.StartWorker(ctx, id, e, func(w compute.Worker) error {
		if l.Held != nil && l.Held(w.HostID, w.Devices) {
			return errHeld
		}
		return nil
	})
	if err != nil {
		return err
	}
	started := worker{endpoint: e.ID, host: w.HostID, runtime: l.runtimeOf(e), started: l.Clock.Now()}
	l.mu.Lock()
	l.workers[id] = started
	l.mu.Unlock()
	l.Queue.WorkerStarted(e.ID, id, w.Version)
	if err := l.run(ctx, e, w, mount); err != nil {
		l.settle(id, l.erase(ctx, e.ID, id, l.keyOf(id), nil)) // what did not start left no trace in the runtime
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
	if e.Env, err = environmentOf(ctx, l.Store, l.Secrets, e.UserID, string(w.ID), e.Env); err != nil {
		return err
	}
	told, own := l.environment(e, w, token)
	a := runtime.Allocation{
		ID: string(w.ID), Image: e.Image, Args: e.Args, Hostname: string(w.ID), Env: own, Told: told, Ports: e.Ports, DiskGB: e.DiskGB,
		Pids: workerPids, Network: mount, Labels: map[string]string{labelName: e.Name}, HostID: w.HostID, GPUs: gpus(w.GPU, w.Devices),
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
	if w.host != "" && l.Placement.Left(w.host) {
		l.leave(id, w.host)
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
		if there, err := tx.SetWorkerStarted(id, at); err != nil || !there {
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
	l.Queue.WorkerUp(w.endpoint, id, l.Simulated && w.runtime == l.Runtime)
}

// ended sees to a worker that ended by itself. One that had finished a job is replaced at once: only those that never do make
// their endpoint wait.
func (l *Workers) ended(ctx context.Context, id compute.WorkerID, w worker, state runtime.State) {
	if _, mine := l.claim(id); !mine {
		return
	}
	l.Log.Warn("worker ended by itself", "endpoint", w.endpoint, "worker", id, "exit", state.ExitCode, "reason", state.Reason)
	proven := l.Queue.Proven(w.endpoint, id)
	if state.ExitCode == 0 || proven || l.Clock.Now().Sub(w.started) > lastBackoff {
		l.resetBackoff(w.endpoint)
	}
	end := l.keep(ctx, id, endOf(state))
	if state.ExitCode != 0 && !proven {
		l.backOff(w.endpoint, "worker "+string(id)+": "+end.Reason)
	}
	l.forget(ctx, id)
}

// stop drains the worker, then ends its container. Its polls end first: a job given to a worker that was told to end would be
// lost (the SDK takes it and never runs it).
func (l *Workers) stop(e compute.EndpointID, id compute.WorkerID, why ending) {
	if !l.Queue.Drain(e, id) {
		return // it took a job in this moment
	}
	w, mine := l.claim(id)
	if !mine {
		return
	}
	l.stops.Go(func() { l.end(id, w, why) })
}

// leave ends a worker whose host left the fleet, whatever it does: its jobs go back to the queue.
func (l *Workers) leave(id compute.WorkerID, host string) {
	w, mine := l.claim(id)
	if !mine {
		return
	}
	l.Queue.Drain(w.endpoint, id)
	l.stops.Go(func() { l.end(id, w, ending{why: control.LeftReason(host)}) })
}

// endTime bounds how long the end of a worker is waited for, also where the runtime does not answer.
const endTime = stopGrace + 20*time.Second

// end ends the container of a worker that somebody claimed, and forgets it.
func (l *Workers) end(id compute.WorkerID, w worker, why ending) {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := w.runtime.Stop(ctx, string(id), stopGrace); err != nil && !errors.Is(err, runtime.ErrUnknown) {
		l.Log.Error("worker could not be stopped", "worker", id, "error", err)
	}
	l.Log.Info("worker stopped", "endpoint", w.endpoint, "worker", id)
	l.keep(ctx, id, why)
	l.forget(ctx, id)
}

// claim tells whether the worker is there and nobody sees to its end yet; from now on the caller does. It gives the worker.
func (l *Workers) claim(id compute.WorkerID) (w worker, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, there := l.workers[id]
	if !there || w.stopping {
		return w, false
	}
	w.stopping = true
	l.workers[id] = w
	return w, true
}

// forget removes every trace of a worker that has ended, and releases what it held.
func (l *Workers) forget(ctx context.Context, id compute.WorkerID) {
	l.mu.Lock()
	w := l.workers[id]
	l.mu.Unlock()
	err := w.runtime.Remove(ctx, string(id))
	if err == nil {
		err = l.erase(ctx, w.endpoint, id, w.key, w.end)
	}
	l.settle(id, err)
}

// settle ends with a worker that has ended. If something of it could not be removed that is tried again: until then the worker is
// known, and so is what it has.
func (l *Workers) settle(id compute.WorkerID, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.workers[id]
	if err == nil {
		delete(l.workers, id)
		return
	}
	if !w.told {
		l.Log.Error("worker could not be removed: it is tried again", "worker", id, "error", err)
	}
	w.stopping, w.left, w.told = true, true, true
	l.workers[id] = w
}

func (l *Workers) keyOf(id compute.WorkerID) compute.KeyID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.workers[id].key
}

// forgetAgain forgets a worker of which something was left.
func (l *Workers) forgetAgain(id compute.WorkerID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, there := l.workers[id]
	if !there || !w.left {
		return
	}
	w.left = false
	l.workers[id] = w
	l.stops.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		l.forget(ctx, id)
	})
}

// erase removes what is stored of a worker but for what is kept of one that has ended, and puts its jobs back in the queue.
func (l *Workers) erase(ctx context.Context, e compute.EndpointID, id compute.WorkerID, key compute.KeyID, end *compute.EndedWorker) error {
	why := "the worker ended"
	if end != nil && end.ExitCode != nil {
		why, _, _ = strings.Cut(end.Reason, "\n")
	}
	err := l.Keyring.Delete(ctx, key)
	err = cmp.Or(err, l.Placement.Write(ctx, func(tx store.Tx, claims *control.Claims) error {
		if end == nil {
			return claims.DeleteWorker(tx, id)
		}
		return claims.EndWorker(tx, *end)
	}))
	l.Queue.WorkerGone(ctx, e, id, why)
	return err
}
