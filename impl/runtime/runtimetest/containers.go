package runtimetest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

func generations(t *testing.T, f Fixture) {
	a := f.Stays("a")
	a.Generation = 1_700_000_000_123
	f.start(t, a)
	require.Equal(t, a.Generation, f.await(t, "a", runtime.Up).Generation)
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))
	require.Equal(t, a.Generation, f.state(t, "a").Generation)
	a.Generation++
	f.start(t, a)
	require.Equal(t, a.Generation, f.state(t, "a").Generation)
	require.Equal(t, a.Generation, f.await(t, "a", runtime.Up).Generation)
}

func refusesArguments(t *testing.T, f Fixture) {
	a := f.Stays("a")
	a.Args = "'open"
	require.ErrorContains(t, f.Runtime.Start(t.Context(), a), "args: ")
	_, err := f.Runtime.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)
}

func (f Fixture) list(t *testing.T) []string {
	t.Helper()
	ids, err := f.Runtime.List(t.Context())
	require.NoError(t, err)
	return ids
}

func lists(t *testing.T, f Fixture) {
	require.Empty(t, f.list(t))
	f.start(t, f.Stays("up"))
	f.start(t, f.Exits("ended", 0))
	f.start(t, f.Stays("removed"))
	f.await(t, "up", runtime.Up)
	f.await(t, "ended", runtime.Ended)
	f.await(t, "removed", runtime.Up)
	require.NoError(t, f.Runtime.Remove(t.Context(), "removed"))
	require.ElementsMatch(t, []string{"up", "ended"}, f.list(t))
}

func outlives(t *testing.T, f Fixture) {
	f.needs(t, Outliving)
	a := f.Stays("a")
	a.Generation = 7
	f.start(t, a)
	f.start(t, f.Exits("ended", 5))
	before := f.await(t, "a", runtime.Up)
	f.await(t, "ended", runtime.Ended)
	require.NoError(t, f.Runtime.Close())

	f.Runtime = f.Reopen(t)
	require.ElementsMatch(t, []string{"a", "ended"}, f.list(t))
	require.Equal(t, before, f.state(t, "a"))
	ended := f.state(t, "ended")
	require.Equal(t, 5, ended.ExitCode)
	require.False(t, ended.EndedAt.Before(ended.StartedAt.Truncate(time.Second)), "what ends while nobody looks is billed up to then")

	f.start(t, a) // changes nothing
	require.Equal(t, before, f.state(t, "a"))
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))
	require.Equal(t, runtime.Ended, f.state(t, "a").Phase)
}

func positions(t *testing.T, f Fixture) {
	f.start(t, f.Exits("a", 0))
	f.await(t, "a", runtime.Ended)
	all := f.lines(t, "a", runtime.LogQuery{})
	require.NotEmpty(t, all)

	for i, l := range all {
		require.Equal(t, time.UTC, l.At.Location())
		require.NotZero(t, l.Stream)
		require.Equal(t, all[i:], f.lines(t, "a", runtime.LogQuery{After: l.Position - 1}))
		require.Equal(t, all[i:], f.lines(t, "a", runtime.LogQuery{Tail: len(all) - i}))
		require.Len(t, f.lines(t, "a", runtime.LogQuery{After: l.Position}), len(all)-i-1)
	}

	require.Equal(t, all, f.lines(t, "a", runtime.LogQuery{Since: all[0].At}))
	require.Empty(t, f.lines(t, "a", runtime.LogQuery{Since: all[len(all)-1].At.Add(time.Nanosecond)}))
	require.ErrorIs(t, f.Runtime.Logs(t.Context(), "a", runtime.LogQuery{}, func(runtime.Line) error { return io.ErrClosedPipe }), io.ErrClosedPipe)
}

func follows(t *testing.T, f Fixture) {
	f.needs(t, Programs)
	f.start(t, f.Plays("a", "tick 5", "complain no", "exit 0"))
	f.await(t, "a", runtime.Up)
	lines := f.lines(t, "a", runtime.LogQuery{Follow: true})
	var texts []string
	for _, l := range lines {
		texts = append(texts, string(l.Stream)+" "+l.Text)
	}
	complaint := "stderr no"
	if !f.has(Streams) {
		complaint = "stdout no"
	}
	require.ElementsMatch(t, []string{"stdout tick 0", "stdout tick 1", "stdout tick 2", "stdout tick 3", "stdout tick 4", complaint}, texts)
	require.GreaterOrEqual(t, lines[4].At.Sub(lines[0].At), 60*time.Millisecond, "a line has the time when it was written")
	require.Equal(t, lines, f.lines(t, "a", runtime.LogQuery{Follow: true}), "and it ends at once if the allocation has ended")
}

func leaves(t *testing.T, f Fixture) {
	f.needs(t, Programs)
	f.start(t, f.Plays("a", "say hello", "stay"))
	f.await(t, "a", runtime.Up)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.Runtime.Logs(ctx, "a", runtime.LogQuery{Follow: true}, func(runtime.Line) error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
}

func hands(t *testing.T, f Fixture) {
	f.needs(t, Programs)
	a := f.Plays("a", "args", "env GREETING", "env GIVEN", "exit 0")
	a.Env["GREETING"] = "it's $HOME"
	a.Facts = map[string]string{"GIVEN": "by berth", "GREETING": "the user's goes before it"}
	a.Args += ` say\ "one word"`
	f.start(t, a)
	f.await(t, "a", runtime.Ended)
	require.Equal(t, `["args" "env GREETING" "env GIVEN" "exit 0" "say one word"]`+"\nGREETING=it's $HOME\nGIVEN=by berth\n", f.log(t, "a"))
}

func handsJSON(t *testing.T, f Fixture) {
	f.needs(t, Programs)
	a := f.Plays("a")
	a.Args = `{"cmd": ["say it's {\"so\"}", "exit 0"]}`
	require.Equal(t, `it's {"so"}`+"\n", f.plays(t, a))
}

func (f Fixture) plays(t *testing.T, a runtime.Allocation) string {
	t.Helper()
	f.start(t, a)
	state := f.await(t, a.ID, runtime.Ended)
	log := f.log(t, a.ID)
	require.Zero(t, state.ExitCode, log+state.Reason)
	return log
}

func persists(t *testing.T, f Fixture) {
	f.needs(t, Mounts)
	with := func(steps ...string) runtime.Allocation {
		a := f.Plays("a", steps...)
		a.Persistent = &compute.PersistentMount{SizeGB: 10, Path: "/kept"}
		return a
	}
	f.plays(t, with("write /kept/x one", "write /wiped two", "exit 0"))
	require.Equal(t, "/kept/x: one\n/wiped: nothing\n", f.plays(t, with("read /kept/x", "read /wiped")))
	require.NoError(t, f.Runtime.Remove(t.Context(), "a"))
	require.Empty(t, f.list(t))
	require.Equal(t, "/kept/x: nothing\n", f.plays(t, with("read /kept/x")))
}

func shares(t *testing.T, f Fixture) {
	f.needs(t, Mounts)
	with := func(id string, steps ...string) runtime.Allocation {
		a := f.Plays(id, steps...)
		a.Network = &compute.NetworkMount{VolumeID: "v", Path: "/net"}
		return a
	}

	f.start(t, with("a", "write /net/x one", "say written", "stay"))
	require.Eventually(t, func() bool { return strings.Contains(f.log(t, "a"), "written") }, patience, look)
	require.Equal(t, "/net/x: one\n", f.plays(t, with("b", "read /net/x")))
	require.NoError(t, f.Runtime.Remove(t.Context(), "a"))
	require.NoError(t, f.Runtime.Remove(t.Context(), "b"))
	require.Empty(t, f.list(t))
	require.Equal(t, "/net/x: one\n", f.plays(t, with("c", "read /net/x")))
}

func limitsMemory(t *testing.T, f Fixture) {
	f.needs(t, Limits)
	a := f.Plays("a", "eat 256", "exit 0")
	a.MemoryBytes = 64 << 20
	var state runtime.State
	for range 3 { // containerd drops the kernel's word for it if the group of the container is gone by the time that it reads it
		f.start(t, a)
		state = f.await(t, "a", runtime.Ended)
		require.Equal(t, 137, state.ExitCode)
		if state.OOM {
			break
		}
		require.NoError(t, f.Runtime.Remove(t.Context(), "a"))
	}
	require.True(t, state.OOM)
	require.NotEmpty(t, state.Reason)
}

func limitsProcesses(t *testing.T, f Fixture) {
	f.needs(t, Limits)
	a := f.Plays("a", "spawn 20", "exit 0")
	a.Pids = 40 // a Go program has some threads
	log := f.plays(t, a)
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(log, "spawned ")))
	require.NoError(t, err, log)
	require.Less(t, n, 20)
}

func measures(t *testing.T, f Fixture) {
	f.needs(t, Stats)
	a := f.Plays("a", "eat 64", "burn", "say burning", "stay")
	a.MemoryBytes, a.VCPUs = 128<<20, 1
	f.start(t, a)
	require.Eventually(t, func() bool { return f.state(t, "a").Phase == runtime.Up && f.log(t, "a") != "" }, patience, look)

	require.Eventually(t, func() bool {
		stats, err := f.Runtime.Stats(t.Context(), "a")
		require.NoError(t, err)
		require.LessOrEqual(t, stats.CPUPercent, 100.0)
		require.LessOrEqual(t, stats.MemoryPercent, 100.0)
		return stats.CPUPercent > 10 && stats.MemoryPercent > 40
	}, patience, 100*time.Millisecond)
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))

	stats, err := f.Runtime.Stats(t.Context(), "a")
	require.NoError(t, err)
	require.Zero(t, stats)
}

func publishes(t *testing.T, f Fixture) {
	f.needs(t, Ports)
	a := f.Plays("a", "env RUNPOD_TCP_PORT_9001", "env RUNPOD_PUBLIC_IP", "serve 8080", "say all", "stay")
	a.Ports = []string{"8080/http", "9000/udp", "9001/tcp"}
	for range 3 {
		f.start(t, a)
		ports := f.await(t, "a", runtime.Up).Ports
		require.Len(t, ports, 3)
		berths := cmp.Or(ports[0].Via, ports[0].Inner, net.JoinHostPort(ports[0].IP, strconv.Itoa(ports[0].Public)))
		for i := range ports {
			ports[i].Via, ports[i].Inner = "", ""
		}
		require.Equal(t, compute.PublishedPort{Private: 9001, Public: ports[2].Public, Type: "tcp", IP: "127.0.0.1"}, ports[2])
		require.NotZero(t, ports[2].Public)
		require.Eventually(t, func() bool { return strings.Contains(f.log(t, "a"), "all") }, patience, look)
		require.Contains(t, f.log(t, "a"), fmt.Sprintf("RUNPOD_TCP_PORT_9001=%d\nRUNPOD_PUBLIC_IP=127.0.0.1\n", ports[2].Public), "it knows where it is")
		require.Equal(t, compute.PublishedPort{Private: 9000, Public: ports[1].Public, Type: "udp", IP: "127.0.0.1"}, ports[1])
		require.Equal(t, compute.PublishedPort{Private: 8080, Public: ports[0].Public, Type: "http", IP: "127.0.0.1"}, ports[0])

		require.Eventually(t, func() bool {
			conn, err := net.Dial("tcp", net.JoinHostPort(ports[0].IP, strconv.Itoa(ports[0].Public)))
			if err != nil {
				return false
			}
			defer func() { _ = conn.Close() }()
			answer, _ := io.ReadAll(conn)
			return string(answer) == "ok"
		}, patience, look)
		require.Eventually(t, func() bool {
			conn, err := runtime.Dial(f.Runtime)(t.Context(), "tcp", berths)
			if err != nil {
				return false
			}
			defer func() { _ = conn.Close() }()
			answer, _ := io.ReadAll(conn)
			return string(answer) == "ok"
		}, patience, look, "berth itself reaches it")
		require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))

		require.Empty(t, f.state(t, "a").Ports)
	}
}
