package control

import (
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// ReportedHost is a host of a runtime that schedules, as that reports it.
type ReportedHost struct {
	Host
	Taken    compute.Claimed // by what it runs for this server
	Draining bool            // nothing more is placed there
}

// Catalog gives what there is to be placed.
func (p *Placement) Catalog() Catalog { return p.catalog }

// SetReported replaces the fleet by the hosts that a runtime reports which places by a scheduler of its own. Rejected for hosts that make no
// sense; then the fleet stays as it is.
func (p *Placement) SetReported(hosts []ReportedHost) error {
	fleet, taken, draining := make([]Host, len(hosts)), make(map[string]amount, len(hosts)), map[string]bool{}
	for i, h := range hosts {
		fleet[i], draining[h.ID] = h.Host, h.Draining
		taken[h.ID] = amount{h.Taken.GPUs, h.Taken.VCPUs, h.Taken.MemoryGB, h.Taken.DiskGB}
	}

	p.flight.Lock()
	defer p.flight.Unlock()
	if err := p.checkChange(fleet); err != nil {
		return err
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	p.fleet, p.taken, p.draining = fleet, taken, draining
	p.setHosts(fleet)
	for i := range p.hosts {
		p.hosts[i].free = p.hosts[i].free.plus(taken[p.hosts[i].ID], -1)
	}
	p.known = true // no rows say more about them

	return nil
}

// later gives a host that could hold it at another time: when something else has left it, when it is not drained any more, or, where no
// host is known, when there is one. Nil if no host ever can. The caller has the lock.
func (p *Placement) later(w *want) (found *host) {
	if len(p.hosts) == 0 {
		return p.anywhere(w)
	}
	for g := range p.asked(w) {
		if !g.hosts[0].suits(w) { // one that is drained may be back before the scheduler looks
			continue
		}
		h := g.ever(w)
		if h == nil {
			continue
		}
		if found == nil || w.rankOf(h) < w.rankOf(found) || w.rankOf(h) == w.rankOf(found) && h.number < found.number {
			found = h
		}
	}
	return found
}

// anywhere gives a host that is not there yet, in the data center that is preferred.
func (p *Placement) anywhere(w *want) *host {
	center := &p.catalog.DataCenters[0]
	if len(w.DataCenterIDs) > 0 {
		for i := range p.catalog.DataCenters {
			if p.catalog.DataCenters[i].ID == w.DataCenterIDs[0] {
				center = &p.catalog.DataCenters[i]
			}
		}
	}
	return &host{Host: &Host{DataCenterID: center.ID, Cloud: compute.Secure}, center: center}
}

// HostsFor gives the hosts that the pod may run on, for a runtime that schedules: nil if any will do that has what it takes,
// empty if none of those that there are will.
func (p *Placement) HostsFor(pod compute.Pod) []string {
	w := wantOf(pod)
	w.DataCenterIDs = []string{pod.DataCenterID}
	w.keep(pod)
	return p.only(w)
}

// HostsForWorker gives the hosts that the worker may run on, likewise.
func (p *Placement) HostsForWorker(worker compute.Worker) []string {
	w := want{DataCenterIDs: []string{worker.DataCenterID}, DiskGB: worker.DiskGB}
	if worker.GPU != nil {
		w.GPU, w.Count = worker.GPU.ID, worker.GPU.Count
	} else if worker.CPU != nil {
		w.CPU, w.Count, w.MemoryGB = worker.CPU.ID, worker.CPU.VCPUCount, worker.CPU.MemoryGB
	}
	return p.only(w)
}

// only gives the ids of the hosts that suit. Nil if all of the sort do; empty if none does.
func (p *Placement) only(w want) (ids []string) {
	if !p.options.Schedules {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.of(kind{w.GPU, w.CPU}).all
	if !slices.ContainsFunc(all, func(g *group) bool { return !g.hosts[0].suits(&w) }) {
		return nil
	}
	ids = []string{}
	for _, g := range all {
		if !g.hosts[0].suits(&w) {
			continue
		}
		for _, h := range g.hosts {
			ids = append(ids, h.ID)
		}
	}

	slices.Sort(ids)
	return ids
}
