package limit

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The protocols that are spoken over TLS. Connections that are taken over, as those of websockets, have HTTP/1.1.
const (
	protocolTwo = "h2"
	protocolOne = "http/1.1"
)

// ListenTLS bounds the connections of the listener, as Listen does, and gives those that speak TLS. Handshakes are made beside each
// other: one that takes longer than the header of a request may is cut off. Who speaks plain HTTP is told so.
func (c *Connections) ListenTLS(l net.Listener, config *tls.Config) net.Listener {
	config = config.Clone()
	for _, name := range []string{protocolOne, protocolTwo} {
		if !slices.Contains(config.NextProtos, name) {
			config.NextProtos = slices.Insert(config.NextProtos, 0, name)
		}
	}

	s := &secureListener{Listener: c.Listen(l), config: config, span: min(headerSpan, c.span), ready: make(chan net.Conn), failed: make(chan error)}
	s.over, s.end = context.WithCancel(context.Background())
	go s.accept()
	return s
}

// secureListener gives connections whose handshake has succeeded.
type secureListener struct {
	net.Listener
	config *tls.Config
	span   time.Duration // of a handshake
	ready  chan net.Conn
	failed chan error
	over   context.Context
	end    context.CancelFunc
}

// Accept waits for a connection whose handshake has succeeded.
func (s *secureListener) Accept() (net.Conn, error) {
	select {
	case nc := <-s.ready:
		return nc, nil
	case err := <-s.failed:
		return nil, err
	case <-s.over.Done():
		return nil, net.ErrClosed
	}
}

// Close ends the handshakes that are under way, too.
func (s *secureListener) Close() error {
	s.end()
	return s.Listener.Close()
}

// accept begins a handshake with each connection. Of a failure to accept one net/http decides whether it passes.
func (s *secureListener) accept() {
	for {
		nc, err := s.Listener.Accept()
		if err == nil {
			go s.shake(nc)
			continue
		}
		select {
		case s.failed <- err:
		case <-s.over.Done():
			return
		}
	}
}

// shake makes the handshake. What is agreed on besides HTTP was a question about the certificate, which has its answer.
func (s *secureListener) shake(nc net.Conn) {
	conn := tls.Server(nc, s.config)
	ctx, cancel := context.WithTimeout(s.over, s.span)
	err := conn.HandshakeContext(ctx)
	cancel()
	if err != nil {
		refusePlain(nc, err)
		_ = nc.Close()
		return
	}

	var ready net.Conn = conn
	switch conn.ConnectionState().NegotiatedProtocol {
	case protocolTwo:
	case protocolOne, "":
		ready = &secured{Conn: conn}
	default:
		_ = conn.Close()
		return
	}
	select {
	case s.ready <- ready:
	case <-s.over.Done():
		_ = nc.Close()
	}
}

// plainTLS is what a client reads that speaks HTTP where HTTPS is spoken.
const plainTLS = `{"title":"Bad Request","status":400,"detail":"this address speaks HTTPS: ask it for https://"}` + "\n"

// refusePlain answers a client that spoke plain HTTP.
func refusePlain(nc net.Conn, err error) {
	var head tls.RecordHeaderError
	if !errors.As(err, &head) {
		return
	}
	for _, method := range []string{"GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO"} {
		if bytes.Equal(head.RecordHeader[:], []byte(method)) {
			_, _ = nc.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nConnection: close\r\n\r\n" + plainTLS))
			return
		}
	}
}

// secured is a connection of HTTP/1.1 over TLS: what net/http answers by itself is made a problem before it is encrypted.
type secured struct{ *tls.Conn }

// Write sends text.
func (s *secured) Write(text []byte) (int, error) {
	if one := connOf(s); one != nil && !one.handled.Load() {
		if problem := asProblem(text); len(problem) != len(text) {
			_, err := s.Conn.Write(problem)
			return len(text), err
		}
	}
	return s.Conn.Write(text)
}

// connOf gives the connection that is counted below the one that net/http knows; nil: it is none of them.
func connOf(nc net.Conn) *conn {
	switch nc := nc.(type) {
	case *conn:
		return nc
	case interface{ NetConn() net.Conn }:
		return connOf(nc.NetConn())
	}
	return nil
}

// What one connection of HTTP/2 may have.
const (
	mostStreams  = 100       // requests at a time; more wait in net/http, which ends a connection that goes on to reset them
	mostReceived = 256 << 10 // bytes of bodies that no handler has read
	mostFrame    = 16 << 10
)

// twoConfig bounds connections of HTTP/2. One whose client is gone without a word ends, too, while its answers have no end.
func (c *Connections) twoConfig() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams: mostStreams, MaxReceiveBufferPerConnection: mostReceived, MaxReceiveBufferPerStream: mostReceived, MaxReadFrameSize: mostFrame,
		SendPingTimeout: idleSpan, PingTimeout: c.span,
	}
}

// streams counts the requests over HTTP/2 of all connections: there may be as many as connections, as where each has one.
type streams struct{ n atomic.Int64 }

// The answers of this room itself.
const (
	tooManyStreams = `{"title":"Service Unavailable","status":503,"detail":"the server has as many requests as it may have at a time"}` + "\n"
	noPreface      = `{"title":"HTTP Version Not Supported","status":505,"detail":"HTTP/2 is spoken over TLS alone, where both sides agree on it"}` + "\n"
)

// refuse answers with a problem.
func refuse(w http.ResponseWriter, status int, problem string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(problem))
}

// begin counts a request until end is called, or refuses it.
func (s *streams) begin(w http.ResponseWriter, most int) (ok bool) {
	if s.n.Add(1) <= int64(most) {
		return true
	}
	s.n.Add(-1)
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, tooManyStreams)
	return false
}

func (s *streams) end() { s.n.Add(-1) }

// pacedWriter has each piece of an answer over HTTP/2 taken within the span: the connection goes on when the client lets one of its
// answers wait, so that its deadline says nothing.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	span    time.Duration

	mu      sync.Mutex // a deadline is set by others than the handler, too
	until   time.Time  // that was set; zero: none was
	writing bool       // the handler is
}

// Unwrap gives the writer of net/http.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SetWriteDeadline sets a deadline that no piece moves on. It counts while something is written: net/http would end an answer of which
// nothing is left to be sent.
func (w *pacedWriter) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = t
	if w.writing && !t.IsZero() {
		return w.control.SetWriteDeadline(t)
	}
	return nil
}

// pace gives what comes next its time, until over is called.
func (w *pacedWriter) pace() (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	until := w.until
	if until.IsZero() {
		until = now().Add(w.span)
	}
	_ = w.control.SetWriteDeadline(until) // it fails where the stream has ended, which the write says
	w.writing = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.control.SetWriteDeadline(time.Time{})
		w.writing = false
	}
}

// last gives what is left to be sent after the handler its time.
func (w *pacedWriter) last() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.control.SetWriteDeadline(now().Add(w.span))
}

// Write sends text piece by piece.
func (w *pacedWriter) Write(text []byte) (n int, err error) {
	defer w.pace()()
	for {
		part := text[:min(len(text), piece)]
		written, err := w.ResponseWriter.Write(part)
		n, text = n+written, text[written:]
		if err != nil || len(text) == 0 {
			return n, err
		}
		w.pace()
	}
}

// Flush sends what was written.
func (w *pacedWriter) Flush() { _ = w.FlushError() }

// FlushError sends what was written.
func (w *pacedWriter) FlushError() error {
	defer w.pace()()
	return w.control.Flush()
}
