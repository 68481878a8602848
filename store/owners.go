package store

import (
	"context"
	"time"
)

// Owners says which replica owns the store: the one that has its memory, and writes. Safety is not in it: what a former owner writes is
// refused by the store itself, by the epoch.
type Owners interface {
	// Hold renews the lease of the replica, or takes what nobody has, and gives the owner.
	Hold(ctx context.Context, me Replica, lease time.Duration) (Owner, error)
	// See gives the owner; one whose lease is over has nothing Left, and an empty ID says that there was none yet.
	See(ctx context.Context) (Owner, error)
	// Release gives up what the replica owns, at once: what it holds next has another epoch.
	Release(ctx context.Context, me Replica) error
	// Join says for the time of a lease that the replica runs, and gives the others that do.
	Join(ctx context.Context, me Replica, lease time.Duration) ([]Replica, error)
	// Leave undoes Join, and gives up what the replica owns.
	Leave(ctx context.Context, me Replica) error
	Close() error
}

// Replica is a server that shares the store with others.
type Replica struct {
	ID       string            // another one with each start
	Address  string            // base of the URL under which the others reach it
	Settings map[string]string // what must be the same for all, by the names of the settings
}

// Owner is who owns the store.
type Owner struct {
	ID, Address string
	Epoch       int64         // another one with each owner, and always a greater one
	Left        time.Duration // of its lease, by the clock of the database
}
