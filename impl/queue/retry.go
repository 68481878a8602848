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
	unknown, err := unsure(ctx, q.store.Write, func(tx store.Tx) (err error) {
		if j, err = ownJob(tx, e, id); err != nil {
			return err
		}
		from, holder := j.Status, j.WorkerID
		if j.Status, err = compute.JobMachine.Next(from, compute.JobRetry); err != nil {
			return err
		}
		j.WorkerID, j.Output, j.Error, j.Attempt, j.Retries = "", nil, "", 0, 0
		j.QueuedAt, j.TakenAt, j.EndedAt, j.ExpiresAt = tx.Now(), time.Time{}, time.Time{}, tx.Now().Add(j.TTL)
		_, err = tx.MoveJob(j, from, holder)
		return err
	})
	if unknown {
		q.doubtJobs(e, id)
	}
	if err != nil {
		return j, err
	}
	q.enqueue(j, false, false)
	return j, nil
}
