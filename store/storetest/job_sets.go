package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// jobSets leads jobs through their lives by the calls of the hot paths.
func jobSets(t *testing.T, open Open) {
	s, clock := begin(t, open)
	write(t, s, func(tx store.Tx) error { return insertEndpoint(tx, "e") })
	ctx := t.Context()
	draft := func(id compute.JobID) compute.Job {
		return compute.Job{ID: id, EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Minute}
	}

	var stored []compute.Job
	note := func(j compute.Job) { stored = append(stored, j) }
	require.NoError(t, s.SubmitJob(ctx, &store.Submission{Job: draft("waits"), Input: json.RawMessage(`1`), Stored: note}))

	assigned, early := 0, 0
	require.NoError(t, s.SubmitJob(ctx, &store.Submission{
		Job: draft("taken"), Input: json.RawMessage(`2`), Stored: note,
		Assign: func() compute.WorkerID { assigned++; return "w" },
		Early: func(j compute.Job) bool {
			early++
			require.Equal(t, compute.JobInProgress, j.Status)
			return true
		},
	}))
	require.NoError(t, s.SubmitJob(ctx, &store.Submission{
		Job: draft("nobody"), Assign: func() compute.WorkerID { return "" },
		Early: func(compute.Job) bool { t.Error("early for nobody"); return false },
	}))

	require.Equal(t, []int{1, 1}, []int{assigned, early})
	require.Len(t, stored, 2)
	require.Equal(t, compute.JobInQueue, stored[0].Status)
	require.Equal(t, clock.Now().Add(time.Hour), stored[0].ExpiresAt)
	require.Equal(t, []any{compute.JobInProgress, compute.WorkerID("w"), 1, clock.Now()}, []any{stored[1].Status, stored[1].WorkerID, stored[1].Attempt, stored[1].TakenAt})

	err := s.SubmitJob(ctx, &store.Submission{Job: draft("waits"), Stored: note})
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.Len(t, stored, 2, "not stored, not notified")

	var taken []store.TakenJob
	left := 0
	take := store.Take{Worker: "v", Jobs: []compute.JobID{"waits", "taken", "unknown", "nobody"}, Taken: func(jobs []store.TakenJob, rest int) { taken, left = jobs, rest }}
	require.NoError(t, s.TakeJobs(ctx, take))
	require.Len(t, taken, 2)
	require.Equal(t, []compute.JobID{"waits", "nobody"}, []compute.JobID{taken[0].ID, taken[1].ID})
	require.Equal(t, json.RawMessage(`1`), taken[0].Input)
	require.NoError(t, s.TakeJobs(ctx, take))
	require.Empty(t, taken, "taken once")
	require.Zero(t, left)

	var ended []compute.Job
	end := store.JobEnd{
		Job: stored[1], Was: store.JobGuard{Status: compute.JobInProgress, Worker: "v", Attempt: 1}, Ended: func(j compute.Job) { ended = append(ended, j) },
		Document: func(j compute.Job) (json.RawMessage, error) {
			return json.RawMessage(`{"id":"` + string(j.ID) + `"}`), nil
		},
	}

	end.Job.Status, end.Job.Output, end.Job.Webhook = compute.JobCompleted, json.RawMessage(`3`), "http://receiver"
	require.NoError(t, s.EndJob(ctx, end))
	require.Empty(t, ended, "somebody else holds it")
	end.Was.Worker = "w"
	require.NoError(t, s.EndJob(ctx, end))
	require.NoError(t, s.EndJob(ctx, end))
	require.Len(t, ended, 1, "once")
	require.Equal(t, clock.Now().Add(time.Minute), ended[0].ExpiresAt)

	var posts []compute.Webhook
	require.NoError(t, s.Read(ctx, func(tx store.Tx) error {
		j, err := tx.Job("taken")
		require.Equal(t, ended[0].EndedAt, j.EndedAt)
		require.Equal(t, compute.JobCompleted, j.Status)
		return errors.Join(err, tx.PendingWebhooks(0, func(w compute.Webhook) { posts = append(posts, w) }))
	}))

	require.Len(t, posts, 1)
	require.Equal(t, compute.JobID("taken"), posts[0].JobID)
	require.Equal(t, compute.JobCounts{InProgress: 2, Completed: 1}, counts(t, s))
}

// boundedTakes takes jobs until their inputs are enough.
func boundedTakes(t *testing.T, open Open) {
	s, _ := begin(t, open)
	write(t, s, func(tx store.Tx) error { return insertEndpoint(tx, "e") })
	ids := []compute.JobID{"a", "long", "b", "c", "d"}
	for _, id := range ids {
		input := json.RawMessage(`"` + strings.Repeat("x", 98) + `"`)
		if id == "long" {
			input = json.RawMessage(`"` + strings.Repeat("x", 2*compute.PieceSize-2) + `"`)
		}
		j := compute.Job{ID: id, EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Minute}
		require.NoError(t, s.SubmitJob(t.Context(), &store.Submission{Job: j, Input: input}))
	}

	take := func(enough int) (taken []compute.JobID) {
		left := 0
		require.NoError(t, s.TakeJobs(t.Context(), store.Take{Worker: "w", Jobs: ids, Enough: enough, Taken: func(jobs []store.TakenJob, rest int) {
			taken, left = nil, rest
			for _, j := range jobs {
				taken = append(taken, j.ID)
			}
		}}))
		ids = ids[len(ids)-left:]
		return taken
	}

	require.Equal(t, []compute.JobID{"a"}, take(100))
	require.Equal(t, []compute.JobID{"long"}, take(2*compute.PieceSize), "a long one counts as a whole")
	require.Equal(t, []compute.JobID{"b", "c"}, take(101))
	require.Equal(t, []compute.JobID{"d"}, take(0))
	require.Empty(t, ids)

	ids = []compute.JobID{"s", "t"}
	for _, id := range ids {
		config := json.RawMessage(`{"a":"` + strings.Repeat("x", 92) + `"}`)
		j := compute.Job{ID: id, EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Minute, S3Config: config}
		require.NoError(t, s.SubmitJob(t.Context(), &store.Submission{Job: j, Input: json.RawMessage(`{}`)}))
	}
	require.Equal(t, []compute.JobID{"s"}, take(100), "what goes with an input counts, too")
}

// manyJobSets has very many call the hot paths at once, some of which must fail: what one of them does the others do not notice.
func manyJobSets(t *testing.T, open Open) {
	s, _ := begin(t, open)
	write(t, s, func(tx store.Tx) error { return insertEndpoint(tx, "e") })
	const jobs = 300
	id := func(n int) compute.JobID { return compute.JobID(fmt.Sprintf("j%d", n)) }
	draft := func(n int) compute.Job {
		return compute.Job{ID: id(n), EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Minute, Webhook: "http://receiver"}
	}

	// Each id is submitted twice, and some of the inputs are long.
	var stored, refused atomic.Int64
	atOnce(2*jobs, func(n int) {
		input := json.RawMessage(`1`)
		if n%50 == 0 {
			input = json.RawMessage(`"` + strings.Repeat("x", 2*compute.PieceSize) + `"`)
		}
		err := s.SubmitJob(t.Context(), &store.Submission{Job: draft(n % jobs), Input: input, Stored: func(compute.Job) { stored.Add(1) }})
		if compute.CodeOf(err) == compute.Conflict {
			refused.Add(1)
		} else {
			assert.NoError(t, err)
		}
	})
	require.Equal(t, []int64{jobs, jobs}, []int64{stored.Load(), refused.Load()})

	// Each job is wanted by three workers.
	var mu sync.Mutex
	taken := map[compute.JobID]store.TakenJob{}
	atOnce(3*jobs, func(n int) {
		assert.NoError(t, s.TakeJobs(t.Context(), store.Take{
			Worker: compute.WorkerID(fmt.Sprintf("w%d", n)), Jobs: []compute.JobID{id(n % jobs), id((n + 7) % jobs)},
			Taken: func(got []store.TakenJob, _ int) {
				mu.Lock()
				defer mu.Unlock()
				for _, j := range got {
					_, before := taken[j.ID]
					assert.False(t, before, "%s is taken twice", j.ID)
					taken[j.ID] = j
				}
			},
		}))
	})
	require.Len(t, taken, jobs)

	// Each is ended twice, by who holds it, and some of them panic.
	var ended atomic.Int64
	var panics atomic.Int64
	atOnce(2*jobs, func(n int) {
		j := taken[id(n%jobs)].Job
		end := store.JobEnd{Job: j, Was: store.GuardOf(j), Ended: func(compute.Job) { ended.Add(1) }, Document: func(compute.Job) (json.RawMessage, error) {
			if n%100 == 99 {
				panic("no document")
			}
			return json.RawMessage(`{}`), nil
		}}
		end.Job.Status, end.Job.Output = compute.JobCompleted, json.RawMessage(`2`)
		defer func() {
			if recover() != nil {
				panics.Add(1)
			}
		}()
		assert.NoError(t, s.EndJob(t.Context(), end))
	})

	require.Equal(t, []int64{jobs - 3, 6}, []int64{ended.Load(), panics.Load()})
	require.Equal(t, compute.JobCounts{InProgress: 3, Completed: jobs - 3}, counts(t, s))
}

// atOnce runs f so many times at once.
func atOnce(times int, f func(n int)) {
	var group sync.WaitGroup
	for n := range times {
		group.Go(func() { f(n) })
	}
	group.Wait()
}
