package compute

import "context"

type leavingKey struct{}

// WithLeaving gives a context for requests that came by way of another server, and what is closed when that one is about to stop. A request
// that is held, such as a take, is answered then with what is known.
func WithLeaving(ctx context.Context, leaving <-chan struct{}) context.Context {
	return context.WithValue(ctx, leavingKey{}, leaving)
}

// Leaving gives what WithLeaving was given; nil, which is never closed, if the request came straight to this server.
func Leaving(ctx context.Context) <-chan struct{} {
	leaving, _ := ctx.Value(leavingKey{}).(<-chan struct{})
	return leaving
}

// HasLeft reports whether what Leaving gives is closed.
func HasLeft(ctx context.Context) bool {
	select {
	case <-Leaving(ctx):
		return true
	default:
		return false
	}
}
