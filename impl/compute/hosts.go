package compute

// HostChange is how a host of the fleet differs from what the operator's file has. The zero change of a host, but for its id, is none.
type HostChange struct {
	ID       string
	Added    string // the host as JSON, if it was added while a server ran; empty: it was not
	Draining bool   // nothing more is placed on it
	Removed  bool   // it was taken out
}

// None reports whether the host is as the file has it.
func (c HostChange) None() bool { return c.Added == "" && !c.Draining && !c.Removed }
