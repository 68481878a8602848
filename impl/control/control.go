package control

import (
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Control carries out the use cases. It is safe for concurrent use.
type Control struct {
	store     store.Store
	ids       *compute.IDs
	placement *Placement
	catalog   Catalog
	podHint   func(compute.PodID)
	deleted   func(compute.VolumeID) // a volume
	runtime   Runtime
}

// Hints are told, after the commit, what the loops should look at.
type Hints struct {
	Pod    func(compute.PodID)
	Volume func(compute.VolumeID) // it was deleted; nil: nobody is told
}

// New makes a Control over the placement's catalog and what pods run on.
func New(s store.Store, ids *compute.IDs, p *Placement, r Runtime, hints Hints) *Control {
	if hints.Volume == nil {
		hints.Volume = func(compute.VolumeID) {}
	}
	return &Control{store: s, ids: ids, placement: p, catalog: p.catalog, podHint: hints.Pod, deleted: hints.Volume, runtime: r}
}
