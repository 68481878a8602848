package control

import (
	"cmp"
	"slices"
)

// Outcome is how a look for room came out.
type Outcome string

// The outcomes.
const (
	Placed Outcome = "placed"
	Full   Outcome = "full"    // there are hosts of the asked sort, and none has room now
	NoHost Outcome = "no_host" // there is no host of the asked sort
)

// looked tells how a look for room for the wants came out. The caller has the lock.
func (p *Placement) looked(who string, placed bool, wants ...want) {
	if p.options.Looked == nil {
		return
	}
	o := NoHost
	if placed {
		o = Placed
	} else if slices.ContainsFunc(wants, p.hasHost) {
		o = Full
	}
	p.options.Looked(who, o)
}

// hasHost tells whether some host suits, free or not. The caller has the lock.
func (p *Placement) hasHost(w want) bool {
	return slices.ContainsFunc(p.kinds[kind{w.GPU, w.CPU}], func(h *host) bool { return h.suits(&w) })
}

// Room is how many GPUs of a type, or vCPUs, the hosts of a data center have, and how many of them nobody holds.
type Room struct {
	GPU          string // type; empty: vCPUs
	DataCenterID string
	Total, Free  int64
}

// Rooms gives the room of all hosts, by data center and then by GPU type, vCPUs first. It asks nobody.
func (p *Placement) Rooms() []Room {
	type of struct{ gpu, center string }
	sums := map[of]Room{}
	add := func(gpu, center string, total, free int64) {
		r := sums[of{gpu, center}]
		sums[of{gpu, center}] = Room{gpu, center, r.Total + total, r.Free + max(0, free)}
	}
	p.mu.Lock()
	for _, h := range p.hosts {
		add("", h.DataCenterID, h.VCPUs, h.free.vcpus)
		if h.GPU != "" {
			add(h.GPU, h.DataCenterID, h.GPUCount, h.free.gpus)
		}
	}
	p.mu.Unlock()
	rooms := make([]Room, 0, len(sums))
	for _, r := range sums {
		rooms = append(rooms, r)
	}
	slices.SortFunc(rooms, func(a, b Room) int {
		return cmp.Or(cmp.Compare(a.DataCenterID, b.DataCenterID), cmp.Compare(a.GPU, b.GPU))
	})
	return rooms
}
