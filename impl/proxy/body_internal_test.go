package proxy

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// pipes is a listener whose connections are in memory, where time can be played.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, open := <-p; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial opens a connection.
func (p pipes) dial() net.Conn {
	client, server := net.Pipe()
	p <- server
	return client
}

// serve has the server answer at the pipes until done is called.
func (p pipes) serve(server *http.Server, on net.Listener) (done func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = server.Serve(on)
	}()
	return func() {
		close(p)
		_ = server.Close()
		<-over
	}
}

// slow is a proxy in a bubble of synctest, for an endpoint and a pod whose programs answer with the body that they got.
type slow struct {
	*testing.T
	front pipes
	queue *queue.Queue
}

// inBubble has do play with it.
func inBubble(t *testing.T, do func(s *slow)) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, db.Read(t.Context(), func(store.Tx) error { return nil })) // what it makes once is not of the bubble

	synctest.Test(t, func(t *testing.T) {
		clock := compute.SystemClock{}
		s := &slow{t, make(pipes, 10), nil}
		s.queue, err = queue.New(t.Context(), db, clock, compute.NewIDs(rand.Reader, clock), queue.DefaultSettings(), queue.Hooks{})
		require.NoError(t, err)
		s.queue.SetEndpoint(compute.Endpoint{ID: endpoint, UserID: "u", Type: compute.LoadBalancer, WorkersMax: 3, Version: 1})

		ending, end := context.WithCancel(t.Context())
		inside := make(pipes, 10)
		defer inside.serve(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if reads := r.Header.Get("X-Reads"); reads != "" {
				readsAs(ending, reads, w, r)
				return
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write(body)
		})}, inside)()

		ports := []compute.PublishedPort{{Private: 80, Public: 80, Type: "http"}, {Private: 8888, Public: 8888, Type: "http"}}
		bound := limit.NewConnections(0, limit.DefaultSpan)
		defer s.front.serve(bound.Server(New(Config{
			Domain: "localhost", Pods: onePod(compute.PodRunning), Keys: oneKey{}, Requests: s.queue, Clock: clock, Ending: ending, Log: slog.New(slog.DiscardHandler),
			Dial:  func(context.Context, string, string) (net.Conn, error) { return inside.dial(), nil },
			Ports: func(compute.WorkerID) []compute.PublishedPort { return ports },
			Live:  func(compute.PodID) compute.PodRuntime { return compute.PodRuntime{Ports: ports} },
		}).Before(http.NotFoundHandler())), bound.Listen(s.front))()
		defer end()
		do(s)
	})
}

// readsAs is what a program does with a body that it reads as the word says, which may be never.
func readsAs(ending context.Context, how string, w http.ResponseWriter, r *http.Request) {
	switch how {
	case "slowly":
		for piece := make([]byte, pieceOfBody); ; {
			if _, err := io.ReadFull(r.Body, piece); err != nil {
				break
			}
			<-time.After(firstByte - time.Second)
		}
		_, _ = io.WriteString(w, "all of it")
	case "as it comes":
		control, piece := http.NewResponseController(w), make([]byte, 100)
		err := control.EnableFullDuplex()
		for err = errors.Join(err, control.Flush()); err == nil; _ = control.Flush() {
			var n int
			n, err = r.Body.Read(piece)
			_, _ = w.Write(piece[:n])
		}
	case "nothing more":
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\nthe end\n")
		_ = conn.Close()
	case "after it answered":
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
		<-time.After(2 * firstByte)
		_, _ = io.WriteString(conn, "none of it")
		_ = conn.Close()
	default: // never
		<-ending.Done()
	}
}

// starts has the endpoint get a healthy worker.
func (s *slow) starts() {
	s.queue.WorkerStarted(endpoint, "w0", 1)
	s.queue.SetCondition(endpoint, "w0", queue.Healthy, "")
}

// post sends the head of a request to a host, with these lines, and what may follow at once.
func (s *slow) post(host, key, lines string) net.Conn {
	conn := s.begin(host, key, lines)
	synctest.Wait()
	return conn
}

// begin is post for an answer that is read at once.
func (s *slow) begin(host, key, lines string) net.Conn {
	conn := s.front.dial()
	s.Cleanup(func() { _ = conn.Close() })
	go func() {
		_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s.localhost\r\nAuthorization: Bearer %s\r\n%s", host, key, lines)
	}()
	return conn
}

// answer reads an answer. It reports how long that took.
func (s *slow) answer(conn net.Conn) (status int, body string, took time.Duration) {
	start := time.Now()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(s, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(s, err)
	return res.StatusCode, string(text), time.Since(start)
}

// TestBody_MayComeOnceThereIsAWorker: a request waits longer for one than a client may stall.
func TestBody_MayComeOnceThereIsAWorker(t *testing.T) {
	inBubble(t, func(s *slow) {
		conn := s.post(endpoint, "good", "Content-Length: 10000\r\n\r\n")
		<-time.After(3 * limit.DefaultSpan)
		s.starts()
		go func() { _, _ = io.WriteString(conn, strings.Repeat("x", 10_000)) }()
		status, body, _ := s.answer(conn)
		require.Equal(s, 200, status, body)
		require.Len(s, body, 10_000)
	})
}

func TestBody_ThatItsClientBreaksIsNotTheWorkersFault(t *testing.T) {
	for name, c := range map[string]struct {
		lines  string
		status int
		after  time.Duration
	}{
		"a bad chunk":  {"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n", 400, 0},
		"a short one":  {"Content-Length: 10\r\n\r\nhello", 408, limit.DefaultSpan},
		"a late chunk": {"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 408, limit.DefaultSpan},
	} {
		for _, host := range []string{endpoint, pod + "-8888"} {
			t.Run(name+" to "+host, func(t *testing.T) {
				inBubble(t, func(s *slow) {
					s.starts()
					status, body, took := s.answer(s.post(host, "good", c.lines))
					require.Equal(s, c.status, status, body)
					require.Contains(s, body, "the body ")
					require.Equal(s, c.after, took)
					require.True(s, s.queue.Served()[0].Ready)
				})
			})
		}
	}
}

func TestBody_ThatIsRefusedHasLittleTimeToCome(t *testing.T) {
	inBubble(t, func(s *slow) {
		for host, status := range map[string]int{endpoint: 401, pod + "-1": 404} {
			got, _, took := s.answer(s.post(host, "bad", "Content-Length: 10000\r\n\r\nhello"))
			require.Equal(s, status, got)
			require.Equal(s, 2*time.Second, took)
		}
	})
}

// pieceOfBody is in how large pieces a body is sent on.
const pieceOfBody = 32 << 10

func TestBody_ThatThePodDoesNotTakeIsNotWaitedForForEver(t *testing.T) {
	for reads, want := range map[string]struct {
		status int
		body   string
		took   time.Duration
	}{
		"nothing":           {524, "did not begin to answer in time", firstByte},
		"slowly":            {200, "all of it", 5 * (firstByte - time.Second)},
		"after it answered": {200, "none of it", 2 * firstByte},
	} {
		t.Run(reads, func(t *testing.T) {
			inBubble(t, func(s *slow) {
				lines := fmt.Sprintf("X-Reads: %s\r\nContent-Length: %d\r\n\r\n", reads, 5*pieceOfBody)
				status, body, took := s.answer(s.post(pod+"-8888", "good", lines+strings.Repeat("x", 5*pieceOfBody)))
				require.Equal(s, want.status, status, body)
				require.Contains(s, body, want.body)
				require.Equal(s, want.took, took.Truncate(time.Second))
			})
		})
	}
}

// TestBody_MayBeAnsweredAsItComes: the answer begins before the end of the body, of which each piece is answered.
func TestBody_MayBeAnsweredAsItComes(t *testing.T) {
	for _, host := range []string{endpoint, pod + "-8888"} {
		t.Run(host, func(t *testing.T) {
			inBubble(t, func(s *slow) {
				s.starts()
				begun := time.Now()
				conn := s.begin(host, "good", "X-Reads: as it comes\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				require.NoError(s, err)
				require.Equal(s, 200, res.StatusCode)
				require.True(s, res.Close, "what may be left of the body is no request")
				piece := make([]byte, 5)
				for _, next := range []string{"world", "again"} {
					_, err = io.ReadFull(res.Body, piece)
					require.NoError(s, err)
					<-time.After(limit.DefaultSpan / 3)
					go func() { _, _ = io.WriteString(conn, "5\r\n"+next+"\r\n") }()
				}
				_, err = io.ReadFull(res.Body, piece)
				require.NoError(s, err)
				require.Equal(s, "again", string(piece))
				go func() { _, _ = io.WriteString(conn, "0\r\n\r\n") }()
				rest, err := io.ReadAll(res.Body)
				require.NoError(s, err)
				require.Empty(s, rest)
				require.NoError(s, res.Body.Close())
				require.Equal(s, 2*(limit.DefaultSpan/3), time.Since(begun))
			})
		})
	}
}

// TestBody_ThatIsReadBeforeItIsAnsweredKeepsItsConnection: only what is left of one ends it.
func TestBody_ThatIsReadBeforeItIsAnsweredKeepsItsConnection(t *testing.T) {
	for _, lines := range []string{"Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"} {
		for _, host := range []string{endpoint, pod + "-8888"} {
			t.Run(host, func(t *testing.T) {
				inBubble(t, func(s *slow) {
					s.starts()
					res, err := http.ReadResponse(bufio.NewReader(s.begin(host, "good", lines)), nil)
					require.NoError(s, err)
					require.False(s, res.Close)
					require.NoError(s, res.Body.Close())
				})
			})
		}
	}
}
