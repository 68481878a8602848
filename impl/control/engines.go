package control

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// HostEngine is how the engine of a host is, where it has one of its own.
type HostEngine struct {
	Answers bool   // and nothing is on the host any more that should not be
	Reason  string // why nothing is placed on the host; empty if it answers
	Found   Host   // what the host has, as the engine says: of a host that says nothing of it
}

// unseen is how an engine is that has not been asked yet.
var unseen = HostEngine{Reason: "its engine has not been asked yet"}

// Asks reports whether what the host has is to be found out by asking its engine.
func (h Host) Asks() bool { return h.Engine != "" && h.VCPUs == 0 }

// found gives the host with what its engine says that it has.
func (h Host) found(f Host, catalog *Catalog) Host {
	if !h.Asks() {
		return h
	}
	h.VCPUs = f.VCPUs
	if h.MemoryGB == 0 {
		h.MemoryGB = f.MemoryGB
	}
	if h.GPU == "" {
		h.GPU, h.GPUCount, h.GPUDevices, h.CUDAVersion = f.GPU, f.GPUCount, f.GPUDevices, f.CUDAVersion
	}
	if len(h.CPUs) == 0 {
		for _, flavor := range catalog.CPUs {
			h.CPUs = append(h.CPUs, flavor.ID)
		}
	}
	return h
}

// checkEngine notes what of a host's engine makes no sense.
func checkEngine(f *faults, h Host, at string) {
	if h.Engine == "" {
		return
	}
	u, err := url.Parse(h.Engine)
	f.must(err == nil && u.Scheme != "" && (u.Host != "" || u.Path != ""), at+"engine",
		"is %q; it must be like tcp://10.0.0.7:2376, ssh://user@box or unix:///run/docker.sock", h.Engine)
	f.must(h.VCPUs > 0 || h.DiskGB > 0, at+"diskGb", "must be given: an engine does not say how much disk its host has")
}

// CheckEngines refuses, with Rejected, the engines of hosts that the runtime cannot use.
func (r Runtime) CheckEngines(hosts []Host) error {
	for _, h := range hosts {
		if h.Engine == "" {
			continue
		}
		if r.Engine == nil {
			return compute.Errorf(compute.Rejected, "engine: host %s has one of its own, which what this server runs pods and workers on cannot use", h.ID)
		}
		if err := r.Engine(h); err != nil {
			return compute.Errorf(compute.Rejected, "engine of host %s: %v", h.ID, err)
		}
	}
	return nil
}

// Engines gives the hosts that have engines of their own, and whether there are others.
func (p *Placement) Engines() (hosts []Host, others bool) {
	p.lockKnown()
	defer p.mu.Unlock()
	for _, h := range p.fleet {
		if h.Engine != "" {
			hosts = append(hosts, h)
		} else {
			others = true
		}
	}
	return hosts, others
}

// SetEngine notes how the engine of a host is. Nothing is placed on the host unless it answers. What it was found to have is remembered
// while it does not. That only the reason is another one, as it is each second, has nothing read again.
func (p *Placement) SetEngine(hostID string, e HostEngine) {
	p.mu.Lock()
	same := p.noteEngine(hostID, e, false)
	p.mu.Unlock()
	if same { // as each second: nobody waits for what is in flight
		return
	}

	p.flight.Lock()
	defer p.flight.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.noteEngine(hostID, e, true) {
		p.setHosts(p.fleet)
	}
}

// noteEngine notes how the engine is if the host is the same for a choice as before, or in any case, and reports whether it is. The caller has the
// lock.
func (p *Placement) noteEngine(hostID string, e HostEngine, always bool) (same bool) {
	before, known := p.engines[hostID]
	if !known {
		before = unseen
	}
	if !e.Answers {
		if reflect.DeepEqual(e.Found, Host{}) { // nobody says now what it has
			e.Found = before.Found
		}
		e.Reason = cmp.Or(e.Reason, unseen.Reason)
	}
	same = before.Answers == e.Answers && reflect.DeepEqual(before.Found, e.Found)
	if same || always {
		p.engines[hostID] = e
	}
	return same
}

// Away gives why the engine of a host is not used; empty if it is, or the host has none of its own.
func (p *Placement) Away(hostID string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := hostIn(p.fleet, hostID)
	if i < 0 {
		return ""
	}
	return p.away(&p.fleet[i])
}

// away is Away. The caller has the lock.
func (p *Placement) away(h *Host) string {
	if h.Engine == "" {
		return ""
	}
	if e, known := p.engines[h.ID]; known {
		return e.Reason
	}
	return unseen.Reason
}

// seen gives the hosts with what their engines say of them. The caller has the lock.
func (p *Placement) seen(hosts []Host) []Host {
	if !slices.ContainsFunc(hosts, Host.Asks) {
		return hosts
	}
	hosts = slices.Clone(hosts)
	for i := range hosts {
		hosts[i] = hosts[i].found(p.engines[hosts[i].ID].Found, &p.catalog)
	}
	return hosts
}

// apart reports whether hosts have engines of their own: then the networks and volumes of one are not those of another.
func (p *Placement) apart() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.fleet, func(h Host) bool { return h.Engine != "" })
}

// canNetwork reports whether pods can be in the global network of their account.
func (c *Control) canNetwork() bool { return c.runtime.Can.Networks && !c.placement.apart() }

// checkNetwork refuses a global network that no pod can be in.
func (c *Control) checkNetwork(pod compute.Pod) error {
	if pod.GlobalNetworking && c.placement.apart() {
		return compute.Errorf(compute.Rejected, "globalNetworking: hosts of this fleet have engines of their own, and pods on two of them do not reach each other")
	}
	return nil
}

// uniqueEngines notes engines that two hosts have: each would be counted twice.
func uniqueEngines(f *faults, hosts []Host) {
	owners := map[string]string{}
	for i, h := range hosts {
		if h.Engine == "" {
			continue
		}
		other, taken := owners[h.Engine]
		f.must(!taken, fmt.Sprintf("hosts[%d].engine", i), "is that of host %s, too", other)
		owners[h.Engine] = h.ID
	}
}
