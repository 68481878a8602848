package loop_test

import (
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

// playing is a clock that goes by itself over things that are due at times.
type playing struct {
	clock   *compute.SettableClock
	auto    *loop.Auto
	due     []time.Time // sorted
	done    []time.Time // when each was done
	failing atomic.Bool
	held    atomic.Int64
	working atomic.Bool
}

// play runs f in a bubble with things that are due so long after the start.
func play(t *testing.T, f func(t *testing.T, p *playing, start time.Time), due ...time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		p := &playing{clock: compute.NewFrozenClock(start)}
		for _, d := range due {
			p.due = append(p.due, start.Add(d))
		}
		work := []loop.Due{{Next: p.next, Do: p.do}}
		p.auto = loop.NewAuto(p.clock, work, func() int { return int(p.held.Load()) }, p.working.Load, func() func() { return func() {} }, slog.New(slog.DiscardHandler))

		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go p.auto.Run(ctx)
		f(t, p, start)
	})
}

// passes lets time pass in a bubble.
func passes(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (p *playing) next(context.Context) (time.Time, error) {
	if len(p.due) == 0 {
		return time.Time{}, nil
	}
	return p.due[0], nil
}

func (p *playing) do(context.Context) error {
	if p.failing.Load() {
		return errors.New("the disk is full")
	}
	for len(p.due) > 0 && !p.due[0].After(p.clock.Now()) {
		p.due, p.done = p.due[1:], append(p.done, p.clock.Now())
	}
	return nil
}

func TestAuto_GoesToEachThingAtItsTimeAndStops(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		_, over := p.auto.Request()
		p.auto.Begin(24*time.Hour, 0)
		require.NoError(t, compute.Sleep(t.Context(), p.clock, 90*time.Minute))
		passes(time.Minute)
		require.Equal(t, start.Add(90*time.Minute), p.clock.Now())
		over()
		passes(time.Second)

		require.Equal(t, []time.Time{start.Add(time.Hour), start.Add(2 * time.Hour)}, p.done)
		require.Equal(t, start.Add(24*time.Hour), p.clock.Now())
		on, _ := p.auto.On()
		require.False(t, on)
		require.True(t, p.clock.Frozen())
	}, time.Hour, 2*time.Hour)
}

func TestAuto_WaitsForWhatIsWorkedAt(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		_, over := p.auto.Request()
		p.auto.Begin(0, 20*time.Millisecond)
		passes(time.Minute)
		require.Equal(t, start, p.clock.Now(), "a request is under way")

		over()
		passes(19 * time.Millisecond)
		require.Equal(t, start, p.clock.Now(), "who was answered may ask for more")
		passes(2 * time.Millisecond)
		require.Equal(t, start.Add(time.Hour), p.clock.Now())
		passes(time.Hour)
		require.Equal(t, start.Add(time.Hour), p.clock.Now(), "nothing more is due")
	}, time.Hour)
}

func TestAuto_GoesOnWhileRequestsAreHeld(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		p.held.Add(1)
		_, over := p.auto.Request()
		p.auto.Begin(0, 20*time.Millisecond)
		passes(30 * time.Millisecond)
		require.Equal(t, start.Add(time.Hour), p.clock.Now(), "what was done may be what the request waits for: it may be answered, and more be asked")
		passes(time.Second)
		require.Equal(t, start.Add(3*time.Hour), p.clock.Now())
		over()
	}, time.Hour, 3*time.Hour)
}

func TestAuto_StopsForWhoAwaitsATime(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		p.held.Add(1)
		_, over := p.auto.Request()
		timeout, stop := compute.Await(p.clock, 90*time.Minute)
		p.auto.Begin(0, 20*time.Millisecond)
		require.Equal(t, start.Add(90*time.Minute), <-timeout)
		passes(time.Minute)
		require.Equal(t, []time.Time{start.Add(time.Hour)}, p.done)
		require.Equal(t, start.Add(90*time.Minute), p.clock.Now(), "it is not answered yet")

		p.held.Add(-1)
		stop()
		over()
		passes(time.Minute)
		require.Equal(t, start.Add(2*time.Hour), p.clock.Now())
	}, time.Hour, 2*time.Hour)
}

func TestAuto_WakesAfterWhatIsDueAtThatTime(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		_, over := p.auto.Request()
		p.auto.Begin(0, 20*time.Millisecond)
		require.NoError(t, compute.Sleep(t.Context(), p.clock, time.Hour))
		require.Equal(t, []time.Time{start.Add(time.Hour)}, p.done)
		over()
	}, time.Hour)
}

func TestAuto_RunsWhileAWorkerWorks(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		p.working.Store(true)
		p.auto.Begin(0, 0)
		passes(time.Minute)
		require.WithinDuration(t, start.Add(time.Minute), p.clock.Now(), time.Second)

		p.working.Store(false)
		passes(time.Second)
		require.Equal(t, start.Add(time.Hour), p.clock.Now())
		require.True(t, p.clock.Frozen())
	}, time.Hour)
}

func TestAuto_GoesNoFurtherThanItMayWhileAWorkerWorks(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		p.working.Store(true)
		p.auto.Begin(time.Minute, 0)
		passes(time.Hour)
		require.True(t, p.clock.Frozen())
		require.WithinDuration(t, start.Add(time.Minute), p.clock.Now(), time.Second)
	})
}

func TestAuto_EndsAtOnce(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		p.auto.Begin(0, time.Second)
		p.auto.End(false)
		passes(time.Hour)
		require.Equal(t, start, p.clock.Now())

		p.auto.Begin(0, time.Second)
		p.auto.End(true)
		require.False(t, p.clock.Frozen())
	}, time.Hour)
}

func TestAuto_StandsStillWhileNothingCanBeDone(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, p *playing, start time.Time) {
		p.failing.Store(true)
		p.auto.Begin(0, 0)
		passes(time.Minute)
		require.Equal(t, start, p.clock.Now())

		p.failing.Store(false)
		passes(time.Second)
		require.Equal(t, start.Add(time.Hour), p.clock.Now())
	}, time.Hour)
}
