package proxy

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/berthdev/berth/impl/relay"
)

// Dial connects to what listens in pods and workers, at addresses that Where gives.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// connect is dial whose errors say that they are of a connection that was not made, wherever they come from: an engine on another host has errors of
// its own.
func (dial Dial) connect(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dial(ctx, network, address)
	if err != nil {
		if !dialing(err) {
			err = &net.OpError{Op: "dial", Net: network, Err: err}
		}
		return nil, err
	}
	return &heard{Conn: conn, over: make(chan struct{})}, nil
}

// heard is a connection to a program that may answer a request before it has read it, and close. net/http would then take the failed write for the end
// of the request, and leave the answer, which has come, unread: so such a write waits until there is nothing more to be read.
type heard struct {
	net.Conn
	once sync.Once
	over chan struct{} // is closed when nothing more is read
}

// Write waits for who reads where the program has closed.
func (h *heard) Write(p []byte) (int, error) {
	n, err := h.Conn.Write(p)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		<-h.over
	}
	return n, err
}

// Read notes the end.
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		h.end()
	}
	return n, err
}

// Close has no write wait any more.
func (h *heard) Close() error {
	h.end()
	return h.Conn.Close()
}

func (h *heard) end() { h.once.Do(func() { close(h.over) }) }

// CloseWrite tells the program that its client says no more.
func (h *heard) CloseWrite() error { return relay.CloseWrite(h.Conn) }
