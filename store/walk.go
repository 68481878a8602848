package store

import (
	"math"

	"github.com/berthdev/berth/impl/compute"
)

// walkRoom is about how many bytes of a list are in memory at a time while it is walked.
const walkRoom = 8 << 20

// Walk calls each for everything in a list of the user, newest first. It reads page by page, so that a list of large things is never in
// memory as a whole. It is for one transaction, of which all pages show the same moment.
func Walk[T any](user compute.UserID, page func(compute.UserID, compute.Page) ([]T, compute.Position, error), each func(T)) error {
	p := compute.Page{Limit: math.MaxInt32, Room: func(bytes int) bool { return bytes <= walkRoom }}
	for {
		some, next, err := page(user, p)
		if err != nil {
			return err
		}
		for _, one := range some {
			each(one)
		}
		if p.After = next; next == (compute.Position{}) {
			return nil
		}
	}
}
