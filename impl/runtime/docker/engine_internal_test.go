package docker

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// An engine that answered may be asked nothing any more, as when its fleet is closed: nothing is lost.
func TestEngine_ThatAnswersPingsIsNotLost(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.Unix(1_700_000_000, 0))
	config := Config{Clock: clock, Log: slog.New(slog.DiscardHandler)}
	e := &engine{Runtime: &Runtime{config: config}, Engine: runtime.Engine{HostID: "h"}, fleet: &Fleet{config: FleetConfig{LostAfter: time.Minute}}, since: clock.Now()}
	e.noteReached(true)
	clock.Advance(time.Hour)
	require.False(t, e.now().Answers)
	require.False(t, e.now().Lost)

	e.noteReached(false)
	require.False(t, e.now().Lost, "it has not answered for a moment")
	clock.Advance(time.Minute)
	require.True(t, e.now().Lost)
	e.noteReached(false)
	require.True(t, e.now().Lost)
}

// asking gives a fleet of one host, which an engine with GPUs has and a container that is up, and it is to be found out what there is.
func asking(t *testing.T, one *fakeEngine) (*Fleet, *compute.SettableClock) {
	one.nvidia = true
	one.containers["berth-o-a"] = true
	clock := compute.NewFrozenClock(time.Unix(1_700_000_000, 0))
	f, err := NewFleet(FleetConfig{Config: Config{Owner: "o", Host: "unix:///nowhere/docker.sock", Clock: clock}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	require.NoError(t, f.SetEngines([]runtime.Engine{{HostID: "1", Address: one.address(), Ask: true}}, false))
	return f, clock
}

func (f *fakeEngine) asks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.queries
}

func (e *engine) isAsking() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asking
}

// What is on a host is looked after, whether or not it is known what else could be placed there.
func TestEngine_WhoseGPUsCannotBeAskedIsManaged(t *testing.T) {
	t.Parallel()
	one := newFakeEngine(t)
	one.exit = 1
	f, clock := asking(t, one)
	failed := func() bool { return strings.Contains(f.EngineStates()["1"].Reason, "ended with exit code 1") }
	require.Eventually(t, failed, 10*time.Second, time.Millisecond)
	state := f.EngineStates()["1"]
	require.True(t, state.Asked)
	require.True(t, state.Answers)
	require.True(t, state.Unknown)
	require.False(t, state.Lost)
	require.Contains(t, state.Reason, "it is not known yet what it has: its GPUs, as nvidia-smi")
	require.ErrorIs(t, f.Ping(t.Context()), runtime.ErrUnavailable, "nothing can be placed there")

	up, err := f.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.Up, up.Phase)
	require.NoError(t, f.Stop(t.Context(), "a", 0))
	up, err = f.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, up.Phase)

	e := f.on("1")
	awaitQueries := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.failures == n && !e.asking
		}, 10*time.Second, time.Millisecond)
		require.Equal(t, n, one.asks())
		e.look()
		require.False(t, e.isAsking(), "it is too early")
	}
	awaitQueries(1)
	for i, pause := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute} {
		clock.Advance(pause - time.Millisecond)
		e.look()
		require.Equal(t, i+1, one.asks())
		clock.Advance(time.Millisecond)
		e.look()
		awaitQueries(i + 2)
	}

	one.mu.Lock()
	one.exit = 0
	one.mu.Unlock()
	clock.Advance(time.Minute)
	e.look()
	require.Eventually(t, func() bool { return !f.EngineStates()["1"].Unknown }, 10*time.Second, time.Millisecond)
	state = f.EngineStates()["1"]
	require.True(t, state.Answers)
	require.Empty(t, state.Reason)
	require.EqualValues(t, 8, state.Has.VCPUs)
	require.NoError(t, f.Ping(t.Context()))
}

// A query takes as long as the pull of its image, and its container is nobody's allocation.
func TestEngine_IsLookedAtWhileItsGPUsAreAsked(t *testing.T) {
	t.Parallel()
	one := newFakeEngine(t)
	one.held = make(chan struct{})
	f, _ := asking(t, one)
	require.Eventually(t, func() bool { return one.asks() == 1 }, 10*time.Second, time.Millisecond)
	require.True(t, one.has("berth-o-"+queryID))
	state := f.EngineStates()["1"]
	require.True(t, state.Answers)
	require.False(t, state.Asked, "who waits for it waits for what it has, too")
	ids, err := f.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids)

	e := f.on("1")
	e.look()
	require.Equal(t, 1, one.asks())
	one.Close()
	e.look()
	require.False(t, f.EngineStates()["1"].Answers)
	require.Eventually(t, func() bool { return !e.isAsking() }, 10*time.Second, time.Millisecond)
}
