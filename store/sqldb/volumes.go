package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const volumeColumns = `id, user_id, name, size_gb, data_center_id, type, created_at`

const (
	insertVolume     = `INSERT INTO volumes (` + volumeColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`
	selectVolume     = `SELECT ` + volumeColumns + ` FROM volumes WHERE id = ?`
	selectVolumes    = `SELECT ` + volumeColumns + ` FROM volumes WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
	updateVolume     = `UPDATE volumes SET name = ?, size_gb = ? WHERE id = ?`
	deleteVolume     = `DELETE FROM volumes WHERE id = ?`
	selectVolumePods = `SELECT id FROM pods WHERE network_volume_id = ? AND gone = 0 ORDER BY seq`
)

// InsertVolume stores a new volume. Conflict when the id is taken.
func (tx *Tx) InsertVolume(v compute.Volume) error {
	_, err := tx.exec("insert volume "+string(v.ID), insertVolume, string(v.ID), string(v.UserID), v.Name, v.SizeGB, v.DataCenterID,
		string(v.Type), millis(v.CreatedAt))
	return err
}

func scanVolume(row scanner) (v compute.Volume, err error) {
	err = row.Scan(&v.ID, &v.UserID, &v.Name, &v.SizeGB, &v.DataCenterID, &v.Type, instant{&v.CreatedAt})
	return v, err
}

// Volume gives one volume. NotFound for an unknown id.
func (tx *Tx) Volume(id compute.VolumeID) (v compute.Volume, err error) {
	found, err := tx.one("read volume "+string(id), func(row scanner) (err error) {
		v, err = scanVolume(row)
		return err
	}, selectVolume, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "network volume %q does not exist", id)
	}
	return v, err
}

// ListVolumes gives the user's volumes, newest first.
func (tx *Tx) ListVolumes(user compute.UserID) ([]compute.Volume, error) {
	return list(tx, "list volumes", scanVolume, selectVolumes, string(user))
}

// UpdateVolume writes name and size. NotFound for an unknown id.
func (tx *Tx) UpdateVolume(v compute.Volume) error {
	ok, err := tx.changed("update volume "+string(v.ID), updateVolume, v.Name, v.SizeGB, string(v.ID))
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
	return list(tx, "list pods of volume "+string(id), scanPodID, selectVolumePods, string(id))
}

func scanPodID(row scanner) (id compute.PodID, err error) {
	err = row.Scan(&id)
	return id, err
}
