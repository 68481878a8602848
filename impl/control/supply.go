package control

import (
	"cmp"
	"slices"
)

// Outcome is how a look for a host came out.
type Outcome string

// The outcomes.
const (
	Placed Outcome = "placed"
	Full   Outcome = "full"    // there are hosts of the asked sort, and none has room now
	NoHost Outcome = "no_host" // there is no host of the asked sort
)

// Supply is how many GPUs of a type, or vCPUs, the hosts of a data center have, and how many of them nobody has claimed.
type Supply struct {
	GPU          string // type; empty: vCPUs
	DataCenterID string
	Total, Free  int64
}

// Supplies gives the supply of all hosts, by data center and then by GPU type, vCPUs first.
func (p *Placement) Supplies() []Supply {
	type of struct{ gpu, center string }
	sums := map[of]Supply{}
	add := func(gpu, center string, total, free int64) {
		s := sums[of{gpu, center}]
		sums[of{gpu, center}] = Supply{gpu, center, s.Total + total, s.Free + max(0, free)}
	}
	p.lockKnown()

	for i := range p.hosts {
		h := &p.hosts[i]
		add("", h.DataCenterID, h.VCPUs, h.free.vcpus)
		if h.GPU != "" {
			add(h.GPU, h.DataCenterID, h.GPUCount, h.free.gpus)
		}
	}

	p.mu.Unlock()

	supplies := make([]Supply, 0, len(sums))
	for _, s := range sums {
		supplies = append(supplies, s)
	}
	slices.SortFunc(supplies, func(a, b Supply) int {
		return cmp.Or(cmp.Compare(a.DataCenterID, b.DataCenterID), cmp.Compare(a.GPU, b.GPU))
	})

	return supplies
}
