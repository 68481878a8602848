package loop

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/queue"
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

// simulates reports whether nothing runs on the runtime.
func (l *Workers) simulates(r runtime.Runtime) bool { return l.Simulated && r == l.Runtime }

// On gives what commands in the endpoint's workers run on.
func (l *Workers) On(e compute.Endpoint) runtime.Execer { return l.runtimeOf(e) }

// Starting reports whether a worker that is no simulation was started and is not ready yet: that takes the time of the machine.
func (l *Workers) Starting() bool {
	for _, id := range l.containers.Keys() {
		w, ok := l.containers.Memory(id)
		if ok && w.ending == nil && !l.simulates(w.runtime) && l.Queue.Initializing(w.endpoint, id) {
			return true
		}
	}
	return false
}

// worker is what is remembered of a worker. The zero worker is unknown.
type worker struct {
	endpoint compute.EndpointID
	host     string // empty: it holds none
	key      compute.KeyID
	runtime  runtime.Runtime
	started  time.Time // from then on its limit counts
	starting bool      // the runtime may not know it yet
	up       bool
	upAt     time.Time     // when it comes up, where that is known; zero: it is not, or it is up
	warms    time.Duration // by a script, from when it is up until it is ready
	ready    time.Time     // by that; zero: nobody says
	waits    string        // what it waits for, while it does not come up; empty: for nothing that is known
	unplaced bool          // and no host holds it
	fetching bool          // its image is being brought to its host

	ports []compute.PublishedPort // where it is reached, once it is up

	ending  *ending              // it is to end, or has ended by itself; nil: neither
	stopped bool                 // its container has ended
	unpaid  bool                 // so it costs nothing any more, and its charge is not closed yet
	end     *compute.EndedWorker // what is kept of it; nil: not known yet
	gone    bool                 // there is no trace of it
}

// start places a worker and starts it with a key of its own, as the endpoint's row says; one that is deleted gets none. The cause is
// control.ErrFull when nothing can hold it.
func (l *Workers) start(ctx context.Context, of compute.EndpointID, id compute.WorkerID) error {
	var e compute.Endpoint
	err := l.Store.Read(ctx, func(tx store.Tx) (err error) {
		e, err = tx.Endpoint(of)
		return err
	})
	switch {
	case compute.CodeOf(err) == compute.NotFound || err == nil && !e.DeletedAt.IsZero():
		return nil // the queue hears of it in a moment
	case err != nil:
		return err
	}

	starting := worker{endpoint: e.ID, runtime: l.runtimeOf(e), started: l.Clock.Now(), starting: true}
	l.containers.Update(id, func(one *worker) { *one = starting }) // before there is a row, which would be nobody's
	w, mount, err := l.Placement.StartWorker(ctx, id, e, func(w compute.Worker) error {
		if l.Held != nil && l.Held(w.HostID, w.Devices) {
			return errHeld
		}
		return nil
	})
	if err != nil {
		l.containers.Forget(id)
		return err
	}

	l.Queue.WorkerStarted(e.ID, id, w.Version)
	key, err := l.run(ctx, e, w, mount)
	if err == nil {
		l.containers.Update(id, func(one *worker) { one.host, one.key, one.starting = w.HostID, key, false })
		l.Log.Info("worker started", "endpoint", e.ID, "worker", id, "release", w.Version, "host", w.HostID)
		return nil
	}

	// What did not start left no trace in the runtime; but if that did not answer, only its answer may have been lost.
	if eraseErr := l.erase(ctx, e.ID, id, key, nil, false); eraseErr != nil || errors.Is(err, runtime.ErrUnavailable) {
		l.containers.Update(id, func(one *worker) { one.key, one.starting, one.ending, one.stopped = key, false, &ending{}, true })
		return err
	}
	l.containers.Forget(id)
	return err
}

// run gives the worker a key, which it gives, too, and has it started.
func (l *Workers) run(ctx context.Context, e compute.Endpoint, w compute.Worker, mount *compute.NetworkMount) (compute.KeyID, error) {
	key, token, err := l.Keyring.Create(ctx, control.NewKey{
		UserID: e.UserID, Name: "worker " + string(w.ID), WorkerID: w.ID, Scopes: []compute.Scope{compute.ScopeWork(e.ID)},
	})
	if err != nil {
		return "", err
	}

	l.containers.Update(w.ID, func(one *worker) { one.key = key.ID }) // or it would be that of an earlier worker
	env, line, err := environmentOf(ctx, l.Secrets, e.UserID, e.Env)
	if err != nil {
		return key.ID, err
	}
	if e.Env = env; line != "" {
		l.say(ctx, w.ID, line)
	}

	facts, own := l.environment(e, w, token)
	a := runtime.Allocation{
		ID: string(w.ID), Image: e.Image, Args: e.Args, Hostname: string(w.ID), Env: own, Facts: facts, Ports: e.Ports, DiskGB: e.DiskGB,
		Pids: workerPids, Network: mount, Labels: map[string]string{labelName: e.Name}, HostID: w.HostID, GPUs: gpus(w.GPU, w.Devices),
	}
	if e.Type == compute.LoadBalancer {
		a.Ports, a.Listen = served(e)
	}
	if w.CPU != nil {
		a.VCPUs, a.MemoryBytes = w.CPU.VCPUCount, w.CPU.MemoryGB<<30
	}
	if !e.Declared {
		a.Hosts = l.Placement.HostsForWorker(w)
		limitToShare(&a, l.Placement, w.GPU)
		if a.NetworkGB, err = volumeGB(ctx, l.Store, mount); err != nil {
			return key.ID, err
		}
	}

	up, warms, scripted, err := l.boots(ctx, e)
	if err != nil {
		return key.ID, err
	}
	if scripted {
		a.Boot = &up
		l.containers.Update(w.ID, func(one *worker) { one.warms = warms })
	}

	if l.Artifact != nil && e.Environment != "" {
		if a.Artifact, err = l.Artifact(ctx, e.Environment); err != nil {
			return key.ID, err
		}
	}

	if e.RegistryID != "" {
		a.Credential = func(ctx context.Context) (runtime.Credential, error) {
			login, err := l.Login(ctx, e.RegistryID)
			return runtime.Credential{User: login.Username, Password: login.Password}, retried(err)
		}
	}

	return key.ID, l.runtimeOf(e).Start(ctx, a)
}

// boots gives how long the start of a worker takes by the script of its endpoint; scripted is false if none says so.
func (l *Workers) boots(ctx context.Context, e compute.Endpoint) (up, warms time.Duration, scripted bool, err error) {
	if l.runtimeOf(e) != l.Runtime {
		return 0, 0, false, nil
	}
	return l.Scripts.start(ctx, e.ID)
}

// look looks how a worker is: it notes when it came up, and sees to the end of one that is to end, or that ended by itself.
func (l *Workers) look(ctx, ends context.Context, looks []*reconcile.Look[compute.WorkerID, worker]) {
	for _, one := range looks {
		w := &one.Memory
		if w.runtime == nil || w.gone {
			continue // it is nobody's
		}
		now := l.Clock.Now()
		next := now.Add(watchTick + watchPause(l.containers.Known()))
		if w.ending == nil && !w.starting {
			one.Err = l.inspect(ctx, one.Key, w)
			if w.upAt.After(now) && w.upAt.Before(next) {
				next = w.upAt
			}
		}
		one.Next = reconcile.At(next)
		if w.ending == nil || one.Err != nil {
			continue
		}

		if one.Err = l.carryOut(ends, one.Key, w); one.Err == nil {
			w.gone = true
			one.Next = reconcile.Next{}
		}
	}
}

// inspect looks how a worker is that is not to end. It has it end if its host left the fleet, or if it ended by itself.
func (l *Workers) inspect(ctx context.Context, id compute.WorkerID, w *worker) error {
	if w.host != "" && l.Placement.Left(w.host) { // whatever it does: its jobs go back to the queue
		l.Queue.Drain(w.endpoint, id)
		w.ending = &ending{why: control.LeftReason(w.host)}
		return nil
	}

	if !l.Queue.Serves(w.endpoint) { // it was deleted and forgotten while the worker was being started
		w.ending = &ending{why: "its endpoint was deleted"}
		return nil
	}

	state, err := w.runtime.Inspect(ctx, string(id))
	if err == nil {
		l.fetches(w, state)
	}
	w.upAt = time.Time{}
	if err == nil && state.Phase == runtime.Starting {
		w.upAt = state.Until
	}
	switch {
	case errors.Is(err, runtime.ErrUnknown):
		l.ended(ctx, id, w, runtime.State{Phase: runtime.Ended, ExitCode: -1, Reason: gone(l.Placement, w.host)})
		return nil
	case err == nil && state.Phase == runtime.Ended:
		l.ended(ctx, id, w, state)
	case err == nil && state.Phase == runtime.Starting && (state.Reason != w.waits || state.Unplaced() != w.unplaced):
		l.waits(ctx, id, w, state)
	case err == nil && state.Phase == runtime.Up && w.up:
		w.ports = state.Ports
	case err == nil && state.Phase == runtime.Up:
		w.ports = state.Ports
		if w.unplaced {
			l.waits(ctx, id, w, state)
		}
		return l.cameUp(ctx, id, w, state.StartedAt)
	}

	return err
}

// waits notes what the worker waits for. The time in which it has to send a request begins when it has a host.
func (l *Workers) waits(ctx context.Context, id compute.WorkerID, w *worker, state runtime.State) {
	if w.unplaced && !state.Unplaced() {
		w.started = l.Clock.Now()
	}
	if state.Reason != "" && state.Reason != w.waits {
		l.say(ctx, id, "worker waits: "+state.Reason)
	}
	w.waits, w.unplaced = state.Reason, state.Unplaced()
	l.Queue.WorkerWaits(w.endpoint, id, w.waits, w.unplaced)
}

// fetches notes whether the worker's image is being brought to its host. The time in which it has to send a request begins when it is there.
func (l *Workers) fetches(w *worker, state runtime.State) {
	if w.fetching && !state.Fetching {
		w.started = l.Clock.Now()
	}
	w.fetching = state.Fetching
}

// cameUp notes that the worker is up.
func (l *Workers) cameUp(ctx context.Context, id compute.WorkerID, w *worker, at time.Time) error {
	err := l.Store.Write(ctx, func(tx store.Tx) error {
		if there, err := tx.SetWorkerStarted(id, at); err != nil || !there {
			return err
		}
		return tx.AddSystemLine(string(id), "worker is up")
	})
	if err == nil {
		w.up = true
		simulated := l.simulates(w.runtime)
		if scripted := simulated && l.Scripts.of(w.endpoint) != nil; scripted {
			w.ready = at.Add(w.warms - compute.Lag(l.Clock))
			l.scriptedUp.Store(true)
		} else {
			l.Queue.WorkerUp(w.endpoint, id, simulated)
		}
	}
	return err
}

// ended sees to a worker that ended by itself. One that had finished a job is replaced at once: only those that never do make
// their endpoint wait.
func (l *Workers) ended(ctx context.Context, id compute.WorkerID, w *worker, state runtime.State) {
	l.Log.Warn("worker ended by itself", "endpoint", w.endpoint, "worker", id, "exit", state.ExitCode, "reason", state.Reason)
	proven := l.Queue.Proven(w.endpoint, id)
	now := l.Clock.Now()
	pauses := func(reason string) {
		if !proven {
			l.endpoints.Update(w.endpoint, func(s *scaling) { s.backOff(now, "worker "+string(id)+": "+reason) })
		}
	}
	if proven || now.Sub(w.started) > lastBackoff {
		l.endpoints.Update(w.endpoint, (*scaling).resetBackoff)
	}
	why := endOf(state)
	pauses(why.why)
	l.Queue.SetCondition(w.endpoint, id, queue.Unhealthy, "it has ended")
	l.Queue.Refuse(w.endpoint, id) // another one may be started from now on, which is to find the pause

	end := l.endedWorker(ctx, id, *w, why)
	w.ending, w.stopped, w.unpaid, w.end = &why, true, true, &end
	pauses(end.Reason)
}

// stop drains the worker, then has its container end. Its polls end first: a job given to a worker that was asked to end would be
// lost (the SDK takes it and never runs it).
func (l *Workers) stop(e compute.EndpointID, id compute.WorkerID, why ending) {
	if l.Queue.Drain(e, id) { // else it took a job in this moment
		l.end(id, why)
	}
}

// end has the worker end, unless it is to end already.
func (l *Workers) end(id compute.WorkerID, why ending) {
	l.containers.Update(id, func(w *worker) {
		if w.ending == nil {
			w.ending = &why
		}
	})
}

// Interrupt takes their room from workers, which get a grace of compute.InterruptGrace, and gives from how many: from the one with the id,
// or else from all of the endpoint. Others take up their jobs.
func (l *Workers) Interrupt(e compute.EndpointID, id compute.WorkerID) (n int) {
	for _, key := range l.containers.Keys() {
		w, _ := l.containers.Memory(key)
		if w.runtime == nil || w.ending != nil || id != "" && key != id || id == "" && w.endpoint != e {
			continue
		}
		l.Queue.Refuse(w.endpoint, key)
		l.end(key, ending{why: "the worker was interrupted", interrupted: true})
		n++
	}
	return n
}

// endTime bounds how long the end of a worker is waited for, also where the runtime does not answer.
const endTime = stopGrace + 20*time.Second

// carryOut ends the container of a worker that is to end, removes every trace of it, and releases what it held. What fails is tried
// again: until then the worker is known, and so is what it has.
func (l *Workers) carryOut(ctx context.Context, id compute.WorkerID, w *worker) error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	if !w.stopped {
		if left, err := l.leftToAnother(ctx, w); left || err != nil {
			return err
		}
		err := w.runtime.Stop(ctx, string(id), w.ending.grace())
		if err != nil && !errors.Is(err, runtime.ErrUnknown) {
			l.Log.Error("worker could not be stopped", "worker", id, "error", err) // its removal ends it, too
		}
		l.Log.Info("worker stopped", "endpoint", w.endpoint, "worker", id)
		end := l.endedWorker(ctx, id, *w, *w.ending)
		w.end, w.stopped, w.unpaid = &end, true, err == nil || errors.Is(err, runtime.ErrUnknown)
	}

	l.closeCharge(ctx, id, w)
	if err := w.runtime.Remove(ctx, string(id)); err != nil {
		return err
	}
	return l.erase(ctx, w.endpoint, id, w.key, w.end, w.ending.interrupted)
}

// closeCharge ends the bill of a worker that is known to have ended: until its container is removed may take long, and its row stays as
// long. What cannot be written is written at the next try.
func (l *Workers) closeCharge(ctx context.Context, id compute.WorkerID, w *worker) {
	if !w.unpaid {
		return
	}
	if err := l.Store.Write(ctx, func(tx store.Tx) error { return tx.CloseCharge(string(id)) }); err != nil {
		l.Log.Error("worker's charge could not be closed", "worker", id, "error", err)
		return
	}
	w.unpaid = false
}

// leftToAnother reports whether the container of a worker is to go on, because another replica owns the store by now and has taken it up: which
// a write shows, of nothing. While the store is away nobody can say. What runs here alone ends with this server.
func (l *Workers) leftToAnother(ctx context.Context, w *worker) (bool, error) {
	if w.runtime == l.Local {
		return false, nil
	}
	err := l.Store.Write(ctx, func(store.Tx) error { return nil })
	switch store.TroubleOf(err) {
	case store.Moved:
		return true, nil
	case store.Away:
		return false, err
	default:
		return false, nil
	}
}

// erase removes what is stored of a worker but for what is kept of one that has ended, and puts its jobs back in the queue; those of one
// that was interrupted have the attempt back.
func (l *Workers) erase(ctx context.Context, e compute.EndpointID, id compute.WorkerID, key compute.KeyID, end *compute.EndedWorker, interrupted bool) error {
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

	if interrupted {
		l.Queue.WorkerInterrupted(ctx, e, id)
		return err
	}
	l.Queue.WorkerGone(ctx, e, id, why)
	return err
}
