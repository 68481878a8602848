package httpapi

import (
	"context"
	"sync"
)

const (
	largeBody   = 1_000_000 // bytes; a smaller one goes by
	largeBodies = 8
)

// gate lets in so many requests with a large body at once, from before the body is read until it is stored: fifty bodies of
// 20 MB that come together would take more memory than the machine may have. A channel is all it needs.
type gate chan struct{}

// enter waits until there is room. leave may be called more than once.
func (g gate) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g <- struct{}{}:
		return sync.OnceFunc(func() { <-g }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stored lets go of the body of a request: it is on disk, and what follows may take long.
func stored(r *request) func() {
	return func() {
		r.body, r.raw = nil, nil
		if r.leave != nil {
			r.leave()
		}
	}
}
