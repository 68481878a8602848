//go:build !unix

package app

import "net"

// listener is the system's own: elsewhere a new process has no sockets but those that it is given.
type listener struct{ *net.TCPListener }
