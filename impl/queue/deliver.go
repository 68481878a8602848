package queue

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// DeliverAgain stores one more delivery of a job's document, as it is now, to where the delivery of that number went. NotFound for one that is
// not in the log and for a job whose result has expired; Conflict while that delivery is not over.
func (q *Queue) DeliverAgain(ctx context.Context, number int64) error {
	err := q.store.Write(ctx, func(tx store.Tx) error {
		w, err := tx.Webhook(number)
		if err != nil {
			return err
		}
		if !w.NextAt.IsZero() {
			return compute.Errorf(compute.Conflict, "webhook %d is still to be delivered", number)
		}
		j, err := tx.Job(w.JobID)
		if err != nil {
			return err
		}
		if !visible(j, j.EndpointID, tx.Now()) {
			return unknownJob(j.ID)
		}
		if j, err = store.WithOutput(tx, j); err != nil {
			return err
		}

		document, err := q.hooks.Document(j)
		if err != nil {
			return err
		}
		return tx.InsertWebhook(compute.Webhook{JobID: j.ID, URL: w.URL, Body: document, NextAt: tx.Now(), CreatedAt: tx.Wall()})
	})
	if err == nil {
		q.hooks.Delivery()
	}
	return err
}
