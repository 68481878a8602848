package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// earlier sees to what an earlier server left on runtimes whose allocations outlive it.
type earlier struct {
	store store.Store
	owner owned
	kind  *runtime.Kind // of this server
	log   *slog.Logger
	all   []compute.RuntimeAt // where there may be something
}

// noteRuntimes stores where this server has what outlives it, before it has any, and finds out where an earlier one may have left
// some.
func noteRuntimes(ctx context.Context, s store.Store, r *runtimes, owner owned, log *slog.Logger) (*earlier, error) {
	e := &earlier{store: s, owner: owner, kind: r.kind, log: log}
	all, err := e.list(ctx)
	if err != nil {
		return nil, err
	}

	if len(all) > 0 && !r.used && owner.name == "" {
		log.Warn("the data directory lacks the name by which the containers and volumes of its pods are found, as after a restore into another one: what there is of before is left alone, and new ones are made",
			"file", owner.file)
	}
	unnoted := len(all) == 0 && r.used // left by a berth that did not store it
	for _, k := range runtime.Kinds() {
		ours := k == r.kind
		if k.Address == nil || !ours && (!unnoted || k.Noted) {
			continue
		}
		here := compute.RuntimeAt{Name: k.Name}
		if here.Address, err = k.Address(r.config.Values); err != nil {
			return nil, err
		}

		if !slices.Contains(all, here) {
			all = append(all, here)
			if err = s.Write(ctx, func(tx store.Tx) error { return tx.InsertRuntime(here) }); err != nil {
				return nil, err
			}
		}

		if ours {
			all = slices.DeleteFunc(all, func(one compute.RuntimeAt) bool { return one == here })
		}
	}

	e.all = all
	return e, nil
}

func (e *earlier) list(ctx context.Context) (all []compute.RuntimeAt, err error) {
	err = e.store.Read(ctx, func(tx store.Tx) (err error) {
		all, err = tx.ListRuntimes()
		return err
	})
	return all, err
}

// end sees to what is left at one place, until ctx ends.
func (e *earlier) end(ctx context.Context, at compute.RuntimeAt, c runtime.Config) {
	log := e.log.With("runtime", at.Name, "address", at.Address)
	kind, err := runtime.Find(at.Name)
	switch {
	case err != nil || kind.OpenEarlier == nil:
		log.Warn("an earlier start used a runtime that this berth is built without: what is left there is not seen to")
		return
	case kind == e.kind:
		// It may be the same place by another name: what is there could be what this server runs.
		log.Warn("an earlier start had allocations at another address: what is left there is seen to by a start with that one")
		return
	}

	if err := e.endAt(ctx, at, kind, c); err != nil && ctx.Err() == nil {
		log.Error("what an earlier start left there cannot be seen to", "error", err)
	}
}

func (e *earlier) endAt(ctx context.Context, at compute.RuntimeAt, kind *runtime.Kind, c runtime.Config) error {
	_, err := e.owner.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // which nothing has
	}
	if err != nil {
		return err
	}

	c.Owner = e.owner.read
	opened, err := kind.OpenEarlier(c, at.Address)
	if err != nil {
		return err
	}

	l := loop.Earlier{Store: e.store, At: at, Pods: opened.Pods, Workers: opened.Workers, Clock: compute.SystemClock{}, Log: e.log}
	nothingLeft := l.Run(ctx)
	err = errors.Join(opened.Pods.Close(), opened.Workers.Close())
	if nothingLeft {
		err = errors.Join(err, e.forgetOwner(ctx))
	}

	return err
}

// forgetOwner removes the name of what outlives the server, if there may be nothing of that anywhere.
func (e *earlier) forgetOwner(ctx context.Context) error {
	left, err := e.list(ctx)
	if err != nil || len(left) > 0 || e.owner.name != "" {
		return err
	}
	return os.Remove(e.owner.file)
}
