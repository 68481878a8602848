package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// failing is a store that cannot write.
type failing struct{ store.Store }

func (f failing) Write(ctx context.Context, do func(store.Tx) error) error {
	return f.Store.Write(ctx, func(tx store.Tx) error { return errors.Join(do(tx), errors.New("the disk is full")) })
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
