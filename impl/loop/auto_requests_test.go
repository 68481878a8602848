package loop_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
)

func TestAuto_GoesOnAtOnceForARequestThatIsHeld(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		passes(time.Second)
		p.auto.Begin(0, time.Minute)
		passes(30 * time.Second)
		require.Equal(t, start, p.clock.Now(), "who began it may ask for something")

		p.held.Add(1)
		_, over := p.auto.Request()
		passes(time.Millisecond)
		require.Equal(t, start.Add(time.Hour), p.clock.Now(), "that one was expected, and it waits")
		passes(59 * time.Second)
		require.Equal(t, start.Add(time.Hour), p.clock.Now(), "what was done may have answered it")
		passes(2 * time.Second)
		require.Equal(t, start.Add(3*time.Hour), p.clock.Now())
		over()
	}, time.Hour, 3*time.Hour)
}

func TestAuto_WaitsForEveryRequestThatIsUnderWay(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		_, first := p.auto.Request()
		p.auto.Begin(0, 20*time.Millisecond)
		_, second := p.auto.Request()
		passes(time.Second)
		first()
		passes(10 * time.Millisecond)
		second()
		second() // it is over once
		passes(19 * time.Millisecond)
		require.Equal(t, start, p.clock.Now(), "who was answered may ask for more")

		passes(2 * time.Millisecond)
		require.Equal(t, start.Add(time.Hour), p.clock.Now())
	}, time.Hour)
}

func TestAuto_CountsTheTimeForMoreFromTheAnswer(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		answered, over := p.auto.Request()
		p.auto.Begin(0, 20*time.Millisecond)
		answered()
		passes(time.Second)
		require.Equal(t, start, p.clock.Now(), "it is worked at still")
		over()
		passes(2 * time.Millisecond)
		require.Equal(t, start.Add(time.Hour), p.clock.Now())
	}, time.Hour)
}

func TestAuto_SaysForHowLongItGoesOn(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		on, left := p.auto.On()
		require.False(t, on)
		require.Zero(t, left)

		p.clock.Resume()
		p.auto.Begin(time.Hour, time.Minute)
		require.True(t, p.clock.Frozen(), "nobody works")
		on, left = p.auto.On()
		require.True(t, on)
		require.Equal(t, time.Hour, left)

		p.working.Store(true)
		p.auto.Begin(time.Hour, 0)
		passes(20 * time.Second)
		_, left = p.auto.On()
		require.InDelta(t, time.Hour-20*time.Second, left, float64(time.Second))

		p.auto.End(false)
		require.True(t, p.clock.Frozen())
		on, left = p.auto.On()
		require.False(t, on)
		require.Zero(t, left)

		p.working.Store(false)
		p.auto.Begin(0, time.Minute)
		on, left = p.auto.On()
		require.True(t, on)
		require.Zero(t, left, "there is no bound")
	})
}

func TestAuto_WakesWhoSleepsToTheMillisecond(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		_, over := p.auto.Request()
		p.auto.Begin(0, 0)
		slept := time.Hour + 5*time.Millisecond
		require.NoError(t, compute.Sleep(t.Context(), p.clock, slept))
		require.Equal(t, start.Add(slept), p.clock.Now())
		require.Equal(t, []time.Time{start.Add(time.Hour)}, p.done)

		require.NoError(t, compute.Sleep(t.Context(), p.clock, time.Hour))
		require.Equal(t, start.Add(slept+time.Hour), p.clock.Now(), "though nothing is due")
		over()
	}, time.Hour)
}

func TestAuto_DoesOneThingAfterTheOtherWithoutAPause(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		passes(time.Second)
		p.auto.Begin(0, 0)
		passes(50 * time.Millisecond)
		require.Equal(t, []time.Time{start.Add(time.Hour), start.Add(2 * time.Hour), start.Add(3 * time.Hour)}, p.done)
	}, time.Hour, 2*time.Hour, 3*time.Hour)
}

func TestAuto_WorksAloneAndSaysWhatHoldsItUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := compute.NewFrozenClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		due := clock.Now().Add(time.Hour)
		var alone, beside atomic.Int64
		var unplanned, failing atomic.Bool
		work := []loop.Due{{
			Next: func(context.Context) (time.Time, error) {
				if unplanned.Load() {
					return time.Time{}, errors.New("nobody knows what is next")
				}
				if !due.After(clock.Now()) {
					return time.Time{}, nil
				}
				return due, nil
			},
			Do: func(context.Context) error {
				if alone.Load() != 1 {
					beside.Add(1)
				}
				if failing.Load() {
					return errors.New("the disk is full")
				}
				return nil
			},
		}}

		var log bytes.Buffer
		auto := loop.NewAuto(clock, work, func() int { return 0 }, func() bool { return false }, func() func() {
			alone.Add(1)
			return func() { alone.Add(-1) }
		}, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go auto.Run(ctx)

		auto.Begin(0, 0)
		passes(time.Second)
		require.Equal(t, due, clock.Now())
		require.Zero(t, beside.Load())
		require.Zero(t, alone.Load(), "others may work again")
		require.Empty(t, log.String(), "that nothing is due is no trouble")

		unplanned.Store(true)
		passes(time.Second)
		require.Contains(t, log.String(), "the clock cannot go on by itself: it is tried again")
		require.Contains(t, log.String(), "nobody knows what is next")

		failing.Store(true)
		passes(time.Second)
		require.Contains(t, log.String(), "the disk is full")
	})
}
