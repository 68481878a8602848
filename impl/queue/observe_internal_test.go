package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTimeOfDay_IsNotBeforeASubmissionInTheSameMillisecond though rows have whole milliseconds of both times, and the lag is none.
func TestTimeOfDay_IsNotBeforeASubmissionInTheSameMillisecond(t *testing.T) {
	t.Parallel()
	for _, lag := range []time.Duration{0, -119, 119, 300 * time.Microsecond, -300 * time.Microsecond, time.Hour + 999*time.Microsecond} {
		for now := time.Unix(100, 0).UTC(); now.Before(time.Unix(100, int64(2*time.Millisecond))); now = now.Add(50 * time.Microsecond) {
			submitted := now.Add(lag).Truncate(time.Millisecond)
			taken := timeOfDay(now.Truncate(time.Millisecond), lag)
			require.False(t, taken.Before(submitted), "%s, taken at %s", submitted, taken)
			require.Less(t, taken.Sub(submitted), 2*time.Millisecond)
			require.Equal(t, taken, taken.Truncate(time.Millisecond))
		}
	}
	require.True(t, timeOfDay(time.Time{}, time.Hour).IsZero())
}
