package app

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDayClock_TellsTheTimeOfDayAndNeverGoesBack(t *testing.T) {
	t.Parallel()
	d := dayClock{ahead: new(atomic.Int64)}
	require.WithinDuration(t, d.Wall(), d.Now(), time.Minute)

	hour := d.Wall().Add(time.Hour)
	d.Reach(hour)
	before := d.Now()
	require.False(t, before.Before(hour))
	require.WithinDuration(t, hour, before, time.Minute, "the clock was set back by an hour")
	require.Eventually(t, func() bool { return d.Now().After(before) }, 10*time.Second, time.Millisecond, "it goes on")

	d.Reach(hour.Add(-time.Hour))
	require.False(t, d.Now().Before(before))
}
