package process_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/process"
)

// grace is what a process gets to heed SIGTERM.
const grace = 5 * time.Second

func TestRuntime_KillsWhatAnEarlierOneLeft(t *testing.T) {
	t.Parallel()
	where, next := ghosts(t)
	dir := t.TempDir()
	start := func(owner string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), role+"=ghost", address+"="+where, process.EnvOwner+"="+owner)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd
	}

	other := start(dir + "2")
	next()
	leftover := start(dir)
	ghost := next()
	earlier := newRuntime(t, process.Config{Dir: dir, Commands: map[string][]string{"true": {"true"}}})
	require.NoError(t, earlier.Start(t.Context(), runtime.Allocation{ID: "a", Image: "true"}))
	require.NoError(t, earlier.Close())
	require.NoError(t, leftover.Process.Signal(syscall.Signal(0)), "no earlier runtime had started anything")

	newRuntime(t, process.Config{Dir: dir})
	requireGone(t, ghost)
	require.Error(t, leftover.Wait())
	require.Equal(t, syscall.SIGKILL, leftover.ProcessState.Sys().(syscall.WaitStatus).Signal())
	require.NoError(t, other.Process.Signal(syscall.Signal(0)))
}

func TestRuntime_ProcessDiesWithBerth(t *testing.T) {
	t.Parallel()
	where, next := ghosts(t)
	berth := exec.Command(os.Args[0])
	berth.Env = append(os.Environ(), role+"=berth "+t.TempDir(), address+"="+where)
	require.NoError(t, berth.Start())
	ghost := next()
	require.NoError(t, berth.Process.Kill())
	require.Error(t, berth.Wait())
	requireGone(t, ghost)
}

func TestRuntime_KillsAChildThatLeftTheGroup(t *testing.T) {
	t.Parallel()
	where, next := ghosts(t)
	host := newRuntime(t, process.Config{})
	for _, id := range []string{"a", "b"} {
		a := playing(id, "daemons")
		a.Env[address] = where
		require.NoError(t, host.Start(t.Context(), a))

		ghost := next()
		if id == "a" {
			require.NoError(t, host.Remove(t.Context(), "a"))
			requireGone(t, ghost)
			continue
		}
		require.NoError(t, host.Remove(t.Context(), "a")) // nobody else's

		require.NoError(t, host.Stop(t.Context(), id, grace))
		requireGone(t, ghost)
	}
}
