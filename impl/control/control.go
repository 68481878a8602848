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
	timerHint func(compute.PodID)
	deleted   func(compute.VolumeID) // a volume
	runtime   Runtime

	interruptions interruptions
}

// Hints are called, after the commit, with what the loops should look at.
type Hints struct {
	Pod    func(compute.PodID)
	Timer  func(compute.PodID)    // what a pod has of timers may be due otherwise; nil: nobody is notified
	Volume func(compute.VolumeID) // it was deleted; nil: nobody is notified
}

// New makes a Control over the placement's catalog and what pods run on.
func New(s store.Store, ids *compute.IDs, p *Placement, r Runtime, hints Hints) *Control {
	if hints.Volume == nil {
		hints.Volume = func(compute.VolumeID) {}
	}
	if hints.Timer == nil {
		hints.Timer = func(compute.PodID) {}
	}
	return &Control{
		store: s, ids: ids, placement: p, catalog: p.catalog, podHint: hints.Pod, timerHint: hints.Timer, deleted: hints.Volume, runtime: r,
	}
}
