package app

import (
	"context"
	"errors"
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
	s, err := Start(t.Context(), Config{Data: dir, Listen: "127.0.0.1:0"})
	require.NoError(t, err)
	return s
}

func TestAStepOfTheClockOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveFrom(t, dir)
	require.Zero(t, s.running.Lag())
	s.running.Step(time.Hour)
	require.NoError(t, s.keepTime(t.Context()))
	require.InDelta(t, time.Hour, s.running.Lag(), float64(time.Second))
	require.NoError(t, s.Close())
	s = serveFrom(t, dir)
	require.InDelta(t, time.Hour, s.running.Lag(), float64(time.Second), "what is due is due as it was")
	require.InDelta(t, time.Hour, compute.Lag(s.config.clock), float64(time.Second))
	require.NoError(t, s.Close())
}

func TestAStepThatCannotBeStoredIsOneStill(t *testing.T) {
	t.Parallel()
	s := serveFrom(t, t.TempDir())
	s.keeping.Lock() // the loop waits
	works := s.store
	s.running.Step(-time.Hour)
	s.store = failing{works}
	s.keeping.Unlock()
	require.Error(t, s.keepTime(t.Context()))
	require.Zero(t, s.running.Lag())
	require.InDelta(t, -time.Hour, s.running.Stepped(), float64(time.Second))
	s.keeping.Lock()
	s.store = works
	s.keeping.Unlock()
	require.NoError(t, s.keepTime(t.Context()))
	require.InDelta(t, -time.Hour, s.running.Lag(), float64(time.Second))
	require.Zero(t, s.running.Stepped())
	require.NoError(t, s.Close())
}
