package queue

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Retry puts a FAILED or TIMED_OUT job back in the queue under its id, with its input, without its output and with fresh
// attempts and time to live. Conflict in any other status, NotFound once its result has expired.
func (q *Queue) Retry(ctx context.Context, user compute.UserID, e compute.EndpointID, id compute.JobID) (compute.Job, error) {
	if err := q.Known(user, e); err != nil {
		return compute.Job{}, err
	}
	if err := q.roomForDoubt(); err != nil {
		return compute.Job{}, err
	}

	q.forget(id)
	var j compute.Job
	err := q.store.Write(ctx, func(tx store.Tx) (err error) {
		if j, err = ownJob(tx, e, id); err != nil {
			return err
		}
		was := store.GuardOf(j)
		if j.Status, err = compute.JobMachine.Next(j.Status, compute.JobRetry); err != nil {
			return err
		}

		j.WorkerID, j.Output, j.OutputSize, j.Error, j.Attempt, j.Retries = "", nil, 0, "", 0, 0
		j.QueuedAt, j.TakenAt, j.EndedAt, j.ExpiresAt = tx.Now(), time.Time{}, time.Time{}, tx.Now().Add(j.TTL)
		_, err = tx.MoveJob(j, was)

		again := j
		tx.AfterCommit(func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.enqueue(again, false, false)
		})

		return err
	})
	if store.IsUnknown(err) {
		q.doubtJobs(e, id)
	}
	if err == nil {
		q.demand(e)
	}

	return j, err
}
