package storetest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func lag(t *testing.T, open Open) {
	s, clock := begin(t, open)
	get := func() time.Duration {
		return read(t, s, func(tx store.Tx) (time.Duration, error) { return tx.Lag() })
	}
	require.Zero(t, get())

	for _, d := range []time.Duration{time.Hour, -90 * time.Minute, 0, time.Millisecond} {
		write(t, s, func(tx store.Tx) error { return tx.SetLag(d) })
		require.Equal(t, d, get())
	}
	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	require.Equal(t, time.Millisecond, get())

	clock.Running().Adjust(time.Hour)
	write(t, s, func(tx store.Tx) error {
		require.Equal(t, start, tx.Now())
		require.Equal(t, start.Add(time.Hour), tx.Wall())
		return nil
	})
}

// wallSteps checks that a step of the time of day is seen by who is written after it, in the same commit and in later ones, once, also
// when all of it runs again.
func wallSteps(t *testing.T, open Open) {
	synctest.Test(t, func(t *testing.T) {
		s, clock := begin(t, open)
		charge := func(holder string) func(store.Tx) error {
			return func(tx store.Tx) error {
				return tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: holder, HolderID: holder, Rate: 1})
			}
		}
		steps := func(tx store.Tx) error {
			tx.StepWall(time.Hour)
			tx.AfterCommit(func() { clock.Running().Adjust(time.Hour) })
			return tx.StepCharges(tx.Wall(), time.Hour)
		}
		fails := func(f func(store.Tx) error) func(store.Tx) error {
			return func(tx store.Tx) error {
				require.NoError(t, f(tx))
				return errNo
			}
		}

		failed := outcome{err: errNo}
		got := group(t, s, charge("before"), fails(steps), steps, charge("after"), fails(charge("x")), charge("last"))
		require.Equal(t, []outcome{{}, failed, {}, {}, failed, {}}, got)
		write(t, s, charge("later"))

		began := map[string]time.Time{}
		for _, c := range read(t, s, func(tx store.Tx) ([]compute.Charge, error) {
			return listCharges(tx, "u", []compute.Item{compute.PodCPU}, nil, start, start.Add(100*time.Hour))
		}) {
			require.True(t, c.EndedAt.IsZero())
			began[c.HolderID] = c.BeganAt
		}

		stepped := start.Add(time.Hour)
		require.Equal(t, map[string]time.Time{"before": stepped, "after": stepped, "last": stepped, "later": stepped}, began)
	})
}
