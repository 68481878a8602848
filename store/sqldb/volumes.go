package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	volumeColumns = columns[compute.Volume]{
		text("id", func(v *compute.Volume) *compute.VolumeID { return &v.ID }),
		text("user_id", func(v *compute.Volume) *compute.UserID { return &v.UserID }),
		text("name", func(v *compute.Volume) *string { return &v.Name }),
		whole("size_gb", func(v *compute.Volume) *int64 { return &v.SizeGB }),
		text("data_center_id", func(v *compute.Volume) *string { return &v.DataCenterID }),
		text("type", func(v *compute.Volume) *compute.VolumeType { return &v.Type }),
		instant("created_at", func(v *compute.Volume) *time.Time { return &v.CreatedAt }),
	}
	volumeSettings = volumeColumns.only("name", "size_gb") // written by UpdateVolume

	insertVolume     = volumeColumns.insert("volumes")
	selectVolume     = `SELECT ` + volumeColumns.list() + ` FROM volumes WHERE id = ?`
	pagesVolumes     = pagesOf("volumes", volumeColumns, `user_id = ?`, func(one *compute.Volume) string { return string(one.ID) })
	updateVolume     = `UPDATE volumes SET ` + volumeSettings.set() + ` WHERE id = ?`
	selectVolumePods = `SELECT ` + podIDColumn.list() + ` FROM pods WHERE network_volume_id = ? AND gone = 0 ORDER BY seq`
)

const deleteVolume = `DELETE FROM volumes WHERE id = ?`

// InsertVolume stores a new volume. Conflict when the id is taken.
func (tx *Tx) InsertVolume(v compute.Volume) error {
	_, err := tx.exec("insert volume "+string(v.ID), insertVolume, volumeColumns.values(tx.args(), &v)...)
	return err
}

// Volume gives one volume. NotFound for an unknown id.
func (tx *Tx) Volume(id compute.VolumeID) (compute.Volume, error) {
	v, found, err := get(tx, "read volume "+string(id), volumeColumns, selectVolume, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "network volume %q does not exist", id)
	}
	return v, err
}

// PageVolumes gives a page of the user's volumes, newest first, and where the next one begins.
func (tx *Tx) PageVolumes(user compute.UserID, p compute.Page) ([]compute.Volume, compute.Position, error) {
	return pagesVolumes.page(tx, "list volumes", string(user), p)
}

// UpdateVolume writes name and size. NotFound for an unknown id.
func (tx *Tx) UpdateVolume(v compute.Volume) error {
	ok, err := tx.changed("update volume "+string(v.ID), updateVolume, volumeSettings.values(tx.args(), &v, string(v.ID))...)
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "network volume %q does not exist", v.ID)
	}
	return err
}

// DeleteVolume removes the volume, known or not.
func (tx *Tx) DeleteVolume(id compute.VolumeID) error {
	_, err := tx.exec("delete volume "+string(id), deleteVolume, string(id))
	return err
}

// VolumePods gives the pods that mount the volume and are not TERMINATED, oldest first.
func (tx *Tx) VolumePods(id compute.VolumeID) ([]compute.PodID, error) {
	return tx.podIDs("list pods of volume "+string(id), selectVolumePods, string(id))
}
