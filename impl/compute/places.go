package compute

// HostRoom is a host that has room for what is to be placed, as a runtime is asked to choose among them. They come by their
// Rank. Of hosts that are alike but for what nobody holds of them there are two at most: the one with the least GPUs left, or with as many
// GPUs the least vCPUs, and the one with the most. Of equals it is the first in the order of the fleet.
type HostRoom struct {
	Number      int // by which the caller knows it: its place in the fleet, the first of which is preferred among equals
	HostID      string
	Rank        int   // of its data center among those that are asked for: the least is preferred
	Named       bool  // the data centers were named, in the order that is wanted
	GPUs, VCPUs int64 // that nobody holds
	// OtherGPUs and OtherVCPUs are those of the hosts like it that have room and are not given. One of the two that are given has them.
	OtherGPUs, OtherVCPUs int64
}
