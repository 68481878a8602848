package store

import (
	"iter"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/transfer"
)

// Seeds stores which seed the rows come from.
type Seeds interface {
	// Seed gives the digest that SetSeed kept since the last Clear; empty: none.
	Seed() (string, error)
	// SetSeed keeps the digest of the seed whose rows are all there.
	SetSeed(digest string) error
}

// States reads everything for a saved state, and what a state says of itself.
type States interface {
	// Rows gives the rows of a table as transfer.Source does. It must not be called while it is being read from.
	Rows(t transfer.Table) iter.Seq2[[]any, error]
	// State gives what the state whose rows these are says of itself; it reports whether it was there.
	State() (s compute.SavedState, found bool, err error)
	// TakeState gives what the state whose rows these are says of itself, and forgets it; it reports whether it was there.
	TakeState() (s compute.SavedState, found bool, err error)
}
