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

// chargeBatch is how many days of charges a transaction sums, some milliseconds of work.
const chargeBatch = 200

// Retention is what deletes what outlived its owner or its use by a while. What was billed stays, summed by day.
type Retention struct {
	Store     store.Store
	Clock     compute.Clock
	Log       *slog.Logger
	Rates     *control.Rates
	Keyring   *control.Keyring
	Endpoints *control.Endpoints
	Control   *control.Control
	Flash     *control.Flash
	Pods      time.Duration // how long the row of a terminated pod is kept
	Webhooks  time.Duration // how long a delivery that is over stays in the log
	Keys      time.Duration // how long a key that was revoked or has expired stays listed
	Charges   time.Duration // how long a charge is kept that has ended, before it is summed by day; 0: forever
	Audit     time.Duration // how long it is kept who changed what and who was refused; no more than compute.AuditKept and RefusalsKept
}

// Sweeps gives a sweep for each kind of what is kept for a while, by the name of the kind: what fails keeps nothing else from being
// deleted.
func (r Retention) Sweeps() *reconcile.Sweeps {
	deleted := func(f func(tx store.Tx, now time.Time) (int, error)) func(context.Context) error {
		return func(ctx context.Context) error {
			now := r.Clock.Wall() // as these rows were stamped
			return r.inBatches(ctx, retentionBatch, func(tx store.Tx) (int, error) { return f(tx, now) })
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
		reconcile.Sweep{Name: "requests to log in", Tick: RetentionTick, Do: deleted(func(tx store.Tx, now time.Time) (int, error) {
			return tx.DeleteLogins(now.Add(-compute.LoginKept), retentionBatch)
		})},
		reconcile.Sweep{Name: "ended charges", Tick: RetentionTick, Do: r.sumCharges},
		reconcile.Sweep{Name: "invalid keys", Tick: RetentionTick, Do: func(ctx context.Context) error {
			return r.Keyring.DeleteInvalid(ctx, r.Clock.Wall().Add(-r.Keys))
		}},
		reconcile.Sweep{Name: "request counts", Tick: RetentionTick, Do: r.Rates.Forget},
		reconcile.Sweep{Name: "artifacts", Tick: RetentionTick, Do: r.Flash.Sweep},
		reconcile.Sweep{Name: "deleted endpoints", Tick: RetentionTick, Do: r.Endpoints.Resume}, // whose deletion failed
		reconcile.Sweep{Name: "pods on hosts that left", Tick: RetentionTick, Do: r.Control.EndRemoved},
	)
}

// sumCharges sums, up to a border of days, what ended longer ago than charges are kept: whole days are summed at once, and bills of hours are of one
// kind for a day, but for what ran over midnight.
func (r Retention) sumCharges(ctx context.Context) error {
	if r.Charges == 0 {
		return nil
	}
	until := compute.DayBucket.Start(r.Clock.Wall().Add(-r.Charges))
	return r.inBatches(ctx, chargeBatch, func(tx store.Tx) (int, error) { return tx.SumCharges(until, chargeBatch) })
}

// inBatches calls f, which reports how much it did, until it is less than a whole batch: there is no more.
func (r Retention) inBatches(ctx context.Context, batch int, f func(store.Tx) (int, error)) error {
	for {
		var n int
		err := r.Store.Write(ctx, func(tx store.Tx) (err error) {
			n, err = f(tx)
			return err
		})
		if err != nil || n < batch {
			return err
		}
	}
}
