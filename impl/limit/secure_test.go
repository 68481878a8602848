package limit_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/berthdev/berth/impl/certificate/certificatetest"
	"github.com/berthdev/berth/impl/limit"
)

// secured is a server with TLS in a bubble of synctest, and a client of it.
type secured struct {
	served
	client *tls.Config
	http   *http.Client // over HTTP/2

	mu   sync.Mutex
	raws []net.Conn
}

// serveTLS is serve over TLS.
func serveTLS(t *testing.T, most int, do func(s *secured)) {
	t.Parallel()
	pair, trusted := certificatetest.Pair(t, "a")
	synctest.Test(t, func(t *testing.T) {
		c := limit.NewConnections(most, span)
		s := &secured{served: served{t, &pipes{dialled: make(chan net.Conn, 100), closed: make(chan struct{})}, nil}}
		s.client = &tls.Config{RootCAs: trusted, ServerName: "a"}
		transport := &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: s.client,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return s.raw(), nil },
		}
		s.http = &http.Client{Transport: transport}
		server := c.Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handle(w, r) }))
		over := make(chan struct{})
		go func() {
			defer close(over)
			_ = server.Serve(c.ListenTLS(s, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}))
		}()
		defer func() {
			transport.CloseIdleConnections()
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, conn := range s.raws {
				_ = conn.Close() // a server that says farewell waits until it is read
			}
			pause(time.Second) // in which net/http lingers
			_ = server.Close()
			<-over
		}()
		do(s)
	})
}

// raw opens a connection.
func (s *secured) raw() net.Conn {
	client, server := net.Pipe()
	s.mu.Lock()
	s.raws = append(s.raws, client)
	s.mu.Unlock()
	s.dialled <- server
	return client
}

// speak opens a connection with TLS on which the client offers the protocols.
func (s *secured) speak(protocols ...string) *tls.Conn {
	config := s.client.Clone()
	config.NextProtos = protocols
	conn := tls.Client(s.raw(), config)
	require.NoError(s, conn.HandshakeContext(s.Context()))
	return conn
}

// get asks over HTTP/2.
func (s *secured) get(path string) *http.Response {
	req, err := http.NewRequestWithContext(s.Context(), "GET", "https://a"+path, nil)
	require.NoError(s, err)
	res, err := s.http.Do(req)
	require.NoError(s, err)
	return res
}

func TestSecure_SpeaksBothVersionsOfHTTP(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		s.handle = func(w http.ResponseWriter, r *http.Request) {
			require.NotNil(s, r.TLS)
			_, _ = io.WriteString(w, r.Proto)
		}
		res := s.get("/")
		text, err := io.ReadAll(res.Body)
		require.NoError(s, err)
		require.NoError(s, res.Body.Close())
		require.Equal(s, "HTTP/2.0", string(text))

		conn := s.speak("http/1.1")
		_, err = io.WriteString(conn, get)
		require.NoError(s, err)
		status, _ := s.status(conn)
		require.Equal(s, "200 OK", status)

		config := s.client.Clone()
		config.MaxVersion = tls.VersionTLS11
		require.Error(s, tls.Client(s.raw(), config).HandshakeContext(s.Context()))
	})
}

func TestSecure_HandshakeThatNeverEndsIsCut(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		for _, text := range []string{"", "\x16\x03\x01\x02\x00\x01"} {
			status, took := s.status(s.dial(text))
			require.Empty(s, status)
			require.Equal(s, 10*time.Second, took)
		}
	})
}

func TestSecure_StalledHeaderAndBodyAreCut(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		s.handle = taking
		for text, want := range map[string]time.Duration{"": 10 * time.Second, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{": span} {
			conn := s.speak("http/1.1")
			_, err := io.WriteString(conn, text)
			require.NoError(s, err)
			_, took := s.status(conn)
			require.Equal(s, want, took)
		}
	})
}

func TestSecure_AnswersOfNetHTTPAreProblems(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		answer := func(conn net.Conn, text string) {
			go func() { _, _ = io.WriteString(conn, text) }()
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(s, err)
			require.Equal(s, 400, res.StatusCode)
			require.Equal(s, "application/problem+json", res.Header.Get("Content-Type"))
			require.NoError(s, res.Body.Close())
		}
		answer(s.speak("http/1.1"), "GET / HTTP/1.1\r\nHost: a\r\nBad header\r\n\r\n")
		answer(s.raw(), get) // in plain text
	})
}

func TestSecure_NewConnectionReplacesOneInItsHandshake(t *testing.T) {
	serveTLS(t, 2, func(s *secured) {
		s.handle = func(http.ResponseWriter, *http.Request) {}
		first, second := s.dial(""), s.dial("")
		pause(time.Second)
		start := time.Now()
		conn := s.speak("http/1.1")
		_, err := io.WriteString(conn, get)
		require.NoError(s, err)
		status, _ := s.status(conn)
		require.Equal(s, "200 OK", status)
		require.Less(s, time.Since(start), time.Second)
		_, err = first.Read(make([]byte, 1))
		require.ErrorIs(s, err, io.EOF)
		_ = second
	})
}

func TestSecure_AnswerThatIsNotTakenIsCut(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		ended := make(chan error, 1)
		s.handle = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/other" {
				return
			}
			_, err := w.Write(make([]byte, 32<<20))
			ended <- err
		}
		res := s.get("/") // whose body nobody reads
		start := time.Now()
		require.Error(s, <-ended)
		require.Equal(s, span, time.Since(start))
		other := s.get("/other")
		require.Equal(s, 200, other.StatusCode, "the connection goes on")
		require.NoError(s, other.Body.Close())
		require.NoError(s, res.Body.Close())
	})
}

func TestSecure_AnswerMayPause(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		s.handle = func(w http.ResponseWriter, _ *http.Request) {
			control := http.NewResponseController(w)
			for range 3 {
				_ = control.SetWriteDeadline(time.Now().Add(time.Second))
				_, _ = io.WriteString(w, "x")
				_ = control.Flush()
				pause(10 * span)
			}
		}
		res := s.get("/")
		text, err := io.ReadAll(res.Body)
		require.NoError(s, err)
		require.Equal(s, "xxx", string(text))
		require.NoError(s, res.Body.Close())
	})
}

func TestSecure_BodyThatStallsIsCut(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		s.handle = taking
		read, write := io.Pipe()
		go func() { _, _ = write.Write([]byte("{")) }()
		req, err := http.NewRequestWithContext(s.Context(), "POST", "https://a/", read)
		require.NoError(s, err)
		start := time.Now()
		res, err := s.http.Do(req)
		require.NoError(s, err)
		require.Equal(s, http.StatusRequestTimeout, res.StatusCode)
		require.Equal(s, span, time.Since(start))
		require.NoError(s, res.Body.Close())
		require.NoError(s, write.Close())
	})
}

func TestSecure_RequestsAreBounded(t *testing.T) {
	serveTLS(t, 3, func(s *secured) {
		release := make(chan struct{})
		s.handle = func(http.ResponseWriter, *http.Request) { <-release }
		statuses := make(chan int, 4)
		for range 4 {
			go func() {
				res := s.get("/")
				_ = res.Body.Close()
				statuses <- res.StatusCode
			}()
		}
		require.Equal(s, http.StatusServiceUnavailable, <-statuses)
		close(release)
		for range 3 {
			require.Equal(s, http.StatusOK, <-statuses)
		}
		res := s.get("/")
		require.Equal(s, http.StatusOK, res.StatusCode)
		require.NoError(s, res.Body.Close())
	})
}

// TestSecure_RapidResetEndsTheConnection opens requests and resets them at once, as in CVE-2023-44487.
func TestSecure_RapidResetEndsTheConnection(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		busy, most := make(chan struct{}, 10_000), 0
		s.handle = func(_ http.ResponseWriter, r *http.Request) {
			busy <- struct{}{}
			<-r.Context().Done()
			pause(time.Second) // what is under way takes its time to end
			<-busy
		}

		conn := s.speak("h2")
		_, err := io.WriteString(conn, http2.ClientPreface)
		require.NoError(s, err)
		var head strings.Builder
		fields := hpack.NewEncoder(&head)
		for name, value := range map[string]string{":method": "GET", ":scheme": "https", ":authority": "a", ":path": "/"} {
			require.NoError(s, fields.WriteField(hpack.HeaderField{Name: name, Value: value}))
		}

		framer := http2.NewFramer(conn, conn)
		ended := make(chan http2.ErrCode, 1)
		go func() {
			for {
				frame, err := framer.ReadFrame()
				if err != nil {
					ended <- http2.ErrCodeNo
					return
				}
				if away, is := frame.(*http2.GoAwayFrame); is {
					ended <- away.ErrCode
					return
				}
			}
		}()

		require.NoError(s, framer.WriteSettings())
		for id := uint32(1); id < 10_000; id += 2 {
			err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(head.String()), EndHeaders: true, EndStream: true})
			if err = errors.Join(err, framer.WriteRSTStream(id, http2.ErrCodeCancel)); err != nil {
				break
			}
			most = max(most, len(busy))
		}
		require.Equal(s, http2.ErrCodeEnhanceYourCalm, <-ended)
		require.LessOrEqual(s, most, 100)
		_ = conn.Close()
		pause(2 * time.Second)
	})
}
