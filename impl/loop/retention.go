package loop

import (
	"context"
	"log/slog"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/store"
)

// RetentionTick is how late it may be deleted what is kept for a while only.
const RetentionTick = time.Minute

// retentionBatch bounds how long one transaction holds up the others.
const retentionBatch = 100

// Retention is what deletes what outlived its owner or its use by a while. What is billed stays.
type Retention struct {
	Store     store.Store
	Clock     compute.Clock
	Log       *slog.Logger
	Rates     *control.Rates
	Keyring   *control.Keyring
	Endpoints *control.Endpoints
	Flash     *control.Flash
	Pods      time.Duration // how long the row of a terminated pod is kept
	Webhooks  time.Duration // how long a delivery that is over stays in the log
	Keys      time.Duration // how long a key that was revoked or has expired stays listed
	Audit     time.Duration // how long it is kept who changed what and who was refused; no more than compute.AuditKept and RefusalsKept
}

// Sweeps gives a sweep for each kind of what is kept for a while, by the name of the kind: what fails keeps nothing else from being
// deleted.
func (r Retention) Sweeps() *reconcile.Sweeps {
	deleted := func(f func(tx store.Tx, now time.Time) (int, error)) func(context.Context) error {
		return func(ctx context.Context) error {
			now := r.Clock.Wall() // as these rows were stamped
			return r.inBatches(ctx, func(tx store.Tx) (int, error) { return f(tx, now) })
		}
	}

	return reconcile.NewSweeps(
		r.Clock, r.Log, 1,
		reconcile.Sweep{Name: "terminated pods", Tick: RetentionTick, Do: deleted(func(tx store.Tx, now time.Time) (int, error) {
			return tx.DeleteTerminated(now.Add(-r.Pods), retentionBatch)
		})},
		reconcile.Sweep{Name: "webhook log", Tick: RetentionTick, Do: deleted(func(tx store.Tx, now time.Time) (int, error) {
			return tx.DeleteWebhooks(now.Add(-r.Webhooks), retentionBatch)
		})},
		reconcile.Sweep{Name: "audit log", Tick: RetentionTick, Do: deleted(func(tx store.Tx, now time.Time) (int, error) {
			return tx.DeleteAudit(now.Add(-r.Audit), compute.AuditKept, retentionBatch)
		})},
		reconcile.Sweep{Name: "refusals", Tick: RetentionTick, Do: deleted(func(tx store.Tx, now time.Time) (int, error) {
			return tx.DeleteRefusals(now.Add(-r.Audit), compute.RefusalsKept, retentionBatch)
		})},
		reconcile.Sweep{Name: "invalid keys", Tick: RetentionTick, Do: func(ctx context.Context) error {
			return r.Keyring.DeleteInvalid(ctx, r.Clock.Wall().Add(-r.Keys))
		}},
		reconcile.Sweep{Name: "request counts", Tick: RetentionTick, Do: r.Rates.Forget},
		reconcile.Sweep{Name: "artifacts", Tick: RetentionTick, Do: r.Flash.Sweep},
		reconcile.Sweep{Name: "deleted endpoints", Tick: RetentionTick, Do: r.Endpoints.Resume}, // whose deletion failed
	)
}

// inBatches calls f, which reports how much it deleted, until there is no more.
func (r Retention) inBatches(ctx context.Context, f func(store.Tx) (int, error)) error {
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
