package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// NewVolume is what createNetworkVolume asks for.
type NewVolume struct {
	Name         string
	SizeGB       int64
	DataCenterID string
	Type         compute.VolumeType // empty: StandardVolume
}

// CreateVolume stores a network volume. Rejected for an unknown data center (rule volumes.create.data-center).
func (c *Control) CreateVolume(ctx context.Context, user compute.UserID, n NewVolume) (compute.Volume, error) {
	if _, known := c.catalog.DataCenter(n.DataCenterID); !known {
		return compute.Volume{}, compute.Errorf(compute.Rejected, "dataCenter: there is no data center %q", n.DataCenterID)
	}
	v := compute.Volume{
		ID: newID(ctx, c.ids.Volume), UserID: user, Name: n.Name, SizeGB: n.SizeGB, DataCenterID: n.DataCenterID,
		Type: cmp.Or(n.Type, compute.StandardVolume),
	}

	err := create(ctx, c.store, func(tx store.Tx) error {
		v.CreatedAt = tx.Wall()
		if err := tx.InsertVolume(v); err != nil {
			return err
		}
		if err := c.placement.noteVolume(tx, v.ID); err != nil {
			return err
		}
		return c.catalog.meterVolume(tx, v)
	})

	return v, err
}

// GetVolume gives the user's volume. NotFound for an unknown and for somebody else's one.
func (c *Control) GetVolume(ctx context.Context, user compute.UserID, id compute.VolumeID) (v compute.Volume, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		v, err = ownVolume(tx, user, id)
		return err
	})
	return v, err
}

// ListVolumes gives the user's volumes, newest first. Rejected as for ListPods.
func (c *Control) ListVolumes(ctx context.Context, user compute.UserID, room compute.Room) (all []compute.Volume, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		all, err = whole(tx.PageVolumes(user, unpaged(room)))
		return err
	})
	return all, err
}

// PageVolumes gives a page of the user's volumes, newest first, and where the next one begins.
func (c *Control) PageVolumes(ctx context.Context, user compute.UserID, p compute.Page) (all []compute.Volume, next compute.Position, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		all, next, err = tx.PageVolumes(user, p)
		return err
	})
	return all, next, err
}

// VolumeChange is what updateNetworkVolume asks for. Nil is unchanged.
type VolumeChange struct {
	Name   *string
	SizeGB *int64
}

// UpdateVolume renames or enlarges the volume. Rejected for a smaller size (rule volumes.update.shrink), NotFound as for
// GetVolume.
func (c *Control) UpdateVolume(ctx context.Context, user compute.UserID, id compute.VolumeID, change VolumeChange) (v compute.Volume, err error) {
	err = c.store.Write(ctx, func(tx store.Tx) error {
		if v, err = ownVolume(tx, user, id); err != nil {
			return err
		}
		if change.SizeGB != nil && *change.SizeGB < v.SizeGB {
			return compute.Errorf(compute.Rejected, "size: %d GB cannot shrink to %d", v.SizeGB, *change.SizeGB)
		}

		before := v.SizeGB
		set(&v.Name, change.Name)
		set(&v.SizeGB, change.SizeGB)
		if err := tx.UpdateVolume(v); err != nil || v.SizeGB == before {
			return err
		}
		return c.catalog.meterVolume(tx, v)
	})

	return v, err
}

// DeleteVolume deletes the volume. Rejected while a pod that is not terminated mounts it (rule volumes.delete.used), or an
// endpoint names it (rule serverless.volumes.used). NotFound as for GetVolume.
func (c *Control) DeleteVolume(ctx context.Context, user compute.UserID, id compute.VolumeID) error {
	err := c.store.Write(ctx, func(tx store.Tx) error {
		if _, err := ownVolume(tx, user, id); err != nil {
			return err
		}
		pods, err := tx.VolumePods(id)
		if err != nil {
			return err
		}
		if len(pods) > 0 {
			return compute.Errorf(compute.Rejected, "network volume %q is mounted by pod %q", id, pods[0])
		}
		if err := unused(tx, fmt.Sprintf("network volume %q is used by", id), "", id); err != nil {
			return err
		}
		if _, err := tx.ReleaseClaims(string(id), true); err != nil {
			return err
		}
		if err := tx.DeleteVolume(id); err != nil {
			return err
		}

		return tx.CloseCharge(string(id))
	})
	if err == nil {
		c.deleted(id)
	}
	return err
}

// ownVolume hides from a user what is not theirs.
func ownVolume(tx store.Volumes, user compute.UserID, id compute.VolumeID) (compute.Volume, error) {
	v, err := tx.Volume(id)
	if err == nil && v.UserID != user {
		return compute.Volume{}, compute.Errorf(compute.NotFound, "network volume %q does not exist", id)
	}
	return v, err
}

// dataCentersFor gives the data centers in which the pod may be placed, none for all: that of its network volume, or those
// that it asks for. NotFound for a volume that is not the user's, Rejected for one elsewhere (rule volumes.data-center).
func dataCentersFor(tx store.Volumes, user compute.UserID, n NewPod) ([]string, error) {
	if len(n.Network) == 0 {
		return n.DataCenterIDs, nil
	}
	v, err := ownVolume(tx, user, n.Network[0].VolumeID)
	if compute.CodeOf(err) == compute.NotFound {
		return nil, compute.Errorf(compute.NotFound, "mounts.network: network volume %q does not exist", n.Network[0].VolumeID)
	}
	if err != nil {
		return nil, err
	}
	if len(n.DataCenterIDs) > 0 && !slices.Contains(n.DataCenterIDs, v.DataCenterID) {
		return nil, compute.Errorf(compute.Rejected, "mounts.network: network volume %q is in data center %s, which is not among dataCenterIds", v.ID, v.DataCenterID)
	}

	return []string{v.DataCenterID}, nil
}
