//go:build unix

package limit

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// gone reports whether the other side has closed the connection, as far as the system knows. It takes nothing of what has come.
func (c *conn) gone() bool {
	of, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := of.SyscallConn()
	if err != nil {
		return false
	}
	ended := false
	var one [1]byte
	err = raw.Control(func(fd uintptr) {
		n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		waits := errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)
		ended = n <= 0 && !waits || n > 0 && halfClosed(int(fd)) // an end is behind what has come
	})
	return err != nil || ended
}
