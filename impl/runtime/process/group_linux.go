package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes make the process the leader of its own group, and make the kernel kill it when berth dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits until the process has ended, calls last while its pid is still taken, then reaps it.
func awaitEnd(p *os.Process, last func()) (*os.ProcessState, error) {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break // an error here is one of Wait too
		}
	}
	last()
	return p.Wait()
}

// How New waits for the end of leftovers: a killed process is there for a moment, and may have forked before.
const (
	leftoverRounds = 100
	leftoverPause  = 20 * time.Millisecond
)

// killLeftovers kills the processes that an earlier runtime of the same directory started, and their children, and waits up to
// two seconds until they are gone, so that nothing they hold is in the way of new ones. One that cannot be killed is
// left alone: it hangs in the kernel, and New should not.
func killLeftovers(owner string) error { return killAllWith(EnvOwner + "=" + owner) }

// killStrays does the same for what is left of one allocation when its group has ended: processes that left the group.
func killStrays(owner, id string) { _ = killAllWith(EnvOwner+"="+owner, EnvAllocation+"="+id) }

// killAllWith kills the processes that have all of the variables in their environment.
func killAllWith(variables ...string) error {
	for range leftoverRounds {
		found, err := killMarked(variables)
		if err != nil || !found {
			return err
		}
		time.Sleep(leftoverPause)
	}
	return nil
}

func killMarked(variables []string) (found bool, err error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false, err
	}

	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, err := os.FindProcess(pid) // holds a handle, so that the one killed is the one whose environment was read
		if err != nil {
			continue
		}

		env, _ := os.ReadFile(filepath.Join(folder, "environ")) // of another user, or ended: not ours
		all := strings.Split(string(env), "\x00")
		others := slices.DeleteFunc(slices.Clone(variables), func(v string) bool { return slices.Contains(all, v) })
		if len(others) == 0 && p.Signal(syscall.SIGKILL) == nil {
			found = true
		}
		_ = p.Release()
	}

	return found, nil
}
