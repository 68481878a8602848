package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// What ended while the server was down is billed up to its end, or to when the server was seen last; what was started again, from then on.
func TestPods_NobodyPaysForWhatDidNotRun(t *testing.T) {
	t.Parallel()
	hour := time.Hour
	for name, c := range map[string]struct {
		fresh bool                              // the runtime knows nothing any more
		state func(runtime.State) runtime.State // what it knows
		until time.Duration                     // after the server was seen last
	}{
		"what runs still":                          {until: hour},
		"an end of its own":                        {state: endedAfter(20 * time.Minute), until: 20 * time.Minute},
		"an end by a clock that is behind":         {state: endedAfter(-hour)},
		"an end by a clock that is ahead":          {state: endedAfter(5 * hour), until: hour},
		"an end of which nobody knows when it was": {state: func(s runtime.State) runtime.State { s.Phase = runtime.Ended; return s }},
		"what ended with the server":               {fresh: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			id := y.running(nil)
			seen := y.clock.Wall()
			y.clock.Advance(hour)
			if c.fresh {
				y.host.Fleet = sim.New(y.clock)
			}
			y.host.state = func(s runtime.State) runtime.State {
				switch {
				case c.state != nil:
					s = c.state(s)
				case c.fresh:
					s.StartedAt = y.clock.Now()
				}
				return s
			}
			y.restart()
			y.pods.LastWall = seen
			y.step(0)
			if y.pod(id).Status == compute.PodRunning {
				y.act(id, compute.PodStop)
			}

			charges := chargesOf(t, y.store, compute.PodCPU, string(id))
			require.Equal(t, seen.Add(c.until).UnixMilli(), charges[0].EndedAt.UnixMilli())
			if !c.fresh {
				require.Len(t, charges, 1)
				return
			}
			require.Len(t, charges, 2, "it runs again")
			require.Equal(t, y.clock.Wall().UnixMilli(), charges[1].BeganAt.UnixMilli())
		})
	}
}

// endedAfter has a container end so long after the server was seen last, by the clock of its host.
func endedAfter(d time.Duration) func(runtime.State) runtime.State {
	return func(s runtime.State) runtime.State {
		s.Phase, s.EndedAt = runtime.Ended, s.StartedAt.Add(d)
		return s
	}
}

// A host that answers only some time after the start says then what ended before it.
func TestPods_NobodyPaysForWhatDidNotRunOnAHostThatComesLate(t *testing.T) {
	t.Parallel()
	for name, ended := range map[string]bool{"what had ended": true, "what runs still": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			id := y.running(nil)
			seen := y.clock.Wall()
			y.clock.Advance(time.Hour)
			y.restart()
			h := &mute{host: y.host}
			h.silent.Store(true)
			y.pods.Runtime, y.pods.LastWall = h, seen
			y.step(time.Minute)
			require.Equal(t, compute.PodRunning, y.pod(id).Status)

			h.silent.Store(false)
			if ended {
				y.host.state = endedAfter(10 * time.Minute)
			}
			y.step(time.Minute)
			y.host.state = endedAfter(20 * time.Minute) // and for what ends later its end is seen
			y.step(time.Minute)
			until := seen.Add(10 * time.Minute)
			if !ended {
				until = y.clock.Wall()
			}
			charges := chargesOf(t, y.store, compute.PodCPU, string(id))
			require.Len(t, charges, 1)
			require.Equal(t, until.UnixMilli(), charges[0].EndedAt.UnixMilli())
		})
	}
}
