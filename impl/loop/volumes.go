package loop

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// HintVolumes asks for a look at the network volumes, soon: one was deleted.
func (l *Pods) HintVolumes() {
	l.volumes.Store(true)
	l.rouse()
}

// sweepVolumes has the runtime delete the data of network volumes that are no more. What cannot be deleted yet, because a
// container is still being removed, is tried again.
func (l *Pods) sweepVolumes(ctx context.Context) {
	ids, err := l.Runtime.Volumes(ctx) // before the store: a volume is stored before it is mounted
	for _, id := range ids {
		var gone bool
		if readErr := l.Store.Read(ctx, func(tx store.Tx) error {
			_, err := tx.Volume(id)
			gone = compute.CodeOf(err) == compute.NotFound
			return nil
		}); readErr != nil || !gone {
			continue
		}
		if removeErr := l.Runtime.RemoveVolume(ctx, id); removeErr != nil {
			err = removeErr
		}
	}
	if err != nil && ctx.Err() == nil {
		l.Log.Debug("data of a network volume is deleted later", "error", err)
		l.volumes.Store(true)
	}
}
