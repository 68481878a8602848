package loop

import (
	"cmp"
	"context"
	"errors"
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

// list takes up, once for each runtime, the workers of before: those whose containers are still up go on, with the jobs
// that they hold; of all others every trace is removed. It is tried again until the runtime answers. After that it is looked from
// time to time for what was missed, such as a container that the engine made for a call of a berth that was killed. Workers are hinted
// as they are taken up: there are no others to be given.
func (l *Workers) list(ctx context.Context, first bool) (_ []compute.WorkerID, err error) {
	endpoints := map[compute.EndpointID]compute.Endpoint{}
	for _, d := range l.Queue.Demands() {
		if !d.Gone {
			endpoints[d.Endpoint.ID] = d.Endpoint
		}
	}

	for _, declared := range []bool{true, false} {
		oneErr := l.adoptOn(ctx, declared, endpoints)
		if oneErr == nil {
			l.adoptedOf(declared).Store(true)
		}
		err = cmp.Or(err, oneErr)
	}
	if err == nil {
		l.deleteKeys(ctx)
	}
	if first {
		l.hintEndpoints()
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
		case known && keys[w.ID] != "" && (errors.Is(err, runtime.ErrUnavailable) || err == nil && state.Phase == runtime.Up):
			// One whose host cannot be reached is looked at until it can be, or is lost.
			l.containers.Update(w.ID, func(one *worker) {
				*one = worker{endpoint: e.ID, host: w.HostID, key: keys[w.ID], runtime: r, started: l.Clock.Now(), up: !w.StartedAt.IsZero()}
			})
			l.Queue.WorkerStarted(e.ID, w.ID, w.Version)
			l.Log.Info("worker taken up again", "endpoint", e.ID, "worker", w.ID)
		case errors.Is(err, runtime.ErrUnavailable):
			return err
		default:
			l.unseen(ctx, w.ID)
			why := ending{why: "the worker did not outlive a restart of the server"}
			if err == nil && state.Phase == runtime.Ended {
				why = endOf(state)
			}
			end := l.endedWorker(ctx, w.ID, worker{endpoint: w.EndpointID, runtime: r}, why)
			if err := l.erase(ctx, w.EndpointID, w.ID, keys[w.ID], &end, false); err != nil {
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

// unseen bills a worker that did not outlive berth up to when it was seen last.
func (l *Workers) unseen(ctx context.Context, id compute.WorkerID) {
	if err := l.Store.Write(ctx, func(tx store.Tx) error { return tx.CloseUnseen(string(id)) }); err != nil {
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
