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
		return choose(rooms, more)
	case PolicySpreadCenters:
		left := map[int]compute.HostRoom{} // of each data center, by its rank
		for r := range rooms {
			sum := left[r.Rank]
			sum.GPUs, sum.VCPUs = sum.GPUs+r.GPUs, sum.VCPUs+r.VCPUs
			left[r.Rank] = sum
		}
		return choose(rooms, func(a, b compute.HostRoom) bool {
			if a.Rank == b.Rank {
				return more(a, b)
			}
			if a.Named || left[a.Rank] == left[b.Rank] {
				return a.Rank < b.Rank
			}
			return more(left[a.Rank], left[b.Rank])
		})
	default:
		return Pack(rooms)
	}
}

// Pack chooses, in the most preferred data center, the host with the least left, so that large pods find large gaps. It is how the
// runtimes place that have no scheduler of their own, unless another policy is set.
func Pack(rooms iter.Seq[compute.HostRoom]) (best compute.HostRoom, ok bool) {
	return choose(rooms, func(a, b compute.HostRoom) bool {
		if a.Rank != b.Rank {
			return a.Rank < b.Rank
		}
		return a.GPUs < b.GPUs || a.GPUs == b.GPUs && a.VCPUs < b.VCPUs
	})
}

// more reports whether a has more left than b, in a data center that is preferred to b's or the same.
func more(a, b compute.HostRoom) bool {
	if a.Rank != b.Rank {
		return a.Rank < b.Rank
	}
	return a.GPUs > b.GPUs || a.GPUs == b.GPUs && a.VCPUs > b.VCPUs
}

// choose gives the first of the rooms that none is better than.
func choose(rooms iter.Seq[compute.HostRoom], better func(a, b compute.HostRoom) bool) (best compute.HostRoom, ok bool) {
	for r := range rooms {
		if !ok || better(r, best) {
			best, ok = r, true
		}
	}
	return best, ok
}
