package compute_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func rang(c <-chan time.Time) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestSettableClock_FrozenMovesOnlyWhenAdvanced(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_700_000_000_000).UTC()
	c := compute.NewFrozenClock(start)
	require.True(t, c.Frozen())
	require.Equal(t, start, c.Now())

	early, _ := c.After(time.Second)
	late, stop := c.After(time.Minute)
	c.Advance(time.Second)
	require.Equal(t, start.Add(time.Second), c.Now())
	require.True(t, rang(early))
	require.False(t, rang(late))

	stop()
	c.AdvanceTo(start.Add(time.Hour))
	require.False(t, rang(late), "given up")
	c.AdvanceTo(start)
	require.Equal(t, start.Add(time.Hour), c.Now(), "it never goes back")
}

func TestSettableClock_ResumedRunsFromWhereItStood(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_700_000_000_000).UTC()
	c := compute.NewFrozenClock(start)
	ring, _ := c.After(time.Millisecond)
	c.Resume()
	require.False(t, c.Frozen())
	<-ring
	require.False(t, c.Now().Before(start.Add(time.Millisecond)))
	require.True(t, c.Now().Before(start.Add(time.Hour)))
}

func TestSettableClock_RunningCanBeAdvancedAndFrozen(t *testing.T) {
	t.Parallel()
	c := compute.NewSettableClock(compute.NewRunningClock())
	far, _ := c.After(2 * time.Hour)
	near, _ := c.After(time.Hour)
	before := c.Now()
	c.Advance(time.Hour)
	<-near
	require.False(t, c.Now().Before(before.Add(time.Hour)))

	c.Freeze()
	stood := c.Now()
	soon, _ := c.After(time.Nanosecond)
	require.False(t, rang(soon))
	require.Equal(t, stood, c.Now())
	require.False(t, rang(far))

	c.Advance(time.Hour)
	require.True(t, rang(far))
	require.True(t, rang(soon))
}
