package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// Clear ends what is on a host and is not to be there any more: containers of pods that ended, or went elsewhere, while nobody could reach
// the host. It returns once they have ended. What a pod keeps there stays, as long as there is the pod, also if it is on another host: then the
// engine was known by that name. It fails if a pod of another host runs there now.
func (l *Pods) Clear(ctx context.Context, hostID string, on runtime.Runtime) error {
	return clearHost(ctx, on, func(id string) (keep, remove bool, err error) {
		var p compute.Pod
		err = l.Store.Read(ctx, func(tx store.Tx) (err error) {
			p, err = tx.Pod(compute.PodID(id))
			return err
		})
		switch {
		case compute.CodeOf(err) == compute.NotFound:
			return false, true, nil
		case err != nil:
			return false, false, err
		case p.Status == compute.PodTerminated:
			return false, true, nil
		case !p.Status.HoldsHost() && p.HostID == hostID:
			return false, false, nil
		}

		state, err := on.Inspect(ctx, id)
		present := err == nil && p.Status.HoldsHost() && state.Generation == p.Generation()
		switch {
		case err != nil && !errors.Is(err, runtime.ErrUnknown):
			return false, false, err
		case p.HostID != hostID && present: // it would be missed there
			if !l.Placement.Has(p.HostID) {
				return false, false, fmt.Errorf("pod %s runs there, of host %s, which is not in the fleet: end it, or give the host its name again", id, p.HostID)
			}
			return false, false, fmt.Errorf("pod %s of host %s runs there: both hosts are of one engine", id, p.HostID)
		case p.HostID != hostID && p.Persistent == nil:
			return false, true, nil
		case err != nil: // there is no more of it than its mount
			return true, false, nil
		}
		return present, false, nil
	})
}

// Clear ends the workers on a host of which there is no row any more, as they ended while nobody could reach the host.
func (l *Workers) Clear(ctx context.Context, _ string, on runtime.Runtime) error {
	return clearHost(ctx, on, func(id string) (keep, remove bool, err error) {
		err = l.Store.Read(ctx, func(tx store.Tx) error {
			_, err := tx.Worker(compute.WorkerID(id))
			return err
		})
		if compute.CodeOf(err) == compute.NotFound {
			return false, true, nil
		}
		return err == nil, false, err
	})
}

// clearHost goes through what there is on a host: it keeps it, removes it, or else stops it. Each may take its time to end: all do so at
// the same time, and one that does not keeps no other from it.
func clearHost(ctx context.Context, on runtime.Runtime, of func(id string) (keep, remove bool, err error)) error {
	ids, err := on.List(ctx)
	if err != nil {
		return err
	}

	var ends sync.WaitGroup
	errs := make([]error, len(ids))
	for i, id := range ids {
		keep, remove, err := of(id)
		if err != nil || keep {
			errs[i] = err
			continue
		}
		ends.Go(func() { errs[i] = clearOne(ctx, on, id, remove) })
	}
	ends.Wait()
	return errors.Join(errs...)
}

// clearOne removes what has the id, or else stops it, if that can be done in the time that it takes at most.
func clearOne(ctx context.Context, on runtime.Runtime, id string, remove bool) (err error) {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	if remove {
		err = on.Remove(ctx, id)
	} else {
		err = on.Stop(ctx, id, stopGrace)
	}
	if errors.Is(err, runtime.ErrUnknown) {
		return nil
	}
	return err
}
