package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSeries_GoesOnlyForward(t *testing.T) {
	t.Parallel()
	var s series[int]
	at := time.UnixMilli(1_700_000_000_000)
	equal := func(a, b int) bool { return a == b }
	for i, v := range []int{1, 2, 3} {
		s.add(at.Add(time.Duration(i)*Tick), v, equal)
	}
	s.add(at.Add(2*Tick), 4, equal)
	require.Equal(t, []Sample[int]{{at, 1}, {at.Add(Tick), 2}, {at.Add(2 * Tick), 4}}, s.all(), "of one moment the last counts")
	s.add(at.Add(Tick/2), 5, equal)
	require.Equal(t, []Sample[int]{{at, 1}, {at.Add(Tick / 2), 5}}, s.all(), "the clock was set back")
}
