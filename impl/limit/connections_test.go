package limit_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/limit"
)

// pipes is a listener whose connections are in memory, where time can be played and nothing is buffered.
type pipes struct {
	dialled chan net.Conn
	closing sync.Once
	closed  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.closing.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// from is a connection that comes from an address.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.address), Port: 50_000} }

// served is a server in a bubble of synctest.
type served struct {
	*testing.T
	*pipes
	handle http.HandlerFunc
}

const span = 20 * time.Second

// serve has a server with bounds answer by s.handle, which do sets before it plays its clients.
func serve(t *testing.T, most int, do func(s *served)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := limit.NewConnections(most, span)
		s := &served{t, &pipes{dialled: make(chan net.Conn, 100), closed: make(chan struct{})}, nil}
		server := c.Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handle(w, r) }))
		over := make(chan struct{})
		go func() {
			defer close(over)
			_ = server.Serve(c.Listen(s))
		}()
		defer func() {
			_ = server.Close()
			<-over
		}()
		do(s)
	})
}

// dial opens a connection and sends the text, as far as the server takes it.
func (s *served) dial(text string) net.Conn { return s.dialFrom("127.0.0.1", text) }

// dialFrom is dial from an address.
func (s *served) dialFrom(address, text string) net.Conn {
	client, server := net.Pipe()
	s.dialled <- from{server, address}
	s.Cleanup(func() { _ = client.Close() })
	go func() { _, _ = io.WriteString(client, text) }()
	synctest.Wait()
	return client
}

// status reads the status of an answer; empty: the connection was ended without one. It reports how long that took.
func (s *served) status(c net.Conn) (status string, took time.Duration) {
	start := time.Now()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return "", time.Since(start)
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(s, err)
	return answer.Status, time.Since(start)
}

// pause lets time pass.
func pause(d time.Duration) { <-time.After(d) }

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

func TestConnections_NewOneReplacesTheLongestIdle(t *testing.T) {
	serve(t, 4, func(s *served) {
		busy := make(chan struct{})
		s.handle = func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/busy" {
				<-busy
			}
		}

		held := s.dial("GET /busy HTTP/1.1\r\nHost: a\r\n\r\n")
		silent := s.dial("")
		pause(time.Second)
		idle := s.dial(get)
		status, _ := s.status(idle)
		require.Equal(s, "200 OK", status)

		pause(time.Second)
		for range 10 {
			status, took := s.status(s.dial(get))
			require.Equal(s, "200 OK", status)
			require.LessOrEqual(s, took, time.Second)
		}

		for _, c := range []net.Conn{silent, idle} {
			status, took := s.status(c)
			require.Empty(s, status)
			require.Zero(s, took, "it was ended")
		}

		close(busy)
		status, _ = s.status(held)
		require.Equal(s, "200 OK", status, "one with a request is left alone")
	})
}

func TestConnections_NewOneWaitsWhereNoneIsIdle(t *testing.T) {
	serve(t, 1, func(s *served) {
		s.handle = func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/busy" {
				pause(time.Hour)
			}
		}

		held := s.dial("GET /busy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		next := s.dial(get)
		status, took := s.status(held)
		require.Equal(s, "200 OK", status)
		require.Equal(s, time.Hour, took)

		status, _ = s.status(next)
		require.Equal(s, "200 OK", status)
	})
}

// taking reads all of the body.
func taking(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		w.WriteHeader(http.StatusRequestTimeout)
	}
	_, _ = fmt.Fprint(w, n)
}

func TestConnections_StalledBodyIsCut(t *testing.T) {
	serve(t, 0, func(s *served) {
		s.handle = taking
		for _, head := range []string{"Content-Length: 1000000\r\n\r\n{", "Content-Length: 10\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"} {
			status, took := s.status(s.dial("POST / HTTP/1.1\r\nHost: a\r\n" + head))
			require.Equal(s, "408 Request Timeout", status)
			require.Equal(s, span, took)
		}
	})
}

func TestConnections_TricklingBodyIsCut(t *testing.T) {
	serve(t, 0, func(s *served) {
		s.handle = taking
		c := s.dial("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
		go func() {
			for {
				if _, err := io.WriteString(c, "{"); err != nil {
					return
				}
				pause(time.Second)
			}
		}()

		status, took := s.status(c)
		require.Equal(s, "408 Request Timeout", status)
		require.Equal(s, span, took)
		_ = c.Close()
		pause(2 * time.Second)
	})
}

func TestConnections_BodyThatGoesOnMayTakeItsTime(t *testing.T) {
	serve(t, 0, func(s *served) {
		s.handle = taking
		piece := strings.Repeat(" ", 64<<10)
		c := s.dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", 10*len(piece)))
		for range 10 {
			pause(span * 9 / 10)
			_, err := io.WriteString(c, piece)
			require.NoError(s, err)
		}
		status, _ := s.status(c)
		require.Equal(s, "200 OK", status)
	})
}

func TestConnections_StalledHeaderIsCut(t *testing.T) {
	serve(t, 0, func(s *served) {
		s.handle = taking
		for _, text := range []string{"", "GET / HTTP/1.1\r\nHost:"} {
			status, took := s.status(s.dial(text))
			require.Empty(s, status)
			require.Equal(s, 10*time.Second, took)
		}
	})
}

func TestConnections_IdleOneEndsAfterAWhile(t *testing.T) {
	serve(t, 0, func(s *served) {
		s.handle = taking
		c := s.dial(get)
		status, _ := s.status(c)
		require.Equal(s, "200 OK", status)
		start := time.Now()
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(s, err, io.EOF)
		require.Equal(s, 2*time.Minute, time.Since(start))
	})
}

func TestConnections_RestOfARefusedRequestIsSoonCut(t *testing.T) {
	serve(t, 0, func(s *served) {
		s.handle = func(w http.ResponseWriter, r *http.Request) {
			limit.Refused(w, r)
			w.WriteHeader(http.StatusUnauthorized)
		}
		status, took := s.status(s.dial("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"))
		require.Equal(s, "401 Unauthorized", status)
		require.Equal(s, 2*time.Second, took)
	})
}

func TestConnections_RefusedBodyIsNotAskedFor(t *testing.T) {
	serve(t, 4, func(s *served) {
		s.handle = func(w http.ResponseWriter, r *http.Request) {
			limit.Refused(w, r)
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
		status, took := s.status(s.dial("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100000\r\n\r\n"))
		require.Equal(s, "413 Request Entity Too Large", status)
		require.Zero(s, took)
	})
}

func TestConnections_RequestMayBeHeldInSilence(t *testing.T) {
	serve(t, 0, func(s *served) {
		s.handle = func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			pause(10 * span)
			_ = http.NewResponseController(w).Flush()
			pause(10 * span)
			if r.Context().Err() != nil {
				panic(http.ErrAbortHandler)
			}
		}

		for _, request := range []string{get, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat(" ", 100_000)} {
			status, took := s.status(s.dial(request))
			require.Equal(s, "200 OK", status)
			require.Equal(s, 20*span, took)
		}
	})
}

// long is an answer of many pieces, written at once as answers are.
const long = 1 << 20

func TestConnections_ReaderThatNeverReadsIsCut(t *testing.T) {
	serve(t, 0, func(s *served) {
		ended := make(chan error, 1)
		s.handle = func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(make([]byte, long))
			ended <- err
		}
		start := time.Now()
		s.dial(get)
		require.Error(s, <-ended)
		require.InDelta(s, span, time.Since(start), float64(span)/4)
	})
}

func TestConnections_ReaderThatGoesOnMayTakeItsTime(t *testing.T) {
	serve(t, 0, func(s *served) {
		ended := make(chan error, 1)
		s.handle = func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(make([]byte, long))
			ended <- err
		}
		c := s.dial(get)

		text := make([]byte, 64<<10)
		for range long / len(text) {
			pause(span * 9 / 10)
			_, err := io.ReadFull(c, text)
			require.NoError(s, err)
		}

		go func() { _, _ = io.Copy(io.Discard, c) }() // the rest, which the head made
		require.NoError(s, <-ended)
	})
}

func TestConnections_DeadlineOfAHandlerCounts(t *testing.T) {
	serve(t, 0, func(s *served) {
		ended := make(chan error, 1)
		s.handle = func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second))
			_, err := w.Write(make([]byte, long))
			ended <- err
		}
		start := time.Now()
		s.dial(get)
		require.Error(s, <-ended)
		require.Equal(s, time.Second, time.Since(start))
	})
}

func TestConnections_AreFewerThanFilesThatMayBeOpen(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, limit.NewConnections(0, span).Most(), 4096)
	require.Positive(t, limit.NewConnections(0, span).Most())
	require.Equal(t, 7, limit.NewConnections(7, span).Most())
}
