package relay

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
)

// Upgrades gives what the answer to a request is written to, for httputil. That takes the connection over where the protocol changes, and reads from
// it alone: what the client had sent behind its request, which the server may have read already, would be lost. Behind a request with a body nothing
// is kept: what was read may be of the body.
func Upgrades(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	if r.Header.Get("Upgrade") == "" || r.ContentLength != 0 {
		return w
	}
	return upgrades{w}
}

type upgrades struct{ http.ResponseWriter }

// Hijack takes the connection over.
func (w upgrades) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, both, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil || both.Reader.Buffered() == 0 {
		return conn, both, err
	}
	early := io.LimitReader(both.Reader, int64(both.Reader.Buffered()))
	return behind{conn, io.MultiReader(early, conn)}, both, nil
}

// Unwrap gives what is below, for net/http.
func (w upgrades) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// behind is a connection of which something was read before.
type behind struct {
	net.Conn
	all io.Reader
}

// Read gives that first.
func (b behind) Read(p []byte) (int, error) { return b.all.Read(p) }

// CloseWrite tells the client that nothing more comes.
func (b behind) CloseWrite() error { return CloseWrite(b.Conn) }

// CloseWrite closes the direction to the other side, where that can be told; else it gives errors.ErrUnsupported.
func CloseWrite(of any) error {
	if half, can := of.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
