package control

import "context"

type fixedIDKey struct{}

// WithID gives a context in which what a use case creates gets the id, in place of a new one: what a seed asks for. It is for one call.
func WithID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, fixedIDKey{}, id)
}

// newID gives the id that the context fixes, or else makes one.
func newID[T ~string](ctx context.Context, made func() T) T {
	if id, fixed := ctx.Value(fixedIDKey{}).(string); fixed {
		return T(id)
	}
	return made()
}
