package queue

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Purge cancels every job that waits and reports how many there were. Jobs in progress go on.
func (q *Queue) Purge(ctx context.Context, user compute.UserID, e compute.EndpointID) (removed int, err error) {
	if err := q.Known(user, e); err != nil {
		return 0, err
	}
	return q.purge(ctx, e)
}

func (q *Queue) purge(ctx context.Context, e compute.EndpointID) (removed int, err error) {
	q.mu.Lock()
	var ids []compute.JobID
	if d := q.dispatchers[e]; d != nil {
		ids = d.empty()
	}
	q.mu.Unlock()

	for len(ids) > 0 {
		batch := ids[:min(len(ids), sweepBatch)]
		ended, err := q.cancelWaiting(ctx, batch)
		if store.IsUnknown(err) {
			q.doubtJobs(e, batch...)
			ids = ids[len(batch):]
		}
		if err != nil {
			q.requeue(e, ids)
			return removed, err
		}

		for _, one := range ended {
			one.announce(ctx, q, nil)
		}
		removed += len(ended)
		ids = ids[len(batch):]
	}

	return removed, nil
}

// cancelWaiting cancels those of the jobs that still wait, in one transaction, and gives them.
func (q *Queue) cancelWaiting(ctx context.Context, ids []compute.JobID) (ended []*ending, err error) {
	err = q.store.Write(ctx, func(tx store.Tx) error {
		ended = nil
		for _, id := range ids {
			j, err := tx.Job(id)
			if compute.CodeOf(err) == compute.NotFound || err == nil && j.Status != compute.JobInQueue {
				continue
			}
			if err != nil {
				return err
			}

			one := &ending{endpoint: j.EndpointID, holder: anyHolder, decide: func(*compute.Job) compute.JobEvent { return compute.JobCancel }}
			if err := one.move(q, tx, j); err != nil {
				return err
			}
			if one.moved {
				ended = append(ended, one)
			}
		}

		return nil
	})

	return ended, err
}
