package loop

import (
	"context"
	"errors"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// adopt takes up, once for each runtime, the workers of before: those whose containers are still up go on, with the jobs
// that they hold; of all others every trace is removed. It is tried again until the runtime answers. After that it is looked from
// time to time for what was missed, such as a container that the engine made for a call of a berth that was killed.
func (l *Workers) adopt(ctx context.Context) {
	all, now := l.adopted[true] && l.adopted[false], l.Clock.Now()
	if all && now.Sub(l.reviewed) < reviewTick {
		return
	}
	l.reviewed = now
	endpoints := map[compute.EndpointID]compute.Endpoint{}
	for _, d := range l.Queue.Demands() {
		if !d.Gone {
			endpoints[d.Endpoint.ID] = d.Endpoint
		}
	}
	for _, declared := range []bool{true, false} {
		if l.adopted[declared] && !all {
			continue
		}
		if err := l.adoptOn(ctx, declared, endpoints); err != nil {
			if ctx.Err() == nil && (l.watched.IsZero() || all) {
				l.Log.Error("workers of before could not be taken up: it is tried again", "error", err)
			}
			continue
		}
		l.adopted[declared] = true
	}
	if l.adopted[true] && l.adopted[false] {
		l.deleteKeys(ctx)
	}
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
	for _, w := range rows {
		e, known := endpoints[w.EndpointID]
		if e.Declared != declared || l.has(w.ID) {
			continue
		}
		state, err := r.Inspect(ctx, string(w.ID))
		switch {
		case errors.Is(err, runtime.ErrUnavailable):
			return err
		case known && err == nil && state.Phase == runtime.Up && keys[w.ID] != "":
			l.mu.Lock()
			l.workers[w.ID] = worker{endpoint: e.ID, host: w.HostID, key: keys[w.ID], runtime: r, started: l.Clock.Now(), up: !w.StartedAt.IsZero()}
			l.mu.Unlock()
			l.Queue.WorkerStarted(e.ID, w.ID, w.Version)
			l.Log.Info("worker taken up again", "endpoint", e.ID, "worker", w.ID)
		default:
			l.unseen(ctx, w.ID)
			end := l.keepEarlier(ctx, w, r, state, err)
			if err := l.erase(ctx, w.EndpointID, w.ID, keys[w.ID], &end); err != nil {
				return err
			}
		}
	}
	for _, id := range there {
		if !l.has(compute.WorkerID(id)) {
			if err := r.Remove(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepEarlier gives what is to be kept of a worker of before that does not go on.
func (l *Workers) keepEarlier(ctx context.Context, w compute.Worker, r runtime.Runtime, state runtime.State, unknown error) compute.EndedWorker {
	why := ending{why: "the worker did not outlive a restart of the server"}
	if unknown == nil && state.Phase == runtime.Ended {
		why = endOf(state)
	}
	l.mu.Lock()
	l.workers[w.ID] = worker{endpoint: w.EndpointID, runtime: r, stopping: true}
	l.mu.Unlock()
	defer l.settle(w.ID, nil)
	return l.keep(ctx, w.ID, why)
}

// unseen bills a worker that did not outlive berth up to when it was seen last.
func (l *Workers) unseen(ctx context.Context, id compute.WorkerID) {
	if err := l.Store.Write(ctx, func(tx store.Tx) error { return tx.CloseUnseen(string(id)) }); err != nil {
		l.Log.Error("worker's charge could not be closed", "worker", id, "error", err)
	}
}

// See notes in the charges of workers that they run.
func (l *Workers) See(ctx context.Context) error {
	if len(l.ids()) == 0 {
		return nil
	}
	return l.Store.Write(ctx, func(tx store.Tx) error { return tx.SeeCharges() })
}

func (l *Workers) has(id compute.WorkerID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.workers[id]
	return ok
}
