package kubernetes

import (
	"context"
	"regexp"
	"slices"
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// claimForm is that of the names of volume claims, of at most longestName bytes. Bounds in patterns cost memory at each start.
var claimForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`) })

// longestName is that of a name in the cluster, in bytes.
const longestName = 253

// removeClaim deletes a volume claim of berth's own, with its data.
func (h *Runtime) removeClaim(ctx context.Context, name, label, id, owner string) error {
	if len(name) > longestName || !claimForm().MatchString(name) {
		return nil // berth made none of such a name
	}
	has, err := fetch[storageClaim](ctx, h.client, claims, name)
	switch {
	case isGone(err):
		return nil
	case err != nil:
		return err
	case has.Metadata.Labels[labelOwner] != owner || has.Metadata.Labels[label] != id:
		return nil
	}
	_, err = remove(ctx, h.client, claims, name, has.Metadata.UID, -1)
	return unlessGone(err)
}

// List gives the allocations of this owner of which there is a Pod or a persistent mount.
func (h *Runtime) List(ctx context.Context) ([]string, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	mounts, _, err := listAll[storageClaim](ctx, h.client, h.client.path(claims), labelOwner+"="+h.config.Owner+","+labelAllocation)
	if err != nil {
		return nil, err
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for id := range h.byID {
		ids = append(ids, id)
	}
	for _, c := range mounts {
		if c.Metadata.DeletionTimestamp.IsZero() {
			ids = append(ids, c.Metadata.Labels[labelAllocation])
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Volumes gives the network volumes of this owner.
func (h *Runtime) Volumes(ctx context.Context) (ids []compute.VolumeID, err error) {
	all, _, err := listAll[storageClaim](ctx, h.client, h.client.path(claims), labelOwner+"="+h.config.VolumeOwner+","+labelVolume)
	for _, c := range all {
		if c.Metadata.DeletionTimestamp.IsZero() {
			ids = append(ids, compute.VolumeID(c.Metadata.Labels[labelVolume]))
		}
	}
	return ids, err
}

// RemoveVolume deletes the volume claim.
func (h *Runtime) RemoveVolume(ctx context.Context, id compute.VolumeID) error {
	return h.removeClaim(ctx, volumeName(id), labelVolume, string(id), h.config.VolumeOwner)
}
