package control

import (
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// choice is a part of a host that was chosen for a pod or a worker: memory counts it as claimed, the rows do not yet.
type choice struct {
	host    *host
	want    *want
	amount  amount // with the persistent storage
	devices []int  // numbers of its GPUs on the host
	aimed   bool   // the runtime schedules: the host is one that could hold it, and nothing of it is claimed
}

// hostID is that of the host that it holds a part of; empty if the runtime is to choose one.
func (c *choice) hostID() string {
	if c.aimed {
		return ""
	}
	return c.host.ID
}

// choose chooses so many hosts, each by the first of the wants for which there is room; where they are to be together, all by that of the
// first, on its host. It gives nil, and chooses nothing, if there is no room for all.
func (p *Placement) choose(count int, wants []want) []choice {
	p.mu.Lock()
	defer p.mu.Unlock()
	choices := make([]choice, 0, count)
	for range count {
		c, ok := p.chooseOne(wants)
		if !ok {
			p.count(choices, 1)
			return nil
		}
		choices = append(choices, c)
		if c.want.Together > 1 {
			rest := *c.want
			rest.HostID, rest.Together = c.host.ID, 0 // it was chosen for all: each has room there
			wants = []want{rest}
		}
	}

	for _, c := range choices {
		p.chosen[c.host] = p.chosen[c.host].plus(c.amount, 1)
	}
	return choices
}

// chooseOne chooses one host. The caller has the lock.
func (p *Placement) chooseOne(wants []want) (c choice, ok bool) {
	for i := range wants {
		w := &wants[i]
		h := p.best(w)
		if p.options.Schedules {
			if h == nil {
				h = p.later(w)
			}
			if h != nil {
				return choice{host: h, want: w, aimed: true}, true
			}
		}
		if h == nil {
			continue
		}

		c = choice{host: h, want: w, amount: h.share(w)}
		c.amount.diskGB += w.PersistentGB
		c.devices = h.devices.pick(c.amount.gpus, h.GPUCount)
		if int64(len(c.devices)) < c.amount.gpus {
			p.known = false // its sums and its devices do not agree: nothing of it is chosen before both were read again
			continue
		}

		p.count([]choice{c}, -1)
		return c, true
	}

	return choice{}, false
}

// unchoose notes that the choices are not in flight any more. They are free again unless they are stored.
func (p *Placement) unchoose(choices []choice, stored bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range choices {
		p.chosen[c.host] = p.chosen[c.host].plus(c.amount, -1)
		if p.chosen[c.host] == (amount{}) {
			delete(p.chosen, c.host)
		}
	}
	if !stored {
		p.count(choices, 1)
	}
}

// count adds the choices to what is free so many times. The caller has the lock.
func (p *Placement) count(choices []choice, times int64) {
	for _, c := range choices {
		c.host.setFree(c.host.free.plus(c.amount, times))
		c.host.devices.set(c.devices, times < 0)
	}
}

// claim stores the choice as the claims of its holder. errTaken if the rows say that it is not free; then nothing has changed.
func (c *choice) claim(tx store.Claims, holderID string) error {
	if c.aimed {
		return nil
	}
	claim := compute.Claim{HolderID: holderID, HostID: c.host.ID, Devices: c.deviceNames(), DiskGB: c.want.DiskGB}
	if c.want.GPU == "" {
		claim.VCPUs, claim.MemoryGB = c.amount.vcpus, c.amount.memoryGB
	}
	claims := []compute.Claim{claim}
	if c.want.PersistentGB > 0 {
		claims = append(claims, compute.Claim{HolderID: holderID, HostID: c.host.ID, Kept: true, DiskGB: c.want.PersistentGB})
	}

	err := tx.InsertClaims(c.host.size(), claims...)
	if compute.CodeOf(err) == compute.Conflict {
		return &compute.Error{Code: compute.Conflict, Detail: "host " + c.host.ID + " has no room any more", Cause: errTaken}
	}
	return err
}
