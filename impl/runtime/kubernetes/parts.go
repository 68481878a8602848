package kubernetes

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// part is an object that the Pod of a run names and that goes with it: a Secret or a device claim.
type part struct {
	resource, name string
	uid            string // empty: whatever has the name
}

// partsOf gives the parts of a Pod.
func partsOf(p *pod) (all []part) {
	for _, c := range p.Spec.Containers {
		for _, from := range c.EnvFrom {
			all = append(all, part{resource: secrets, name: from.SecretRef.Name})
		}
	}
	for _, s := range p.Spec.ImagePullSecrets {
		all = append(all, part{resource: secrets, name: s.Name})
	}
	for _, c := range p.Spec.ResourceClaims {
		all = append(all, part{resource: deviceClaims, name: c.ResourceClaimName})
	}
	return slices.DeleteFunc(all, func(one part) bool { return !strings.HasPrefix(one.name, p.Metadata.Name) }) // those of a service account, too
}

// isOf reports whether one of the Pods names the part.
func (one part) isOf(all []*pod) bool {
	return slices.ContainsFunc(all, func(p *pod) bool { return slices.Contains(partsOf(p), part{resource: one.resource, name: one.name}) })
}

// removeParts deletes them. Those that are gone already are no error.
func (h *Runtime) removeParts(ctx context.Context, all []part) error {
	var errs []error
	for _, one := range all {
		_, err := remove(ctx, h.client, one.resource, one.name, one.uid, -1)
		switch {
		case because(err, reasonConflict): // another one has the name
		case one.resource == deviceClaims && isAbsent(err): // the cluster has no claims any more
		default:
			errs = append(errs, unlessGone(err))
		}
	}
	return errors.Join(errs...)
}

// listParts lists the parts of all allocations of this owner, by their ids. What is in Secrets is not asked for.
func (h *Runtime) listParts(ctx context.Context) (map[string][]part, error) {
	found := map[string][]part{}
	list := func(resource string) error {
		all, err := listMetadata(ctx, h.client, h.client.path(resource), labelOwner+"="+h.config.Owner)
		for _, one := range all {
			id := one.Metadata.Labels[labelAllocation]
			found[id] = append(found[id], part{resource, one.Metadata.Name, one.Metadata.UID})
		}
		return err
	}

	if err := list(secrets); err != nil {
		return nil, err
	}
	if h.config.GPUClass == "" { // berth need not have the right
		return found, nil
	}
	err := list(deviceClaims)
	if isAbsent(err) { // and so there is none
		err = nil
	}
	return found, err
}
