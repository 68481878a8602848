package sim_test

import (
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/runtimetest"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// clock stands still until it is advanced.
type clock struct {
	mu  sync.Mutex
	now time.Time
	lag time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now.Add(c.lag)
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// After panics: the fleet computes, it never waits.
func (c *clock) After(time.Duration) (<-chan time.Time, func()) { panic("the fleet waited") }

func TestFleet_PassesTheSuite(t *testing.T) {
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
			Lacks: map[runtimetest.Ability]string{
				runtimetest.Reporting: "nothing runs, so callers see an end when they look",
				runtimetest.Programs:  "nothing runs",
				runtimetest.Mounts:    "nothing runs",
				runtimetest.Limits:    "nothing runs",
				runtimetest.Ports:     "nothing listens on them",
				runtimetest.Stats:     "nothing runs, they are zero",
				runtimetest.Commands:  "nothing runs",
				runtimetest.Outliving: "it is in memory",
			},
		}
	})
}

func TestFleet_StartsForExactlyTheBootTime(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	start := clock.Now()
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a"}))

	clock.Advance(sim.DefaultBoot - 1)
	state, err := fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.State{Phase: runtime.Starting, Until: start.Add(sim.DefaultBoot)}, state)

	clock.Advance(1)
	state, err = fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	never := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, runtime.State{Phase: runtime.Up, StartedAt: start.Add(sim.DefaultBoot), Until: never}, state)
}

func TestFleet_BootTimeCanBeSet(t *testing.T) {
	t.Parallel()
	fleet := sim.New(newClock())
	fleet.SetBoot(0)
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a"}))
	state, err := fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.Up, state.Phase)
}

func TestFleet_AllocationUpBeforeARestartIsUp(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	since := clock.Now().Add(-time.Hour)
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a", StartedAt: since}))
	state, err := fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.State{Phase: runtime.Up, StartedAt: since, Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, state)
}

func TestFleet_StoppedBeforeItCameUpWasNeverUp(t *testing.T) {
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

func TestFleet_RefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{
		{sim.EnvExitAfter: "soon"}, {sim.EnvExitAfter: "-1s"}, {sim.EnvExitCode: "256"}, {sim.EnvExitCode: "-1"}, {sim.EnvExitCode: ""},
	} {
		require.Error(t, sim.New(newClock()).Start(t.Context(), runtime.Allocation{ID: "a", Env: env}), env)
	}
}

func TestFleet_StartErrorIsTheOneAskedFor(t *testing.T) {
	t.Parallel()
	err := sim.New(newClock()).Start(t.Context(), runtime.Allocation{ID: "a", Env: map[string]string{sim.EnvStartError: "no space"}})
	require.EqualError(t, err, "no space")
}

func TestFleet_LogsAreTheSameEveryTime(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{
		ID: "a", Image: "repo/image:1", Args: "-v", Env: map[string]string{sim.EnvExitAfter: "1m", sim.EnvExitCode: "9", "SECRET": "s3cret"},
	}))

	clock.Advance(time.Hour)
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	line := func(after time.Duration, text string) runtime.Line {
		at := start.Add(after)
		return runtime.Line{At: at, Position: at.UnixNano(), Stream: runtime.Stdout, Text: text}
	}

	want := []runtime.Line{
		line(0, `sim: starting "repo/image:1" with arguments "-v"`),
		line(2*time.Second, "sim: up"),
		line(62*time.Second, "sim: ended with exit code 9"),
	}

	for range 2 {
		var lines []runtime.Line
		require.NoError(t, fleet.Logs(t.Context(), "a", runtime.LogQuery{Follow: true}, func(l runtime.Line) error {
			lines = append(lines, l)
			return nil
		}))
		require.Equal(t, want, lines)
	}
}

func TestFleet_PortsAreThereWhileItIsUp(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a", Ports: []string{"8888/http", "22/tcp"}}))

	state, err := fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Empty(t, state.Ports)
	clock.Advance(sim.DefaultBoot)
	state, err = fleet.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, []compute.PublishedPort{
		{Private: 8888, Public: 40_000, Type: "http", IP: "100.65.0.1"}, {Private: 22, Public: 40_001, Type: "tcp", IP: "192.0.2.1"},
	}, state.Ports)
}

func TestFleet_NoTwoAllocationsSharePorts(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	const most = 3
	ports := make([]string, 26_000/most) // of three allocations more than one address has
	for i := range ports {
		ports[i] = "22/tcp"
	}

	taken := map[compute.PublishedPort]string{}
	look := func(id string) {
		state, err := fleet.Inspect(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, state.Ports, len(ports))
		for _, p := range state.Ports {
			require.Empty(t, taken[p], "%v is that of another one", p)
			taken[p] = id
		}
	}

	for _, id := range []string{"a", "b", "c"} {
		require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: id, Ports: ports}))
		clock.Advance(sim.DefaultBoot)
		look(id)
	}

	require.Contains(t, taken, compute.PublishedPort{Private: 22, Public: 40_000, Type: "tcp", IP: "192.0.2.2"})
	require.NoError(t, fleet.Remove(t.Context(), "b"))
	require.NoError(t, fleet.Stop(t.Context(), "a", 0))
	maps.DeleteFunc(taken, func(_ compute.PublishedPort, id string) bool { return id != "c" })

	for _, id := range []string{"d", "a"} { // those that are free again, and no others
		require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: id, Ports: ports}))
		clock.Advance(sim.DefaultBoot)
		look(id)
	}

	for p := range taken {
		require.Contains(t, []string{"192.0.2.1", "192.0.2.2"}, p.IP)
	}
}

// Whoever reads a log waits for no more lines than it keeps.
func TestLogs_OfManyRunsAreBounded(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	defer func() { require.NoError(t, fleet.Close()) }()
	for range 100 {
		require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a", Image: "i", Env: map[string]string{sim.EnvLogEvery: "1ns"}}))
		clock.Advance(sim.DefaultBoot + time.Hour)
		require.NoError(t, fleet.Stop(t.Context(), "a", 0))
	}

	read := func(q runtime.LogQuery) (lines []runtime.Line) {
		require.NoError(t, fleet.Logs(t.Context(), "a", q, func(l runtime.Line) error {
			lines = append(lines, l)
			return nil
		}))
		return lines
	}
	all := read(runtime.LogQuery{})
	require.LessOrEqual(t, len(all), 10_000+3*100)
	require.Equal(t, "sim: ended with exit code 0", all[len(all)-1].Text)
	require.Equal(t, "sim: tick 3600000000000", all[len(all)-2].Text, "the last are kept")
	require.Equal(t, all[len(all)-5:], read(runtime.LogQuery{Tail: 5}))
	require.Equal(t, all[len(all)-2:], read(runtime.LogQuery{After: all[len(all)-3].Position}))
}

func TestLogs_ThatAreFollowedHaveEachLineOnce(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fleet := sim.New(clock)
	defer func() { require.NoError(t, fleet.Close()) }()
	require.NoError(t, fleet.Start(t.Context(), runtime.Allocation{ID: "a", Image: "i", Env: map[string]string{sim.EnvLogEvery: "300ms"}}))
	var said []string
	for after := int64(0); len(said) < 100; clock.Advance(time.Second) {
		require.NoError(t, fleet.Logs(t.Context(), "a", runtime.LogQuery{After: after}, func(l runtime.Line) error {
			said, after = append(said, l.Text), l.Position
			return nil
		}))
	}
	for i, text := range said[2:] {
		require.Equal(t, "sim: tick "+strconv.Itoa(i+1), text)
	}
}
