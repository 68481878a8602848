package runtime

import "context"

// HostReporter is a runtime that knows the machines of its own scheduler.
type HostReporter interface {
	// Hosts gives the machines as they are now. ErrUnavailable.
	Hosts(ctx context.Context) ([]HostReport, error)
	// HostsChanged delivers a hint after each change, many of them as one. The channel is the runtime's own and is never closed.
	HostsChanged() <-chan struct{}
}

// HostReport is one machine: what it has, and what allocations of this runtime take of that.
type HostReport struct {
	ID         string
	Zone       string // where it is, as its operator calls it; empty: unknown
	GPUProduct string // as the vendor's tools name it; empty: it has none
	CUDA       string // the latest version that its driver runs, like 12.8; empty: nobody knows
	Has, Taken HostSize
	Ready      bool
	Draining   bool   // nothing more is placed on it
	GPUsAlone  bool   // nothing is placed on it that asks for no GPU
	Reason     string // why it is not ready
}

// HostSize is a part of a machine.
type HostSize struct{ GPUs, VCPUs, MemoryGB, DiskGB int64 }
