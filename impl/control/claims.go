package control

import (
	"context"
	"math"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Claims is what one transaction changes of the claims besides making them: what it releases, and by how much it enlarges them. Memory
// counts that once the transaction is on disk.
type Claims struct {
	placement *Placement
	released  []compute.Claim // with less than nothing where a claim grew
}

// Write runs f in a transaction of the store. Like any function that the store runs, f may run again: it changes nothing but by the
// transaction and the Claims that it is given.
func (p *Placement) Write(ctx context.Context, f func(store.Tx, *Claims) error) error {
	p.flight.RLock()
	defer p.flight.RUnlock()

	err := errUnwound
	defer func() { p.doubt(err) }() // also when f panicked

	var c *Claims
	err = p.store.Write(ctx, func(tx store.Tx) error {
		c = &Claims{placement: p}
		return f(tx, c)
	})
	if err == nil {
		p.release(c.released)
	}

	return err
}

// release counts what was released as free.
func (p *Placement) release(claims []compute.Claim) {
	if len(claims) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range claims {
		if h := p.host(c.HostID); h != nil { // else it is of a host that is not in the fleet any more
			h.setFree(h.free.plus(h.amountOf(c.Claimed()), 1))
			h.devices.set(h.numbers(c.Devices), false)
		}
	}
}

// Move moves the pod from a status as store.Tx does, releases what it does not hold in its new one and has it metered.
func (c *Claims) Move(tx store.Containers, from compute.PodStatus, pod compute.Pod) (bool, error) {
	moved, err := tx.MovePod(pod)
	if err != nil || !moved {
		return moved, err
	}
	if err := meterPod(tx, from, pod); err != nil {
		return true, err
	}

	if !pod.Status.HoldsHost() {
		if err := c.give(tx, string(pod.ID), pod.Status == compute.PodTerminated); err != nil {
			return true, err
		}
	}

	return true, say(tx, pod)
}

// give releases what the holder has: all of it if kept is set, else what a stopped pod does not hold.
func (c *Claims) give(tx store.Claims, holderID string, kept bool) error {
	released, err := tx.ReleaseClaims(holderID, kept)
	c.released = append(c.released, released...)
	return err
}

// say adds the pod's status to its log; with the pod its log goes (rules pods.logs.system, pods.logs.terminated).
func say(tx store.SystemLines, pod compute.Pod) error {
	if pod.Status == compute.PodTerminated {
		return tx.DeleteSystemLines(string(pod.ID))
	}
	text := statusLine(pod)
	if err := tx.AddSystemLine(string(pod.ID), text); err != nil || pod.Version < compute.SystemLines {
		return err // each version has a line at most
	}
	return tx.ForgetSystemLines(string(pod.ID))
}

// statusLine is what the log of a pod says of its status.
func statusLine(pod compute.Pod) string {
	if pod.Reason == "" {
		return "pod is " + string(pod.Status)
	}
	return "pod is " + string(pod.Status) + ": " + pod.Reason
}

// resize brings what the pod holds of its host's disk from before to after. Rejected when the disk has no room.
func (c *Claims) resize(tx store.Claims, before, after compute.Pod) error {
	disk := int64(0)
	if after.Status.HoldsHost() { // else its container disk is gone
		disk = after.DiskGB - before.DiskGB
	}
	storage := int64(0)
	if before.Persistent != nil && after.Persistent != nil {
		storage = after.Persistent.SizeGB - before.Persistent.SizeGB
	}

	size, inFleet := c.placement.diskOf(after.HostID)
	inFleet = inFleet && !c.placement.options.Schedules
	for _, part := range []struct {
		kept bool
		byGB int64
	}{{false, disk}, {true, storage}} {
		if part.byGB == 0 {
			continue
		}
		resized, err := tx.ResizeClaim(string(after.ID), part.kept, part.byGB, size)
		if err != nil {
			return err
		}
		if resized {
			c.released = append(c.released, compute.Claim{HostID: after.HostID, DiskGB: -part.byGB})
			continue
		}
		if !inFleet {
			continue // it holds nothing of the fleet
		}

		sums, err := tx.ClaimSums()
		if err != nil {
			return err
		}
		left := size - sums[after.HostID].DiskGB
		if part.kept {
			left += disk // as it was before
		}

		return compute.Errorf(compute.Rejected, "disk: the host of the pod has %d GB left; asked for %d GB more of disk and %d GB more of persistent storage", left, disk, storage)
	}

	return nil
}

// diskOf gives the disk of a host in GB, without a bound for one that is not in the fleet.
func (p *Placement) diskOf(hostID string) (gb int64, inFleet bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.host(hostID); h != nil {
		return h.DiskGB, true
	}
	return math.MaxInt64, false
}
