package control

import (
	"context"
	"slices"

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

// mounting gives the wants of a worker of the endpoint with the volume that it is to mount, which another data center has another one of.
func (p *Placement) mounting(e compute.Endpoint, wants []want, centers []string, mounts func(dataCenterID string) *compute.NetworkMount) (each []want) {
	switch {
	case e.GlobalVolumeID == "" && len(e.VolumeIDs) == 0 || !p.apart():
		return wants
	case e.GlobalVolumeID != "":
		for i := range wants {
			wants[i].VolumeID = e.GlobalVolumeID
		}
		return wants
	}

	for _, w := range wants {
		for _, id := range centers {
			w.DataCenterIDs, w.VolumeID = []string{id}, mounts(id).VolumeID
			each = append(each, w)
		}
	}
	return each
}

// near gives the wants with the hosts that have the data of their volumes now. Where none has any yet, one host must have room for all that are
// placed at once: the first of them brings the data there.
func (p *Placement) near(ctx context.Context, count int, wants []want) ([]want, error) {
	if !slices.ContainsFunc(wants, func(w want) bool { return w.VolumeID != "" }) || !p.apart() {
		return wants, nil
	}

	near := slices.Clone(wants)
	err := p.store.Read(ctx, func(tx store.Tx) (err error) {
		for i := range near {
			if w := &near[i]; w.VolumeID != "" {
				w.Together = int64(count)
				if w.HostID, err = volumeHost(tx, w.VolumeID); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return near, err
}
