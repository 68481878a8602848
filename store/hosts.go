package store

import "github.com/berthdev/berth/impl/compute"

// Runtimes stores which runtimes may have something of ours that outlives the server.
type Runtimes interface {
	// InsertRuntime stores the runtime, known or not.
	InsertRuntime(compute.RuntimeAt) error
	// ListRuntimes gives all, by name and address.
	ListRuntimes() ([]compute.RuntimeAt, error)
	// DeleteRuntime removes the runtime, known or not.
	DeleteRuntime(compute.RuntimeAt) error
}

// Hosts stores how the fleet differs from what the operator's file has.
type Hosts interface {
	// SetHostChange stores it in place of what was stored of the host, and forgets the host for a change that is none.
	SetHostChange(compute.HostChange) error
	// HostChanges gives all, in the order in which the hosts first had one.
	HostChanges() ([]compute.HostChange, error)
}
