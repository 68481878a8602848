//go:build unix

package process

import (
	"os"
	"syscall"

	"github.com/creack/pty" // terminals are opened otherwise on each system
	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/impl/runtime"
)

// openTTY makes a terminal, and has a process be the leader of its session.
func openTTY(a *syscall.SysProcAttr, size runtime.Size) (ours, theirs *os.File, err error) {
	opened, theirs, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	if ours, err = polled(opened); err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	if size != (runtime.Size{}) {
		_ = resize(ours, size) // it has a size all the same
	}
	a.Setpgid, a.Setsid, a.Setctty = false, true, true // the leader of a session is that of its group
	return ours, theirs, nil
}

// polled gives the file in place of one whose reads cannot be interrupted: the library has asked for its number.
func polled(f *os.File) (*os.File, error) {
	defer func() { _ = f.Close() }()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func resize(terminal *os.File, size runtime.Size) (err error) {
	raw, err := terminal.SyscallConn()
	if err != nil {
		return err
	}
	closed := raw.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: size.Width, Row: size.Height})
	})
	if closed != nil {
		return closed
	}
	return err
}
