package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// failing is a store that cannot write.
type failing struct{ store.Store }

func (f failing) Write(ctx context.Context, do func(store.Tx) error) error {
	return f.Store.Write(ctx, func(tx store.Tx) error { return errors.Join(do(tx), errors.New("the disk is full")) })
}

// repeating is a store whose writes run a second time, as those do that share a commit with one that fails: what the first run wrote is
// undone.
type repeating struct{ store.Store }

func (s repeating) Write(ctx context.Context, do func(store.Tx) error) error {
	_ = failing(s).Write(ctx, do)
	return s.Store.Write(ctx, do)
}

func serveFrom(t *testing.T, dir string) *Server {
	s, err := Start(t.Context(), Config{Data: dir, Listen: "127.0.0.1:0", TestControls: true})
	require.NoError(t, err)
	return s
}

func TestTimekeeper_StepOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveFrom(t, dir)
	running := s.first.controls.keeper.running
	require.Zero(t, running.Lag())
	require.NoError(t, s.first.controls.Step(t.Context(), time.Hour))
	require.InDelta(t, time.Hour, running.Lag(), float64(time.Second))
	require.NoError(t, s.Close())

	s = serveFrom(t, dir)
	require.InDelta(t, time.Hour, s.first.controls.keeper.running.Lag(), float64(time.Second), "what is due is due as it was")
	require.InDelta(t, time.Hour, compute.Lag(s.Clock()), float64(time.Second))
	require.NoError(t, s.Close())
}

func TestTimekeeper_StepThatCannotBeStoredRemains(t *testing.T) {
	t.Parallel()
	s := serveFrom(t, t.TempDir())
	works := s.first.controls.db.store
	k, err := newTimekeeper(t.Context(), compute.NewRunningClock(), works, slog.New(slog.DiscardHandler)) // beside that of the server
	require.NoError(t, err)

	k.running.Step(-time.Hour)
	k.store = failing{works}
	require.Error(t, k.keep(t.Context()))
	require.Zero(t, k.running.Lag())
	require.InDelta(t, -time.Hour, k.running.Stepped(), float64(time.Second))

	k.store = works
	require.NoError(t, k.keep(t.Context()))
	require.InDelta(t, -time.Hour, k.running.Lag(), float64(time.Second))
	require.Zero(t, k.running.Stepped())
	require.NoError(t, s.Close())
}

func TestTimekeeper_StepIsOneHoweverOftenItsWriteRuns(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })

	began := clock.Wall()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "p", HolderID: "p", Rate: 1})
	}))
	clock.Advance(time.Minute)

	running := clock.Running()
	k, err := newTimekeeper(t.Context(), running, repeating{db}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	running.Step(time.Hour)
	require.NoError(t, k.keep(t.Context()))
	require.Equal(t, time.Hour, running.Lag())
	require.Zero(t, running.Stepped())
	require.Equal(t, began.Add(time.Hour+time.Minute), clock.Wall())

	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		lag, err := tx.Lag()
		require.NoError(t, err)
		require.Equal(t, time.Hour, lag)
		var ended, later []time.Time
		err = tx.EachCharge("u", []compute.Item{compute.PodCPU}, nil, began, began.Add(100*time.Hour), func(c compute.Charge) error {
			if c.EndedAt.IsZero() {
				later = append(later, c.BeganAt)
			} else {
				ended = append(ended, c.EndedAt)
			}
			return nil
		})
		require.Equal(t, []time.Time{began.Add(time.Minute)}, ended)
		require.Equal(t, []time.Time{began.Add(time.Hour + time.Minute)}, later)
		return err
	}))
}
