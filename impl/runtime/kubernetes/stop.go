package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

const (
	killGrace    = time.Second      // of a Pod that is removed: at 0 the cluster would forget it before its container has ended
	endSlack     = 20 * time.Second // for the cluster to see that a Pod has ended, after its grace and lostBound
	conflictRuns = 10               // tries of a change that somebody else's comes before
)

// Stop deletes the Pod with the grace, and waits until its container has ended; where its node does not answer, until some seconds after
// the grace. One that does not end by then gives ErrUnavailable.
func (h *Runtime) Stop(ctx context.Context, id string, grace time.Duration) error {
	unlock, err := h.locks.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()

	if err := h.ready(ctx); err != nil {
		return err
	}
	p, state, err := h.find(id)
	switch {
	case err != nil:
		return err
	case state.Phase == runtime.Ended && state.Lost && !isForced(p): // its node may come back, with the container
		if err := errors.Join(h.note(ctx, p, state.Reason), h.force(ctx, p)); err != nil {
			return err
		}
		return h.tidy(ctx, id, p)
	case state.Phase == runtime.Ended && h.serviceOf(id) != nil: // by itself, or by a Stop that was cut off
		return h.tidy(ctx, id, p)
	case state.Phase == runtime.Ended:
		return nil
	}

	h.hush(p.Metadata.UID)
	if err := h.note(ctx, p, ""); err != nil {
		return err
	}
	if err := h.end(ctx, p, grace); err != nil {
		return err
	}
	return h.tidy(ctx, id, p)
}

// note writes down why the Pod ends. One that is gone needs no note.
func (h *Runtime) note(ctx context.Context, p *pod, reason string) error {
	patch := map[string]any{"metadata": map[string]any{"uid": p.Metadata.UID, "annotations": map[string]string{annotationReason: reason}}}
	changed, err := merge[pod](ctx, h.client, pods, p.Metadata.Name, patch)
	switch {
	case err == nil:
		h.wrote(changed)
	case isGone(err), because(err, reasonInvalid): // another Pod has the name
		return nil
	}
	return err
}

// end deletes the Pod and waits until it has ended. One that is lost with its node is deleted by force: nobody else would.
func (h *Runtime) end(ctx context.Context, p *pod, grace time.Duration) error {
	if err := h.delete(ctx, p, grace); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, grace+lostBound+endSlack) // the lock of the allocation is held meanwhile
	defer cancel()
	if err := h.awaitEnd(short, p); err != nil {
		if ctx.Err() == nil && short.Err() != nil {
			return fmt.Errorf("%w: the Pod %s does not end", runtime.ErrUnavailable, p.Metadata.Name)
		}
		return err
	}

	h.mu.Lock()
	e := h.entries[p.Metadata.UID]
	lost := e != nil && e.lost
	h.mu.Unlock()
	if !lost {
		return nil
	}
	return h.force(ctx, p)
}

// force deletes a Pod whose node does not answer, so that it ends there, too, if the node comes back.
func (h *Runtime) force(ctx context.Context, p *pod) error {
	h.config.Log.Warn("a Pod is deleted by force: its node does not answer", "pod", p.Metadata.Name, "node", p.Spec.NodeName)
	return h.delete(ctx, p, 0)
}

// isForced reports whether the Pod was deleted without a grace: the finalizer alone keeps it.
func isForced(p *pod) bool {
	grace := p.Metadata.DeletionGrace
	return isDeleted(p) && (grace == nil || *grace <= 0)
}

// delete asks the server to delete the Pod.
func (h *Runtime) delete(ctx context.Context, p *pod, grace time.Duration) error {
	answer, err := remove(ctx, h.client, pods, p.Metadata.Name, p.Metadata.UID, grace)
	switch {
	case isGone(err), because(err, reasonConflict):
		h.letGo(p)
		return nil
	case err != nil:
		return err
	}

	var left pod
	if err := json.Unmarshal(answer, &left); err == nil && left.Kind == "Pod" {
		h.wrote(&left)
	}
	return nil
}

// awaitEnd waits until the Pod has ended, or is gone.
func (h *Runtime) awaitEnd(ctx context.Context, p *pod) error {
	for {
		h.mu.Lock()
		e := h.entries[p.Metadata.UID]
		if e == nil || e.over {
			h.mu.Unlock()
			return nil
		}
		changed := h.next(p.Metadata.Labels[labelAllocation])
		h.mu.Unlock()

		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-h.ctx.Done():
			return errClosed
		}
	}
}

// tidy removes what a Pod that has ended needs no more: its Secrets, its device claim and the Service of the allocation.
func (h *Runtime) tidy(ctx context.Context, id string, p *pod) error {
	return errors.Join(h.removeParts(ctx, partsOf(p)), h.removeService(ctx, id))
}

// discard removes Pods that have ended, with what they needed.
func (h *Runtime) discard(ctx context.Context, all []*pod) error {
	for _, p := range all {
		h.hush(p.Metadata.UID)
		if !isForced(p) {
			if err := h.delete(ctx, p, 0); err != nil {
				return err
			}
		}
		if err := h.removeParts(ctx, partsOf(p)); err != nil {
			return err
		}
		if err := h.release(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// release takes the finalizer away, so that the cluster forgets the Pod.
func (h *Runtime) release(ctx context.Context, p *pod) error {
	name := p.Metadata.Name
	for range conflictRuns {
		now, err := fetch[pod](ctx, h.client, pods, name)
		if isGone(err) || err == nil && now.Metadata.UID != p.Metadata.UID {
			h.letGo(p)
			return nil
		}
		if err != nil {
			return err
		}

		left := slices.DeleteFunc(slices.Clone(now.Metadata.Finalizers), func(f string) bool { return f == finalizer })
		patch := map[string]any{"metadata": map[string]any{"resourceVersion": now.Metadata.ResourceVersion, "finalizers": left}}
		changed, err := merge[pod](ctx, h.client, pods, name, patch)
		switch {
		case err == nil:
			h.letGo(changed)
			return nil
		case !isGone(err) && !because(err, reasonConflict): // somebody else changed it, or took the finalizer away
			return err
		}
	}
	return fmt.Errorf("%w: the Pod %s changes all the time", runtime.ErrUnavailable, name)
}

// Remove kills and removes the Pods, and removes the volume claim of the persistent mount.
func (h *Runtime) Remove(ctx context.Context, id string) error {
	unlock, err := h.locks.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()

	if err := h.ready(ctx); err != nil {
		return err
	}
	all := h.podsOf(id)
	for _, p := range all {
		h.hush(p.Metadata.UID)
		if h.isUp(p) {
			if err := h.end(ctx, p, killGrace); err != nil {
				return err
			}
		}
	}

	if err := h.discard(ctx, h.podsOf(id)); err != nil {
		return err
	}
	if err := h.removeService(ctx, id); err != nil {
		return err
	}
	return h.removeClaim(ctx, nameOf(id), labelAllocation, id, h.config.Owner)
}

// isUp reports whether a Pod has not ended.
func (h *Runtime) isUp(p *pod) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.entries[p.Metadata.UID]
	return e != nil && !e.over
}
