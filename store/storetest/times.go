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

func lastWall(t *testing.T, open Open) {
	s, clock := begin(t, open)
	is := func(at time.Time, billed bool) {
		t.Helper()
		require.Equal(t, at, read(t, s, func(tx store.Tx) (time.Time, error) { return tx.LastWall() }))
		require.Equal(t, billed, read(t, s, func(tx store.Tx) (bool, error) { return tx.HasOpenCharges() }))
	}
	charge := compute.Charge{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", HolderID: "w", Rate: 1, SeenAt: start}
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	is(time.Time{}, false)

	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(charge) })
	is(start, true)
	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.SeeCharges() })
	is(at(1), true)
	write(t, s, func(tx store.Tx) error { return tx.SeeWall(at(2).Add(time.Microsecond)) })
	is(at(2), true)
	write(t, s, func(tx store.Tx) error { return tx.SetLag(time.Hour) })
	require.Equal(t, time.Hour, read(t, s, func(tx store.Tx) (time.Duration, error) { return tx.Lag() }))
	is(at(2), true)

	clock.Advance(time.Hour)
	write(t, s, func(tx store.Tx) error { return tx.CloseCharge("w") })
	is(at(2), false)
	write(t, s, func(tx store.Tx) error { return tx.SeeWall(at(-9)) })
	is(at(-9), false)
	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	is(at(-9), false)
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
