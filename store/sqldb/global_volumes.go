package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	globalVolumeColumns = columns[compute.GlobalVolume]{
		text("id", func(v *compute.GlobalVolume) *compute.VolumeID { return &v.ID }),
		text("user_id", func(v *compute.GlobalVolume) *compute.UserID { return &v.UserID }),
		text("name", func(v *compute.GlobalVolume) *string { return &v.Name }),
		instant("created_at", func(v *compute.GlobalVolume) *time.Time { return &v.CreatedAt }),
	}
	globalVolumeSettings = globalVolumeColumns.only("name") // written by UpdateGlobalVolume

	insertGlobalVolume = globalVolumeColumns.insert("global_volumes")
	selectGlobalVolume = `SELECT ` + globalVolumeColumns.list() + ` FROM global_volumes WHERE id = ?`
	pagesGlobalVolumes = pagesOf("global_volumes", globalVolumeColumns, `user_id = ?`, func(one *compute.GlobalVolume) string { return string(one.ID) })
	updateGlobalVolume = `UPDATE global_volumes SET ` + globalVolumeSettings.set() + ` WHERE id = ?`
)

const deleteGlobalVolume = `DELETE FROM global_volumes WHERE id = ?`

// InsertGlobalVolume stores a new global volume. Conflict when the id is taken.
func (tx *Tx) InsertGlobalVolume(v compute.GlobalVolume) error {
	_, err := tx.exec("insert global volume "+string(v.ID), insertGlobalVolume, globalVolumeColumns.values(tx.args(), &v)...)
	return err
}

// GlobalVolume gives one global volume. NotFound for an unknown id.
func (tx *Tx) GlobalVolume(id compute.VolumeID) (compute.GlobalVolume, error) {
	v, found, err := get(tx, "read global volume "+string(id), globalVolumeColumns, selectGlobalVolume, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "global volume %q does not exist", id)
	}
	return v, err
}

// PageGlobalVolumes gives a page of the user's global volumes, newest first, and where the next one begins.
func (tx *Tx) PageGlobalVolumes(user compute.UserID, p compute.Page) ([]compute.GlobalVolume, compute.Position, error) {
	return pagesGlobalVolumes.page(tx, "list global volumes", string(user), p)
}

// UpdateGlobalVolume writes the name. NotFound for an unknown id.
func (tx *Tx) UpdateGlobalVolume(v compute.GlobalVolume) error {
	ok, err := tx.changed("update global volume "+string(v.ID), updateGlobalVolume, globalVolumeSettings.values(tx.args(), &v, string(v.ID))...)
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "global volume %q does not exist", v.ID)
	}
	return err
}

// DeleteGlobalVolume removes the global volume, known or not.
func (tx *Tx) DeleteGlobalVolume(id compute.VolumeID) error {
	_, err := tx.exec("delete global volume "+string(id), deleteGlobalVolume, string(id))
	return err
}
