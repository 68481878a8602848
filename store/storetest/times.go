package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
