package proxy

// This file holds what programs in pods and workers may answer, byte by byte, against what a client gets to see.

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// scripted has a program serve each connection as do says, which closes it in the end, and gives its port.
func scripted(t *testing.T, do func(conn net.Conn)) (port int) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				do(conn)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// saying is a program that answers each head of a request with the text.
func saying(text string) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.WriteString(conn, text)
		}
	}
}

// both gives a server whose pod and whose only worker are the program, and the lines that lead a request to each of them.
func both(t *testing.T, do func(net.Conn)) (s *server, hosts map[string]string) {
	port := scripted(t, do)
	c := newCrew(t, nil)
	c.add(0, uint16(port))
	c.live = []compute.PublishedPort{{Private: 8888, Public: port, Type: "http"}}
	return c.server, map[string]string{"pod": "Host: " + ours + "\r\n", "worker": "Host: " + endpoint + ".localhost\r\nAuthorization: Bearer good\r\n"}
}

func TestAnswers_AStatusBelow100IsNone(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"000", "042", "099"} {
		s, hosts := both(t, saying("HTTP/1.1 "+status+" Odd\r\nContent-Length: 2\r\n\r\nno"))
		for who, host := range hosts {
			answer := s.raw(t, "GET / HTTP/1.1\r\n"+host+"Connection: close\r\n\r\n")
			require.True(t, strings.HasPrefix(answer, "HTTP/1.1 502 "), "%s: %s", status, answer)
			require.Contains(t, answer, "the "+who+" answered with a status below 100")
		}
	}
}

// TestAnswers_HeadOfSomethingLongHasNoBody: what its length would be is no reason to refuse it.
func TestAnswers_HeadOfSomethingLongHasNoBody(t *testing.T) {
	t.Parallel()
	s, hosts := both(t, saying(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", MostOfEndpoint+1)))
	for who, host := range hosts {
		answer := s.raw(t, "HEAD / HTTP/1.1\r\n"+host+"Connection: close\r\n\r\n")
		require.True(t, strings.HasPrefix(answer, "HTTP/1.1 200 "), "%s: %s", who, answer)
		require.Contains(t, answer, fmt.Sprintf("Content-Length: %d\r\n", MostOfEndpoint+1), who)
	}
}

// TestAnswers_OfHTTP10HaveNothingBefore: a client of it takes what comes first for the answer.
func TestAnswers_OfHTTP10HaveNothingBefore(t *testing.T) {
	t.Parallel()
	s, hosts := both(t, saying("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"))
	for who, host := range hosts {
		old, today := s.raw(t, "GET / HTTP/1.0\r\n"+host+"\r\n"), s.raw(t, "GET / HTTP/1.1\r\n"+host+"Connection: close\r\n\r\n")
		require.True(t, strings.HasPrefix(old, "HTTP/1.0 200 ") && strings.HasSuffix(old, "\r\n\r\ndone"), "%s: %s", who, old)
		require.NotContains(t, old, "a.css", who)
		require.True(t, strings.HasPrefix(today, "HTTP/1.1 103 ") && strings.Contains(today, "HTTP/1.1 200 "), "%s: %s", who, today)
	}

	s, hosts = both(t, saying("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"))
	for who, host := range hosts {
		old := s.raw(t, "GET / HTTP/1.0\r\n"+host+"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		require.True(t, strings.HasPrefix(old, "HTTP/1.0 502 "), "%s: %s", who, old)
	}
}

// TestTrailers_OfARequestAreSentOn: those that were announced, but for what a header may not say either.
func TestTrailers_OfARequestAreSentOn(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	s, hosts := both(t, func(conn net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		got <- r.Trailer
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	const body = "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 42\r\nX-Forwarded-For: 1.2.3.4\r\nX-Other: 1\r\nContent-Length: 3\r\n\r\n"
	for who, host := range hosts {
		for _, c := range []struct {
			announced string
			want      http.Header
		}{
			{"Trailer: X-Sum, X-Forwarded-For, X-Missing\r\n", http.Header{"X-Sum": {"42"}}},
			{"Trailer: X-Forwarded-For\r\n", nil},
			{"", nil},
		} {
			answer := s.raw(t, "POST / HTTP/1.1\r\n"+host+c.announced+body)
			require.True(t, strings.HasPrefix(answer, "HTTP/1.1 200 "), "%s: %s", who, answer)
			came := <-got
			maps.DeleteFunc(came, func(_ string, values []string) bool { return len(values) == 0 }) // announced, and not sent
			if len(c.want) == 0 {
				require.Empty(t, came, who)
				continue
			}
			require.Equal(t, c.want, came, who)
		}
	}
}

// TestAnswers_MayComeWithoutTheBodyHavingBeenRead: a program that refuses an upload closes, and what is written after that fails.
func TestAnswers_MayComeWithoutTheBodyHavingBeenRead(t *testing.T) {
	t.Parallel()
	s, hosts := both(t, saying("HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo long"))
	const size = 20 << 20
	for range 4 {
		for who, host := range hosts {
			answer := s.raw(t, fmt.Sprintf("POST / HTTP/1.1\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n", host, size)+strings.Repeat("x", size))
			require.True(t, strings.HasPrefix(answer, "HTTP/1.1 413 ") && strings.HasSuffix(answer, "too long"), "%s: %s", who, answer)
		}
	}
}

// failing is a connection to a program that has answered and closed: what is written after the head fails, before the answer is read.
type failing struct {
	net.Conn
	wrote  atomic.Bool
	failed chan struct{}
	answer *strings.Reader
}

func (f *failing) Write(p []byte) (int, error) {
	if f.wrote.CompareAndSwap(false, true) {
		return len(p), nil
	}
	close(f.failed)
	return 0, &net.OpError{Op: "write", Err: syscall.EPIPE}
}

func (f *failing) Read(p []byte) (int, error) {
	<-f.failed
	return f.answer.Read(p)
}

// TestHeard_AFailedWriteIsNotTheEnd, but what is read is: the answer, or that there is none.
func TestHeard_AFailedWriteIsNotTheEnd(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n\r\ntoo long": "413 too long", "": "502 "} {
		s := newServer(t, http.NotFound, func(c *Config) {
			c.Dial = func(context.Context, string, string) (net.Conn, error) {
				ours, _ := net.Pipe()
				return &failing{Conn: ours, failed: make(chan struct{}), answer: strings.NewReader(said)}, nil
			}
		})
		res := s.ask(t, "POST", "/", strings.Repeat("x", 1<<20))
		require.True(t, strings.HasPrefix(fmt.Sprint(res.StatusCode, " ", text(t, res)), want), res.Status)
	}
}
