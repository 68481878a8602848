package store

// Seeds stores which seed the rows come from.
type Seeds interface {
	// Seed gives the digest that SetSeed kept since the last Clear; empty: none.
	Seed() (string, error)
	// SetSeed keeps the digest of the seed whose rows are all there.
	SetSeed(digest string) error
}
