package app

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDayClock_TellsTheTimeOfDayAndNeverGoesBack(t *testing.T) {
	t.Parallel()
	d := dayClock{last: new(atomic.Int64)}
	require.WithinDuration(t, d.Wall(), d.Now(), time.Minute)
	d.last.Store(d.Wall().Add(time.Hour).UnixNano())
	require.WithinDuration(t, d.Wall().Add(time.Hour), d.Now(), time.Minute, "the clock was set back by an hour")
}
