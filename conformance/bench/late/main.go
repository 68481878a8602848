// Command late is a server that is farther away: it passes every connection on to another one, and what goes through it arrives later, by
// the time that its second argument says, in each direction. It is a program of its own since its threads sleep and wake at moments of their own.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/berthdev/berth/conformance/bench/pause"
)

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: late HOST:PORT DURATION"))
	}
	by, err := time.ParseDuration(os.Args[2])
	if err != nil {
		fail(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	fmt.Printf("{\"url\":\"http://%s\"}\n", l.Addr())

	for {
		c, err := l.Accept()
		if err != nil {
			fail(err)
		}
		go join(c, os.Args[1], by)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// join passes on what comes from either side.
func join(c net.Conn, to string, by time.Duration) {
	defer func() { _ = c.Close() }()
	s, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	go func() {
		pass(s, c, by)
		_ = s.Close() // who asked has gone
	}()
	pass(c, s, by)
}

// part is what was read at once, and when it is to arrive.
type part struct {
	text []byte
	due  time.Time
}

// pass passes on what comes, each part so much later than it came.
func pass(to io.Writer, from io.Reader, by time.Duration) {
	parts := make(chan part, 1024)
	go read(from, parts, by)

	runtime.LockOSThread()
	pause.Exact()
	for p := range parts {
		if early := time.Until(p.due); early > 0 {
			pause.For(early)
		}
		if _, err := to.Write(p.text); err != nil {
			break
		}
	}
	for range parts { // what nobody reads any more
	}
}

// read reads until there is no more.
func read(from io.Reader, parts chan<- part, by time.Duration) {
	defer close(parts)
	for {
		text := make([]byte, 64<<10)
		n, err := from.Read(text)
		if n > 0 {
			parts <- part{text[:n], time.Now().Add(by)}
		}
		if err != nil {
			return
		}
	}
}
