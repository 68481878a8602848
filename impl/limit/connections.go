package limit

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const (
	// mostConnections is the default, if the limit of files permits it: one with a request takes up to 40 KB.
	mostConnections = 4096
	// leastIdle is how long a connection must have been idle to be closed in favour of a new one.
	leastIdle = 500 * time.Millisecond

	// mostHead is how many bytes the request line and the headers of a request may have: the ping of a worker names its jobs there.
	mostHead = 64 << 10
	// freeHead is how many of them each request has to itself. What is more is of all requests that have not ended, of which there are
	// mostHeads: net/http takes up to 35 times the memory for headers with short names.
	freeHead      = 8 << 10
	mostHeads     = 4 << 20
	headsOfOrigin = mostHeads / 2 // of those from one address
)

// Connections bounds how many connections a server has, over all of its listeners. When there are as many as there may be, a
// new one takes the place of those that have been idle longest; if none is idle it waits to be accepted.
type Connections struct {
	most int
	span time.Duration

	mu      sync.Mutex
	open    map[*conn]struct{}
	changed chan struct{} // holds one when a connection was closed or has become idle
	full    atomic.Bool   // somebody waits for changed

	streams streams
	heads   int64            // bytes of the heads of requests beyond what is free
	headsOf map[string]int64 // of those from each address; none is 0
}

// NewConnections gives a bound of most connections, or if that is 0 of as many as files and memory permit, each of which must
// send, or take, a piece in every span.
func NewConnections(most int, span time.Duration) *Connections {
	if most == 0 {
		most = mostConnections
		if files := openFiles(); files > 0 {
			most = max(min(most, files*3/4), 1) // the rest is for the database, workers, and what is sent elsewhere
		}
	}
	return &Connections{most: most, span: span, open: map[*conn]struct{}{}, headsOf: map[string]int64{}, changed: make(chan struct{}, 1)}
}

// slack is by how much a deadline may be late, so that it is not set anew for each of many short answers.
func (c *Connections) slack() time.Duration { return c.span / 4 }

// Most is how many connections there may be.
func (c *Connections) Most() int { return c.most }

// Listen bounds the connections of the listener. State must be notified of them.
func (c *Connections) Listen(l net.Listener) net.Listener {
	return &listener{Listener: l, of: c, closed: make(chan struct{})}
}

// State is to be called when the state of a connection changes, as the ConnState of the server.
func (c *Connections) State(nc net.Conn, s http.ConnState) {
	one := connOf(nc)
	if one == nil {
		return
	}

	switch s {
	case http.StateActive:
		one.idle.Store(0)
	case http.StateHijacked:
		one.forgetHead() // its request may last for ever
	case http.StateIdle:
		one.handled.Store(false)
		one.forgetHead()
		one.idle.Store(now().UnixNano())
		if c.full.Load() {
			c.report()
		}
	}
}

func (c *Connections) report() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// room waits until there is room for one more connection.
func (c *Connections) room(closed <-chan struct{}) {
	for {
		c.mu.Lock()
		free := len(c.open) < c.most
		c.full.Store(!free)
		var idle []*conn
		if !free {
			idle = c.idle()
		}
		c.mu.Unlock()
		if free {
			return
		}

		for _, one := range idle[:(len(idle)+15)/16] { // some at a time: it takes a look at all of them
			_ = one.Close()
		}
		if len(idle) > 0 {
			continue
		}

		again, stop := compute.SystemClock{}.After(leastIdle / 5)
		select {
		case <-c.changed:
		case <-again: // one may have been idle for long enough
		case <-closed:
			stop()
			return
		}

		stop()
	}
}

// idle gives the connections that may be closed, the longest idle first. The caller has the lock.
func (c *Connections) idle() (all []*conn) {
	before := now().Add(-leastIdle).UnixNano()
	since := map[*conn]int64{} // it may change meanwhile
	for one := range c.open {
		if at := one.idle.Load(); at != 0 && at < before {
			since[one] = at
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b *conn) int { return cmp.Compare(since[a], since[b]) })
	return all
}

type listener struct {
	net.Listener
	of      *Connections
	closing sync.Once
	closed  chan struct{}
}

// Accept waits for a connection, and for room for it.
func (l *listener) Accept() (net.Conn, error) {
	l.of.room(l.closed)
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	one := &conn{Conn: nc, of: l.of}
	one.idle.Store(now().UnixNano()) // until its first byte
	l.of.mu.Lock()
	l.of.open[one] = struct{}{}
	l.of.mu.Unlock()
	return one, nil
}

func (l *listener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// conn is a connection whose answers must be taken at the least rate.
type conn struct {
	net.Conn
	of      *Connections
	idle    atomic.Int64 // since when it has no request, in nanoseconds; 0: it has one
	handled atomic.Bool  // a handler has the request: what is written is its answer
	head    atomic.Int64 // bytes that have come of its head
	closing sync.Once

	mu    sync.Mutex
	renew time.Time // when the deadline for writing is to be moved on
	fixed bool      // somebody else has set it
}

// Close closes the connection, which then counts no more.
func (c *conn) Close() error {
	c.closing.Do(func() {
		c.of.mu.Lock()
		delete(c.of.open, c)
		c.of.mu.Unlock()
		c.forgetHead()
		if c.of.full.Load() {
			c.of.report()
		}
	})
	return c.Conn.Close()
}

// CloseWrite shows the client that nothing more comes, as net/http does before it closes.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// errHeads ends a connection whose request has a long head while others have had what there is for them.
var errHeads = errors.New("limit: the heads of requests take all that there is for them")

// Read counts what comes before a handler has the request.
func (c *conn) Read(p []byte) (n int, err error) {
	n, err = c.Conn.Read(p)
	if c.handled.Load() || n == 0 {
		return n, err
	}
	had := c.head.Add(int64(n)) - int64(n)
	if more := max(had+int64(n)-freeHead, 0) - max(had-freeHead, 0); more > 0 && !c.of.longer(c.RemoteAddr(), more) {
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: errHeads} // which net/http answers by nothing
	}
	return n, err
}

// forgetHead gives back what the head of a request took: of most there is nothing, and all connections would share that counter.
func (c *conn) forgetHead() {
	if over := c.head.Swap(0) - freeHead; over > 0 {
		c.of.longer(c.RemoteAddr(), -over)
	}
}

// longer counts so many more bytes of a long head. False: the heads of all, or of those from that address, have what there is for them.
func (c *Connections) longer(from net.Addr, bytes int64) bool {
	origin := compute.LoginOrigin(from.String())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heads += bytes
	c.headsOf[origin] += bytes
	if c.headsOf[origin] == 0 {
		delete(c.headsOf, origin)
	}
	return c.heads <= mostHeads && c.headsOf[origin] <= headsOfOrigin
}

// Write sends text piece by piece: each must be taken within the span.
func (c *conn) Write(text []byte) (n int, err error) {
	if !c.handled.Load() {
		if problem := asProblem(text); len(problem) != len(text) {
			_, err := c.send(problem)
			return len(text), err
		}
	}
	return c.send(text)
}

func (c *conn) send(text []byte) (n int, err error) {
	for {
		part := text[:min(len(text), piece)]
		if err := c.goOn(); err != nil {
			return n, err
		}
		written, err := c.Conn.Write(part)
		n, text = n+written, text[written:]
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.drop()
		}
		if err != nil || len(text) == 0 {
			return n, err
		}
	}
}

// drop has the system forget what it holds for a client that does not take it, which would else be megabytes for many minutes.
func (c *conn) drop() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// goOn gives the next piece its time. It sets no deadline as long as the present one leaves enough, which it mostly does where
// a connection has many short answers.
func (c *conn) goOn() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := now()
	if c.fixed || at.Before(c.renew) {
		return nil
	}
	c.renew = at.Add(c.of.slack())
	return c.Conn.SetWriteDeadline(at.Add(c.of.span + c.of.slack()))
}

// SetWriteDeadline sets a deadline that no piece moves on. The zero time, which net/http sets after each answer, gives way to
// the least rate again.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fixed = !t.IsZero()
	if !c.fixed {
		return nil
	}
	c.renew = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// now is the machine's time: what a test makes of the clock must not cut anybody off.
func now() time.Time { return compute.SystemClock{}.Now() }
