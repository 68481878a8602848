package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/relay"
)

// halfTime is how long a connection that was taken over stays after the program has ended its side of it, for what the client may say yet. Like the
// patience with a pod it is of the machine's time.
const halfTime = 30 * time.Second

// tunnel is the program's side of a connection that was taken over.
type tunnel struct {
	io.ReadWriteCloser
	over func() // is called when nothing more comes of it
}

// newTunnel makes one, and has the request be canceled some time after nothing more comes of it.
func newTunnel(ctx context.Context, side io.ReadWriteCloser, cancel context.CancelCauseFunc) *tunnel {
	return &tunnel{side, sync.OnceFunc(func() {
		stop := compute.SystemClock{}.Call(halfTime, func() { cancel(context.Canceled) })
		context.AfterFunc(ctx, func() { stop() })
	})}
}

// Read notes the end.
func (t *tunnel) Read(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Read(p)
	if err != nil {
		t.over()
	}
	return n, err
}

// CloseWrite tells the program that its client says no more.
func (t *tunnel) CloseWrite() error { return relay.CloseWrite(t.ReadWriteCloser) }

// leashed closes the connection of a client that is taken over when the request ends: httputil closes the program's side then, and waits for the
// client where that side had ended before.
type leashed struct {
	http.ResponseWriter
	ctx context.Context //nolint:containedctx // of the request
}

// leash gives what the answer to a request of that body is written to, until ctx ends.
func leash(ctx context.Context, w http.ResponseWriter, r *http.Request, body *incoming) http.ResponseWriter {
	if body != nil && r.ProtoMajor == 1 {
		w = early{w, body}
	}
	return leashed{relay.Upgrades(w, r), ctx}
}

// Hijack takes the connection over.
func (w leashed) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, both, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		context.AfterFunc(w.ctx, func() { _ = conn.Close() })
	}
	return conn, both, err
}

// Unwrap gives what is below, for net/http.
func (w leashed) Unwrap() http.ResponseWriter { return w.ResponseWriter }
