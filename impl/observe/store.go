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
	return asSpan(ctx, s, s.Store.Write, f)
}

// SubmitJob is that of the store.
func (s tracedStore) SubmitJob(ctx context.Context, one *store.Submission) error {
	return asSpan(ctx, s, s.Store.SubmitJob, one)
}

// TakeJobs is that of the store.
func (s tracedStore) TakeJobs(ctx context.Context, t store.Take) error {
	return asSpan(ctx, s, s.Store.TakeJobs, t)
}

// EndJob is that of the store.
func (s tracedStore) EndJob(ctx context.Context, e store.JobEnd) error {
	return asSpan(ctx, s, s.Store.EndJob, e)
}

func asSpan[T any](ctx context.Context, s tracedStore, write func(context.Context, T) error, what T) error {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return write(ctx, what)
	}
	ctx, span := s.tracing.tracer.Start(ctx, "commit")
	defer span.End() // also when a function of the caller's panics
	err := write(ctx, what)
	if err != nil {
		span.SetStatus(codes.Error, "refused or failed") // why, may hold what the client sent
	}
	return err
}
