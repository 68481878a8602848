package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// adoptedOf reports whether the workers of before of declared endpoints were taken up, or those of the others.
func (l *Workers) adoptedOf(declared bool) *atomic.Bool {
	if declared {
		return &l.adopted[0]
	}
	return &l.adopted[1]
}

// list takes up, once for each runtime, the workers of before: those whose containers are still up go on, with the jobs that they hold, and
// so do those that a cluster goes on to start; of all others every trace is removed. It is tried again until the runtime answers. After that
// it is looked from time to time for what was missed, such as a container that the engine made for a call of a berth that was killed, and
// what else was made for workers that the runtime has no more is removed. Workers are hinted as they are taken up: there are no others to be
// given.
func (l *Workers) list(ctx context.Context, first bool) (_ []compute.WorkerID, err error) {
	endpoints := map[compute.EndpointID]compute.Endpoint{}
	for _, d := range l.Queue.Demands() {
		if !d.Gone {
			endpoints[d.Endpoint.ID] = d.Endpoint
		}
	}

	for _, declared := range []bool{true, false} {
		err = cmp.Or(err, l.adoptOn(ctx, declared, endpoints))
	}
	if err == nil {
		l.deleteKeys(ctx)
	}
	if first {
		l.hintEndpoints()
	} else {
		err = cmp.Or(err, l.Runtime.Sweep(ctx))
	}
	return nil, err
}

// deleteKeys removes the keys of workers that are no more.
func (l *Workers) deleteKeys(ctx context.Context) {
	for _, k := range l.Keyring.Keys(true) {
		if l.has(k.WorkerID) {
			continue
		}
		if err := l.Keyring.Delete(ctx, k.ID); err != nil {
			l.Log.Error("key of an earlier worker", "worker", k.WorkerID, "error", err)
		}
	}
}

// adoptOn takes up the workers of before on one of the runtimes. What cannot be ended or removed now is found again by a later look: the
// other workers, and those that are to be started, do not wait for it.
func (l *Workers) adoptOn(ctx context.Context, declared bool, endpoints map[compute.EndpointID]compute.Endpoint) error {
	r := l.runtimeOf(compute.Endpoint{Declared: declared})
	var rows []compute.Worker
	err := l.Store.Read(ctx, func(tx store.Tx) (err error) {
		rows, err = tx.ListWorkers()
		return err
	})
	if err != nil {
		return err
	}

	there, err := r.List(ctx)
	if err != nil {
		return err
	}
	keys := map[compute.WorkerID]compute.KeyID{}
	for _, k := range l.Keyring.Keys(true) {
		keys[k.WorkerID] = k.ID
	}

	var failed []error
	rows = slices.DeleteFunc(rows, func(w compute.Worker) bool { return endpoints[w.EndpointID].Declared != declared || l.has(w.ID) })
	left := map[compute.WorkerID]bool{} // those whose rows are still there, with what they claim
	for w, found := range inspections(ctx, r, l.simulates(r), rows, func(w compute.Worker) string { return string(w.ID) }) {
		_, known := endpoints[w.EndpointID]
		done, err := l.adopt(ctx, r, w, found, known, keys[w.ID])
		left[w.ID] = !done || err != nil
		if err != nil {
			failed = append(failed, fmt.Errorf("worker %s: %w", w.ID, err))
		}
	}

	var removals sync.WaitGroup
	for _, id := range there {
		if !l.has(compute.WorkerID(id)) && !left[compute.WorkerID(id)] {
			removals.Go(func() { l.removeLeft(ctx, r, compute.WorkerID(id)) })
		}
	}
	removals.Wait()

	l.adoptedOf(declared).Store(true)
	return errors.Join(failed...)
}

// adopt takes up a worker of before whose container was found to be up or to come up, or may be up; of any other it removes every trace but the
// container that has ended. It reports false if that is to be tried again, as the runtime did not do its part. An error is of the store.
func (l *Workers) adopt(ctx context.Context, r runtime.Runtime, w compute.Worker, found inspection, known bool, key compute.KeyID) (done bool, err error) {
	state, stateErr := found.state, found.err
	unclear := stateErr != nil && !errors.Is(stateErr, runtime.ErrUnknown)
	goesOn := stateErr == nil && (state.Phase == runtime.Up || state.Phase == runtime.Starting && !l.simulates(r))
	if known && key != "" && (unclear || goesOn) {
		// One whose host cannot be reached, or says nothing of it, is looked at until it can be, or is lost.
		l.containers.Update(w.ID, func(one *worker) {
			*one = worker{endpoint: w.EndpointID, host: w.HostID, key: key, runtime: r, started: l.Clock.Now(), up: !w.StartedAt.IsZero()}
		})
		l.Queue.WorkerStarted(w.EndpointID, w.ID, w.Version)
		l.Log.Info("worker taken up again", "endpoint", w.EndpointID, "worker", w.ID)
		return true, nil
	}

	l.unseen(ctx, w.ID)
	if unclear {
		l.Log.Warn("it is not known how an earlier worker is: it is asked for again", "worker", w.ID, "error", stateErr)
		return false, nil
	}

	why := ending{why: "the worker did not outlive a restart of the server"}
	if stateErr == nil && state.Phase == runtime.Ended {
		why = endOf(state)
	}
	end := l.endedWorker(ctx, w.ID, worker{endpoint: w.EndpointID, runtime: r}, why)
	if stateErr == nil && state.Phase != runtime.Ended && !l.removeLeft(ctx, r, w.ID) {
		return false, nil // until its container has ended it has what it claims
	}
	return true, l.erase(ctx, w.EndpointID, w.ID, key, &end, false)
}

// removeLeft removes a container that is not to be there, if that can be done in the time that it takes at most.
func (l *Workers) removeLeft(ctx context.Context, r runtime.Runtime, id compute.WorkerID) bool {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	err := r.Remove(ctx, string(id))
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		l.Log.Warn("what an earlier worker left could not be removed: it is tried again", "worker", id, "error", err)
	}
	return err == nil
}

// unseen bills a worker that did not outlive berth up to when it was seen last.
func (l *Workers) unseen(ctx context.Context, id compute.WorkerID) {
	if err := l.Store.Write(ctx, func(tx store.Tx) error { return tx.CloseUnseen(string(id), tx.Wall()) }); err != nil {
		l.Log.Error("worker's charge could not be closed", "worker", id, "error", err)
	}
}

// See notes in the charges of workers that they run. As long as some of before were not taken up, nobody knows which of them still do:
// then none is noted, and one that died with the server is billed up to when it was seen before.
func (l *Workers) See(ctx context.Context) error {
	if !l.adopted[0].Load() || !l.adopted[1].Load() || len(l.containers.Keys()) == 0 {
		return nil
	}
	return l.Store.Write(ctx, func(tx store.Tx) error { return tx.SeeCharges() })
}

func (l *Workers) has(id compute.WorkerID) bool {
	_, known := l.containers.Memory(id)
	return known
}
