// Package spread spreads connections over several servers: each goes to any of them, as behind a balancer that knows nothing of them.
package spread

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"
)

// Spread listens for connections.
type Spread struct {
	listener net.Listener

	mu   sync.Mutex
	over []string // addresses
}

// Listen begins to listen. Connections that come before there is a server are closed.
func Listen(address string) (*Spread, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Spread{listener: l}
	go s.accept()
	return s, nil
}

// URL is the base of the URL of the spread.
func (s *Spread) URL() string { return "http://" + s.listener.Addr().String() }

// Add adds a server by the base of its URL.
func (s *Spread) Add(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = append(s.over, strings.TrimPrefix(url, "http://"))
}

// Close ends the listening. Connections go on.
func (s *Spread) Close() error { return s.listener.Close() }

func (s *Spread) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		go s.pass(c.(*net.TCPConn))
	}
}

// dial connects to any of the servers, and to another one if that does not answer.
func (s *Spread) dial() (c net.Conn, err error) {
	s.mu.Lock()
	over := append([]string{}, s.over...)
	s.mu.Unlock()

	err = net.ErrClosed
	for _, i := range rand.Perm(len(over)) {
		if c, err = net.Dial("tcp", over[i]); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// pass passes on what comes from a connection, and what comes back.
func (s *Spread) pass(c *net.TCPConn) {
	defer func() { _ = c.Close() }()
	to, err := s.dial()
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()

	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if _, err := io.Copy(to, c); err != nil { // the server has ended the connection, perhaps because nobody read its answer
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		}
		_ = to.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c) // of what was refused, so that the client sees the answer
	}()
	_, _ = io.Copy(c, to)
	_ = c.CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	<-sent
}
