package control

import (
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Control carries out the use cases. It is safe for concurrent use.
type Control struct {
	store     store.Store
	ids       *compute.IDs
	catalog   Catalog
	podHint   func(compute.PodID)
	endpoints func(compute.Endpoint)
}

// Hints are told, after the commit, what the loops should look at.
type Hints struct {
	Pod      func(compute.PodID)
	Endpoint func(compute.Endpoint)
}

// New makes a Control.
func New(s store.Store, ids *compute.IDs, catalog Catalog, hints Hints) *Control {
	return &Control{store: s, ids: ids, catalog: catalog, podHint: hints.Pod, endpoints: hints.Endpoint}
}
