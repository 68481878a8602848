package loop

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// HintVolumes asks for a look at the network volumes, soon: one was deleted.
func (l *Pods) HintVolumes() {
	l.volumes.Store(true)
	l.wake.Give()
}

// sweepVolumes has the runtime delete the data of network volumes that are no more. What cannot be deleted yet, because a
// container is still being removed, is tried again.
func (l *Pods) sweepVolumes(ctx context.Context) {
	if _, err := sweepVolumes(ctx, l.Store, l.Runtime); err != nil && ctx.Err() == nil {
		l.Log.Debug("data of a network volume is deleted later", "error", err)
		l.volumes.Store(true)
	}
}

// sweepVolumes deletes what a runtime has of network volumes that are no more, and counts the others.
func sweepVolumes(ctx context.Context, s store.Store, r runtime.Runtime) (left int, err error) {
	ids, err := r.Volumes(ctx) // before the store: a volume is stored before it is mounted
	for _, id := range ids {
		readErr := s.Read(ctx, func(tx store.Tx) error {
			_, err := tx.Volume(id)
			return err
		})
		if compute.CodeOf(readErr) != compute.NotFound {
			left++
			continue
		}
		if removeErr := r.RemoveVolume(ctx, id); removeErr != nil {
			err = removeErr
		}
	}
	return left, err
}
