package loop

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// see notes how the container of a pod is, which bills what is not known since the start of the server: once its runtime answers.
func (l *Pods) see(ctx context.Context, id compute.PodID, found inspection) {
	if (found.err == nil || errors.Is(found.err, runtime.ErrUnknown)) && l.unseen.take(id) {
		l.billMissed(ctx, id, found)
	}
}

// unseen are the pods of before that are RUNNING by their rows, and whose containers nobody has seen since the start of the server. It is safe for
// concurrent use, and asking costs little once there are none.
type unseen struct {
	left atomic.Int64
	pods sync.Map // by id
}

func (u *unseen) add(id compute.PodID) {
	if _, there := u.pods.LoadOrStore(id, struct{}{}); !there {
		u.left.Add(1)
	}
}

// take reports whether the pod was one, which it is no more.
func (u *unseen) take(id compute.PodID) bool {
	if u.left.Load() == 0 {
		return false
	}
	_, was := u.pods.LoadAndDelete(id)
	if was {
		u.left.Add(-1)
	}
	return was
}

// billMissed bills a pod whose container ended while nobody looked up to its end, or else up to when it was last known to run: what it is billed
// for is its container, which may be started again (rule billing.pods.running).
func (l *Pods) billMissed(ctx context.Context, id compute.PodID, found inspection) {
	gone := errors.Is(found.err, runtime.ErrUnknown)
	ended := found.err == nil && found.state.Phase == runtime.Ended
	if l.LastWall.IsZero() || !gone && !ended {
		return
	}

	err := l.Store.Write(ctx, func(tx store.Tx) error {
		at := l.LastWall
		if found.state.EndedAt.After(at) { // else the clock of its host is behind
			at = found.state.EndedAt
		}
		if at.After(tx.Wall()) {
			at = tx.Wall()
		}
		return tx.CloseUnseen(string(id), at)
	})
	if err != nil {
		l.warnOf(ctx, id, "the charge of a pod that ended could not be closed: it is billed up to now", err)
	}
}
