//go:build unix

package app

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/impl/compute"
)

// fork starts processes, one after the other, until the test ends. Each has all files of this one open for a moment, between the
// fork and the execution of its program.
func fork(t *testing.T) {
	t.Helper()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = exec.Command("/bin/sh", "-c", ":").Run()
			}
		}
	}()

	t.Cleanup(func() {
		close(stop)
		<-stopped
	})
}

func TestDirectory_IsFreeOnceUnlockedDespiteForks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	fork(t)
	for range 300 {
		_, unlock, err := openDirectory(dir, "dev", true, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		require.NoError(t, unlock())
	}
}

func TestOpenAddress_IsFreeOnceClosedDespiteForks(t *testing.T) {
	t.Parallel()
	fork(t)
	address := "127.0.0.1:" + FreePort(t)
	for range 300 {
		l, _, err := openAddress(address)
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}

func TestStart_FollowsACloseAtOnceDespiteForks(t *testing.T) {
	t.Parallel()
	fork(t)
	c := Config{Data: filepath.Join(t.TempDir(), "data"), Ephemeral: true, Listen: "127.0.0.1:0"}
	for range 10 {
		s, err := Start(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

func TestDirectory_LockWaitsForForksOfAKilledServer(t *testing.T) {
	t.Parallel()
	dead := exec.Command("true")
	require.NoError(t, dead.Run())
	dir := t.TempDir()
	forked, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(forked.Fd()), unix.LOCK_EX))
	_, err = fmt.Fprintf(forked, "berth dev, process %d\n", dead.Process.Pid)
	require.NoError(t, err)

	go func() {
		passed, _ := compute.SystemClock{}.After(50 * time.Millisecond)
		<-passed
		_ = forked.Close() // it executes its program
	}()
	unlock, err := lock(dir, "berth dev")
	require.NoError(t, err)
	require.NoError(t, unlock())
}
