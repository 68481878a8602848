// Package runtimetest is the suite that every runtime passes.
package runtimetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
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
	// Plays makes an allocation that runs the steps, see package play.
	Plays func(id string, steps ...string) runtime.Allocation
	// Command gives a command that runs the steps in what Stays made.
	Command func(steps ...string) []string
	// Reopen gives a runtime of the same owner in place of the one that was closed.
	Reopen func(*testing.T) runtime.Runtime
	// Line is a part of a line that Stays and Exits write.
	Line string
	// Advance lets time pass on the runtime's clock; nil if it runs on the machine's.
	Advance func(time.Duration)
	// Lacks says what the runtime does not do, and why. The tests of that are skipped, with the reason.
	Lacks map[Ability]string
}

// Ability is something that not every runtime does.
type Ability string

// The abilities.
const (
	Reporting Ability = "reporting" // Ended delivers ends as they happen, and does not leave it to callers to Inspect
	Programs  Ability = "programs"  // what is started really runs
	Mounts    Ability = "mounts"    // and disks that are wiped
	Limits    Ability = "limits"    // of memory, CPU and processes
	Ports     Ability = "ports"     // that are published
	Stats     Ability = "stats"
	OldLogs   Ability = "old logs"  // of earlier runs
	Streams   Ability = "streams"   // of lines: it knows to which one each was written
	Moments   Ability = "moments"   // of starts: two of them within a second have two times
	Commands  Ability = "commands"  // beside what an allocation runs
	Outliving Ability = "outliving" // what is up outlives the runtime, and the next one knows it
)

// has reports whether the runtime does it.
func (f Fixture) has(a Ability) bool {
	_, lacks := f.Lacks[a]
	return !lacks
}

// needs skips the test of what the runtime does not do.
func (f Fixture) needs(t *testing.T, abilities ...Ability) {
	t.Helper()
	for _, a := range abilities {
		if why, lacks := f.Lacks[a]; lacks {
			t.Skipf("SKIPPED: this runtime has no %s: %s", a, why)
		}
	}
}

const (
	grace    = 5 * time.Second       // for SIGTERM; what the fixtures run heeds it
	patience = 20 * time.Second      // real time until a test gives up
	look     = 10 * time.Millisecond // real time between two looks
)

// Run runs the suite; f makes a fresh fixture for each test.
func Run(t *testing.T, f func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, Fixture){
		"a started allocation comes up":                         comesUp,
		"starting an allocation that is up changes nothing":     startIsIdempotent,
		"a stopped allocation has ended":                        stopEnds,
		"a stopped allocation can be started again":             startsAgain,
		"a removed allocation is unknown":                       removeForgets,
		"an unknown id is ErrUnknown, and Remove does not mind": unknownID,

		"the exit code is the program's":                                  exitCode,
		"the logs hold what was written":                                  logs,
		"the logs hold what earlier runs wrote":                           oldLogs,
		"an allocation that cannot start is an error and leaves no trace": failsToStart,
		"allocations do not disturb each other":                           apart,
		"an end by itself is reported, a stop is not":                     reports,
		"a call whose context has ended fails":                            ended,
		"everything may be called at once":                                concurrent,
		"a closed runtime starts nothing":                                 closes,
		"what is up outlives a runtime that is closed":                    outlives,
		"the generation is the one that was asked for":                    generations,
		"arguments whose quotes are not closed are refused":               refusesArguments,
		"the list holds what was started and not removed":                 lists,
		"lines have positions to go on from":                              positions,
		"the logs can be followed":                                        follows,
		"a follower can leave":                                            leaves,
		"arguments and environment reach the program":                     hands,
		"arguments may be JSON":                                           handsJSON,
		"a persistent mount outlives a stop, the disk does not":           persists,
		"a network volume is shared and outlives everybody":               shares,

		"memory is limited":                       limitsMemory,
		"processes are limited":                   limitsProcesses,
		"what an allocation uses is measured":     measures,
		"ports are published, anew at each start": publishes,

		"a command runs beside the program":                       commands,
		"a command may have a terminal":                           commandsWithTerminals,
		"a command that nobody waits for ends":                    commandsEnd,
		"no command runs in what is not up":                       noCommands,
		"an allocation is placed where there is room, or nowhere": places,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, f(t))
		})
	}
}

func places(t *testing.T, f Fixture) {
	_, ok := f.Runtime.Place(slices.Values([]compute.HostRoom{}))
	require.False(t, ok)
	rooms := []compute.HostRoom{{Number: 5, HostID: "b", GPUs: 4}, {Number: 7, HostID: "c", GPUs: 2}, {Number: 3, HostID: "a", Rank: 1, GPUs: 1}}
	for range 2 { // it may be asked again
		chosen, ok := f.Runtime.Place(slices.Values(rooms))
		require.True(t, ok)
		require.Contains(t, rooms, chosen)
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
	for _, l := range f.lines(t, id, runtime.LogQuery{}) {
		text.WriteString(l.Text + "\n")
	}
	return text.String()
}

func (f Fixture) lines(t *testing.T, id string, q runtime.LogQuery) (lines []runtime.Line) {
	t.Helper()
	require.NoError(t, f.Runtime.Logs(t.Context(), id, q, func(l runtime.Line) error {
		lines = append(lines, l)
		return nil
	}))
	return lines
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
	if f.has(Moments) {
		require.True(t, second.StartedAt.After(first.StartedAt))
	}
	require.False(t, second.StartedAt.Before(first.StartedAt))
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
	require.ErrorIs(t, f.Runtime.Logs(t.Context(), "a", runtime.LogQuery{}, nil), runtime.ErrUnknown)
	_, err = f.Runtime.Stats(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)
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
}

func oldLogs(t *testing.T, f Fixture) {
	f.needs(t, OldLogs)
	f.start(t, f.Exits("a", 0))
	f.await(t, "a", runtime.Ended)
	first := f.log(t, "a")
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
	f.needs(t, Reporting)
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
				_ = f.Runtime.Logs(t.Context(), id, runtime.LogQuery{}, func(runtime.Line) error { return nil })
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
	require.Error(t, f.Runtime.Start(t.Context(), f.Stays("a")))
	require.Error(t, f.Runtime.Start(t.Context(), f.Stays("b")))
	if !f.has(Outliving) {
		require.Equal(t, runtime.Ended, f.state(t, "a").Phase)
	}
}
