//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// A way to a database far away takes longer than what is done there: a write has as few of them as can be.
func TestDB_AJobsMovesTakeTwoWaysThereAndBack(t *testing.T) {
	t.Parallel()
	o := own(t)
	job := compute.Job{EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Hour}
	submit := func(ctx context.Context) error {
		return o.store.SubmitJob(ctx, &store.Submission{Job: job, Input: json.RawMessage(`1`)})
	}
	bound := func(ctx context.Context) error { // until the transaction has begun a worker may come that takes it at once
		j := job
		j.ID += "-bound"
		return o.store.SubmitJob(ctx, &store.Submission{Job: j, Input: json.RawMessage(`1`), Assign: func() compute.WorkerID { return "" }})
	}
	take := func(ctx context.Context) error {
		return o.store.TakeJobs(ctx, store.Take{Worker: "w", Jobs: []compute.JobID{job.ID}, Taken: func([]store.TakenJob, int) {}})
	}
	end := func(ctx context.Context) error {
		ended := job
		ended.Status, ended.WorkerID, ended.Attempt = compute.JobInProgress, "w", 1
		was := store.GuardOf(ended)
		ended.Status = compute.JobCompleted
		return o.store.EndJob(ctx, store.JobEnd{Job: ended, Was: was})
	}

	for _, id := range []compute.JobID{"first", "second"} {
		job.ID = id
		var turns []int
		for _, move := range []func(context.Context) error{submit, take, end, bound} {
			o.proxy.Count()
			require.NoError(t, move(t.Context()))
			turns = append(turns, o.proxy.Turns())
		}
		if id == "second" { // the first one had its statements prepared
			require.Equal(t, []int{2, 2, 2, 3}, turns)
		}
	}
}
