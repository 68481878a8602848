package docker_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
	"github.com/berthdev/berth/impl/runtime/runtimetest"
)

// kept is an allocation with something in all that a container has.
func kept() runtime.Allocation {
	a := playing("a", "write /kept/x one", "serve 8080", "say hello", "stay")
	a.Persistent = &compute.PersistentMount{SizeGB: 10, Path: "/kept"}
	a.Ports = []string{"8080/http"}
	a.Generation = 5
	return a
}

func TestRuntime_ContainerOutlivesBerth(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	berth := exec.Command(os.Args[0])
	berth.Env = append(os.Environ(), role+"="+owner)
	out, err := berth.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, berth.Start())

	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "up\n", line)
	container := func() string {
		found, err := c.ContainerInspect(t.Context(), "berth-"+owner+"-a", client.ContainerInspectOptions{})
		require.NoError(t, err)
		return found.Container.ID
	}

	before := container()
	require.NoError(t, berth.Process.Kill())
	require.Error(t, berth.Wait())

	begin := time.Now()
	host := open(t, docker.Config{Owner: owner})
	ids, err := host.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids)
	require.NoError(t, host.Start(t.Context(), kept())) // changes nothing

	state, err := host.Inspect(t.Context(), "a")
	require.NoError(t, err)
	t.Log("taken up again in", time.Since(begin))
	require.Equal(t, runtime.Up, state.Phase)
	require.Equal(t, int64(5), state.Generation)
	require.NotZero(t, state.Ports[0].Public)
	require.Equal(t, before, container())
	require.Eventually(t, func() bool { return logs(t, host, "a") == "hello\n" }, patience, look)
	require.NoError(t, host.Stop(t.Context(), "a", 5*time.Second))

	read := kept()
	read.Args = "'read /kept/x'"
	require.NoError(t, host.Start(t.Context(), read))
	await(t, host, "a", runtime.Ended)
	require.Equal(t, "/kept/x: one\n", logs(t, host, "a"))

	other := open(t, docker.Config{Owner: owner + "2"})
	ids, err = other.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, ids, "what another owner has is not ours")
}

func TestRuntime_PassesTheSuite(t *testing.T) {
	t.Parallel()
	dockertest.Need(t)
	runtimetest.Run(t, func(t *testing.T) runtimetest.Fixture {
		_, owner := dockertest.Need(t)
		return runtimetest.Fixture{
			Runtime: open(t, docker.Config{Owner: owner}),
			Reopen:  func(t *testing.T) runtime.Runtime { return open(t, docker.Config{Owner: owner}) },
			Stays:   func(id string) runtime.Allocation { return playing(id, "say hello", "stay") },
			Exits: func(id string, code int) runtime.Allocation {
				return playing(id, "say hello", fmt.Sprint("exit ", code))
			},
			Fails:   func(id string) runtime.Allocation { return runtime.Allocation{ID: id, Image: "NO IMAGE"} },
			Plays:   playing,
			Command: func(steps ...string) []string { return append([]string{"/player"}, steps...) },
			Line:    "hello",
			Lacks:   map[runtimetest.Ability]string{runtimetest.OldLogs: "the logs go with the container, which each start makes anew"},
		}
	})
}

func TestRuntime_TakesEntrypointAndHostname(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	a := playing("a")
	a.Args, a.Hostname = `{"entrypoint": ["/player", "say of the entrypoint", "read /etc/hostname"], "cmd": ["say of cmd"]}`, "here"
	require.NoError(t, host.Start(t.Context(), a))
	await(t, host, "a", runtime.Ended)
	require.Equal(t, "of the entrypoint\n/etc/hostname: here\n\nof cmd\n", logs(t, host, "a"))
}

func TestRuntime_ProgramsGainPrivilegesOnlyIfAllowed(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	for allowed, want := range map[bool]string{false: "NoNewPrivs:\t1\n", true: "NoNewPrivs:\t0\n"} {
		host := open(t, docker.Config{Owner: owner + fmt.Sprint(allowed), AllowNewPrivileges: allowed})
		t.Cleanup(func() { dockertest.Sweep(t, owner+fmt.Sprint(allowed)) })
		require.NoError(t, host.Start(t.Context(), playing("a", "read /proc/self/status")))
		await(t, host, "a", runtime.Ended)
		require.Contains(t, logs(t, host, "a"), want)
	}
}

func TestRuntime_MissingImageEndsWithAReason(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	for policy, reason := range map[docker.PullPolicy]string{
		docker.PullNever:    "not pulled",
		docker.PullIfAbsent: "cannot be pulled",
		docker.PullAlways:   "cannot be pulled",
	} {
		host := open(t, docker.Config{Owner: owner + string(policy), Pull: policy})
		a := runtime.Allocation{ID: "a", Generation: 3, Image: "127.0.0.1:1/nobody/nothing:1", Credential: func(context.Context) (runtime.Credential, error) {
			return runtime.Credential{User: "u", Password: "s3cret"}, nil
		}}
		require.NoError(t, host.Start(t.Context(), a))

		state := await(t, host, "a", runtime.Ended)
		require.Equal(t, -1, state.ExitCode)
		require.Equal(t, int64(3), state.Generation)
		require.Contains(t, state.Reason, a.Image)
		require.Contains(t, state.Reason, reason)
		require.NotContains(t, state.Reason, "s3cret")

		select {
		case id := <-host.Ended():
			require.Equal(t, "a", id)
		case <-time.After(patience):
			require.Fail(t, "the end was not reported")
		}

		require.Empty(t, logs(t, host, "a"))
		stats, err := host.Stats(t.Context(), "a")
		require.NoError(t, err)
		require.Zero(t, stats)
		require.NoError(t, host.Stop(t.Context(), "a", time.Second))

		a.Image, a.Args = dockertest.Image(), "stay"
		if policy == docker.PullAlways {
			continue // the player comes from no registry
		}
		require.NoError(t, host.Start(t.Context(), a))

		await(t, host, "a", runtime.Up)
		require.NoError(t, host.Remove(t.Context(), "a"))
	}
}

func TestRuntime_FailedStartLeavesNoContainer(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	a := playing("a", "stay")
	a.Persistent = &compute.PersistentMount{SizeGB: 10, Path: "/player"} // a directory in place of the program
	require.NoError(t, host.Start(t.Context(), a))

	state := await(t, host, "a", runtime.Ended)
	require.NotEmpty(t, state.Reason)
	all, err := c.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", "dev.berth.owner="+owner)})
	require.NoError(t, err)
	require.Empty(t, all.Items)

	ids, err := host.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids, "so that its mount can be removed")
	require.NoError(t, host.Remove(t.Context(), "a"))
}

func TestRuntime_ContainerGetsLimitsLabelsAndNoGPU(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	a := playing("a", "env NVIDIA_VISIBLE_DEVICES", "stay")
	a.VCPUs, a.MemoryBytes, a.Pids, a.DiskGB = 1, 64<<20, 100, 20
	a.Env["NVIDIA_VISIBLE_DEVICES"] = "all"
	a.Labels = map[string]string{"dev.berth.name": "first", "dev.berth.owner": "somebody else"}
	require.NoError(t, host.Start(t.Context(), a))

	await(t, host, "a", runtime.Up)
	found, err := c.ContainerInspect(t.Context(), "berth-"+owner+"-a", client.ContainerInspectOptions{})
	require.NoError(t, err)
	resources := found.Container.HostConfig.Resources
	require.Equal(t, int64(1e9), resources.NanoCPUs)
	require.Equal(t, int64(64<<20), resources.Memory)
	require.Equal(t, int64(100), *resources.PidsLimit)
	require.Equal(t, "first", found.Container.Config.Labels["dev.berth.name"])
	require.Equal(t, owner, found.Container.Config.Labels["dev.berth.owner"])
	require.Eventually(t, func() bool { return logs(t, host, "a") == "NVIDIA_VISIBLE_DEVICES=void\n" }, patience, look)
}

func TestRuntime_RefusesAGPUTheEngineCannotGive(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	info, err := c.Info(t.Context(), client.InfoOptions{})
	require.NoError(t, err)

	if _, has := info.Info.Runtimes["nvidia"]; has {
		t.Skip("SKIPPED: this engine can give GPUs")
	}
	host := open(t, docker.Config{Owner: owner})
	a := playing("a", "stay")
	a.GPUs = runtime.GPUs{Devices: []string{"0"}}
	err = host.Start(t.Context(), a)
	require.ErrorIs(t, err, runtime.ErrNoGPU)
	require.EqualError(t, err, `there is no GPU runtime on this host: the engine has no runtime "nvidia"`)
}

func TestRuntime_Stop_KillsWhatIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	require.NoError(t, host.Start(t.Context(), playing("a", "say hello", "tick 100000")))
	require.Eventually(t, func() bool { return strings.Contains(logs(t, host, "a"), "tick") }, patience, look)
	begin := time.Now()
	require.NoError(t, host.Stop(t.Context(), "a", time.Second))
	require.GreaterOrEqual(t, time.Since(begin), time.Second)
	require.Equal(t, 137, await(t, host, "a", runtime.Ended).ExitCode)
}

func TestRuntime_Logs_HaveNoGap(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	long := strings.Repeat("x", 40_000) // the engine passes 16 KB on at a time
	require.NoError(t, host.Start(t.Context(), playing("a", "say "+long, "tick 30")))

	await(t, host, "a", runtime.Up)
	var texts []string
	var last int64

	leave := errors.New("leave")
	for err := leave; err != nil; {
		n := 0
		err = host.Logs(t.Context(), "a", runtime.LogQuery{Follow: true, After: last}, func(l runtime.Line) error {
			texts, last = append(texts, l.Text), l.Position
			if n++; n == 7 {
				return leave
			}
			return nil
		})
		if err != nil {
			require.ErrorIs(t, err, leave)
		}
	}

	require.Len(t, texts, 31)
	require.Equal(t, long, texts[0])
	for i := range 30 {
		require.Equal(t, fmt.Sprint("tick ", i), texts[i+1])
	}
}

func TestRuntime_SilentEngineShowsNothingOfAnAllocation(t *testing.T) {
	t.Parallel()
	host := open(t, docker.Config{Owner: "o", Host: "unix://" + filepath.Join(t.TempDir(), "docker.sock")})
	_, err := host.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.NotErrorIs(t, err, runtime.ErrUnknown)
	require.ErrorIs(t, host.Start(t.Context(), playing("a")), runtime.ErrUnavailable)
	require.ErrorIs(t, host.Stop(t.Context(), "a", time.Second), runtime.ErrUnavailable)
	require.ErrorIs(t, host.Remove(t.Context(), "a"), runtime.ErrUnavailable)
	require.ErrorIs(t, host.Logs(t.Context(), "a", runtime.LogQuery{}, nil), runtime.ErrUnavailable)

	_, err = host.Stats(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	_, err = host.List(t.Context())
	require.ErrorIs(t, err, runtime.ErrUnavailable)
}

// gate passes connections on to the engine while it is open.
type gate struct {
	path  string
	mu    sync.Mutex
	shut  func()
	conns []net.Conn
}

func (g *gate) open(t *testing.T, engine string) {
	listener, err := net.Listen("unix", g.path)
	require.NoError(t, err)
	g.shut = func() { _ = listener.Close() }
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", engine)
			if err != nil {
				_ = in.Close()
				continue
			}

			g.mu.Lock()
			g.conns = append(g.conns, in, out)
			g.mu.Unlock()
			go func() { _, _ = io.Copy(out, in) }()
			go func() { _, _ = io.Copy(in, out) }()
		}
	}()
}

func (g *gate) close() {
	g.shut()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		_ = c.Close()
	}
	g.conns = nil
}

func TestRuntime_EngineThatComesBackLosesNothing(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	socket, ok := strings.CutPrefix(c.DaemonHost(), "unix://")
	if !ok {
		t.Skip("SKIPPED: the engine is not at a socket of this machine")
	}

	g := &gate{path: filepath.Join(t.TempDir(), "docker.sock")}
	g.open(t, socket)
	host := open(t, docker.Config{Owner: owner, Host: "unix://" + g.path})
	require.NoError(t, host.Start(t.Context(), playing("a", "say hello", "stay")))

	up := await(t, host, "a", runtime.Up)
	g.close()
	require.Eventually(t, func() bool { // once it notices that nothing is reported any more
		_, err := host.Inspect(t.Context(), "a")
		return errors.Is(err, runtime.ErrUnavailable)
	}, patience, look)
	require.ErrorIs(t, host.Start(t.Context(), playing("b", "stay")), runtime.ErrUnavailable)

	g.open(t, socket)
	t.Cleanup(g.close)
	require.Equal(t, up, await(t, host, "a", runtime.Up))
	for i, seen := 0, false; !seen; i++ { // it listens again, at the latest after its pause
		require.Less(t, i, 20)
		require.NoError(t, host.Start(t.Context(), playing("b", "exit 0")))
		select {
		case id := <-host.Ended():
			require.Equal(t, "b", id)
			seen = true
		case <-time.After(time.Second):
		}
	}
}

func TestRuntime_LooksAtWhatIsUpWithoutACall(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	var inspections atomic.Int64
	address := through(t, c, func(r *http.Response) {
		if isInspection(r.Request) {
			inspections.Add(1)
		}
	})
	host := open(t, docker.Config{Owner: owner, Host: address})
	for i := range 5 {
		require.NoError(t, host.Start(t.Context(), playing(fmt.Sprint(i), "stay")))
		await(t, host, fmt.Sprint(i), runtime.Up)
	}

	before := inspections.Load()
	for range 100 {
		for i := range 5 {
			state, err := host.Inspect(t.Context(), fmt.Sprint(i))
			require.NoError(t, err)
			require.Equal(t, runtime.Up, state.Phase)
		}
	}
	require.LessOrEqual(t, inspections.Load(), before+5, "one for each at most")

	_, err := c.ContainerKill(t.Context(), "berth-"+owner+"-3", client.ContainerKillOptions{Signal: "KILL"})
	require.NoError(t, err)
	require.Equal(t, 137, await(t, host, "3", runtime.Ended).ExitCode)
}

func TestRuntime_EngineMayLearnLateThatMemoryRanOut(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	var ends atomic.Int64
	address := through(t, c, func(r *http.Response) {
		if !isInspection(r.Request) {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err == nil && bytes.Contains(body, []byte(`"ExitCode":137`)) && ends.Add(1) > 2 {
			body = bytes.Replace(body, []byte(`"OOMKilled":false`), []byte(`"OOMKilled":true`), 1)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	})

	host := open(t, docker.Config{Owner: owner, Host: address})
	require.NoError(t, host.Start(t.Context(), playing("a", "stay")))
	await(t, host, "a", runtime.Up)
	_, err := c.ContainerKill(t.Context(), "berth-"+owner+"-a", client.ContainerKillOptions{Signal: "KILL"})
	require.NoError(t, err)
	require.True(t, await(t, host, "a", runtime.Ended).OOM)
}

func isInspection(r *http.Request) bool {
	return path.Base(r.URL.Path) == "json" && strings.Contains(r.URL.Path, "/containers/")
}

// through is the address of a proxy of the engine. Seen is called with each of the engine's answers.
func through(t *testing.T, c *client.Client, seen func(*http.Response)) string {
	t.Helper()
	socket, ok := strings.CutPrefix(c.DaemonHost(), "unix://")
	if !ok {
		t.Skip("SKIPPED: the engine is not at a socket of this machine")
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		ModifyResponse: func(r *http.Response) error {
			seen(r)
			return nil
		},
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}},
	})
	t.Cleanup(proxy.CloseClientConnections)
	return "tcp://" + proxy.Listener.Addr().String()
}

func TestRuntime_NetworkVolumesAreThoseOfTheirOwner(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	pods, workers := open(t, docker.Config{Owner: owner}), open(t, docker.Config{Owner: owner + "-workers", Volumes: owner})
	t.Cleanup(func() { dockertest.Sweep(t, owner+"-workers") })
	mount := &compute.NetworkMount{VolumeID: "v", Path: "/kept"}
	writes, reads := playing("pod", "write /kept/x one"), playing("worker", "read /kept/x")
	writes.Network, reads.Network = mount, mount
	require.NoError(t, pods.Start(t.Context(), writes))
	await(t, pods, "pod", runtime.Ended)
	require.NoError(t, workers.Start(t.Context(), reads))
	await(t, workers, "worker", runtime.Ended)
	require.Equal(t, "/kept/x: one\n", logs(t, workers, "worker"))

	require.NoError(t, pods.Remove(t.Context(), "pod"))
	require.NoError(t, workers.Remove(t.Context(), "worker"))
	for _, r := range []*docker.Runtime{pods, workers} {
		ids, err := r.Volumes(t.Context())
		require.NoError(t, err)
		require.Equal(t, []compute.VolumeID{"v"}, ids)
	}
	require.NoError(t, pods.RemoveVolume(t.Context(), "v"))
	left, err := c.VolumeList(t.Context(), client.VolumeListOptions{Filters: make(client.Filters).Add("label", "dev.berth.owner="+owner)})
	require.NoError(t, err)
	require.Empty(t, left.Items)
}
