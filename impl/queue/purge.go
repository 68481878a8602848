package queue

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Purge cancels every job that waits and tells how many there were. Jobs in progress go on.
func (q *Queue) Purge(ctx context.Context, user compute.UserID, e compute.EndpointID) (removed int, err error) {
	q.mu.Lock()
	l, err := q.line(user, e)
	if err != nil {
		q.mu.Unlock()
		return 0, err
	}
	q.mu.Unlock()
	return q.purge(ctx, e, l)
}

func (q *Queue) purge(ctx context.Context, e compute.EndpointID, l *line) (removed int, err error) {
	q.mu.Lock()
	ids := l.empty()
	q.mu.Unlock()
	for len(ids) > 0 {
		batch := ids[:min(len(ids), sweepBatch)]
		ended, unknown, err := q.cancelWaiting(ctx, batch)
		if unknown {
			q.doubtJobs(e, batch...)
			ids = ids[len(batch):]
		}
		if err != nil {
			q.backInLine(e, ids)
			return removed, err
		}
		for _, j := range ended {
			q.tellEnded(ctx, j)
			q.ended(e, j.ID)
		}
		removed += len(ended)
		ids = ids[len(batch):]
	}
	q.hooks.Delivery()
	return removed, nil
}

// cancelWaiting cancels those of the jobs that still wait, in one transaction, and gives them. If it fails, unknown tells whether
// they may have been cancelled all the same.
func (q *Queue) cancelWaiting(ctx context.Context, ids []compute.JobID) (ended []compute.Job, unknown bool, err error) {
	unknown, err = unsure(ctx, q.store.Write, func(tx store.Tx) error {
		ended = ended[:0]
		for _, id := range ids {
			j, err := tx.Job(id)
			if compute.CodeOf(err) == compute.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			if j.Status != compute.JobInQueue {
				continue
			}
			if j.Status, err = compute.JobMachine.Next(compute.JobInQueue, compute.JobCancel); err != nil {
				return err
			}
			moved, err := q.moveToEnd(tx, &j, compute.JobInQueue, j.WorkerID)
			if err != nil {
				return err
			}
			if moved {
				ended = append(ended, j)
			}
		}
		return nil
	})
	return ended, unknown, err
}
