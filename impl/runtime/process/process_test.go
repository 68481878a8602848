//go:build unix

package process_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/process"
	"github.com/berthdev/berth/impl/runtime/runtimetest"
	"github.com/berthdev/berth/impl/runtime/runtimetest/play"
)

const (
	role     = "TEST_ROLE" // makes the test binary play the program that an allocation runs
	address  = "TEST_ADDRESS"
	patience = 20 * time.Second      // real time until a test gives up
	look     = 10 * time.Millisecond // real time between two looks
)

func TestMain(m *testing.M) {
	if r := os.Getenv(role); r != "" {
		os.Exit(act(r))
	}
	os.Exit(m.Run())
}

// act is the program.
func act(what string) int {
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	switch name, argument, _ := strings.Cut(what, " "); name {
	case "steps":
		return play.Run(os.Args[1:])
	case "stay":
		fmt.Println("hello")
		<-terms
		return 0
	case "exit":
		fmt.Println("hello")
		code, _ := strconv.Atoi(argument)
		return code
	case "stubborn": // does not heed SIGTERM, and says that it got it
		fmt.Println("hello")
		for range terms {
			fmt.Println("no")
		}
	case "show":
		fmt.Println(os.Args[1:])
		dir, _ := os.Getwd()
		fmt.Fprintln(os.Stderr, dir)
		env := os.Environ()
		slices.Sort(env)
		fmt.Println(strings.Join(env, "\n"))
	case "flood":
		n, _ := strconv.Atoi(argument)
		for i := range n {
			fmt.Println("line", i)
		}
	case "parent": // ends and leaves a child
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=ghost")
		ready, _ := child.StdoutPipe()
		if err := child.Start(); err != nil {
			return 1
		}
		_, _ = bufio.NewReader(ready).ReadString('\n')
		return 0
	case "daemons": // stays, and leaves a child that is in a session of its own
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=ghost")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			return 1
		}
		<-terms
	case "ghost": // stays whatever happens, and the test sees its end in the connection
		conn, err := net.Dial("tcp", os.Getenv(address))
		if err != nil {
			return 1
		}
		_, _ = conn.Write([]byte{'\n'})
		fmt.Println("ready")
		for range terms {
		}
	case "berth": // starts a ghost and waits to be killed
		host, err := process.New(process.Config{Dir: argument, Commands: map[string][]string{"self": {os.Args[0]}}, Rules: compute.ProcessRules{AnyEnv: true}})
		if err != nil {
			return 1
		}
		if host.Start(context.Background(), runtime.Allocation{ID: "a", Image: "self", Env: map[string]string{role: "ghost", address: os.Getenv(address)}}) != nil {
			return 1
		}
		for range terms {
		}
	}

	return 0
}

func newRuntime(t *testing.T, c process.Config) *process.Runtime {
	t.Helper()
	if c.Commands == nil {
		c.Commands = map[string][]string{"self": {os.Args[0]}}
	}
	c.Rules = compute.ProcessRules{Args: true, Commands: true, AnyEnv: true}
	return strict(t, c)
}

// strict gives a runtime with the rules of c.
func strict(t *testing.T, c process.Config) *process.Runtime {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	host, err := process.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	return host
}

func playing(id, what string) runtime.Allocation {
	return runtime.Allocation{ID: id, Image: "self", Env: map[string]string{
		role: what, "GORACE": "atexit_sleep_ms=0", // else a program built with -race sleeps for a second before it exits
	}}
}

func logs(t *testing.T, h *process.Runtime, id string) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, h.Logs(t.Context(), id, runtime.LogQuery{}, func(l runtime.Line) error {
		text.WriteString(l.Text + "\n")
		return nil
	}))
	return text.String()
}

func awaitEnd(t *testing.T, h *process.Runtime) string {
	t.Helper()
	select {
	case id := <-h.Ended():
		return id
	case <-time.After(patience):
		require.Fail(t, "no process ended")
		return ""
	}
}

func TestRuntime_PassesTheSuite(t *testing.T) {
	t.Parallel()
	runtimetest.Run(t, func(t *testing.T) runtimetest.Fixture {
		return runtimetest.Fixture{
			Runtime: newRuntime(t, process.Config{}),
			Stays:   func(id string) runtime.Allocation { return playing(id, "stay") },
			Exits: func(id string, code int) runtime.Allocation {
				return playing(id, "exit "+strconv.Itoa(code))
			},
			Fails: func(id string) runtime.Allocation { return runtime.Allocation{ID: id, Image: "unknown"} },
			Plays: func(id string, steps ...string) runtime.Allocation {
				a := playing(id, "steps")
				a.Args = shellquote.Join(steps...)
				return a
			},
			Command: func(steps ...string) []string {
				return append([]string{"env", role + "=steps", os.Args[0]}, steps...)
			},
			Line: "hello",
			Lacks: map[runtimetest.Ability]string{
				runtimetest.Mounts:    "a process has the machine's own disk",
				runtimetest.Limits:    "a process may use what there is",
				runtimetest.Ports:     "a process listens on the machine's own ports",
				runtimetest.Stats:     "a process is not measured",
				runtimetest.Outliving: "no process outlives berth",
			},
		}
	})
}

func TestRuntime_RefusesWhatAProcessCannotHave(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	a := playing("a", "stay")
	a.Persistent = &compute.PersistentMount{SizeGB: 10, Path: "/data"}
	require.ErrorIs(t, host.Start(t.Context(), a), runtime.ErrNoMounts)

	a.Persistent, a.Network = nil, &compute.NetworkMount{VolumeID: "v", Path: "/data"}
	require.ErrorIs(t, host.Start(t.Context(), a), runtime.ErrNoMounts)
	a.Network, a.GPUs = nil, runtime.GPUs{Count: 1}
	require.ErrorIs(t, host.Start(t.Context(), a), runtime.ErrNoGPU)

	a.Link = &runtime.Link{}
	require.ErrorIs(t, host.Start(t.Context(), a), runtime.ErrNoNetworks)
	a.Link = nil
	a.GPUs, a.Ports = runtime.GPUs{}, []string{"8080/http"}
	require.NoError(t, host.Start(t.Context(), a))

	state, err := host.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, []compute.PublishedPort{{Private: 8080, Public: 8080, Type: "http", IP: "127.0.0.1"}}, state.Ports)
	_, err = host.Stats(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrNoStats)
}

func TestRuntime_ListensOnFreePortsInThePlaceOfThoseItIsToldOf(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	seen := map[int]bool{}
	for _, id := range []string{"a", "b", "c"} {
		a := playing(id, "stay")
		a.Ports, a.Listen = []string{"80/http", "22/tcp", "81/http"}, map[string]int{"PORT": 80, "PORT_HEALTH": 81}
		require.NoError(t, host.Start(t.Context(), a))
		state, err := host.Inspect(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []int{80, 22, 81}, []int{state.Ports[0].Private, state.Ports[1].Private, state.Ports[2].Private})
		require.Equal(t, 22, state.Ports[1].Public)
		for _, p := range []int{state.Ports[0].Public, state.Ports[2].Public} {
			require.False(t, seen[p], "each has its own")
			seen[p] = true
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(p))
			require.NoError(t, err)
			require.NoError(t, l.Close())
		}
	}
}

func TestRuntime_NamesAnImageWithoutACommand(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	err := host.Start(t.Context(), runtime.Allocation{ID: "a", Image: "repo/x:1"})
	require.EqualError(t, err, `image "repo/x:1" is not mapped to a command`)
	host.Map("repo/x:1", []string{os.Args[0]})
	a := playing("a", "exit 4")
	a.Image = "repo/x:1"
	require.NoError(t, host.Start(t.Context(), a))
	require.Equal(t, "a", awaitEnd(t, host))
	host.Map("repo/x:1", nil)
	require.Error(t, host.Start(t.Context(), a))
}

func TestRuntime_MissingCommandIsAnError(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{Commands: map[string][]string{"x": {"./no/such/program"}}})
	require.ErrorIs(t, host.Start(t.Context(), runtime.Allocation{ID: "a", Image: "x"}), os.ErrNotExist)
	_, err := host.Inspect(t.Context(), "a")
	require.ErrorIs(t, err, runtime.ErrUnknown)
}

func TestRuntime_Stop_KillsWhatIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	require.NoError(t, host.Start(t.Context(), playing("a", "stubborn")))
	require.Eventually(t, func() bool { return strings.Contains(logs(t, host, "a"), "hello") }, patience, look)
	require.NoError(t, host.Stop(t.Context(), "a", 3*time.Second))
	require.Contains(t, logs(t, host, "a"), "no") // it was asked first
	state, err := host.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, state.Phase)
	require.Equal(t, -1, state.ExitCode)
}

func TestRuntime_GivesArgumentsDirectoryAndEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"RUNPOD_AI_API_KEY": "of berth's own", "BERTH_ADMIN_KEY": "secret", "AWS_SECRET_ACCESS_KEY": "secret", "OTEL_EXPORTER_OTLP_HEADERS": "secret", "DOCKER_HOST": "secret",
		"GITHUB_TOKEN": "secret", "LD_PRELOAD": "", "PATHS": "secret", "NAMED": "kept", "LC_TIME": "kept", "PYTHONPATH": "/kept", "VIRTUAL_ENV": "/kept", "https_proxy": "kept",
	} {
		t.Setenv(name, value)
	}

	dir, work := t.TempDir(), t.TempDir()
	host := newRuntime(t, process.Config{Dir: dir, WorkDir: work, Commands: map[string][]string{"self": {os.Args[0], "first"}}, Inherit: []string{"NAMED", "ABSENT"}})
	a := playing("a", "show")
	a.Args = " --flag  'one word'\n"
	a.Env["RUNPOD_API_KEY"] = "a wider one"
	a.Env["BERTH_OWNER"] = "somebody else"
	a.Facts = map[string]string{"RUNPOD_POD_ID": "a", "RUNPOD_API_KEY": "its own"}
	a.Ports, a.Artifact = []string{"22/tcp", "80/http"}, "/data/artifacts/one"
	require.NoError(t, host.Start(t.Context(), a))

	awaitEnd(t, host)
	text := logs(t, host, "a")
	require.Contains(t, text, "[first --flag one word]\n")
	require.Contains(t, text, work)

	for _, line := range []string{
		"NAMED=kept", "LC_TIME=kept", "PYTHONPATH=/kept", "VIRTUAL_ENV=/kept", "https_proxy=kept", "PATH=" + os.Getenv("PATH"), "RUNPOD_POD_ID=a", "RUNPOD_API_KEY=a wider one",
		"RUNPOD_PUBLIC_IP=127.0.0.1", "RUNPOD_TCP_PORT_22=22", "BERTH_ALLOCATION=a", "BERTH_OWNER=" + dir, "FLASH_BUILD_ARTIFACT_PATH=/data/artifacts/one",
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}

	for _, not := range []string{
		"RUNPOD_AI_API_KEY", "BERTH_ADMIN_KEY", "AWS_", "OTEL_", "DOCKER_HOST", "GITHUB_TOKEN", "LD_PRELOAD", "PATHS", "ABSENT", "somebody else", "its own", "PORT_80",
	} {
		require.NotContains(t, text, not)
	}
}

func TestRuntime_AllocationSetsOnlyWhatTheRulesLet(t *testing.T) {
	t.Parallel()
	start := func(rules compute.ProcessRules, args string, env map[string]string) error {
		host := strict(t, process.Config{Commands: map[string][]string{"true": {"true"}}, Rules: rules})
		return host.Start(t.Context(), runtime.Allocation{ID: "a", Image: "true", Args: args, Env: env, Facts: map[string]string{"RUNPOD_POD_ID": "a"}})
	}
	browser := map[string]string{"PYTHONWARNINGS": "all:0:antigravity.x:0:0", "BROWSER": "sh -c id"}
	require.NoError(t, start(compute.ProcessRules{}, "", nil))
	require.ErrorContains(t, start(compute.ProcessRules{}, "", browser), "env: this server runs processes of its own machine, in which BROWSER cannot be set")
	require.ErrorContains(t, start(compute.ProcessRules{Args: true, Env: []string{"BROWSER"}}, "x", browser), "PYTHONWARNINGS cannot be set (process-accept: env:PYTHONWARNINGS)")
	require.ErrorContains(t, start(compute.ProcessRules{AnyEnv: true}, "-c id", browser), "args: this server runs processes of its own machine, which take none")
	require.NoError(t, start(compute.ProcessRules{Env: []string{"BROWSER", "PYTHONWARNINGS"}}, "", browser))
	require.NoError(t, start(compute.ProcessRules{Args: true, AnyEnv: true}, `{"cmd": ["a"]}`, browser))
	require.ErrorContains(t, start(compute.ProcessRules{Args: true}, `{"entrypoint": ["sh"]}`, nil), "args: a process has no entrypoint")
}

func TestRuntime_KeepsTheEndOfALongOutput(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	require.NoError(t, host.Start(t.Context(), playing("a", "flood 100000")))
	awaitEnd(t, host)
	text := logs(t, host, "a")
	require.Less(t, len(text), 512<<10)
	require.Greater(t, strings.Count(text, "\n"), 3000)
	require.True(t, strings.HasSuffix(text, "line 99998\nline 99999\n"))
}

// page is written to by several goroutines.
type page struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func TestRuntime_PassesTheOutputOnLineByLine(t *testing.T) {
	t.Parallel()
	var out page
	host := newRuntime(t, process.Config{Output: &out})
	require.NoError(t, host.Start(t.Context(), playing("a", "flood 500")))
	require.NoError(t, host.Start(t.Context(), playing("b", "flood 500")))

	awaitEnd(t, host)
	awaitEnd(t, host)
	got := strings.Split(out.String(), "\n")
	require.Len(t, got, 1001)
	require.Contains(t, got, "a | line 499")
	require.Contains(t, got, "b | line 0")
	for _, line := range got[:1000] {
		require.Regexp(t, `^[ab] \| line \d+$`, line)
	}
}

// TestRuntime_OutputThatStandsStillGetsTheEnd: what is passed on waits for a terminal, also for longer than output may come after the end.
func TestRuntime_OutputThatStandsStillGetsTheEnd(t *testing.T) {
	t.Parallel()
	var out slow
	host := newRuntime(t, process.Config{Output: &out})
	require.NoError(t, host.Start(t.Context(), playing("a", "flood 4000"))) // in a pipe, of which a reader takes but a part before it pauses
	awaitEnd(t, host)
	require.True(t, strings.HasSuffix(out.text.String(), "a | line 3999\n"))
	require.True(t, strings.HasSuffix(logs(t, host, "a"), "line 3999\n"))
}

// ghosts listens for ghosts; the function that it gives waits for the next and gives the connection that ends with it.
func ghosts(t *testing.T) (string, func() net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })

	return listener.Addr().String(), func() net.Conn {
		require.NoError(t, listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience)))
		conn, err := listener.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = conn.Read(make([]byte, 1))
		require.NoError(t, err)
		return conn
	}
}

func requireGone(t *testing.T, ghost net.Conn) {
	t.Helper()
	_, err := ghost.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestRuntime_KillsAChildOfAProcessThatEnded(t *testing.T) {
	t.Parallel()
	where, next := ghosts(t)
	host := newRuntime(t, process.Config{})
	a := playing("a", "parent")
	a.Env[address] = where
	require.NoError(t, host.Start(t.Context(), a))
	ghost := next()
	require.Equal(t, "a", awaitEnd(t, host))
	requireGone(t, ghost)
	state, err := host.Inspect(t.Context(), "a")
	require.NoError(t, err)
	require.Zero(t, state.ExitCode) // the parent's own
}

func TestRuntime_Close_KillsWhatIsUp(t *testing.T) {
	t.Parallel()
	where, next := ghosts(t)
	host := newRuntime(t, process.Config{})
	a := playing("a", "ghost")
	a.Env[address] = where
	require.NoError(t, host.Start(t.Context(), a))
	ghost := next()
	require.NoError(t, host.Close())
	requireGone(t, ghost)
}

func TestRuntime_UnreadEndsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	const n = 30
	for i := range n {
		require.NoError(t, host.Start(t.Context(), playing(strconv.Itoa(i), "exit 0")))
	}

	for i := range n {
		require.Eventually(t, func() bool {
			state, err := host.Inspect(t.Context(), strconv.Itoa(i))
			return err == nil && state.Phase == runtime.Ended
		}, patience, look)
	}

	seen := map[string]bool{}
	for range n {
		seen[awaitEnd(t, host)] = true
	}
	require.Len(t, seen, n)
}
