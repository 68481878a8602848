package control

import (
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Where hosts have engines of their own, the data of a network volume is on the first host on which it was mounted, and whatever mounts
// it is placed there. It is stored as a claim of the volume, which holds nothing and is kept until the volume is deleted.

// volumeHost gives the host that has the data of the volume; empty: none has any yet.
func volumeHost(tx store.Claims, id compute.VolumeID) (string, error) {
	claims, err := tx.ClaimsOf(string(id))
	if err != nil || len(claims) == 0 {
		return "", err
	}
	return claims[0].HostID, nil
}

// holdVolume notes that the data of the volume is on the host of the choice. errTaken if it is on another one by now.
func (p *Placement) holdVolume(tx store.Claims, mount *compute.NetworkMount, at *choice) error {
	if mount == nil || at.aimed || !p.apart() {
		return nil
	}
	switch has, err := volumeHost(tx, mount.VolumeID); {
	case err != nil || has == at.host.ID:
		return err
	case has != "":
		return &compute.Error{Code: compute.Conflict, Detail: "the network volume is on host " + has, Cause: errTaken}
	}
	return tx.InsertClaims(at.host.size(), compute.Claim{HolderID: string(mount.VolumeID), HostID: at.host.ID, Kept: true})
}

// nearVolumes gives the wants of a worker of the endpoint where the volume has its data that it is to mount, which another data center
// has another one of.
func (p *Placement) nearVolumes(tx store.Claims, e compute.Endpoint, wants []want, centers []string, mounts func(dataCenterID string) *compute.NetworkMount) (near []want, err error) {
	switch {
	case e.GlobalVolumeID == "" && len(e.VolumeIDs) == 0 || !p.apart():
		return wants, nil
	case e.GlobalVolumeID != "":
		for i := range wants {
			if wants[i].HostID, err = volumeHost(tx, e.GlobalVolumeID); err != nil {
				return nil, err
			}
		}
		return wants, nil
	}

	for _, w := range wants {
		for _, id := range centers {
			w.DataCenterIDs = []string{id}
			if w.HostID, err = hostOf(tx, mounts(id)); err != nil {
				return nil, err
			}
			near = append(near, w)
		}
	}
	return near, nil
}

// hostOf is volumeHost of what is mounted, if anything is.
func hostOf(tx store.Claims, mount *compute.NetworkMount) (string, error) {
	if mount == nil {
		return "", nil
	}
	return volumeHost(tx, mount.VolumeID)
}
