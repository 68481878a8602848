package queue_test

import (
	"context"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// sameJob compares what an operation answered with the reference's job; nil is NotFound.
func (r *modelRun) sameJob(want *refJob, got compute.Job, err error) {
	if want == nil {
		require.Equal(r, compute.NotFound, compute.CodeOf(err))
		return
	}
	require.NoError(r, err)
	shown, err := document(got)
	require.NoError(r, err)
	wanted, err := document(want.Job)
	require.NoError(r, err)
	require.Equal(r, string(wanted), string(shown))
}

// check compares everything that is on disk, and the numbers.
func (r *modelRun) check() {
	require.NoError(r, r.db.Read(context.Background(), func(tx store.Tx) error {
		for _, id := range r.created {
			want := r.m.jobs[id]
			got, err := tx.Job(id)
			if want == nil {
				require.Equal(r, compute.NotFound, compute.CodeOf(err), r.names[id])
				continue
			}

			require.NoError(r, err, r.names[id])
			require.Equal(r, want.Job, got, r.names[id])
			has, err := tx.HasChunks(id)
			require.NoError(r, err)
			require.Equal(r, len(want.chunks) > 0, has, r.names[id])

			if was := r.ends[id]; was != "" {
				require.Equal(r, was, got.Status, "a final status never changes but by a retry")
			}
			if got.Status.Ended() {
				r.ends[id] = got.Status
			}
			require.LessOrEqual(r, got.Attempt, r.m.settings.MaxAttempts)
		}

		posts := r.pending(tx)
		require.Equal(r, len(r.m.posts), len(posts), "one delivery for each end of a job with a webhook")
		for i := range posts {
			require.Equal(r, r.m.posts[i], posts[i])
		}
		return nil
	}))

	next, err := r.queue.Next(context.Background())
	require.NoError(r, err)
	require.Equal(r, r.m.next(), next, "when the next thing is due")
	for _, e := range modelEndpoints {
		got, err := r.queue.Health(context.Background(), user, e)
		require.NoError(r, err)
		require.Equal(r, r.m.health(e), got)
	}
}

// demands compares what scaling is decided on. Asking makes a worker that leaves a stop unread one that is to be replaced.
func (r *modelRun) demands() {
	for _, d := range r.queue.Demands() {
		l := r.m.lines[d.Endpoint.ID]
		require.Equal(r, len(l.normal), d.Waiting)
		overdue := 0
		for _, id := range l.normal {
			if r.m.now.Sub(r.m.jobs[id].QueuedAt) >= time.Duration(d.Endpoint.ScalerValue)*time.Second {
				overdue++
			}
		}

		require.Equal(r, min(overdue, d.Endpoint.WorkersMax), d.Overdue)
		held := 0
		for _, id := range r.m.held {
			if j := r.m.jobs[id]; j.EndpointID == d.Endpoint.ID && !j.LowPriority {
				held++
			}
		}

		require.Equal(r, held, d.Held)
		managed := 0
		for w, s := range l.workers {
			if !s.managed {
				continue
			}
			managed++

			for _, j := range s.stops {
				if !j.sent && r.m.now.Sub(j.since) >= 10*time.Second {
					s.leaving = true
				}
			}

			i := slices.IndexFunc(d.Workers, func(v workerView) bool { return v.ID == w })
			require.GreaterOrEqual(r, i, 0, w)
			require.Equal(r, []any{r.m.workerStatus(d.Endpoint.ID, w), s.draining, s.leaving}, []any{d.Workers[i].Status, d.Workers[i].Draining, d.Workers[i].Leaving}, w)
		}

		require.Len(r, d.Workers, managed)
	}
}

// finale takes what is left, by a worker that no job avoids, and reads every stream.
func (r *modelRun) finale() {
	r.check()
	for _, e := range modelEndpoints {
		r.take(e, "finale", 1000, false)
	}
	for _, id := range r.created {
		for _, e := range modelEndpoints {
			r.read(e, id)
		}
	}
	r.check()
}
