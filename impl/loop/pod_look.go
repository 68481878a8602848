package loop

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// together is how many pods are moved in one transaction at most. Requests stand in line behind it: it is so few that a flood
// of new pods is answered first, and their lives go on beside.
const together = 32

// look is a look at one pod. It begins with the pod as it was seen last, which is as it is: whoever changes a pod hints it. So
// watching thousands that do well takes no read of the store.
type look struct {
	id    compute.PodID
	pod   compute.Pod // zero: its row is to be read; what a podState keeps of it, if it is watched
	until time.Time   // nothing is to be seen before

	done  bool              // nothing is left to find out
	from  compute.PodStatus // the status that the store has, if the pod is to be stored
	moved bool              // it is to be stored; then: it was
	next  again             // when to look the next time
	err   error
}

// podState is what is kept of a RUNNING pod from one look to the next: what tells whether it is still as it was. A look that finds
// it otherwise reads its row. There are thousands of them, and rows would be ten objects each for the garbage collector. The zero
// podState knows nothing.
type podState struct {
	startedAt, restartAt int64 // milliseconds since 1970; no restartAt: 0
	until                time.Time
}

// lastState keeps what a look found.
func (one *look) lastState() podState {
	if one.err != nil || one.pod.Status != compute.PodRunning {
		return podState{}
	}
	return podState{one.pod.StartedAt.UnixMilli(), one.pod.Generation(), one.until}
}

// look begins a look with it.
func (s podState) look(id compute.PodID) *look {
	if s == (podState{}) {
		return &look{id: id}
	}
	p := compute.Pod{ID: id, Status: compute.PodRunning, StartedAt: time.UnixMilli(s.startedAt)}
	if s.restartAt != 0 {
		p.RestartAt = time.UnixMilli(s.restartAt)
	}
	return &look{id: id, pod: p}
}

// again says when to look at a pod the next time.
type again int

const (
	never again = iota
	atOnce
	soon
	later
)

// look looks at pods, moves each by one step at most, all in one transaction, and notes when to look again. A pod that is to have
// no container any more is seen to also when ctx has ended, as long as ends has not.
func (l *Pods) look(ctx, ends context.Context, all []*look) {
	for _, one := range all {
		l.inspectQuickly(ctx, one)
	}
	l.read(ends, all)
	for _, one := range all {
		if !one.done {
			one.err = l.attempt(ctx, ends, one)
		}
	}
	l.write(ends, all)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range all {
		l.schedule(ctx, one)
	}
	l.free.Broadcast()
}

// inspectQuickly is all that it takes for a pod that does as expected: it is STARTING still, came up, or is RUNNING. A move is guarded:
// that somebody moved the pod in this moment shows when it is stored.
func (l *Pods) inspectQuickly(ctx context.Context, one *look) {
	p := &one.pod
	if p.Status != compute.PodStarting && p.Status != compute.PodRunning {
		return
	}
	state, err := l.Runtime.Inspect(ctx, string(p.ID))
	if err != nil || state.Generation != p.Generation() {
		return
	}
	one.done = true
	switch {
	case p.Status == compute.PodStarting && state.Phase == runtime.Starting:
		one.next, one.until = soon, state.Until
	case p.Status == compute.PodStarting && state.Phase == runtime.Up:
		l.note(ctx, *p, state)
		p.StartedAt = state.StartedAt
		one.err = one.move(compute.PodHealthy)
	case p.Status == compute.PodRunning && state.Phase == runtime.Up && p.StartedAt.UnixMilli() == state.StartedAt.UnixMilli():
		l.note(ctx, *p, state)
		one.next, one.until = later, state.Until
	default:
		one.done = false
	}
}

// read reads the rows of those that a quick look was not enough for.
func (l *Pods) read(ctx context.Context, all []*look) {
	left := false
	for _, one := range all {
		left = left || !one.done
	}
	if !left {
		return
	}
	err := l.Store.Read(ctx, func(tx store.Tx) (err error) {
		for _, one := range all {
			if one.done {
				continue
			}
			one.pod, err = tx.Pod(one.id)
			if compute.CodeOf(err) == compute.NotFound { // left over from a store that was cleared
				one.pod, err = compute.Pod{ID: one.id, Status: compute.PodTerminated}, nil
			}
			if err != nil {
				return err
			}
			one.pod.ID = one.id // of two texts, the one that does not keep that of the whole row
		}
		return nil
	})
	for _, one := range all {
		if err != nil && !one.done {
			one.done, one.err = true, err
		}
	}
}

// attempt takes one step with a pod that was just read.
func (l *Pods) attempt(ctx, ends context.Context, one *look) error {
	switch one.pod.Status {
	case compute.PodProvisioning:
		one.next = soon
		return l.place(ctx, one)
	case compute.PodStarting:
		one.next = soon
		return l.inspect(ctx, one)
	case compute.PodRunning:
		one.next = later
		return l.inspect(ctx, one)
	case compute.PodTerminated:
		return l.remove(ends, one.id)
	default:
		return l.stop(ends, one.id)
	}
}

// move has the pod moved by an event.
func (one *look) move(on compute.PodEvent) error {
	next, err := compute.PodMachine.Next(one.pod.Status, on)
	if err == nil {
		one.store()
		one.pod.Status = next
	}
	return err
}

// store has the pod stored.
func (one *look) store() { one.from, one.moved = one.pod.Status, true }

// write stores the moves, unless somebody moved a pod meanwhile: then the next look sees what they did.
func (l *Pods) write(ctx context.Context, all []*look) {
	var moving []*look
	for _, one := range all {
		if one.moved && one.err == nil {
			moving = append(moving, one)
		}
	}
	if len(moving) == 0 {
		return
	}
	err := l.Placement.Write(ctx, func(tx store.Tx, claims *control.Claims) (err error) {
		for _, one := range moving {
			one.pod.MovedAt = tx.Wall()
			if one.moved, err = claims.Move(tx, one.from, one.pod); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && len(moving) > 1 { // what is the matter with one shall not be with all
		for _, one := range moving {
			one.moved = true
			l.write(ctx, []*look{one})
		}
		return
	}
	for _, one := range moving {
		one.pod.Version++
		switch {
		case err != nil:
			one.err = err
		case one.moved && one.pod.Status == compute.PodStarting:
			one.next = soon
		case one.moved && one.pod.Status == compute.PodRunning:
			one.next = later
		default:
			one.next = atOnce
		}
	}
}

// schedule notes when to look again. The caller has the lock.
func (l *Pods) schedule(ctx context.Context, one *look) {
	id := one.id
	delete(l.busy, id)
	switch {
	case ctx.Err() != nil:
		if one.err != nil && !errors.Is(one.err, context.Canceled) {
			l.Log.Warn("pod: it is seen to after the next start", "pod", id, "error", one.err)
		}
		return
	case one.err != nil:
		if !l.troubled[id] { // and not at every look
			l.Log.Error("pod: it is tried again", "pod", id, "error", one.err)
		}
		l.troubled[id] = true
		one.next = later
	case l.troubled[id]:
		l.Log.Info("pod: the trouble is over", "pod", id)
		delete(l.troubled, id)
	}
	switch one.next {
	case atOnce:
		l.hinted[id] = true
	case soon:
		l.pending[id] = &look{id: id, pod: one.pod, until: one.until}
	case later:
		l.watched[id] = one.lastState()
	}
	if l.hinted[id] { // also while it was looked at, when nobody else could
		l.wake.Give()
	}
}
