package kubernetes

import (
	"context"
	"errors"
	"slices"
)

// Sweep removes the Secrets and the Services whose allocation has no Pod, and Pods of earlier runs that have ended: berth was killed while
// it started or removed something.
func (h *Runtime) Sweep(ctx context.Context) error {
	if err := h.ready(ctx); err != nil {
		return err
	}
	all, _, err := listAll[secret](ctx, h.client, h.client.path(secrets), labelOwner+"="+h.config.Owner)
	if err != nil {
		return err
	}

	found := map[string][]*secret{} // by the allocation's id
	for i := range all {
		id := all[i].Metadata.Labels[labelAllocation]
		found[id] = append(found[id], &all[i])
	}
	h.mu.Lock()
	for id := range h.offers {
		found[id] = append(found[id], nil)
	}
	for id := range h.byID {
		if len(h.byID[id]) > 1 {
			found[id] = append(found[id], nil)
		}
	}
	h.mu.Unlock()

	var errs []error
	for id, its := range found {
		errs = append(errs, h.sweep(ctx, id, slices.DeleteFunc(its, func(s *secret) bool { return s == nil })))
	}
	return errors.Join(errs...)
}

// sweep removes what an allocation needs no more, of the Secrets that it was seen to have and of what is in the cache.
func (h *Runtime) sweep(ctx context.Context, id string, seen []*secret) error {
	unlock, err := h.locks.Lock(ctx, id) // nothing is being started then
	if err != nil {
		return err
	}
	defer unlock()

	left := h.podsOf(id)
	if len(left) > 1 {
		if err := h.discard(ctx, slices.DeleteFunc(slices.Clone(left[1:]), h.isUp)); err != nil {
			return err
		}
		left = h.podsOf(id)
	}
	for _, s := range seen {
		if slices.ContainsFunc(left, func(p *pod) bool { return slices.Contains(secretsOf(p), s.Metadata.Name) }) {
			continue
		}
		_, err := remove(ctx, h.client, secrets, s.Metadata.Name, s.Metadata.UID, -1)
		if unlessGone(err) != nil && !because(err, reasonConflict) {
			return err
		}
	}
	if len(left) > 0 {
		return nil
	}
	return h.removeService(ctx, id)
}
