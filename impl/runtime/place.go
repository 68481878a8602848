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
		return choose(inFirstCenter(rooms), more)
	case PolicySpreadCenters:
		return chooseCenter(rooms)
	default:
		return Pack(rooms)
	}
}

// chooseCenter chooses the data center with the most left, unless they were named, and there the host with the most left.
func chooseCenter(rooms iter.Seq[compute.HostRoom]) (best compute.HostRoom, ok bool) {
	type center struct{ best, left compute.HostRoom }
	var centers []center
	for r := range rooms {
		if len(centers) == 0 || centers[len(centers)-1].best.Rank != r.Rank {
			if r.Named && len(centers) > 0 {
				break
			}
			centers = append(centers, center{best: r})
		}

		c := &centers[len(centers)-1]
		c.left.GPUs, c.left.VCPUs = c.left.GPUs+r.GPUs+r.OtherGPUs, c.left.VCPUs+r.VCPUs+r.OtherVCPUs
		if preferred(r, c.best, more) {
			c.best = r
		}
	}

	if len(centers) == 0 {
		return best, false
	}
	most := centers[0]
	for _, c := range centers[1:] {
		if more(c.left, most.left) {
			most = c
		}
	}
	return most.best, true
}

// Pack chooses, in the most preferred data center, the host with the least left, so that large pods find large gaps. It is how the
// runtimes place that have no scheduler of their own, unless another policy is set.
func Pack(rooms iter.Seq[compute.HostRoom]) (best compute.HostRoom, ok bool) {
	return choose(inFirstCenter(rooms), func(a, b compute.HostRoom) bool {
		return a.GPUs < b.GPUs || a.GPUs == b.GPUs && a.VCPUs < b.VCPUs
	})
}

// inFirstCenter gives the rooms in the most preferred data center that has any. They come by their rank.
func inFirstCenter(rooms iter.Seq[compute.HostRoom]) iter.Seq[compute.HostRoom] {
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

// more reports whether a has more left than b.
func more(a, b compute.HostRoom) bool {
	return a.GPUs > b.GPUs || a.GPUs == b.GPUs && a.VCPUs > b.VCPUs
}

// choose gives the first, in the order of the fleet, of the rooms that none is better than.
func choose(rooms iter.Seq[compute.HostRoom], better func(a, b compute.HostRoom) bool) (best compute.HostRoom, ok bool) {
	for r := range rooms {
		if !ok || preferred(r, best, better) {
			best, ok = r, true
		}
	}
	return best, ok
}

// preferred reports whether a is better than b, or as good and before it in the order of the fleet.
func preferred(a, b compute.HostRoom, better func(a, b compute.HostRoom) bool) bool {
	return better(a, b) || a.Number < b.Number && !better(b, a)
}
