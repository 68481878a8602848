package loop

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// say adds a line to the pod's log.
func (l *Pods) say(ctx context.Context, id compute.PodID, text string) {
	err := addLine(ctx, l.Store, string(id), text, func(tx store.Tx) (bool, error) {
		p, err := tx.Pod(id)
		return p.Status != compute.PodTerminated, err
	})
	if err != nil && ctx.Err() == nil {
		l.Log.Debug("the log of a pod lacks a line", "pod", id, "line", text, "error", err)
	}
}

// say adds a line to the worker's log.
func (l *Workers) say(ctx context.Context, id compute.WorkerID, text string) {
	err := addLine(ctx, l.Store, string(id), text, func(tx store.Tx) (bool, error) {
		_, err := tx.Worker(id)
		return true, err
	})
	if err != nil && ctx.Err() == nil {
		l.Log.Debug("the log of a worker lacks a line", "worker", id, "line", text, "error", err)
	}
}

// addLine adds a line to the log of a pod or a worker, which keeps its last ones. One that is no more, as there reports, gets none.
func addLine(ctx context.Context, s store.Store, id, text string, there func(store.Tx) (bool, error)) error {
	return s.Write(ctx, func(tx store.Tx) error {
		is, err := there(tx)
		switch {
		case compute.CodeOf(err) == compute.NotFound || err == nil && !is:
			return nil
		case err != nil:
			return err
		}

		if err := tx.AddSystemLine(id, text); err != nil {
			return err
		}
		return tx.ForgetSystemLines(id)
	})
}

// behindLine says that a pod or a worker is behind and why, or, without a reason, that it is not any more.
func behindLine(kind, reason string) string {
	if reason == "" {
		return "the " + kind + " is not behind any more"
	}
	return "the " + kind + " is behind, and is tried again: " + oneLine(reason)
}
