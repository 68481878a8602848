//go:build unix

package app

import (
	"net"

	"golang.org/x/sys/unix"
)

// listener frees its address when it is closed. Closing the socket alone would not: a process that is forked at that moment has
// it open too until it executes its program, and the next server would find the address in use.
type listener struct{ *net.TCPListener }

func (l listener) Close() error {
	if c, err := l.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // where it is refused, closing must do
	}
	return l.TCPListener.Close()
}
