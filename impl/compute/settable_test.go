package compute_test

import (
	"context"
	"runtime"
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
	c.GoTo(start.Add(time.Hour))
	require.False(t, rang(late), "given up")
	c.GoTo(start)
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

func TestSettableClock_WakesThoseWhoWaitForATimeAfterTheOthers(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_700_000_000_000).UTC()
	for name, c := range map[string]*compute.SettableClock{"frozen": compute.NewFrozenClock(start), "running": compute.NewSettableClock(compute.NewRunningClock())} {
		heard, _ := c.After(time.Hour)
		awaited, giveUp := compute.Await(c, time.Hour)
		slept := make(chan time.Time, 2)
		for _, wait := range []func(context.Context, compute.Clock, time.Duration) error{compute.Sleep, compute.Pause} {
			go func() {
				_ = wait(t.Context(), c, time.Hour)
				slept <- c.Now()
			}()
		}
		for c.Waiting().Asleep < 2 {
			runtime.Gosched()
		}

		due := c.Waiting().First
		c.GoTo(due.Add(time.Minute))
		require.True(t, rang(heard), name)
		require.False(t, rang(awaited), name)
		require.Equal(t, 2, c.Waiting().Asleep, name)
		require.Zero(t, c.Waiting().Woken, name)
		require.Equal(t, due, c.Waiting().First, name)

		c.Wake()
		require.True(t, rang(awaited), name)
		for range 2 {
			require.False(t, (<-slept).Before(due), name)
		}
		require.Equal(t, compute.Waiting{Woken: 1}, c.Waiting(), name)
		giveUp()
		giveUp()
		require.Zero(t, c.Waiting(), name)
	}
}

func TestSleepNoted_IsNotedWhileTheClockCountsIt(t *testing.T) {
	t.Parallel()
	c := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000).UTC())
	noted := 0
	note := func() (awake func()) {
		noted++
		require.Equal(t, 1, c.Waiting().Asleep, "or who sets the clock would go on without it")
		c.Advance(time.Minute)
		return func() { noted++ }
	}
	require.NoError(t, compute.SleepNoted(t.Context(), c, time.Minute, note))
	require.Equal(t, 2, noted)
	require.NoError(t, compute.SleepNoted(t.Context(), c, 0, note))
	require.Equal(t, 2, noted, "who has no time to wait for does not sleep")
}

func TestSettableClock_SaysWhenWhoIsWoken(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_700_000_000_000).UTC()
	c := compute.NewFrozenClock(start)
	_, stop := c.After(time.Second)
	defer stop()
	require.Zero(t, c.Waiting(), "who listens for something else waits for no time")

	go func() { _ = compute.Pause(t.Context(), c, time.Minute) }()
	for c.Waiting().Asleep < 1 {
		runtime.Gosched()
	}
	require.Equal(t, compute.Waiting{Asleep: 1, First: start.Add(time.Minute)}, c.Waiting())

	_, late := compute.Await(c, time.Hour)
	require.Equal(t, compute.Waiting{Asleep: 1, First: start.Add(time.Minute), Exact: start.Add(time.Hour)}, c.Waiting())
	_, soon := compute.Await(c, time.Second)
	require.Equal(t, compute.Waiting{Asleep: 1, First: start.Add(time.Second), Exact: start.Add(time.Second)}, c.Waiting())
	soon()
	late()
	require.Equal(t, compute.Waiting{Asleep: 1, First: start.Add(time.Minute)}, c.Waiting(), "they gave up")

	over, done := compute.Await(c, 0)
	require.True(t, rang(over))
	require.Equal(t, 1, c.Waiting().Woken)
	done()
	require.Zero(t, c.Waiting().Woken)
	c.Advance(time.Hour)
}
