package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// FleetHost is a host of the fleet as it is now.
type FleetHost struct {
	Host
	Draining bool            // nothing more is placed on it
	Away     string          // why its engine is not used; empty: it is, or it has none of its own
	Free     compute.Claimed // what nobody holds of it: GPUs, and all vCPUs and memory, those that come with GPUs, too
}

// Hosts gives the fleet as it is now.
func (c *Control) Hosts() []FleetHost {
	p := c.placement
	p.lockKnown()
	defer p.mu.Unlock()
	all := make([]FleetHost, len(p.hosts))
	for i := range p.hosts {
		all[i] = p.now(&p.hosts[i])
	}
	return all
}

func (p *Placement) now(h *host) FleetHost {
	return FleetHost{*h.Host, p.draining[h.ID], p.away(h.Host), compute.Claimed{GPUs: h.free.gpus, VCPUs: h.free.vcpus, MemoryGB: h.free.memoryGB, DiskGB: h.free.diskGB}}
}

// AddHost adds a host, on which pods and workers are placed from then on, also by later starts of the server. Conflict if there is one of
// its id, Rejected for one that makes no sense, or if the runtime has hosts of its own.
func (c *Control) AddHost(ctx context.Context, h Host) (FleetHost, error) {
	return c.changeHost(ctx, h.ID, func(has bool, change *compute.HostChange) error {
		if has {
			return compute.Errorf(compute.Conflict, "id: host %q is in the fleet already", h.ID)
		}
		var f faults
		if c.catalog.checkHost(&f, h, ""); len(f.list) > 0 {
			return &compute.Error{Code: compute.Rejected, Detail: f.line()}
		}
		if err := c.runtime.CheckEngines([]Host{h}); err != nil {
			return err
		}
		text, err := json.Marshal(h)
		*change = compute.HostChange{ID: h.ID, Added: string(text)}
		return err
	})
}

// DrainHost has nothing more placed on the host, or has it placed there again. What is on it stays. NotFound for an unknown host, Rejected
// if the runtime has hosts of its own.
func (c *Control) DrainHost(ctx context.Context, id string, drain bool) (FleetHost, error) {
	return c.changeHost(ctx, id, func(has bool, change *compute.HostChange) error {
		if !has {
			return noHost(id)
		}
		change.Draining = drain
		return nil
	})
}

// RemoveHost takes the host out of the fleet. Pods that run there become ERROR, with the reason, and workers end; their claims are released
// with that. The persistent storage of stopped pods stays claimed: it is theirs again when the host comes back. If it fails, it may be
// called again. NotFound for an unknown host, Rejected if the runtime has hosts of its own.
func (c *Control) RemoveHost(ctx context.Context, id string) error {
	ctx = context.WithoutCancel(ctx) // what is on a host that is gone ends, whoever hangs up
	_, err := c.changeHost(ctx, id, func(has bool, change *compute.HostChange) error {
		if !has && !c.placement.Left(id) {
			return noHost(id)
		}
		*change = compute.HostChange{ID: id, Removed: true}
		return nil
	})
	if err != nil {
		return err
	}
	return c.endOn(ctx, id)
}

// EndRemoved ends what is on hosts that were taken out of the fleet, if the server ended, or the store was in trouble, before it had. It forgets
// those of which nothing is claimed any more, but for hosts of the operator's file.
func (c *Control) EndRemoved(ctx context.Context) error {
	c.placement.mu.Lock()
	left := slices.Sorted(maps.Keys(c.placement.left))
	c.placement.mu.Unlock()
	var failed []error
	for _, id := range left {
		failed = append(failed, c.endOn(ctx, id), c.forgetHost(ctx, id))
	}
	return errors.Join(failed...)
}

// forgetHost forgets a host that was taken out of the fleet, is not in the operator's file, and of which nothing is claimed any more.
func (c *Control) forgetHost(ctx context.Context, id string) error {
	if hostIn(c.placement.initial, id) >= 0 {
		return nil
	}
	var claims []compute.Claim
	err := c.store.Read(ctx, func(tx store.Tx) (err error) {
		claims, err = tx.ClaimsOn(id)
		return err
	})
	if err != nil || len(claims) > 0 {
		return err
	}

	_, err = c.changeHost(ctx, id, func(has bool, change *compute.HostChange) error {
		if !has {
			*change = compute.HostChange{ID: id}
		}
		return nil
	})
	return err
}

func noHost(id string) error {
	return compute.Errorf(compute.NotFound, "host %q is not in the fleet", id)
}

func hostIn(fleet []Host, id string) int {
	return slices.IndexFunc(fleet, func(h Host) bool { return h.ID == id })
}

// changeHost stores how one host differs from the operator's file, and then has the fleet so. It gives the host, the zero one if it is not
// in the fleet any more.
func (c *Control) changeHost(ctx context.Context, id string, edit func(has bool, change *compute.HostChange) error) (now FleetHost, err error) {
	p := c.placement
	if p.options.Schedules {
		return now, compute.Errorf(compute.Rejected, "the hosts are those of the runtime's own scheduler, where they are added, drained and removed")
	}
	p.flight.Lock() // what is placed while this waits is on hosts of the fleet of before
	defer p.flight.Unlock()

	change := compute.HostChange{ID: id}
	if i := slices.IndexFunc(p.changes, func(one compute.HostChange) bool { return one.ID == id }); i >= 0 {
		change = p.changes[i]
	}
	if err := edit(hostIn(p.fleet, id) >= 0, &change); err != nil {
		return now, err
	}
	fleet, err := p.changed(withChange(p.changes, change))
	if err != nil {
		return now, err
	}
	if err := p.checkChange(fleet); err != nil {
		return now, err
	}

	err = p.store.Write(ctx, func(tx store.Tx) error { return tx.SetHostChange(change) })
	if err = cmp.Or(err, p.read(ctx)); err != nil {
		p.Forget() // who needs it next reads what the rows say
		return now, err
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.host(id); h != nil {
		now = p.now(h)
	}
	return now, nil
}

// withChange gives the changes with one in place of what they have of its host.
func withChange(changes []compute.HostChange, change compute.HostChange) []compute.HostChange {
	changes = slices.DeleteFunc(slices.Clone(changes), func(one compute.HostChange) bool { return one.ID == change.ID })
	if !change.None() {
		changes = append(changes, change)
	}
	return changes
}

// follow makes the fleet as the changes that are stored say, unless it is so already. The caller has the lock, and nothing is in flight.
func (p *Placement) follow(changes []compute.HostChange) error {
	if p.options.Schedules || slices.Equal(changes, p.changes) {
		return nil
	}
	fleet, err := p.changed(changes)
	if err != nil {
		return err
	}
	if err := p.checkChange(fleet); err != nil {
		return fmt.Errorf("a host that was added before does not fit the catalog: %w", err)
	}
	p.apply(changes, fleet)
	return nil
}

// changed gives the fleet of the operator's file with the changes.
func (p *Placement) changed(changes []compute.HostChange) ([]Host, error) {
	fleet := slices.Clone(p.initial)
	places := make(map[string]int, len(fleet))
	for i := range fleet {
		places[fleet[i].ID] = i
	}

	removed := map[string]bool{}
	for _, change := range changes {
		i, has := places[change.ID]
		switch {
		case change.Removed:
			removed[change.ID] = true
		case change.Added != "":
			var h Host
			if err := json.Unmarshal([]byte(change.Added), &h); err != nil {
				return nil, fmt.Errorf("read host %q: %w", change.ID, err)
			}
			if has {
				fleet[i] = h
			} else {
				fleet = append(fleet, h)
			}
		}
	}

	return slices.DeleteFunc(fleet, func(h Host) bool { return removed[h.ID] }), nil
}

// apply makes the fleet so; what is free of it is to be read. What capacity a test set is forgotten. The caller has the lock.
func (p *Placement) apply(changes []compute.HostChange, fleet []Host) {
	p.changes, p.fleet, p.left, p.draining = changes, fleet, map[string]bool{}, map[string]bool{}
	for _, change := range changes {
		p.left[change.ID] = change.Removed
		p.draining[change.ID] = change.Draining
	}
	maps.DeleteFunc(p.left, func(_ string, removed bool) bool { return !removed })
	p.setHosts(fleet)
}

// checkChange refuses hosts that make no sense. Those that are there already, as they are, did so before.
func (p *Placement) checkChange(fleet []Host) error {
	before := make(map[string]*Host, len(p.fleet))
	for i := range p.fleet {
		before[p.fleet[i].ID] = &p.fleet[i]
	}

	seen := make(map[string]bool, len(fleet))
	var changed []Host
	for _, h := range fleet {
		if seen[h.ID] {
			return compute.Errorf(compute.Rejected, "hosts: there are two with id %q", h.ID)
		}
		seen[h.ID] = true
		if was := before[h.ID]; was == nil || !reflect.DeepEqual(*was, h) {
			changed = append(changed, h)
		}
	}

	var f faults
	uniqueEngines(&f, fleet)
	if err := errors.Join(p.catalog.checkHosts(changed), errors.Join(f.list...)); err != nil {
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

// Has reports whether the host is in the fleet; so is no host, which a pod has that a scheduler has yet to place.
func (p *Placement) Has(hostID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return hostID == "" || p.host(hostID) != nil
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
		if !c.placement.Left(hostID) {
			return nil // it came back meanwhile
		}
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
		pod.Reason, pod.EndedBy, pod.MovedAt = LeftReason(hostID), compute.EndedByHost, tx.Wall()
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
