package loop

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// podLook is a look at one pod. It begins with the pod as it was seen last, which is as it is: whoever changes a pod hints it. So
// watching thousands that do well takes no read of the store.
type podLook struct {
	*reconcile.Look[compute.PodID, podState]
	pod compute.Pod // without a status: its row is to be read; what a podState keeps of it, if it is watched

	done  bool              // nothing is left to find out
	from  compute.PodStatus // the status that the store has, if the pod is to be stored
	moved bool              // it is to be stored; then: it was
	next  again             // when to look the next time
	until time.Time         // nothing is to be seen before
}

// podState is what is remembered of a pod from one look to the next: of one that is STARTING its row, of one that is RUNNING what shows
// whether it is still as it was, and what it does. A look that finds it otherwise reads its row. There are thousands that are RUNNING,
// and rows would be ten objects each for the garbage collector. The zero podState knows nothing.
type podState struct {
	starting             *compute.Pod
	startedAt, restartAt int64 // of one that is RUNNING, in milliseconds since 1970; else 0; no restartAt: 0
	usage                usage
}

// begin begins a look with what is remembered, unless somebody changed the pod.
func begin(one *reconcile.Look[compute.PodID, podState]) *podLook {
	l, s := &podLook{Look: one}, one.Memory
	switch {
	case one.Hinted:
	case s.starting != nil:
		l.pod = *s.starting
	case s.startedAt != 0:
		l.pod = compute.Pod{ID: one.Key, Status: compute.PodRunning, StartedAt: time.UnixMilli(s.startedAt)}
		if s.restartAt != 0 {
			l.pod.RestartAt = time.UnixMilli(s.restartAt)
		}
	}
	return l
}

// end leaves what the look found to the next one. One that is RUNNING has that pause before it.
func (one *podLook) end(now time.Time, pause time.Duration) {
	one.Memory = podState{usage: one.Memory.usage}
	switch {
	case one.Err != nil:
	case one.pod.Status == compute.PodStarting:
		one.Memory.starting = &one.pod
	case one.pod.Status == compute.PodRunning:
		one.Memory.startedAt, one.Memory.restartAt = one.pod.StartedAt.UnixMilli(), one.pod.Generation()
	}

	switch one.next {
	case atOnce:
		one.Next = reconcile.AtOnce()
	case soon:
		one.Next = reconcile.At(onTick(podTick, now, one.until))
	case later:
		if rested := now.Add(pause); one.until.Before(rested) {
			one.until = rested
		}
		one.Next = reconcile.At(onTick(watchTick, now, one.until))
	}
}

// onTick gives the first tick after now that is not before until: those that are due about the same time are looked at together.
func onTick(tick time.Duration, now, until time.Time) time.Time {
	if after := now.Add(tick); until.Before(after) {
		return after.Truncate(tick)
	}
	if t := until.Truncate(tick); !t.Before(until) {
		return t
	}
	return until.Truncate(tick).Add(tick)
}

// again says when to look at a pod the next time.
type again int

const (
	never again = iota
	atOnce
	soon
	later
)

// look looks at pods, moves each by one step at most, all in one transaction, and says when to look again. A pod that is to have
// no container any more is seen to also when ctx has ended, as long as ends has not.
func (l *Pods) look(ctx, ends context.Context, looks []*reconcile.Look[compute.PodID, podState]) {
	var all []*podLook
	for _, one := range looks {
		all = append(all, begin(one))
	}
	for _, one := range all {
		l.inspectQuickly(ctx, one)
	}
	l.read(ends, all)

	for _, one := range all {
		if !one.done {
			one.Err = l.attempt(ctx, ends, one)
		}
	}

	l.write(ends, all)
	now, pause := l.Clock.Now(), watchPause(l.reconciler.Known())
	for _, one := range all {
		one.end(now, pause)
	}
}

// inspectQuickly is all that it takes for a pod that does as expected: it is STARTING still, came up, or is RUNNING. A move is guarded:
// that somebody moved the pod in this moment shows when it is stored.
func (l *Pods) inspectQuickly(ctx context.Context, one *podLook) {
	p := &one.pod
	if p.Status != compute.PodStarting && p.Status != compute.PodRunning {
		return
	}
	state, err := l.Runtime.Inspect(ctx, string(p.ID))
	if err != nil || state.Generation != p.Generation() {
		return
	}

	one.done = true
	if state.Phase != runtime.Ended { // else the look that follows sees it
		l.see(ctx, p.ID, inspection{state: state})
	}
	switch {
	case p.Status == compute.PodStarting && state.Phase == runtime.Starting && p.Reason == state.Reason:
		one.next, one.until = soon, state.Until
	case p.Status == compute.PodStarting && state.Phase == runtime.Up:
		l.note(ctx, one, state)
		one.cameUp(state)
		one.Err = one.move(compute.PodHealthy)
	case p.Status == compute.PodRunning && state.Phase == runtime.Up && p.StartedAt.UnixMilli() == state.StartedAt.UnixMilli():
		l.note(ctx, one, state)
		one.next, one.until = later, state.Until
	default:
		one.done = false
	}
}

// read reads the rows of those that a quick look was not enough for.
func (l *Pods) read(ctx context.Context, all []*podLook) {
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
			one.pod, err = tx.Pod(one.Key)
			if compute.CodeOf(err) == compute.NotFound { // left over from a store that was cleared
				one.pod, err = compute.Pod{ID: one.Key, Status: compute.PodTerminated}, nil
			}
			if err != nil {
				return err
			}

			one.pod.ID = one.Key // of two texts, the one that does not keep that of the whole row
		}

		return nil
	})

	for _, one := range all {
		if err != nil && !one.done {
			one.done, one.Err = true, err
		}
	}
}

// attempt takes one step with a pod that was just read.
func (l *Pods) attempt(ctx, ends context.Context, one *podLook) error {
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
		return l.remove(ends, one.Key)
	default:
		grace := stopGrace
		if !one.pod.InterruptedAt.IsZero() {
			grace = compute.InterruptGrace
		}
		return l.stop(ends, one.Key, grace)
	}
}

// move has the pod moved by an event.
func (one *podLook) move(on compute.PodEvent) error {
	next, err := compute.PodMachine.Next(one.pod.Status, on)
	if err == nil {
		one.store()
		one.pod.Status = next
	}
	switch {
	case err != nil:
	case on == compute.PodFinished:
		one.pod.EndedBy = compute.EndedByItself
	case on == compute.PodFailed && one.pod.EndedBy == "": // else it is known better
		one.pod.EndedBy = compute.EndedByFailure
	}
	return err
}

// store has the pod stored.
func (one *podLook) store() { one.from, one.moved = one.pod.Status, true }

// write stores the moves, unless somebody moved a pod meanwhile: then the next look sees what they did.
func (l *Pods) write(ctx context.Context, all []*podLook) {
	var moving []*podLook
	for _, one := range all {
		if one.moved && one.Err == nil {
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
			l.write(ctx, []*podLook{one})
		}
		return
	}

	for _, one := range moving {
		one.pod.Version++
		switch {
		case err != nil:
			one.Err = err
		case one.moved && one.pod.Status == compute.PodStarting:
			one.next = soon
		case one.moved && one.pod.Status == compute.PodRunning:
			one.next = later
		default:
			one.next = atOnce
		}
	}
}
