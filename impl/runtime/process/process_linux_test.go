package process_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/process"
)

func TestWhatAnEarlierRuntimeLeftIsKilled(t *testing.T) {
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

func TestAProcessDiesWithBerth(t *testing.T) {
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
