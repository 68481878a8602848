package compute

// HostRoom is a host that has room for what is to be placed, as a runtime is asked to choose among them.
type HostRoom struct {
	Number      int // by which the caller knows it
	HostID      string
	Rank        int   // of its data center among those that are asked for: the least is preferred
	Named       bool  // the data centers were named, in the order that is wanted
	GPUs, VCPUs int64 // that nobody holds
}
