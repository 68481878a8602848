package docker_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
	"github.com/berthdev/berth/impl/runtime/runtimetest"
)

// lostAfter is short, so that a test sees a host lost.
const lostAfter = 3 * time.Second

// navy is a fleet of engines, each of which is that of one host: 0, 1 and 2.
type navy struct {
	*docker.Fleet
	owner    string
	machines []dockertest.Machine
	engines  []runtime.Engine
	image    string
}

func openNavy(t *testing.T, owner string) *navy {
	t.Helper()
	machines, certs := dockertest.Machines(t)
	n := &navy{owner: owner, machines: machines, image: dockertest.Player(t)}
	var err error
	n.Fleet, err = docker.NewFleet(docker.FleetConfig{
		Config: docker.Config{Owner: owner, Host: "unix:///nowhere", Clock: compute.SystemClock{}}, Certs: certs, LostAfter: lostAfter, QueryImage: n.image,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	for i, m := range machines {
		n.engines = append(n.engines, runtime.Engine{HostID: fmt.Sprint(i), Address: m.Address})
	}
	require.NoError(t, n.SetEngines(n.engines, false))
	for i := range machines {
		n.awaitEngine(t, i, func(s runtime.EngineState) bool { return s.Answers })
	}
	return n
}

func (n *navy) awaitEngine(t *testing.T, host int, want func(runtime.EngineState) bool) (state runtime.EngineState) {
	t.Helper()
	require.Eventually(t, func() bool {
		state = n.EngineStates()[fmt.Sprint(host)]
		return want(state)
	}, time.Minute, look, "%+v", state)
	return state
}

// Start spreads what has no host. What shares a volume is on one.
func (n *navy) Start(ctx context.Context, a runtime.Allocation) error {
	if a.HostID == "" && a.Network == nil {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(a.ID))
		a.HostID = fmt.Sprint(sum.Sum32() % uint32(len(n.machines)))
	}
	if a.HostID == "" {
		a.HostID = "0"
	}
	return n.Fleet.Start(ctx, a)
}

func (n *navy) playing(id string, steps ...string) runtime.Allocation {
	a := playing(id, steps...)
	a.Image = n.image
	return a
}

func newOwner() string { return strings.ToLower(rand.Text())[:10] }

func TestFleet_PassesTheSuite(t *testing.T) {
	t.Parallel()
	dockertest.Machines(t)
	runtimetest.Run(t, func(t *testing.T) runtimetest.Fixture {
		n := openNavy(t, newOwner())
		t.Cleanup(func() {
			for _, m := range n.machines {
				m.Sweep(n.owner)
			}
		})
		return runtimetest.Fixture{
			Runtime: n,
			Reopen:  func(t *testing.T) runtime.Runtime { return openNavy(t, n.owner) },
			Stays:   func(id string) runtime.Allocation { return n.playing(id, "say hello", "stay") },
			Exits: func(id string, code int) runtime.Allocation {
				return n.playing(id, "say hello", fmt.Sprint("exit ", code))
			},
			Fails:   func(id string) runtime.Allocation { return runtime.Allocation{ID: id, Image: "NO IMAGE"} },
			Plays:   n.playing,
			Command: func(steps ...string) []string { return append([]string{"/player"}, steps...) },
			Line:    "hello",
			Lacks:   map[runtimetest.Ability]string{runtimetest.OldLogs: "the logs go with the container, which each start makes anew"},
		}
	})
}

// Not beside others, which need the engines.
func TestFleet_LosesAHostAndGetsItBack(t *testing.T) {
	n := openNavy(t, newOwner())
	ctx := t.Context()
	for host, id := range []string{"a", "b", "c"} {
		a := n.playing(id, "say hello", "stay")
		a.HostID, a.Generation = fmt.Sprint(host), 1
		require.NoError(t, n.Start(ctx, a))
		n.await(t, id, runtime.Up)
	}

	n.machines[2].Stun()
	state := n.awaitEngine(t, 2, func(s runtime.EngineState) bool { return !s.Answers })
	require.False(t, state.Lost)
	require.Contains(t, state.Reason, "its engine has not answered for")
	begin := time.Now()
	_, err := n.Inspect(ctx, "c")
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.ErrorIs(t, n.Stop(ctx, "c", 0), runtime.ErrUnavailable)
	_, err = n.Inspect(ctx, "nobody")
	require.ErrorIs(t, err, runtime.ErrUnavailable, "it may be there")
	require.Less(t, time.Since(begin), lostAfter, "nobody waits for it")
	n.await(t, "a", runtime.Up)
	ids, err := n.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, ids)

	n.awaitEngine(t, 2, func(s runtime.EngineState) bool { return s.Lost })
	lost, err := n.Inspect(ctx, "c")
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, lost.Phase)
	require.Equal(t, -1, lost.ExitCode)
	require.Equal(t, int64(1), lost.Generation)
	require.False(t, lost.StartedAt.IsZero())
	require.Contains(t, lost.Reason, "its host 2 is lost: its engine has not answered for")
	require.NoError(t, n.Stop(ctx, "c", 0))
	_, err = n.Inspect(ctx, "nobody")
	require.ErrorIs(t, err, runtime.ErrUnknown)
	late := n.playing("late", "stay")
	late.HostID = "2"
	err = n.Start(ctx, late)
	require.ErrorContains(t, err, "its host 2 is lost: its engine has not answered for")
	require.NotErrorIs(t, err, runtime.ErrUnavailable, "who placed it there need not wait")

	// It goes elsewhere, and the first one is still there when its host is back.
	again := n.playing("c", "say again", "stay")
	again.HostID, again.Generation = "0", 2
	require.NoError(t, n.Start(ctx, again))
	n.await(t, "c", runtime.Up)
	n.machines[2].Wake()
	back := n.awaitEngine(t, 2, func(s runtime.EngineState) bool { return s.Answers })
	require.Equal(t, 2, back.Times)
	require.EqualValues(t, 2, n.await(t, "c", runtime.Up).Generation)

	other := openNavy(t, n.owner) // which has seen nothing of it
	require.EqualValues(t, 2, other.await(t, "c", runtime.Up).Generation)
	on, ok := n.On("2")
	require.True(t, ok)
	left, err := on.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, left)
	require.NoError(t, on.Remove(ctx, "c"))

	n.machines[1].Kill()
	n.awaitEngine(t, 1, func(s runtime.EngineState) bool { return s.Lost })
	require.NoError(t, n.Remove(ctx, "b"))
	n.machines[1].Start()
	n.awaitEngine(t, 1, func(s runtime.EngineState) bool { return s.Answers })
	on, _ = n.On("1")
	left, err = on.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, left)
	require.NoError(t, n.Remove(ctx, "b"), "by asking all")

	for _, id := range []string{"a", "c"} {
		require.NoError(t, n.Remove(ctx, id))
	}
	for _, m := range n.machines {
		require.Empty(t, m.Left(n.owner))
	}
}

func TestFleet_LetsGoOfAHostOnceNothingIsOnIt(t *testing.T) {
	t.Parallel()
	n := openNavy(t, newOwner())
	a := n.playing("a", "say hello", "stay")
	a.HostID = "1"
	require.NoError(t, n.Start(t.Context(), a))
	n.await(t, "a", runtime.Up)

	require.NoError(t, n.SetEngines(n.engines[:1], false))
	require.NotContains(t, n.EngineStates(), "1")
	n.await(t, "a", runtime.Up)
	require.NoError(t, n.Stop(t.Context(), "a", 0))
	require.NoError(t, n.Remove(t.Context(), "a"))
	require.Eventually(t, func() bool {
		_, there := n.On("1")
		return !there
	}, time.Minute, look)
	require.Empty(t, n.machines[1].Left(n.owner))

	require.NoError(t, n.SetEngines(n.engines, false))
	n.awaitEngine(t, 1, func(s runtime.EngineState) bool { return s.Answers })
}

func TestFleet_AsksWhatAHostHas(t *testing.T) {
	t.Parallel()
	n := openNavy(t, newOwner())
	for i := range n.engines {
		n.engines[i].Ask = true
	}
	require.NoError(t, n.SetEngines(n.engines, false))
	has := n.awaitEngine(t, 0, func(s runtime.EngineState) bool { return s.Answers }).Has
	require.Positive(t, has.VCPUs)
	require.Positive(t, has.MemoryGB)
	require.Empty(t, has.GPUs)
	has = n.awaitEngine(t, 2, func(s runtime.EngineState) bool { return s.Answers }).Has
	require.Equal(t, []runtime.GPU{{ID: "GPU-1", Product: "NVIDIA L4"}, {ID: "GPU-2", Product: "NVIDIA L4"}}, has.GPUs)
	require.Equal(t, "12.8", has.CUDA)
	require.Empty(t, n.machines[2].Left(n.owner))
}

func TestFleet_ImagesThatWereBuiltGoWhereTheyAreNeeded(t *testing.T) {
	t.Parallel()
	n := openNavy(t, newOwner())
	ctx := t.Context()
	built := runtime.BuiltImages + n.owner + ":b"
	require.NoError(t, n.Build(ctx, runtime.Build{
		ID: "b", Image: built, Archive: folder(t, map[string]string{"Dockerfile": "FROM " + n.image + "\nCOPY file /file\n", "file": "of the folder"}),
	}, func(string) {}))

	for host := range n.machines {
		id := fmt.Sprint("a", host)
		a := n.playing(id, "read /file", "stay")
		a.Image, a.HostID = built, fmt.Sprint(host)
		require.NoError(t, n.Start(ctx, a))
	}
	for host := range n.machines {
		id := fmt.Sprint("a", host)
		n.await(t, id, runtime.Up)
		var lines []string
		require.Eventually(t, func() bool {
			lines = nil
			err := n.Logs(ctx, id, runtime.LogQuery{}, func(l runtime.Line) error {
				lines = append(lines, l.Text)
				return nil
			})
			return err == nil && len(lines) == 1
		}, time.Minute, look)
		require.Equal(t, []string{"/file: of the folder"}, lines)
		require.NoError(t, n.Remove(ctx, id))
	}

	ids, err := n.Images(ctx)
	require.NoError(t, err)
	require.Equal(t, []compute.BuildID{"b"}, ids)
	require.NoError(t, n.RemoveImage(ctx, "b"))
	ids, err = n.Images(ctx)
	require.NoError(t, err)
	require.Empty(t, ids)

	a := n.playing("gone", "stay")
	a.Image = built
	require.NoError(t, n.Start(ctx, a))
	require.Contains(t, n.await(t, "gone", runtime.Ended).Reason, "was built, and is not there any more")
	require.NoError(t, n.Remove(ctx, "gone"))
}

func TestFleet_RefusesEnginesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	f, err := docker.NewFleet(docker.FleetConfig{Config: docker.Config{Owner: "o", Clock: compute.SystemClock{}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	for address, reason := range map[string]string{
		"tcp://10.0.0.7:2376":  "needs certificates",
		"tcp://box:2376":       "needs certificates",
		"tcp://127.0.0.1":      "must be like tcp://",
		"http://127.0.0.1:1":   "begins with http://",
		"unix://box/x":         "must be like unix:///",
		"ssh://box:port/":      "no address",
		"tcp://u:p@127.0.0.1:": "must be like tcp://",
		"\x00":                 "no address",
	} {
		err := f.SetEngines([]runtime.Engine{{HostID: "h", Address: address}}, true)
		require.ErrorContains(t, err, reason, address)
		require.ErrorContains(t, err, "engine of host h")
	}
	require.Empty(t, f.EngineStates())
}

func (n *navy) await(t *testing.T, id string, phase runtime.Phase) (state runtime.State) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		state, err = n.Inspect(t.Context(), id)
		require.False(t, err != nil && !errors.Is(err, runtime.ErrUnavailable), "%v", err)
		return err == nil && state.Phase == phase
	}, time.Minute, look, "%+v", state)
	return state
}
