package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// CreateGlobalVolume stores a global volume (rule global-volumes.create). Invalid for a name without anything but white space.
func (c *Control) CreateGlobalVolume(ctx context.Context, user compute.UserID, name string) (compute.GlobalVolume, error) {
	v := compute.GlobalVolume{ID: newID(ctx, c.ids.Volume), UserID: user}
	if err := nameGlobalVolume(&v, name); err != nil {
		return compute.GlobalVolume{}, err
	}
	err := create(ctx, c.store, func(tx store.Tx) error {
		v.CreatedAt = tx.Wall()
		if err := tx.InsertGlobalVolume(v); err != nil {
			return err
		}
		return c.placement.noteVolume(tx, v.ID)
	})
	return v, err
}

// GetGlobalVolume gives the user's global volume. NotFound for an unknown and for somebody else's one.
func (c *Control) GetGlobalVolume(ctx context.Context, user compute.UserID, id compute.VolumeID) (v compute.GlobalVolume, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		v, err = ownGlobalVolume(tx, user, id)
		return err
	})
	return v, err
}

// PageGlobalVolumes gives a page of the user's global volumes, newest first, and where the next one begins.
func (c *Control) PageGlobalVolumes(ctx context.Context, user compute.UserID, p compute.Page) (all []compute.GlobalVolume, next compute.Position, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		all, next, err = tx.PageGlobalVolumes(user, p)
		return err
	})
	return all, next, err
}

// RenameGlobalVolume changes the name. Errors as for CreateGlobalVolume and GetGlobalVolume.
func (c *Control) RenameGlobalVolume(ctx context.Context, user compute.UserID, id compute.VolumeID, name string) (v compute.GlobalVolume, err error) {
	err = c.store.Write(ctx, func(tx store.Tx) error {
		if v, err = ownGlobalVolume(tx, user, id); err != nil {
			return err
		}
		if err := nameGlobalVolume(&v, name); err != nil {
			return err
		}
		return tx.UpdateGlobalVolume(v)
	})
	return v, err
}

// DeleteGlobalVolume deletes the global volume with its data. Rejected while an endpoint mounts it (rule global-volumes.delete.used).
// NotFound as for GetGlobalVolume.
func (c *Control) DeleteGlobalVolume(ctx context.Context, user compute.UserID, id compute.VolumeID) error {
	err := c.store.Write(ctx, func(tx store.Tx) error {
		if _, err := ownGlobalVolume(tx, user, id); err != nil {
			return err
		}
		if err := unused(tx, fmt.Sprintf("global volume %q is mounted by", id), "", id); err != nil {
			return err
		}
		if _, err := tx.ReleaseClaims(string(id), true); err != nil {
			return err
		}
		return tx.DeleteGlobalVolume(id)
	})
	if err == nil {
		c.deleted(id)
	}
	return err
}

// nameGlobalVolume gives it the name without the white space around it.
func nameGlobalVolume(v *compute.GlobalVolume, name string) error {
	if v.Name = strings.TrimSpace(name); v.Name == "" {
		return invalid("/name: must have something else than white space")
	}
	return nil
}

// ownGlobalVolume hides from a user what is not theirs.
func ownGlobalVolume(tx store.GlobalVolumes, user compute.UserID, id compute.VolumeID) (compute.GlobalVolume, error) {
	v, err := tx.GlobalVolume(id)
	if err == nil && v.UserID != user {
		return compute.GlobalVolume{}, compute.Errorf(compute.NotFound, "global volume %q does not exist", id)
	}
	return v, err
}
