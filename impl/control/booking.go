package control

import (
	"context"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Booking is what one transaction takes of the hosts and gives back to them.
type Booking struct {
	placement *Placement
	taken     []claimOf // counted already; uncounted if the transaction fails
	given     []claimOf // counted still; uncounted when the transaction is on disk
}

// claimOf names a claim.
type claimOf struct {
	holder holder
	number int64
}

// Write runs f in a transaction of the store. What f books is in effect if and only if what f writes is. f may run again.
func (p *Placement) Write(ctx context.Context, f func(store.Tx, *Booking) error) (err error) {
	b := &Booking{placement: p}
	kept := false
	defer func() { b.settle(kept) }() // also when f panicked
	err = p.store.Write(ctx, func(tx store.Tx) error {
		b.settle(false) // what it booked when it ran before
		*b = Booking{placement: p}
		return f(tx, b)
	})
	kept = err == nil
	return err
}

// place takes room for the pod and sets its host, its devices there and its data center. Rejected when nothing can hold it now.
func (b *Booking) place(pod *compute.Pod, w want) error {
	p := b.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := b.room(holder(pod.ID), w)
	p.looked("pod", ok, w)
	if !ok {
		return p.full("pod", w)
	}
	pod.HostID, pod.DataCenterID, pod.Devices = c.host.ID, c.host.DataCenterID, c.deviceNames()
	return nil
}

// room takes room on a host, with devices, if there is some. The caller has the lock.
func (b *Booking) room(id holder, w want) (c claim, ok bool) {
	h := b.placement.choose(w)
	if h == nil {
		return claim{}, false
	}
	c = claim{host: h, amount: h.share(&w)}
	c.devices = h.devices.pick(c.amount.gpus, h.GPUCount)
	b.take(id, c)
	if w.PersistentGB > 0 {
		b.take(id, claim{host: h, amount: amount{diskGB: w.PersistentGB}, stays: true})
	}
	return c, true
}

// Move moves the pod from a status as store.Tx does, gives back what it does not hold in its new one and has it metered.
func (b *Booking) Move(tx store.Tx, from compute.PodStatus, pod compute.Pod) (bool, error) {
	moved, err := tx.MovePod(pod)
	if err != nil || !moved {
		return moved, err
	}
	if err := meterPod(tx, from, pod); err != nil {
		return true, err
	}
	if !pod.Status.HoldsHost() {
		b.give(holder(pod.ID), pod.Status == compute.PodTerminated)
	}
	return true, say(tx, pod)
}

// say adds the pod's status to its log; with the pod its log goes (rules pods.logs.system, pods.logs.terminated).
func say(tx store.Tx, pod compute.Pod) error {
	if pod.Status == compute.PodTerminated {
		return tx.DeleteSystemLines(string(pod.ID))
	}
	text := "pod is " + string(pod.Status)
	if pod.Reason != "" {
		text += ": " + pod.Reason
	}
	if err := tx.AddSystemLine(string(pod.ID), text); err != nil || pod.Version < compute.SystemLines {
		return err // each version has a line at most
	}
	return tx.ForgetSystemLines(string(pod.ID))
}

// insert stores a new pod, and begins its log.
func insert(tx store.Tx, pod compute.Pod) error {
	if err := tx.InsertPod(pod); err != nil {
		return err
	}
	return say(tx, pod)
}

// resize brings what the pod holds of its host's disk from before to after. Rejected when the disk has no room.
func (b *Booking) resize(before, after compute.Pod) error {
	disk := int64(0)
	if after.Status.HoldsHost() { // else its container disk is gone
		disk = after.DiskGB - before.DiskGB
	}
	storage := int64(0)
	if before.Persistent != nil && after.Persistent != nil {
		storage = after.Persistent.SizeGB - before.Persistent.SizeGB
	}
	p := b.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.host(after.HostID)
	if h == nil {
		return nil // it holds nothing of the fleet
	}
	if free := h.free.diskGB; max(0, disk) > free || max(0, storage) > free-max(0, disk) {
		return compute.Errorf(compute.Rejected, "disk: the host of the pod has %d GB left; asked for %d GB more of disk and %d GB more of persistent storage", free, disk, storage)
	}
	b.change(holder(after.ID), h, disk, false)
	b.change(holder(after.ID), h, storage, true)
	return nil
}

// take counts a claim now. The caller has the lock.
func (b *Booking) take(id holder, c claim) {
	b.taken = append(b.taken, claimOf{id, b.placement.hold(id, c)})
}

// change books a difference of what the holder has of a disk. The caller has the lock.
func (b *Booking) change(id holder, h *host, gb int64, stays bool) {
	p := b.placement
	if gb > 0 {
		b.take(id, claim{host: h, amount: amount{diskGB: gb}, stays: stays})
	}
	held, holds := p.held[id]
	if gb >= 0 || !holds {
		return
	}
	var split []claim // what is less is split off, to be given back alone
	for _, c := range held.all() {
		if part := min(-gb, c.amount.diskGB); part > 0 && c.stays == stays {
			gb += part
			c.amount.diskGB -= part
			split = append(split, claim{host: c.host, amount: amount{diskGB: part}, stays: stays})
		}
	}
	p.held[id] = held
	for _, c := range split {
		b.given = append(b.given, claimOf{id, p.note(id, c)})
	}
}

// give notes that it holds nothing any more but, unless all is set, its persistent storage.
func (b *Booking) give(id holder, all bool) {
	p := b.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	held, holds := p.held[id]
	if !holds {
		return
	}
	for _, c := range held.all() {
		if all || !c.stays {
			b.given = append(b.given, claimOf{id, c.number})
		}
	}
}

// settle ends the booking.
func (b *Booking) settle(kept bool) {
	p := b.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	over := b.taken
	if kept {
		over = b.given
	}
	for _, c := range over {
		p.release(c)
	}
}

// release uncounts a claim, unless another booking did so already.
func (p *Placement) release(one claimOf) {
	held := p.held[one.holder]
	all := held.all()
	i := slices.IndexFunc(all, func(c *claim) bool { return c.number == one.number })
	if i < 0 {
		return
	}
	c := *all[i]
	c.host.free = c.host.free.plus(c.amount, 1)
	c.host.devices.set(c.devices, false)
	switch {
	case len(held.more) == 0:
		delete(p.held, one.holder)
		return
	case i == 0:
		held.first, held.more = held.more[0], held.more[1:]
	default:
		held.more = slices.Delete(held.more, i-1, i)
	}
	p.held[one.holder] = held
}
