package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func TestAStepOfTheClockLocksNobodyOut(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour, -36 * time.Hour} {
		m := newMetered(t)
		rates, err := control.NewRates(t.Context(), m.db, m.clock, compute.Windows(2, 2, 2))
		require.NoError(t, err)
		for range 3 {
			rates.Count("u")
		}
		m.clock.Running().Adjust(step)
		for _, r := range rates.Count("u") {
			require.Positive(t, r.Reset)
			require.LessOrEqual(t, r.Reset, r.Length, "whoever is refused is let in again when the window ends, and not later")
		}
	}
}
