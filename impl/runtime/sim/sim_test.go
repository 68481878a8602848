package sim_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/runtimetest"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// clock stands still until it is advanced.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// After panics: the fleet computes, it never waits.
func (c *clock) After(time.Duration) (<-chan time.Time, func()) { panic("the fleet waited") }

func TestTheFleetPassesTheSuite(t *testing.T) {
	t.Parallel()
	runtimetest.Run(t, func(t *testing.T) runtimetest.Fixture {
		clock := newClock()
		fleet := sim.New(clock)
		t.Cleanup(func() { require.NoError(t, fleet.Close()) })
		return runtimetest.Fixture{
			Runtime: fleet,
			Stays:   func(id string) runtime.Allocation { return runtime.Allocation{ID: id, Image: "image"} },
			Exits: func(id string, code int) runtime.Allocation {
				return runtime.Allocation{ID: id, Image: "image", Env: map[string]string{
					sim.EnvExitAfter: "5s", sim.EnvExitCode: strconv.Itoa(code),
				}}
			},
			Fails: func(id string) runtime.Allocation {
				return runtime.Allocation{ID: id, Image: "image", Env: map[string]string{sim.EnvStartError: "no space"}}
			},
			Line:    "sim: starting",
			Advance: clock.Advance,
		}
	})
}

func TestAnAllocationIsStartingForExactlyTheBootTime(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	start := clock.Now()
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a"}))
	clock.Advance(sim.DefaultBoot - 1)
	state, err := fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.State{Phase: runtime.Starting}, state)
	clock.Advance(1)
	state, err = fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.State{Phase: runtime.Up, StartedAt: start.Add(sim.DefaultBoot)}, state)
}

func TestTheBootTimeCanBeSet(t *testing.T) {
	t.Parallel()
	fleet := sim.New(newClock())
	fleet.SetBoot(0)
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a"}))
	state, err := fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.Up, state.Phase)
}

func TestAnAllocationThatWasUpBeforeARestartIsUpSinceThen(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	since := clock.Now().Add(-time.Hour)
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a", StartedAt: since}))
	state, err := fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.State{Phase: runtime.Up, StartedAt: since}, state)
}

func TestAnAllocationThatWasStoppedBeforeItCameUpWasNeverUp(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a"}))
	clock.Advance(time.Second)
	require.NoError(t, fleet.Stop(t.Context(), "a", time.Second))
	clock.Advance(time.Hour)
	state, err := fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.State{Phase: runtime.Ended}, state)
}

func TestAskingForNonsenseIsAnError(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{
		{sim.EnvExitAfter: "soon"}, {sim.EnvExitAfter: "-1s"}, {sim.EnvExitCode: "256"}, {sim.EnvExitCode: "-1"}, {sim.EnvExitCode: ""},
	} {
		require.Error(t, sim.New(newClock()).Start(t.Context(), runtime.Allocation{ID: "a", Env: env}), env)
	}
}

func TestTheStartErrorIsTheOneAskedFor(t *testing.T) {
	t.Parallel()
	err := sim.New(newClock()).Start(t.Context(), runtime.Allocation{ID: "a", Env: map[string]string{sim.EnvStartError: "no space"}})
	require.EqualError(t, err, "no space")
}

func TestTheLogsAreTheSameEveryTime(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{
		ID: "a", Image: "repo/image:1", Args: "-v", Env: map[string]string{sim.EnvExitAfter: "1m", sim.EnvExitCode: "9", "SECRET": "s3cret"},
	}))
	clock.Advance(time.Hour)
	var text strings.Builder
	require.NoError(t, fleet.Logs(t.Context(), "a", &text))
	require.Equal(t, `2026-01-02T03:04:05Z sim: starting "repo/image:1" with arguments "-v"
2026-01-02T03:04:07Z sim: up
2026-01-02T03:05:07Z sim: ended with exit code 9
`, text.String())
}
