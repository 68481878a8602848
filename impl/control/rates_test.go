package control_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// unwritable is a store that takes no writes while err is set.
type unwritable struct {
	store.Store
	err error
}

func (u *unwritable) Write(ctx context.Context, f func(store.Tx) error) error {
	if u.err != nil {
		return u.err
	}
	return u.Store.Write(ctx, f)
}

func TestRates_Save_RepeatsWhatCouldNotBeSaved(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)

	t.Cleanup(func() { require.NoError(t, db.Close()) })
	s := &unwritable{Store: db}
	rates, err := control.NewRates(t.Context(), s, clock, compute.Windows(10, 100, 1000))
	require.NoError(t, err)

	rates.Count("u")
	s.err = errors.New("full")
	require.ErrorIs(t, rates.Save(t.Context()), s.err)
	s.err = nil
	require.NoError(t, rates.Save(t.Context()))

	again, err := control.NewRates(t.Context(), db, clock, compute.Windows(10, 100, 1000))
	require.NoError(t, err)
	require.EqualValues(t, 8, again.Count("u")[0].Remaining, "two of ten")
}

func TestRates_Forget(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	rates, err := control.NewRates(t.Context(), db, clock, compute.Windows(10, 100, 1000))
	require.NoError(t, err)
	stored := func() (users []compute.UserID) {
		require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
			counts, err := tx.RequestCounts()
			for _, c := range counts {
				users = append(users, c.UserID)
			}
			return err
		}))
		return slices.Compact(users)
	}

	rates.Count("gone")
	require.NoError(t, rates.Save(t.Context()))
	clock.Advance(11 * time.Hour)
	require.NoError(t, rates.Forget(t.Context()))
	require.Equal(t, []compute.UserID{"gone"}, stored(), "the window of a day goes on")

	clock.Advance(2 * time.Hour) // the next day
	rates.Count("stays")
	require.NoError(t, rates.Save(t.Context()))
	require.NoError(t, rates.Forget(t.Context()))
	require.Equal(t, []compute.UserID{"stays"}, stored())
}
