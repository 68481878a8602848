package control

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Hosts gives the fleet as the operator has it.
func (c *Control) Hosts() []Host {
	p := c.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.fleet)
}

// SetHosts replaces the fleet. What is on the hosts that stay keeps what it holds of them; what is on those that left ends, as RemoveHost
// says. What capacity a test set is forgotten. Rejected for hosts that make no sense.
func (c *Control) SetHosts(ctx context.Context, hosts []Host) error {
	return c.changeFleet(ctx, func([]Host) ([]Host, error) { return hosts, nil })
}

// AddHost adds a host, on which pods and workers are placed from then on. Conflict if there is one of its id, Rejected for one that makes
// no sense.
func (c *Control) AddHost(ctx context.Context, h Host) error {
	return c.changeFleet(ctx, func(fleet []Host) ([]Host, error) {
		if hostIn(fleet, h.ID) >= 0 {
			return nil, compute.Errorf(compute.Conflict, "host %q is in the fleet already", h.ID)
		}
		return append(fleet, h), nil
	})
}

// DrainHost has nothing more placed on the host, or has it placed there again. What is on it stays. NotFound for an unknown host.
func (c *Control) DrainHost(ctx context.Context, id string, drain bool) error {
	return c.changeFleet(ctx, func(fleet []Host) ([]Host, error) {
		if hostIn(fleet, id) < 0 {
			return nil, compute.Errorf(compute.NotFound, "host %q is not in the fleet", id)
		}
		c.placement.mu.Lock()
		defer c.placement.mu.Unlock()
		c.placement.draining[id] = drain
		return fleet, nil
	})
}

// RemoveHost takes the host out of the fleet. Pods that run there become ERROR, with the reason, and workers end; their claims are released
// with that. The persistent storage of stopped pods stays claimed: it is theirs again when the host comes back. If it fails, it may be
// called again. NotFound for an unknown host.
func (c *Control) RemoveHost(ctx context.Context, id string) error {
	return c.changeFleet(ctx, func(fleet []Host) ([]Host, error) {
		i := hostIn(fleet, id)
		if i < 0 && !c.placement.Left(id) {
			return nil, compute.Errorf(compute.NotFound, "host %q is not in the fleet", id)
		}
		if i >= 0 {
			fleet = slices.Delete(fleet, i, i+1)
		}
		return fleet, nil
	})
}

func hostIn(fleet []Host, id string) int {
	return slices.IndexFunc(fleet, func(h Host) bool { return h.ID == id })
}

// changeFleet replaces the fleet by what change makes of a copy of it, and ends what is on hosts that left.
func (c *Control) changeFleet(ctx context.Context, change func([]Host) ([]Host, error)) error {
	left, err := c.placement.changeFleet(change)
	if err != nil {
		return err
	}
	for _, id := range left {
		if err := c.endOn(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// changeFleet gives the ids of the hosts that left, now or before. What is placed while it waits is on hosts of the fleet of before.
func (p *Placement) changeFleet(change func([]Host) ([]Host, error)) (left []string, err error) {
	p.flight.Lock()
	defer p.flight.Unlock()

	fleet, err := change(slices.Clone(p.fleet))
	if err != nil {
		return nil, err
	}
	if err := p.checkChange(fleet); err != nil {
		return nil, err
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.fleet {
		p.left[h.ID] = true
	}
	for _, h := range fleet {
		delete(p.left, h.ID)
	}
	for id := range p.left {
		left = append(left, id)
		delete(p.draining, id)
	}
	slices.Sort(left)
	p.fleet = fleet
	p.setHosts(fleet)

	return left, nil
}

// checkChange refuses hosts that make no sense. Those that are there already, as they are, did so before.
func (p *Placement) checkChange(fleet []Host) error {
	seen := map[string]bool{}
	var changed []Host
	for _, h := range fleet {
		if seen[h.ID] {
			return compute.Errorf(compute.Rejected, "hosts: there are two with id %q", h.ID)
		}
		seen[h.ID] = true
		if !slices.ContainsFunc(p.fleet, func(before Host) bool { return reflect.DeepEqual(before, h) }) {
			changed = append(changed, h)
		}
	}

	if err := p.catalog.checkHosts(changed); err != nil {
		return &compute.Error{Code: compute.Rejected, Detail: err.Error()}
	}
	return nil
}

// Left reports whether the host left the fleet while the server ran: what is on it is to end.
func (p *Placement) Left(hostID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left[hostID]
}

// LeftReason says why what was on a host ended when that left the fleet.
func LeftReason(hostID string) string { return "its host " + hostID + " left the fleet" }

// endOn ends the pods on a host that left; who runs the workers looks after those by itself.
func (c *Control) endOn(ctx context.Context, hostID string) error {
	var claims []compute.Claim
	err := c.store.Read(ctx, func(tx store.Tx) (err error) {
		claims, err = tx.ClaimsOn(hostID)
		return err
	})
	for _, one := range claims {
		if !one.Kept {
			err = cmp.Or(err, c.endPodOn(ctx, hostID, compute.PodID(one.HolderID)))
		}
	}
	return err
}

// endPodOn ends the pod if there is one and it is on the host.
func (c *Control) endPodOn(ctx context.Context, hostID string, id compute.PodID) error {
	moved := false
	err := c.placement.Write(ctx, func(tx store.Tx, claims *Claims) error {
		moved = false
		pod, err := tx.Pod(id)
		if compute.CodeOf(err) == compute.NotFound || err == nil && (pod.HostID != hostID || !pod.Status.HoldsHost()) {
			return nil // a worker, or it ended by itself
		}
		if err != nil {
			return err
		}

		from := pod.Status
		if pod.Status, err = compute.PodMachine.Next(from, compute.PodFailed); err != nil {
			return err
		}
		pod.Reason, pod.MovedAt = LeftReason(hostID), tx.Wall()
		moved, err = claims.Move(tx, from, pod)

		return err
	})
	if err == nil && moved {
		c.podHint(id)
	}

	return err
}

// SetCapacity makes the fleet have of the named types and flavors nothing but the capacity, and of all others what the
// operator has. It is for tests: what is on hosts that are then none goes on. Rejected for what the catalog does not know.
func (p *Placement) SetCapacity(capacity []Capacity) error {
	p.flight.Lock()
	defer p.flight.Unlock()
	hosts, err := p.catalog.withCapacity(p.fleet, capacity)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setHosts(hosts)
	return nil
}
