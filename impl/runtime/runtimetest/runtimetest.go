// Package runtimetest is the suite that every runtime passes.
package runtimetest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

// Fixture is a runtime under test and what can be run on it. The function that makes it closes the runtime with t.Cleanup.
type Fixture struct {
	Runtime runtime.Runtime
	// Stays makes an allocation that stays up until it is stopped and writes Line to its logs.
	Stays func(id string) runtime.Allocation
	// Exits makes an allocation that comes up, writes Line and ends by itself with the code.
	Exits func(id string, code int) runtime.Allocation
	// Fails makes an allocation that Start refuses.
	Fails func(id string) runtime.Allocation
	// Line is a part of a line that Stays and Exits write.
	Line string
	// Advance lets time pass on the runtime's clock; nil if it runs on the machine's.
	Advance func(time.Duration)
	// Reports tells that Ended delivers ends as they happen, and does not leave it to callers to Inspect.
	Reports bool
}

const (
	grace    = 5 * time.Second       // for SIGTERM; what the fixtures run heeds it
	patience = 20 * time.Second      // real time until a test gives up
	look     = 10 * time.Millisecond // real time between two looks
)

// Run runs the suite; f makes a fresh fixture for each test.
func Run(t *testing.T, f func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, Fixture){
		"a started allocation comes up":                                   comesUp,
		"starting an allocation that is up changes nothing":               startIsIdempotent,
		"a stopped allocation has ended":                                  stopEnds,
		"a stopped allocation can be started again":                       startsAgain,
		"a removed allocation is unknown":                                 removeForgets,
		"an unknown id is ErrUnknown, and Remove does not mind":           unknownID,
		"the exit code is the program's":                                  exitCode,
		"the logs hold what was written, over every run":                  logs,
		"an allocation that cannot start is an error and leaves no trace": failsToStart,
		"allocations do not disturb each other":                           apart,
		"an end by itself is reported, a stop is not":                     reports,
		"a call whose context has ended fails":                            ended,
		"everything may be called at once":                                concurrent,
		"a closed runtime has nothing up and starts nothing":              closes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, f(t))
		})
	}
}

// await lets time pass until the allocation is in the phase.
func (f Fixture) await(t *testing.T, id string, phase runtime.Phase) runtime.State {
	t.Helper()
	state := f.state(t, id)
	if f.Advance == nil {
		require.Eventually(t, func() bool {
			var err error
			state, err = f.Runtime.Inspect(t.Context(), id)
			return err == nil && state.Phase == phase
		}, patience, look)
		return state
	}
	for range 60 {
		if state.Phase == phase {
			break
		}
		f.Advance(time.Second)
		state = f.state(t, id)
	}
	require.Equal(t, phase, state.Phase)
	return state
}

func (f Fixture) state(t *testing.T, id string) runtime.State {
	t.Helper()
	state, err := f.Runtime.Inspect(t.Context(), id)
	require.NoError(t, err)
	return state
}

func (f Fixture) start(t *testing.T, a runtime.Allocation) {
	t.Helper()
	require.NoError(t, f.Runtime.Start(t.Context(), a))
}

func (f Fixture) log(t *testing.T, id string) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, f.Runtime.Logs(t.Context(), id, &text))
	return text.String()
}

// awaitLines waits until Line was written n times: a program that is up need not have written yet.
func (f Fixture) awaitLines(t *testing.T, id string, n int) {
	t.Helper()
	if f.Advance != nil {
		require.Equal(t, n, strings.Count(f.log(t, id), f.Line))
		return
	}
	require.Eventually(t, func() bool { return strings.Count(f.log(t, id), f.Line) == n }, patience, look)
}

func comesUp(t *testing.T, f Fixture) {
	f.start(t, f.Stays("a"))
	if state := f.state(t, "a"); state.Phase == runtime.Starting {
		require.Zero(t, state.StartedAt)
	}
	state := f.await(t, "a", runtime.Up)
	require.NotZero(t, state.StartedAt)
	require.Equal(t, time.UTC, state.StartedAt.Location())
}

func startIsIdempotent(t *testing.T, f Fixture) {
	f.start(t, f.Stays("a"))
	f.start(t, f.Stays("a"))
	before := f.await(t, "a", runtime.Up)
	f.awaitLines(t, "a", 1)
	f.start(t, f.Stays("a"))
	f.start(t, f.Exits("a", 7)) // what it is asked to run does not matter either
	require.Equal(t, before, f.state(t, "a"))
}

func stopEnds(t *testing.T, f Fixture) {
	f.start(t, f.Stays("a"))
	up := f.await(t, "a", runtime.Up)
	f.awaitLines(t, "a", 1) // by then it heeds SIGTERM
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))
	state := f.state(t, "a")
	require.Equal(t, runtime.Ended, state.Phase)
	require.Equal(t, up.StartedAt, state.StartedAt)
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))
	require.Equal(t, state, f.state(t, "a"))
}

func startsAgain(t *testing.T, f Fixture) {
	f.start(t, f.Stays("a"))
	first := f.await(t, "a", runtime.Up)
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))
	f.start(t, f.Stays("a"))
	second := f.await(t, "a", runtime.Up)
	require.True(t, second.StartedAt.After(first.StartedAt))
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))
	f.start(t, f.Exits("a", 7)) // with what is asked for now
	require.Equal(t, 7, f.await(t, "a", runtime.Ended).ExitCode)
	f.start(t, f.Exits("a", 8))
	require.Equal(t, 8, f.await(t, "a", runtime.Ended).ExitCode)
}

func removeForgets(t *testing.T, f Fixture) {
	f.start(t, f.Stays("a"))
	f.await(t, "a", runtime.Up)
	require.NoError(t, f.Runtime.Remove(t.Context(), "a"))
	_, err := f.Runtime.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)
	require.NoError(t, f.Runtime.Remove(t.Context(), "a"))
	f.start(t, f.Stays("a"))
	f.await(t, "a", runtime.Up)
	f.awaitLines(t, "a", 1)
}

func unknownID(t *testing.T, f Fixture) {
	require.ErrorIs(t, f.Runtime.Stop(t.Context(), "a", grace), runtime.ErrUnknown)
	_, err := f.Runtime.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)
	require.ErrorIs(t, f.Runtime.Logs(t.Context(), "a", &strings.Builder{}), runtime.ErrUnknown)
	require.NoError(t, f.Runtime.Remove(t.Context(), "a"))
}

func exitCode(t *testing.T, f Fixture) {
	f.start(t, f.Exits("good", 0))
	f.start(t, f.Exits("bad", 42))
	require.Zero(t, f.await(t, "good", runtime.Ended).ExitCode)
	bad := f.await(t, "bad", runtime.Ended)
	require.Equal(t, 42, bad.ExitCode)
	require.NotZero(t, bad.StartedAt)
	require.NoError(t, f.Runtime.Stop(t.Context(), "bad", grace))
	require.Equal(t, bad, f.state(t, "bad"))
}

func logs(t *testing.T, f Fixture) {
	f.start(t, f.Exits("a", 0))
	f.await(t, "a", runtime.Ended)
	first := f.log(t, "a") // complete once it has ended
	require.Equal(t, 1, strings.Count(first, f.Line))
	require.Equal(t, first, f.log(t, "a"))
	f.start(t, f.Exits("a", 0))
	f.await(t, "a", runtime.Ended)
	require.True(t, strings.HasPrefix(f.log(t, "a"), first))
	require.Equal(t, 2, strings.Count(f.log(t, "a"), f.Line))
}

func failsToStart(t *testing.T, f Fixture) {
	require.Error(t, f.Runtime.Start(t.Context(), f.Fails("a")))
	_, err := f.Runtime.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)
	f.start(t, f.Exits("a", 7))
	f.await(t, "a", runtime.Ended)
	require.Error(t, f.Runtime.Start(t.Context(), f.Fails("a")))
	require.Equal(t, 7, f.state(t, "a").ExitCode)
}

func apart(t *testing.T, f Fixture) {
	f.start(t, f.Stays("a"))
	f.start(t, f.Stays("b"))
	f.await(t, "a", runtime.Up)
	before := f.await(t, "b", runtime.Up)
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))
	require.NoError(t, f.Runtime.Remove(t.Context(), "a"))
	require.Equal(t, before, f.state(t, "b"))
}

func reports(t *testing.T, f Fixture) {
	if !f.Reports {
		t.Skip("this runtime leaves it to its callers to look")
	}
	f.start(t, f.Stays("stopped"))
	f.await(t, "stopped", runtime.Up)
	require.NoError(t, f.Runtime.Stop(t.Context(), "stopped", grace))
	f.start(t, f.Exits("ended", 3))
	select {
	case id := <-f.Runtime.Ended():
		require.Equal(t, "ended", id)
	case <-time.After(patience):
		require.Fail(t, "the end was not reported")
	}
	require.Equal(t, runtime.Ended, f.state(t, "ended").Phase) // it had ended when it was reported
}

func ended(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, f.Runtime.Start(ctx, f.Stays("a")), context.Canceled)
	_, err := f.Runtime.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)
}

func concurrent(t *testing.T, f Fixture) {
	var all sync.WaitGroup
	for _, id := range []string{"a", "b", "a", "b"} {
		all.Go(func() {
			for range 3 {
				_ = f.Runtime.Start(t.Context(), f.Stays(id))
				_, _ = f.Runtime.Inspect(t.Context(), id)
				_ = f.Runtime.Logs(t.Context(), id, &strings.Builder{})
				_ = f.Runtime.Stop(t.Context(), id, 0)
				_ = f.Runtime.Remove(t.Context(), id)
			}
		})
	}
	all.Wait()
	for _, id := range []string{"a", "b"} {
		_, err := f.Runtime.Inspect(t.Context(), id)
		require.ErrorIs(t, err, runtime.ErrUnknown)
	}
}

func closes(t *testing.T, f Fixture) {
	f.start(t, f.Stays("a"))
	f.await(t, "a", runtime.Up)
	require.NoError(t, f.Runtime.Close())
	require.NoError(t, f.Runtime.Close())
	require.Equal(t, runtime.Ended, f.state(t, "a").Phase)
	require.Error(t, f.Runtime.Start(t.Context(), f.Stays("a")))
	require.Error(t, f.Runtime.Start(t.Context(), f.Stays("b")))
}
