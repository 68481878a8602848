package runtime

import (
	"iter"

	"github.com/berthdev/berth/impl/compute"
)

// Pack chooses, in the most preferred data center, the host with the least left, so that large pods find large gaps. It is how the
// runtimes place that have no scheduler of their own.
func Pack(rooms iter.Seq[compute.HostRoom]) (best compute.HostRoom, ok bool) {
	for r := range rooms {
		if !ok || r.Rank < best.Rank || r.Rank == best.Rank && (r.GPUs < best.GPUs || r.GPUs == best.GPUs && r.VCPUs < best.VCPUs) {
			best, ok = r, true
		}
	}
	return best, ok
}
