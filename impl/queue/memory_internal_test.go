package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

const (
	owner    compute.UserID     = "u"
	endpoint compute.EndpointID = "endpointone000"
)

// small gives a queue over a file, with an endpoint.
func small(t *testing.T) *Queue {
	clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
	db, err := sqlite.OpenUnsynced(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: endpoint, UserID: owner, Name: "one", Image: "one", WorkersMax: 1})
	}))
	q, err := New(t.Context(), db, clock, compute.NewIDs(rand.Reader, clock), DefaultSettings(), Hooks{})
	require.NoError(t, err)
	return q
}

// Whoever waits for something of a job leaves nothing behind: requests of a server are many.
func TestMemory_HasNothingOfRequestsThatAreOver(t *testing.T) {
	t.Parallel()
	q := small(t)
	gone, leave := context.WithCancel(t.Context())
	leave()
	ask := func(id compute.JobID) {
		for _, ctx := range []context.Context{t.Context(), gone} {
			_, _ = q.Wait(ctx, owner, endpoint, id, 0)
			_, _, _ = q.Stream(ctx, owner, endpoint, id, 0, nil)
			_, _ = q.Take(ctx, owner, "nosuchendpoint", "w", 1)
		}
		require.Empty(t, q.ends)
		require.Empty(t, q.chunks)
		require.Empty(t, q.early)
		require.Zero(t, q.Holding())
	}

	_, err := q.RunSync(gone, owner, endpoint, Submission{Input: json.RawMessage(`{}`)}, 0)
	require.Error(t, err)
	require.Empty(t, q.ends)
	j, err := q.RunSync(t.Context(), owner, endpoint, Submission{Input: json.RawMessage(`{}`)}, 0)
	require.NoError(t, err)
	ask(j.ID)
	ask("nosuchjob")
	taken, err := q.Take(t.Context(), owner, endpoint, "w", 1)
	require.NoError(t, err)
	require.Len(t, taken, 1)
	ask(j.ID)
	require.NoError(t, q.StreamJob(t.Context(), owner, endpoint, "w", j.ID, compute.Chunk{Output: json.RawMessage(`1`)}))
	ask(j.ID)
	require.NoError(t, q.Finish(t.Context(), owner, endpoint, "w", j.ID, Report{}))
	ask(j.ID)
	require.Empty(t, q.held)
	require.Len(t, q.dispatchers[endpoint].workers, 1)
	require.Empty(t, q.dispatchers[endpoint].workers["w"].jobs)
}

// What the queue remembers of a job goes with the job.
func TestMemory_HasNothingOfJobsThatAreDeleted(t *testing.T) {
	t.Parallel()
	q := small(t)
	j, err := q.Run(t.Context(), owner, endpoint, Submission{Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	for _, w := range []compute.WorkerID{"a", "b", "c"} {
		taken, err := q.Take(t.Context(), owner, endpoint, w, 1)
		require.NoError(t, err)
		require.Len(t, taken, 1)
		q.WorkerGone(t.Context(), endpoint, w, "it ended")
	}
	require.Len(t, q.dispatchers[endpoint].lost[j.ID], 3)
	_, kept := q.recent.find(j.ID)
	require.True(t, kept)

	clock := q.clock.(*compute.SettableClock)
	clock.Advance(30 * time.Minute)
	require.NoError(t, q.Sweep(t.Context()))
	require.Empty(t, q.dispatchers[endpoint].lost)
	require.Empty(t, q.recent.jobs)
}

func TestMemory_TakeThatCouldLeaveTooMuchInDoubtIsRefused(t *testing.T) {
	t.Parallel()
	q := small(t)
	var ids []compute.JobID
	for range 3 {
		j, err := q.Run(t.Context(), owner, endpoint, Submission{Input: json.RawMessage(`{}`)})
		require.NoError(t, err)
		ids = append(ids, j.ID)
	}
	for range mostDoubts {
		q.doubt("another", func(context.Context) error { return nil })
	}
	_, err := q.Take(t.Context(), owner, endpoint, "w", 2)
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))

	q.doubts.work = nil
	taken, err := q.Take(t.Context(), owner, endpoint, "w", 5)
	require.NoError(t, err)
	require.Len(t, taken, 3)
	for i := range taken {
		require.Equal(t, ids[i], taken[i].ID, "they waited on where they stood")
		require.Equal(t, 1, taken[i].Attempt)
	}
}

// The first fault of what is loaded is the one that counts, whatever comes after it.
func TestNew_FindsAStrangeJobAmongOthers(t *testing.T) {
	t.Parallel()
	for _, status := range []compute.JobStatus{compute.JobInQueue, compute.JobInProgress} {
		q := small(t)
		require.NoError(t, q.store.Write(t.Context(), func(tx store.Tx) error {
			for i, id := range []compute.JobID{"strange", "00000000-0000-7000-8000-000000000001"} {
				at := tx.Now().Add(time.Duration(i) * time.Second)
				j := compute.Job{ID: id, EndpointID: endpoint, Status: status, CreatedAt: at, QueuedAt: at, ExpiresAt: at.Add(time.Hour)}
				if status == compute.JobInProgress {
					j.TakenAt, j.WorkerID = at, "w"
				}
				if err := tx.InsertJob(j, json.RawMessage(`{}`)); err != nil {
					return err
				}
			}
			return nil
		}))
		_, err := New(t.Context(), q.store, q.clock, compute.NewIDs(rand.Reader, q.clock), DefaultSettings(), Hooks{})
		require.ErrorContains(t, err, `"strange"`, status)
		require.Equal(t, compute.Internal, compute.CodeOf(err))
		require.Error(t, q.Reload(t.Context()))
	}
}

// The ids of jobs are ordered by time, also over a restart and in the same millisecond.
func TestNew_GoesOnAfterTheLastID(t *testing.T) {
	t.Parallel()
	q := small(t)
	var last compute.JobID
	for range 40 {
		j, err := q.Run(t.Context(), owner, endpoint, Submission{Input: json.RawMessage(`{}`)})
		require.NoError(t, err)
		last = j.ID
	}
	again, err := New(t.Context(), q.store, q.clock, compute.NewIDs(rand.Reader, q.clock), DefaultSettings(), Hooks{})
	require.NoError(t, err)
	j, err := again.Run(t.Context(), owner, endpoint, Submission{Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Greater(t, j.ID, last)
}

func TestMemory_HasNothingOfHandOversThatAreOver(t *testing.T) {
	t.Parallel()
	q := &Queue{early: map[compute.EndpointID]int{endpoint: 2}}
	for _, left := range []int{1, 0} {
		s := submission{queue: q, early: true, Submission: store.Submission{Job: compute.Job{EndpointID: endpoint}}}
		s.after(nil)
		require.Equal(t, left, q.early[endpoint])
	}
	require.Empty(t, q.early)
}
