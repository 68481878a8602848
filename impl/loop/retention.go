package loop

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
)

// RetentionTick is how late it may be deleted what is kept for a while only.
const RetentionTick = time.Minute

const (
	// webhookLog is how long a delivery that is over stays in the log.
	webhookLog = 24 * time.Hour
	// invalidKeys is how long a key that was revoked or has expired stays listed.
	invalidKeys = 30 * 24 * time.Hour
	// retentionBatch bounds how long one transaction holds up the others.
	retentionBatch = 100
)

// Retention deletes what outlived its owner or its use by a while. What is billed stays.
type Retention struct {
	Store     store.Store
	Clock     compute.Clock
	Rates     *control.Rates
	Keyring   *control.Keyring
	Endpoints *control.Endpoints
	Pods      time.Duration // how long the row of a terminated pod is kept
}

// Next gives when Sweep has something to do next, of what falls due by itself; zero if nothing is planned.
func (r *Retention) Next(ctx context.Context) (next time.Time, err error) {
	err = r.Store.Read(ctx, func(tx store.Tx) error {
		next, err = tx.NextTerminated()
		return err
	})
	if !next.IsZero() {
		next = next.Add(r.Pods + time.Millisecond - compute.Lag(r.Clock)) // it was kept for so long
	}
	return next, err
}

// Sweep deletes all whose time is over. What fails keeps nothing else from being deleted.
func (r *Retention) Sweep(ctx context.Context) error {
	now := r.Clock.Wall() // as these rows were stamped
	return errors.Join(
		r.inBatches(ctx, func(tx store.Tx) (int, error) { return tx.DeleteTerminated(now.Add(-r.Pods), retentionBatch) }),
		r.inBatches(ctx, func(tx store.Tx) (int, error) { return tx.DeleteWebhooks(now.Add(-webhookLog), retentionBatch) }),
		r.Keyring.DeleteInvalid(ctx, now.Add(-invalidKeys)),
		r.Rates.Forget(ctx),
		r.Endpoints.Resume(ctx), // a deletion that failed
	)
}

// inBatches calls f, which tells how much it deleted, until there is no more.
func (r *Retention) inBatches(ctx context.Context, f func(store.Tx) (int, error)) error {
	for {
		var n int
		err := r.Store.Write(ctx, func(tx store.Tx) (err error) {
			n, err = f(tx)
			return err
		})
		if err != nil || n < retentionBatch {
			return err
		}
	}
}
