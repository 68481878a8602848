package loop

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// Earlier sees to what is left on a runtime that berth used before and uses no more, since it was started with other settings:
// what no row knows any more is removed, and what belongs to a stopped pod is stopped. The container of a pod that lasts stays as it
// is, with its data, until the pod is terminated or berth is started with that runtime again.
type Earlier struct {
	Store   store.Store
	At      compute.RuntimeAt
	Pods    runtime.Runtime
	Workers runtime.Runtime
	Clock   compute.Clock // it must run
	Log     *slog.Logger

	empty  int  // looks in a row that found nothing
	logged bool // the log has what the last look found
}

// emptyLooks is how many looks must find nothing before nothing is left: what is being made at the first is there at the last.
const emptyLooks = 2

// Run looks from time to time until ctx ends or nothing is left; it reports which.
func (l *Earlier) Run(ctx context.Context) (nothingLeft bool) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	at := l.At.Name
	reconcile.New(reconcile.Config[string, struct{}]{
		Name: "earlier runtime", Clock: l.Clock, Log: l.Log, List: func(context.Context, bool) ([]string, error) { return []string{at}, nil },
		Reconcile: reconcile.Each(func(ctx context.Context, _ *reconcile.Look[string, struct{}]) (reconcile.Next, error) {
			if nothingLeft = l.Step(ctx); nothingLeft {
				end()
			}
			return reconcile.At(l.Clock.Now().Add(reviewTick)), nil
		}),
	}).Run(ctx)

	return nothingLeft
}

// Step looks once. It reports whether nothing is left, and forgets the runtime then.
func (l *Earlier) Step(ctx context.Context) (nothingLeft bool) {
	pods, err := l.endPods(ctx)
	workers, workersErr := l.endWorkers(ctx)
	volumes, volumesErr := sweepVolumes(ctx, l.Store, l.Pods)
	err = cmp.Or(err, workersErr, volumesErr, l.Pods.Sweep(ctx))

	switch {
	case err != nil:
		l.empty = 0
		l.warn(ctx, "what an earlier runtime has cannot be looked at: it is tried again", "error", err)
		return false
	case pods+workers+volumes > 0:
		l.empty = 0
		l.warn(ctx, "an earlier runtime has something that belongs to pods and volumes which last", "containers", pods, "volumes", volumes)
		return false
	}

	if l.empty++; l.empty < emptyLooks {
		return false
	}
	err = l.Store.Write(ctx, func(tx store.Tx) error { return tx.DeleteRuntime(l.At) })
	return err == nil
}

// warn says something once.
func (l *Earlier) warn(ctx context.Context, text string, args ...any) {
	if !l.logged && ctx.Err() == nil {
		l.Log.Warn(text, append([]any{"runtime", l.At.Name, "address", l.At.Address}, args...)...)
	}
	l.logged = true
}

// endPods ends what pods have there that are to have nothing, and counts what is left of the others.
func (l *Earlier) endPods(ctx context.Context) (left int, err error) {
	ids, err := l.Pods.List(ctx) // before the pods: one is stored before it gets a container
	for _, id := range ids {
		var p compute.Pod
		readErr := l.Store.Read(ctx, func(tx store.Tx) (err error) {
			p, err = tx.Pod(compute.PodID(id))
			return err
		})

		gone := compute.CodeOf(readErr) == compute.NotFound || p.Status == compute.PodTerminated
		switch {
		case gone:
			err = cmp.Or(l.Pods.Remove(ctx, id), err)
			continue
		case readErr != nil:
			err = readErr
		case !p.Status.HoldsHost():
			if stopErr := l.Pods.Stop(ctx, id, stopGrace); !errors.Is(stopErr, runtime.ErrUnknown) {
				err = cmp.Or(stopErr, err)
			}
		}

		left++
	}

	return left, err
}

// endWorkers removes every worker: they are started anew on the present runtime.
func (l *Earlier) endWorkers(ctx context.Context) (left int, err error) {
	ids, err := l.Workers.List(ctx)
	for _, id := range ids {
		if removeErr := l.Workers.Remove(ctx, id); removeErr != nil {
			left++
			err = removeErr
		}
	}
	return left, err
}
