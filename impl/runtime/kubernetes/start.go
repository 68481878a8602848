package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// nameTime is for how long a start waits until a name is free, and look is the time between two looks.
const (
	nameTime = 30 * time.Second
	look     = 100 * time.Millisecond
)

// Start refuses what cannot run here, makes the volume claims, the Service and the Secrets that the allocation takes, and its Pod. What was
// made before something failed is removed again, by Sweep if need be.
func (h *Runtime) Start(ctx context.Context, a runtime.Allocation) error {
	unlock, err := h.locks.Lock(ctx, a.ID)
	if err != nil {
		return err
	}
	defer unlock()

	if h.ctx.Err() != nil {
		return errClosed
	}
	if err := h.ready(ctx); err != nil {
		return err
	}

	_, state, err := h.find(a.ID)
	if err == nil && state.Phase != runtime.Ended {
		return nil
	}
	p, err := h.plan(a)
	if err != nil {
		return err
	}
	return h.carryOut(ctx, a, p)
}

// carryOut makes what is planned. The caller has the lock of the allocation.
func (h *Runtime) carryOut(ctx context.Context, a runtime.Allocation, p plan) error {
	for _, c := range p.claims {
		if err := h.ensureClaim(ctx, c); err != nil {
			return err
		}
	}
	s, err := h.ensureService(ctx, a, p.ports)
	if err != nil {
		return err
	}
	earlier := h.podsOf(a.ID)
	if slices.ContainsFunc(earlier, func(one *pod) bool { return one.Metadata.Name == p.pod.Metadata.Name }) {
		if err := h.discard(ctx, earlier); err != nil { // its name is needed
			return err
		}
		earlier = nil
	}

	made, err := h.makeParts(ctx, a, p, s)
	if err == nil {
		var up *pod
		if up, err = h.makePod(ctx, p.pod); err == nil {
			h.wrote(up)
			h.own(ctx, up, made)
			if err := h.discard(ctx, earlier); err != nil {
				h.config.Log.Warn("an earlier Pod could not be removed: the next sweep does that", "allocation", a.ID, "error", err)
			}
			return nil
		}
	}

	if !errors.Is(err, runtime.ErrUnavailable) { // or it may be there, and nobody knows
		h.undo(ctx, a.ID, made)
	}
	return err
}

// podsOf gives the Pods of an allocation that are in the cache, the latest run first.
func (h *Runtime) podsOf(id string) (all []*pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.of(id) {
		all = append(all, e.pod)
	}
	return all
}

// undo removes what a start that failed has made for its Pod, and the Service.
func (h *Runtime) undo(ctx context.Context, id string, made []part) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	if err := errors.Join(h.removeParts(ctx, made), h.removeService(ctx, id)); err != nil {
		h.config.Log.Warn("what was made for a start that failed could not be removed: the next sweep does that", "allocation", id, "error", err)
	}
}

// ensureClaim makes the volume claim if it is not there, or has it grow. One that is being removed has to go first.
func (h *Runtime) ensureClaim(ctx context.Context, c *storageClaim) error {
	for wait := h.patience("volume claim " + c.Metadata.Name); ; {
		_, err := create(ctx, h.client, claims, c.Metadata.Name, c)
		if !because(err, reasonExists) {
			return err
		}
		has, err := fetch[storageClaim](ctx, h.client, claims, c.Metadata.Name)
		switch {
		case isGone(err):
		case err != nil:
			return err
		case has.Metadata.Labels[labelOwner] != c.Metadata.Labels[labelOwner]:
			return fmt.Errorf("kubernetes: the volume claim %s is somebody else's", c.Metadata.Name)
		case has.Metadata.DeletionTimestamp.IsZero():
			return h.enlarge(ctx, has, c)
		}

		if err := wait(ctx); err != nil {
			return err
		}
	}
}

// enlarge has a volume claim ask for as much as is wanted now, if that is more and not only what the settings say. Where the cluster does not allow that, what has the mount
// starts with what there is.
func (h *Runtime) enlarge(ctx context.Context, has, wanted *storageClaim) error {
	size := wanted.Spec.Resources.Requests["storage"]
	if !wanted.sized || has.Spec.Resources.Requests["storage"].value() >= size.value() {
		return nil
	}
	patch := map[string]any{
		"metadata": map[string]any{"uid": has.Metadata.UID},
		"spec":     map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size}}},
	}
	_, err := merge[storageClaim](ctx, h.client, claims, has.Metadata.Name, patch)
	if err == nil || ctx.Err() != nil || errors.Is(err, runtime.ErrUnavailable) {
		return err
	}
	h.config.Log.Warn("a volume claim could not be enlarged", "claim", has.Metadata.Name, "size", size, "error", err)
	return nil
}

// patience gives a function that waits a moment until a name is free; at last it gives ErrUnavailable.
func (h *Runtime) patience(what string) func(context.Context) error {
	began := h.config.Clock.Now()
	return func(ctx context.Context) error {
		if h.config.Clock.Now().Sub(began) > nameTime {
			return fmt.Errorf("%w: an earlier %s does not go", runtime.ErrUnavailable, what)
		}
		return pause(ctx, h.config.Clock, look)
	}
}

// ensureService makes the Service that publishes the ports, or keeps the one that does, and gives it; nil if there are no ports.
func (h *Runtime) ensureService(ctx context.Context, a runtime.Allocation, ports []servicePort) (*service, error) {
	if has := h.serviceOf(a.ID); has != nil {
		if has.Metadata.DeletionTimestamp.IsZero() && has.publishes(ports) && has.Spec.Type == string(h.config.Service) {
			return has, nil
		}
		if err := h.removeService(ctx, a.ID); err != nil {
			return nil, err
		}
	}
	if len(ports) == 0 {
		return nil, nil
	}

	wanted := &service{
		APIVersion: "v1", Kind: "Service", Metadata: meta{Name: nameOf(a.ID), Labels: h.head("", a).Labels},
		Spec: serviceSpec{
			Type: string(h.config.Service), Ports: ports, Selector: map[string]string{labelOwner: h.config.Owner, labelAllocation: a.ID},
		},
	}
	for wait := h.patience("Service " + nameOf(a.ID)); ; {
		made, err := create(ctx, h.client, services, nameOf(a.ID), wanted)
		if because(err, reasonExists) { // the cache does not have it yet, it is being removed, or it is somebody else's
			made, err = fetch[service](ctx, h.client, services, nameOf(a.ID))
			switch {
			case isGone(err), err == nil && !made.Metadata.DeletionTimestamp.IsZero():
				if err := wait(ctx); err != nil {
					return nil, err
				}
				continue
			case err != nil:
				return nil, err
			case made.Metadata.Labels[labelOwner] != h.config.Owner:
				return nil, fmt.Errorf("kubernetes: the Service %s is somebody else's", nameOf(a.ID))
			case !made.publishes(ports):
				return nil, fmt.Errorf("%w: the Service %s is being removed", runtime.ErrUnavailable, nameOf(a.ID))
			}
		}
		if err != nil {
			return nil, err
		}
		h.wroteService(made)
		return made, nil
	}
}

// publishes reports whether the Service publishes just those ports.
func (s *service) publishes(ports []servicePort) bool {
	return slices.EqualFunc(s.Spec.Ports, ports, func(has, wanted servicePort) bool { return has.Name == wanted.Name && has.Port == wanted.Port })
}

// removeService deletes the Service of an allocation, if there is one.
func (h *Runtime) removeService(ctx context.Context, id string) error {
	s := h.serviceOf(id)
	if s == nil {
		return nil
	}
	if _, err := remove(ctx, h.client, services, s.Metadata.Name, s.Metadata.UID, -1); unlessGone(err) != nil && !because(err, reasonConflict) {
		return err
	}
	h.dropService(s)
	return nil
}

// makeParts makes the Secrets and the device claim of the run, which its Pod names.
func (h *Runtime) makeParts(ctx context.Context, a runtime.Allocation, p plan, s *service) (made []part, err error) {
	add := func(suffix, kind string, data map[string][]byte) error {
		if len(data) == 0 {
			return nil
		}
		one, err := h.makeSecret(ctx, &secret{APIVersion: "v1", Kind: "Secret", Metadata: h.head(p.pod.Metadata.Name+suffix, a), Type: kind, Data: data})
		if err == nil {
			made = append(made, part{secrets, one.Metadata.Name, one.Metadata.UID})
		}
		return err
	}

	var ports []compute.PublishedPort
	if s != nil {
		ports = h.announced(a.Ports, s)
	}
	if err := add(envSecret, opaqueType, h.inform(p.pod, a, ports)); err != nil {
		return made, err
	}

	login, err := credential(ctx, a)
	if err != nil {
		return made, err
	}
	if login != nil {
		p.pod.Spec.ImagePullSecrets = []localReference{{Name: p.pod.Metadata.Name + pullSecret}}
	}
	if err := add(pullSecret, loginType, login); err != nil || p.gpus == nil {
		return made, err
	}

	one, err := h.makeDeviceClaim(ctx, p.gpus)
	if err == nil {
		made = append(made, part{deviceClaims, one.Metadata.Name, one.Metadata.UID})
	}
	return made, err
}

// announced gives the ports that a container knows before it starts. A load balancer will have the same.
func (h *Runtime) announced(asked []string, s *service) []compute.PublishedPort {
	ports := h.reached(asked, s, "")
	if s.Spec.Type == string(LoadBalancer) {
		for i := range ports {
			ports[i].Public = ports[i].Private
		}
	}
	return ports
}

// makeSecret makes a Secret, in place of one that a start which was cut off has left.
func (h *Runtime) makeSecret(ctx context.Context, s *secret) (*secret, error) {
	name := s.Metadata.Name
	made, err := create(ctx, h.client, secrets, name, s)
	if !because(err, reasonExists) {
		return made, err
	}
	has, err := fetch[secret](ctx, h.client, secrets, name)
	switch {
	case err == nil && has.Metadata.Labels[labelOwner] != h.config.Owner:
		return nil, fmt.Errorf("kubernetes: the Secret %s is somebody else's", name)
	case err == nil:
		_, err = remove(ctx, h.client, secrets, name, has.Metadata.UID, -1)
	}
	if unlessGone(err) != nil {
		return nil, err
	}
	return create(ctx, h.client, secrets, name, s)
}

// makePod makes the Pod. An earlier one of its name has to go first.
func (h *Runtime) makePod(ctx context.Context, wanted *pod) (*pod, error) {
	for wait := h.patience("Pod " + wanted.Metadata.Name); ; {
		made, err := create(ctx, h.client, pods, wanted.Metadata.Name, wanted)
		if !because(err, reasonExists) {
			return made, err
		}
		has, err := fetch[pod](ctx, h.client, pods, wanted.Metadata.Name)
		switch {
		case isGone(err):
		case err != nil:
			return nil, err
		case has.Metadata.Labels[labelOwner] != h.config.Owner:
			return nil, fmt.Errorf("kubernetes: the Pod %s is somebody else's", wanted.Metadata.Name)
		case !isDeleted(has):
			return has, nil // by a try whose answer was lost
		}

		if err := wait(ctx); err != nil {
			return nil, err
		}
	}
}

// own has the Secrets go with the Pod, whoever removes that. A device claim, which berth has no right to change, is left to Remove and Sweep.
func (h *Runtime) own(ctx context.Context, p *pod, made []part) {
	owner := []ownerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Metadata.Name, UID: p.Metadata.UID}}
	for _, one := range made {
		if one.resource != secrets {
			continue
		}
		patch := map[string]any{"metadata": map[string]any{"uid": one.uid, "ownerReferences": owner}}
		if _, err := merge[secret](ctx, h.client, secrets, one.name, patch); err != nil { // Remove and Sweep delete it, too
			h.config.Log.Warn("a Secret does not go with its Pod", "secret", one.name, "error", err)
		}
	}
}
