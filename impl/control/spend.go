package control

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

type spendLimitKey struct{}

// WithSpendLimit gives a context for a request of the key, so that nothing that the request starts is over its limit, whatever the
// operation is (rule account.spend-limit).
func WithSpendLimit(ctx context.Context, k compute.Key) context.Context {
	if k.SpendLimit == 0 {
		return ctx
	}
	return context.WithValue(ctx, spendLimitKey{}, k.SpendLimit)
}

// checkSpend refuses what costs so much more, in USD an hour, than the user's pods do in the transaction, if the key of the request has a
// limit and this is over it: OverSpend. Pods of clusters count, too.
func checkSpend(ctx context.Context, tx store.Pods, user compute.UserID, more float64) error {
	limit, limited := ctx.Value(spendLimitKey{}).(float64)
	if !limited {
		return nil
	}
	now, err := spend(tx, user)
	if err != nil {
		return err
	}

	if sum := now + compute.ToNanoUSD(more); sum > compute.ToNanoUSD(limit) {
		return compute.Errorf(compute.OverSpend, "the spend limit of the key is %g USD an hour: pods cost %g now, and would cost %g", limit, now.USD(), sum.USD())
	}
	return nil
}

// SpendOf is what the user's pods cost now, an hour, those of clusters too.
func (c *Control) SpendOf(ctx context.Context, user compute.UserID) (sum compute.NanoUSD, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		sum, err = spend(tx, user)
		return err
	})
	return sum, err
}

// spend is what the user's pods cost in the transaction, an hour.
func spend(tx store.Pods, user compute.UserID) (sum compute.NanoUSD, err error) {
	err = store.Walk(user, tx.PagePods, func(p compute.Pod) { sum += compute.ToNanoUSD(p.Cost()) })
	return sum, err
}
