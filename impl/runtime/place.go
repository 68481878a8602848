package runtime

import (
	"iter"

	"github.com/berthdev/berth/impl/compute"
)

// Policy says how hosts are chosen where the runtime has no scheduler of its own.
type Policy string

// The policies. The data centers that are asked for come in the order in which they are named, whatever the policy.
const (
	PolicyPack          Policy = "pack"                // in the most preferred data center, the host with the least left
	PolicySpread        Policy = "spread"              // in the most preferred data center, the host with the most left
	PolicySpreadCenters Policy = "spread-data-centers" // the data center with the most left, there the host with the most left
)

// Policies are the words of all policies, the default first.
func Policies() []string {
	return []string{string(PolicyPack), string(PolicySpread), string(PolicySpreadCenters)}
}

// Choose chooses among the hosts that have room; ok is false if there is none.
func (p Policy) Choose(rooms iter.Seq[compute.HostRoom]) (best compute.HostRoom, ok bool) {
	switch p {
	case PolicySpread:
		return choose(firstCenter(rooms), compute.HostRoom.Most, more)
	case PolicySpreadCenters:
		return choose(emptiestCenter(rooms), compute.HostRoom.Most, more)
	default:
		return Pack(rooms)
	}
}

// Pack chooses, in the most preferred data center, the host with the least left, so that large pods find large gaps. It is how the
// runtimes place that have no scheduler of their own, unless another policy is set.
func Pack(rooms iter.Seq[compute.HostRoom]) (best compute.HostRoom, ok bool) {
	return choose(firstCenter(rooms), compute.HostRoom.Least, func(a, b compute.HostRoom) bool { return more(b, a) })
}

// firstCenter gives the rooms in the most preferred data center that has any.
func firstCenter(rooms iter.Seq[compute.HostRoom]) iter.Seq[compute.HostRoom] {
	return func(yield func(compute.HostRoom) bool) {
		first, found := 0, false
		for r := range rooms {
			if found && r.Rank != first {
				return
			}
			first, found = r.Rank, true
			if !yield(r) {
				return
			}
		}
	}
}

// emptiestCenter gives the rooms in the data center with the most left; in the first one, if they were named.
func emptiestCenter(rooms iter.Seq[compute.HostRoom]) iter.Seq[compute.HostRoom] {
	var most, now compute.HostRoom // what is left in a data center: the one with the most, and the one that is looked at
	found := false
	for r := range rooms {
		if r.Named {
			return firstCenter(rooms)
		}
		if !found || r.Rank != now.Rank {
			now = compute.HostRoom{Rank: r.Rank}
		}
		gpus, vcpus := r.Left()
		now.GPUs, now.VCPUs = now.GPUs+gpus, now.VCPUs+vcpus
		if !found || r.Rank == most.Rank || more(now, most) {
			most = now
		}
		found = true
	}

	return func(yield func(compute.HostRoom) bool) {
		for r := range rooms {
			if r.Rank > most.Rank || r.Rank == most.Rank && !yield(r) {
				return
			}
		}
	}
}

// more reports whether a has more left than b.
func more(a, b compute.HostRoom) bool {
	return a.GPUs > b.GPUs || a.GPUs == b.GPUs && a.VCPUs > b.VCPUs
}

// choose gives, of one host of each of the rooms, the first in the order of the fleet that none is better than.
func choose(rooms iter.Seq[compute.HostRoom], one func(compute.HostRoom) compute.HostRoom, better func(a, b compute.HostRoom) bool) (best compute.HostRoom, ok bool) {
	for r := range rooms {
		h := one(r)
		if !ok || better(h, best) || h.Number < best.Number && !better(best, h) {
			best, ok = h, true
		}
	}
	return best, ok
}
