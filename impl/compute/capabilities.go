package compute

// Capabilities are what a kind of runtime can do for pods and workers. Rules ask for them, never for the name of a runtime.
type Capabilities struct {
	// Simulates: nothing runs. Everything goes by the clock of the server, which a test may set; a worker is ready when it is up and
	// takes no jobs; no allocation has anything that another one could be in want of.
	Simulates bool
	GPUs      bool // gives GPUs to allocations
	Mounts    bool // persistent mounts and network volumes
	Networks  bool // puts pods of a user into one network
	Registry  bool // pulls images from registries, with a credential
	Login     bool // a user may log in to a pod by SSH
	Schedules bool // the runtime's own scheduler places: berth claims nothing of hosts, and what has no room now waits
	// HostName is the name by which what it runs reaches the machine of the server, where the server listens on the loopback alone;
	// empty: by the loopback.
	HostName string
}

// Lacks gives, for people, what a runtime of these capabilities does not have.
func (c Capabilities) Lacks() []string {
	all := []string{}
	for _, one := range []struct {
		has  bool
		what string
	}{
		{!c.Simulates, "anything that really runs"}, {c.GPUs, "GPUs"}, {c.Mounts, "persistent mounts and network volumes"},
		{c.Networks, "global networking"}, {c.Registry, "registry credentials"}, {c.Login, "SSH keys of users"},
	} {
		if !one.has {
			all = append(all, one.what)
		}
	}
	return all
}

// AllCapabilities are those of a runtime that can do everything, on this machine.
var AllCapabilities = Capabilities{GPUs: true, Mounts: true, Networks: true, Registry: true, Login: true}
