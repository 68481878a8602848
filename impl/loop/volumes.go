package loop

import (
	"cmp"
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// HintVolume asks for a look at the network or global volume, soon: it was deleted.
func (l *Pods) HintVolume(id compute.VolumeID) { l.volumes.Hint(id) }

// newVolumes makes the reconciler of network volumes, and of global ones, which runtimes take for such: the runtime deletes the data of
// those that are no more. What cannot be deleted yet, because a container is still being removed, is tried again.
func newVolumes(l *Pods, tick time.Duration) *reconcile.Reconciler[compute.VolumeID, struct{}] {
	return reconcile.New(reconcile.Config[compute.VolumeID, struct{}]{
		Name: "network volume", Clock: l.Clock, Log: l.Log, Tick: tick,
		List: func(ctx context.Context, _ bool) ([]compute.VolumeID, error) { return l.Runtime.Volumes(ctx) },
		Reconcile: reconcile.Each(func(ctx context.Context, one *reconcile.Look[compute.VolumeID, struct{}]) (reconcile.Next, error) {
			_, err := removeVolume(ctx, l.Store, l.Runtime, one.Key)
			return reconcile.Next{}, err
		}),
	})
}

// removeVolume deletes what a runtime has of a network or global volume if that is no more, and reports whether it is.
func removeVolume(ctx context.Context, s store.Store, r runtime.Runtime, id compute.VolumeID) (gone bool, err error) {
	err = s.Read(ctx, func(tx store.Tx) error {
		_, err := tx.Volume(id)
		if compute.CodeOf(err) == compute.NotFound {
			_, err = tx.GlobalVolume(id)
		}
		return err
	})
	if compute.CodeOf(err) == compute.NotFound {
		return true, r.RemoveVolume(ctx, id)
	}
	return false, err
}

// volumeGB gives the size of the network volume that is mounted; 0 if none is, or it has no size of its own, as a global one. The error is
// runtime.ErrUnavailable when the store cannot be read now.
func volumeGB(ctx context.Context, s store.Store, mount *compute.NetworkMount) (gb int64, err error) {
	if mount == nil {
		return 0, nil
	}
	err = s.Read(ctx, func(tx store.Tx) error {
		v, err := tx.Volume(mount.VolumeID)
		if compute.CodeOf(err) == compute.NotFound {
			return nil
		}
		gb = v.SizeGB
		return err
	})
	return gb, retried(err)
}

// sweepVolumes deletes what a runtime has of network and global volumes that are no more, and counts the others.
func sweepVolumes(ctx context.Context, s store.Store, r runtime.Runtime) (left int, err error) {
	ids, err := r.Volumes(ctx) // before the store: a volume is stored before it is mounted
	for _, id := range ids {
		gone, oneErr := removeVolume(ctx, s, r, id)
		if !gone {
			left++
		}
		err = cmp.Or(err, oneErr)
	}
	return left, err
}
