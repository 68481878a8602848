package compute

// HostRoom is a host that has room for what is to be placed, as a runtime is asked to choose among them, or several that are alike but for
// what nobody holds of them. They come by their Rank.
type HostRoom struct {
	Number      int // its place in the fleet: among equals the first is preferred
	HostID      string
	Rank        int   // of its data center among those that are asked for: the least is preferred
	Named       bool  // the data centers were named, in the order that is wanted
	GPUs, VCPUs int64 // that nobody holds
	// Alike are those that it stands for; then it has Rank and Named alone. Nil: it is one host. It can be asked until the next one is given.
	Alike AlikeRooms
}

// AlikeRooms are hosts that are alike but for what nobody holds of them, and have room. Which has more is said by their GPUs, and by their
// vCPUs where they have as many.
type AlikeRooms interface {
	// Least gives the host with the least left, among equals the first.
	Least() HostRoom
	// Most gives the host with the most left, among equals the first.
	Most() HostRoom
	// Left gives what nobody holds of all of them.
	Left() (gpus, vcpus int64)
}

// Least gives the host with the least left of those that it stands for.
func (r HostRoom) Least() HostRoom {
	if r.Alike == nil {
		return r
	}
	return r.Alike.Least()
}

// Most gives the host with the most left of those that it stands for.
func (r HostRoom) Most() HostRoom {
	if r.Alike == nil {
		return r
	}
	return r.Alike.Most()
}

// Left gives what nobody holds of all that it stands for.
func (r HostRoom) Left() (gpus, vcpus int64) {
	if r.Alike == nil {
		return r.GPUs, r.VCPUs
	}
	return r.Alike.Left()
}
