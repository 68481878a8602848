//go:build unix

package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/impl/compute"
)

// openToOthers reports whether others than the owner may do something with it.
func openToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// checkOwner fails if a file is neither this process's user's nor the directory's owner's nor root's: it was put there.
func checkOwner(dir, file string, info fs.FileInfo) error {
	of, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner := userOf(info)
	if owner == 0 || int(owner) == os.Geteuid() || owner == userOf(of) {
		return nil
	}
	return fmt.Errorf("%s belongs to user %d, who is not the owner of its directory: berth did not make it", file, owner)
}

func userOf(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

// giveToOwner gives files that root made in the directory of another user, as a restore does, to that user: a server of theirs could not read
// them. It leaves alone what is not there, what is not root's, links, and files that have a second name: that may be anywhere.
func giveToOwner(files ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, file := range files {
		of, err := os.Stat(filepath.Dir(file))
		if err == nil && userOf(of) != 0 {
			err = giveTo(of, file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// giveTo gives a file of root's to whom the directory belongs.
func giveTo(of fs.FileInfo, file string) (err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || userOf(info) != 0 || info.Sys().(*syscall.Stat_t).Nlink != 1 {
		return err
	}
	return f.Chown(int(userOf(of)), int(of.Sys().(*syscall.Stat_t).Gid))
}

// errLocked says that a server has the directory.
type errLocked struct {
	dir string
	who string // the program and its process; empty: an older one, which does not say
}

func (e errLocked) Error() string {
	text := "another berth is serving from " + e.dir
	if e.who != "" {
		text += ": " + e.who
	}
	return text
}

// lock makes the data directory this process's own until unlock, and writes who has it into the file: a second server on it would
// take the first one's workers for leftovers. The system gives the lock back however the process ends.
//
// Closing the file alone would not: a process that is forked at that moment has it open too until it executes its program, and
// the lock is the file's.
func lock(dir, who string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	holder, err := take(f)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errLocked{dir, holder}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "%s, process %d\n", who, os.Getpid())
	}
	if err == nil {
		err = giveToOwner(f.Name())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return func() error { return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close()) }, nil
}

// forkSpan is how long a process may take, after the one that forked it was killed, until it executes its program.
const forkSpan = 2 * time.Second

// take locks the file, or reports who has it. If that one was killed while it forked a process, the lock is free in a moment.
func take(f *os.File) (holder string, err error) {
	over, stop := compute.SystemClock{}.After(forkSpan)
	defer stop()
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			return "", err
		}
		text, _ := os.ReadFile(f.Name()) // it says more, but is not needed
		holder = strings.TrimSpace(string(text))
		_, number, _ := strings.Cut(holder, ", process ")
		if pid, e := strconv.Atoi(number); e != nil || unix.Kill(pid, 0) != unix.ESRCH {
			return holder, err
		}

		again, stop := compute.SystemClock{}.After(10 * time.Millisecond)
		select {
		case <-over:
			stop()
			return holder, err
		case <-again:
		}
	}
}
