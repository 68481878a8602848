package queue_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// beside is a second queue on the store, as that of another process. Its source of ids has the seed, and the same millisecond.
func (b *bench) beside(seed byte) *queue.Queue {
	ids := compute.NewIDs(rand.NewChaCha8([32]byte{seed}), b.clock)
	q, err := queue.New(b.Context(), b.db, b.clock, ids, queue.DefaultSettings(), b.hooks)
	require.NoError(b, err)
	return q
}

func TestSubmit_TwoSourcesOfIDsDoNotCollide(t *testing.T) {
	t.Parallel()
	for name, seeds := range map[string][2]byte{
		"of two numbers":                   {1, 2},
		"with the same randomness in both": {3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			queues := []*queue.Queue{b.beside(seeds[0]), b.beside(seeds[1])}

			made := map[compute.JobID]json.RawMessage{}
			for n, q := range queues {
				for i := range 200 {
					input, err := json.Marshal(map[string]int{"queue": n, "job": i})
					require.NoError(t, err)
					j, err := q.Run(t.Context(), user, b.endpoint, queue.Submission{Input: input})
					require.NoError(t, err)
					require.NotContains(t, made, j.ID)
					made[j.ID] = input
				}
			}

			for _, q := range queues {
				for range 200 {
					taken, err := q.Take(t.Context(), user, b.endpoint, "w", 1)
					require.NoError(t, err)
					require.JSONEq(t, string(made[taken[0].ID]), string(taken[0].Input))
					delete(made, taken[0].ID)
				}
			}

			require.Empty(t, made)
		})
	}
}

// A job that is waited for may get another id while it is stored: who waits is notified of its end all the same.
func TestSubmit_WaitEndsForAJobWhoseIDChanged(t *testing.T) {
	t.Parallel()
	b := open(t)
	first, second := b.beside(4), b.beside(4)
	j, err := first.Run(t.Context(), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)})
	require.NoError(t, err)

	ended := make(chan compute.Job, 1)
	go func() {
		done, _ := second.RunSync(context.WithoutCancel(t.Context()), user, b.endpoint, queue.Submission{Input: json.RawMessage(`{}`)}, time.Hour)
		ended <- done
	}()
	taken, err := second.Take(t.Context(), user, b.endpoint, "w", 1)
	require.NoError(t, err)
	require.Len(t, taken, 1)
	require.NotEqual(t, string(j.ID[:18]), string(taken[0].ID[len("sync-"):][:18]))
	require.NoError(t, second.Finish(t.Context(), user, b.endpoint, "w", taken[0].ID, queue.Report{Output: json.RawMessage(`1`)}))

	var done compute.Job
	require.Eventually(t, func() bool {
		select {
		case done = <-ended:
			return true
		default:
			return false
		}
	}, 10*time.Second, time.Millisecond)

	require.Equal(t, taken[0].ID, done.ID)
	require.Equal(t, compute.JobCompleted, done.Status)
}

func TestDemands_AreInTheOrderOfTheEndpoints(t *testing.T) {
	t.Parallel()
	b := open(t)
	for i := range 30 {
		b.queue.SetEndpoint(compute.Endpoint{ID: compute.EndpointID(fmt.Sprintf("endpoint %d", i)), UserID: user})
	}
	demands := b.queue.Demands()
	require.Len(t, demands, 31)
	require.True(t, slices.IsSortedFunc(demands, func(a, b queue.Demand) int { return cmp.Compare(a.Endpoint.ID, b.Endpoint.ID) }))
}
