package queue

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Purge cancels every job that waits and reports how many there were. Jobs in progress go on. It is seen through, whatever becomes of who asked:
// clients give it 3 seconds, and what they gave up would run.
func (q *Queue) Purge(ctx context.Context, user compute.UserID, e compute.EndpointID) (removed int, err error) {
	if err := q.Known(user, e); err != nil {
		return 0, err
	}
	return q.purge(context.WithoutCancel(ctx), e)
}

func (q *Queue) purge(ctx context.Context, e compute.EndpointID) (removed int, err error) {
	var normal, low []waiting
	q.mu.Lock()
	if d := q.dispatchers[e]; d != nil {
		normal, low = d.empty()
	}
	q.mu.Unlock()

	for _, jobs := range []*[]waiting{&normal, &low} {
		some, err := q.cancelEach(ctx, e, jobs)
		removed += some
		if err != nil {
			q.restore(e, normal, low)
			return removed, err
		}
	}

	return removed, nil
}

// cancelEach cancels jobs that were taken out of their queue, and leaves those that it did not come to.
func (q *Queue) cancelEach(ctx context.Context, e compute.EndpointID, jobs *[]waiting) (removed int, err error) {
	for len(*jobs) > 0 {
		batch := make([]compute.JobID, min(len(*jobs), sweepBatch))
		for i := range batch {
			batch[i] = (*jobs)[i].key.ID()
		}

		ended, err := q.cancelWaiting(ctx, batch)
		if err == nil || store.IsUnknown(err) {
			*jobs = (*jobs)[len(batch):]
		}
		if store.IsUnknown(err) {
			q.doubtJobs(e, batch...)
		}
		if err != nil {
			return removed, err
		}

		for _, one := range ended {
			one.announce(ctx, q, nil)
		}
		removed += len(ended)
	}

	return removed, nil
}

// restore puts jobs that empty took out back where they stood: before those that came since.
func (q *Queue) restore(e compute.EndpointID, normal, low []waiting) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil {
		d.normal.restore(normal)
		d.low.restore(low)
		d.wake()
	}
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
