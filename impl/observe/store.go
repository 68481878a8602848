package observe

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/berthdev/berth/store"
)

// tracedStore is a store whose writes are spans of the requests that they are for.
type tracedStore struct {
	store.Store
	tracing *Tracing
}

// Store gives the store with a span around each write for a request that is traced: from the call until it is on disk, with its
// wait for those with which it shares a commit.
func (t *Tracing) Store(s store.Store) store.Store { return tracedStore{s, t} }

// Write is that of the store.
func (s tracedStore) Write(ctx context.Context, f func(store.Tx) error) error {
	return s.traced(ctx, s.Store.Write, f)
}

// WriteSure is that of the store.
func (s tracedStore) WriteSure(ctx context.Context, f func(store.Tx) error) error {
	return s.traced(ctx, s.Store.WriteSure, f)
}

func (s tracedStore) traced(ctx context.Context, write func(context.Context, func(store.Tx) error) error, f func(store.Tx) error) error {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return write(ctx, f)
	}
	ctx, span := s.tracing.tracer.Start(ctx, "commit")
	defer span.End() // also when f panics
	err := write(ctx, f)
	if err != nil {
		span.SetStatus(codes.Error, "refused or failed") // why, may hold what the client sent
	}
	return err
}
