package control

import (
	"context"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Where hosts have engines of their own, the data of a network volume is on the first host on which it was mounted, and whatever mounts
// it is placed there. It is stored as a claim of the volume, which holds nothing and is kept until the volume is deleted. The claim of one that was
// made since hosts have engines of their own, and never mounted, names no host. A volume without a claim is of before, when all hosts shared one
// engine: its data is there, and whatever mounts it is placed on a host that still shares that engine, as long as there is one.

// volumePlace is where the data of a volume is; the zero one: nowhere yet.
type volumePlace struct {
	hostID string // the host that has it
	shared bool   // the engine of the hosts that have none of their own has it
}

// noteVolume notes of a new volume that no host has its data yet.
func (p *Placement) noteVolume(tx store.Claims, id compute.VolumeID) error {
	if !p.apart() {
		return nil
	}
	return tx.InsertClaims(compute.HostSize{}, compute.Claim{HolderID: string(id), Kept: true})
}

// placeOf gives where the data of the volume is.
func (p *Placement) placeOf(tx store.Claims, id compute.VolumeID) (at volumePlace, err error) {
	claims, err := tx.ClaimsOf(string(id))
	if err != nil {
		return at, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(claims) == 0:
		at.shared = slices.ContainsFunc(p.fleet, sharesEngine)
	case p.shares(claims[0].HostID):
		at.shared = true
	default:
		at.hostID = claims[0].HostID
	}
	return at, nil
}

// sharesEngine reports whether the host has no engine of its own.
func sharesEngine(h Host) bool { return h.Engine == "" }

// shares reports whether there is a host of that id, which has no engine of its own. The caller has the lock.
func (p *Placement) shares(hostID string) bool {
	i := hostIn(p.fleet, hostID)
	return i >= 0 && sharesEngine(p.fleet[i])
}

// holdVolume notes that the data of the volume is where the choice is. errTaken if it is elsewhere by now.
func (p *Placement) holdVolume(tx store.Claims, mount *compute.NetworkMount, choice *choice) error {
	if mount == nil || choice.aimed {
		return nil
	}
	at, err := p.placeOf(tx, mount.VolumeID)
	switch host := choice.host; {
	case err != nil:
		return err
	case at.hostID == "" && sharesEngine(*host.Host): // which takes no claim
		_, err := tx.ReleaseClaims(string(mount.VolumeID), true)
		return err
	case at.hostID == host.ID || !p.apart():
		return nil
	case at.hostID != "":
		return &compute.Error{Code: compute.Conflict, Detail: "the network volume is on host " + at.hostID, Cause: errTaken}
	case at.shared:
		return &compute.Error{Code: compute.Conflict, Detail: "the network volume is on the hosts without an engine of their own", Cause: errTaken}
	default:
		if _, err := tx.ReleaseClaims(string(mount.VolumeID), true); err != nil { // that it is nowhere
			return err
		}
		return tx.InsertClaims(host.size(), compute.Claim{HolderID: string(mount.VolumeID), HostID: host.ID, Kept: true})
	}
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

// near gives the wants with where the data of their volumes is now. Where it is nowhere yet, one host must have room for all that are placed at
// once: the first of them brings the data there.
func (p *Placement) near(ctx context.Context, count int, wants []want) ([]want, error) {
	if !slices.ContainsFunc(wants, func(w want) bool { return w.VolumeID != "" }) || !p.apart() {
		return wants, nil
	}

	near := slices.Clone(wants)
	err := p.store.Read(ctx, func(tx store.Tx) (err error) {
		for i := range near {
			if w := &near[i]; w.VolumeID != "" {
				at, err := p.placeOf(tx, w.VolumeID)
				if err != nil {
					return err
				}
				if w.HostID, w.Shared = at.hostID, at.shared; !at.shared {
					w.Together = int64(count)
				}
			}
		}
		return nil
	})
	return near, err
}
