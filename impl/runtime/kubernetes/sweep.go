package kubernetes

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// Sweep removes the Secrets, device claims and Services whose allocation has no Pod, and Pods of earlier runs that have ended: berth was killed while
// it started or removed something.
func (h *Runtime) Sweep(ctx context.Context) error {
	if err := h.ready(ctx); err != nil {
		return err
	}
	found, err := h.listParts(ctx)
	if err != nil {
		return err
	}
	ids := slices.Collect(maps.Keys(found))
	h.mu.Lock()
	ids = slices.AppendSeq(ids, maps.Keys(h.offers))
	for id := range h.byID {
		if len(h.byID[id]) > 1 {
			ids = append(ids, id)
		}
	}
	h.mu.Unlock()

	slices.Sort(ids)
	var errs []error
	for _, id := range slices.Compact(ids) {
		errs = append(errs, h.sweep(ctx, id, found[id]))
	}
	return errors.Join(errs...)
}

// sweep removes what an allocation needs no more, of the parts that it was seen to have and of what is in the cache.
func (h *Runtime) sweep(ctx context.Context, id string, seen []part) error {
	unlock, free := h.locks.TryLock(id)
	if !free {
		return nil // it is being started or ended, which may take long: the next sweep looks again
	}
	defer unlock()

	left := h.podsOf(id)
	if len(left) > 1 {
		if err := h.discard(ctx, slices.DeleteFunc(slices.Clone(left[1:]), h.isUp)); err != nil {
			return err
		}
		left = h.podsOf(id)
	}
	if err := h.removeParts(ctx, slices.DeleteFunc(seen, func(one part) bool { return one.isOf(left) })); err != nil || len(left) > 0 {
		return err
	}
	return h.removeService(ctx, id)
}
