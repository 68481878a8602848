package faulttest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// shutdown is FS_IOC_SHUTDOWN, which ends all I/O of a file system; without a flush it keeps what it has on its device.
const (
	shutdown     = 0x8004587d
	withoutFlush = 2
)

// command runs a program, and skips the test where it cannot.
func command(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if text, err := exec.CommandContext(t.Context(), name, arguments...).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: %s %v: %v: %s", name, arguments, err, text)
	}
}

// TestShutdown_FileSystemHoldsWhatWasAnswered shuts a real file system down under callers who share commits. What is
// answered later is not judged: ext4 has fsync return 0 for a transaction of its journal that the shutdown aborted, as it does
// for a program that does nothing but write and sync; after a real loss of power nothing is answered.
func TestShutdown_FileSystemHoldsWhatWasAnswered(t *testing.T) {
	if !whole {
		t.Skip("SKIPPED: it needs root and a loop device, and is one of make faults")
	}
	const rounds, callers = 30, 8
	dir := t.TempDir()
	device, mounted := filepath.Join(dir, "device"), filepath.Join(dir, "mounted")
	require.NoError(t, os.Mkdir(mounted, 0o700))

	t.Cleanup(func() { _ = exec.Command("umount", mounted).Run() }) // it is not mounted if all went well
	answers, late := 0, 0
	for round := range rounds {
		require.NoError(t, os.WriteFile(device, nil, 0o600))
		require.NoError(t, os.Truncate(device, 128<<20))
		command(t, "mkfs.ext4", "-q", "-F", device)
		command(t, "mount", "-o", "loop", device, mounted)
		unmount := func() { require.NoError(t, exec.Command("umount", mounted).Run()) }

		db, err := open(in(mounted))
		if err != nil {
			unmount()
		}
		require.NoError(t, err)

		l := newLedger()
		enough := make(chan struct{})
		var all sync.WaitGroup

		var once sync.Once
		for c := range callers {
			all.Go(func() {
				for i := 0; i < 1000 && !l.failed(); i++ {
					live(db, l, 1000*c+i, 2000)
					if i == 3+round {
						once.Do(func() { close(enough) })
					}
				}
			})
		}

		<-enough
		root, err := os.Open(mounted)
		require.NoError(t, err)
		before := l.knows()
		how := uint32(withoutFlush)
		_, _, failure := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), shutdown, uintptr(unsafe.Pointer(&how)))
		require.NoError(t, root.Close())

		all.Wait()
		after := l.knows()
		_ = db.Close() // it cannot
		unmount()
		require.Zero(t, failure)

		command(t, "mount", "-o", "loop", device, mounted)
		before.tried = after.tried
		err = errors.Join(sound(in(mounted)), held(before, in(mounted)))
		if held(after, in(mounted)) != nil {
			late++
		}
		unmount()
		require.NoError(t, err, "round %d", round)
		answers += len(before.acked)
	}

	t.Logf("%d jobs answered before the shutdowns, none lost; in %d of %d rounds one was lost that was answered after it was called", answers, late, rounds)
}

// held opens the database and holds it against the ledger.
func held(l *ledger, path string) error {
	db, err := open(path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return l.holds(db, 2000)
}
