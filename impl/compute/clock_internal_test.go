package compute

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// machine is a machine whose clocks a test sets.
type machine struct {
	mu      sync.Mutex
	wall    time.Time
	elapsed time.Duration
}

func newMachine() *machine {
	return &machine{wall: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), elapsed: time.Hour}
}

func (m *machine) read() (time.Time, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall, m.elapsed
}

// pass has time pass on both clocks; sleep on that of the wall alone, as a suspended machine does.
func (m *machine) pass(d time.Duration) { m.set(d, d) }

func (m *machine) sleep(d time.Duration) { m.set(d, 0) }

func (m *machine) set(wall, elapsed time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall, m.elapsed = m.wall.Add(wall), m.elapsed+elapsed
}

func TestRunningClock_DoesNotCountAPauseOnceLookedAt(t *testing.T) {
	t.Parallel()
	m := newMachine()
	c := newRunningClock(m.read)
	begin := c.Now()
	require.Equal(t, m.wall, begin)

	m.pass(time.Minute)
	require.Equal(t, begin.Add(time.Minute), c.Now(), "nobody looks yet")
	c.Look()
	m.pass(MostBetweenLooks)
	require.Equal(t, begin.Add(time.Minute+MostBetweenLooks), c.Now(), "no pause")

	m.pass(time.Hour)
	require.Equal(t, begin.Add(time.Minute+2*MostBetweenLooks), c.Now())
	require.Equal(t, m.wall, c.Wall(), "the time of day goes on")
	require.Equal(t, time.Hour-MostBetweenLooks, c.Lag())

	m.pass(time.Second)
	require.Equal(t, begin.Add(time.Minute+3*MostBetweenLooks), c.Now())
	require.Zero(t, c.Stepped())
}

func TestRunningClock_StepMovesOnlyWhatPeopleRead(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		m := newMachine()
		c := newRunningClock(m.read)
		c.Look()
		now := c.Now()
		m.sleep(step) // as when somebody sets it
		require.Equal(t, now, c.Now())
		require.Equal(t, now, c.Wall(), "not yet")
		require.Equal(t, step, c.Stepped())

		c.Adjust(c.Stepped())
		require.Equal(t, now, c.Now())
		require.Equal(t, m.wall, c.Wall())
		require.Equal(t, step, c.Lag())
		require.Zero(t, c.Stepped())
	}

	m := newMachine()
	c := newRunningClock(m.read)
	m.sleep(LeastStep - 1)
	require.Zero(t, c.Stepped(), "too little to be a step")

	c.Step(time.Hour)
	require.Equal(t, time.Hour, c.Stepped(), "exactly what a test asked for")
	c.Adjust(c.Stepped())
	require.Zero(t, c.Stepped())

	m.sleep(1) // with what was too little before
	require.Equal(t, LeastStep, c.Stepped())
	c.Adjust(c.Stepped())
	require.Equal(t, m.wall.Add(time.Hour), c.Wall())
}

func TestRunningClock_GoesOnFromAnEarlierLag(t *testing.T) {
	t.Parallel()
	c := newRunningClock(newMachine().read)
	c.SetLag(8 * time.Hour)
	require.Equal(t, 8*time.Hour, c.Lag())
	require.Equal(t, c.Wall().Add(-8*time.Hour), c.Now())
}

func TestRunningClock_ManyReadersSeeAPauseOnce(t *testing.T) {
	t.Parallel()
	m := newMachine()
	c := newRunningClock(m.read)
	c.Look()
	begin := c.Now()
	const pauses = 200
	stop := make(chan struct{})
	back := make(chan time.Duration, 8)

	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for last := begin; ; {
				select {
				case <-stop:
					return
				default:
				}

				now := c.Now()
				if now.Before(last) {
					back <- last.Sub(now)
					return
				}

				last = now
			}
		})
	}

	for range pauses {
		m.pass(time.Hour)
		c.Now()
	}
	close(stop)
	readers.Wait()
	require.Empty(t, back, "it went back")
	require.Equal(t, begin.Add(pauses*MostBetweenLooks), c.Now())
}

func TestSettableClock_FrozenHasNoPauses(t *testing.T) {
	t.Parallel()
	m := newMachine()
	running := newRunningClock(m.read)
	c := NewSettableClock(running)
	running.Look()
	m.pass(time.Hour)
	require.Equal(t, time.Hour-MostBetweenLooks, c.Wall().Sub(c.Now()))

	c.Freeze()
	now, wall := c.Now(), c.Wall()
	m.pass(time.Hour)
	running.Look()
	require.Equal(t, []time.Time{now, wall}, []time.Time{c.Now(), c.Wall()})

	running.Adjust(time.Minute)
	require.Equal(t, []time.Time{now, wall.Add(time.Minute)}, []time.Time{c.Now(), c.Wall()})
	m.pass(time.Hour)
	c.Resume()
	m.pass(MostBetweenLooks)
	require.Equal(t, []time.Time{now.Add(time.Second), wall.Add(time.Minute + time.Second)}, []time.Time{c.Now(), c.Wall()})
}
