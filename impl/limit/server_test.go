package limit_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/limit"
)

// late reads the body once it has waited, and waits again in the middle of it.
func late(paced bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if paced {
			body, over := limit.Paced(w, r, span)
			defer over()
			r = r.WithContext(r.Context())
			r.Body = body
		}
		pause(3 * span)
		half := make([]byte, 5)
		_, err := io.ReadFull(r.Body, half)
		if err != nil {
			w.WriteHeader(http.StatusRequestTimeout)
			return
		}
		pause(3 * span)
		taking(w, r)
	}
}

// sent sends a body in two parts. The second one follows when the first one was taken, and after some more time.
func sent(to io.Writer, bytes int, after time.Duration) {
	pause(2 * span)
	_, _ = io.WriteString(to, strings.Repeat("x", bytes/2))
	pause(after)
	_, _ = io.WriteString(to, strings.Repeat("x", bytes-bytes/2))
}

func TestServer_WhoReadsTheBodyMayTakeItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		paced bool
		bytes int
	}{"a short one": {true, 30_000}, "a long one": {false, 100_000}, "a long one, asked for twice": {true, 100_000}} {
		t.Run(name, func(t *testing.T) {
			serve(t, 0, func(s *served) {
				s.handle = late(c.paced)
				conn := s.dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", c.bytes))
				go sent(conn, c.bytes, span/2) // nothing is taken before it is read
				status, took := s.status(conn)
				require.Equal(s, "200 OK", status)
				require.Equal(s, 6*span+span/2, took)
			})
		})
		t.Run(name+" over HTTP 2", func(t *testing.T) {
			serveTLS(t, 0, func(s *secured) {
				s.handle = late(c.paced)
				read, write := io.Pipe()
				go func() {
					sent(write, c.bytes, 3*span) // while nobody reads
					_ = write.Close()
				}()
				req, err := http.NewRequestWithContext(s.Context(), "POST", "https://a/", read)
				require.NoError(s, err)
				req.ContentLength = int64(c.bytes)
				res, err := s.http.Do(req)
				require.NoError(s, err)
				require.Equal(s, http.StatusOK, res.StatusCode)
				require.NoError(s, res.Body.Close())
			})
		})
	}
}

func TestServer_BodyThatStallsIsCutHoweverLateItIsRead(t *testing.T) {
	serve(t, 0, func(s *served) {
		s.handle = late(true)
		status, took := s.status(s.dial("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345"))
		require.Equal(s, "408 Request Timeout", status)
		require.Equal(s, 7*span, took)
	})
}

func TestServer_BodyThatStallsIsCutOverHTTP2(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		s.handle = late(true)
		read, write := io.Pipe()
		go func() { _, _ = io.WriteString(write, "12345") }()
		req, err := http.NewRequestWithContext(s.Context(), "POST", "https://a/", read)
		require.NoError(s, err)
		req.ContentLength = 10
		res, err := s.http.Do(req)
		require.NoError(s, err)
		require.Equal(s, http.StatusRequestTimeout, res.StatusCode)
		require.NoError(s, res.Body.Close())
		require.NoError(s, write.Close())
	})
}

// TestServer_BodyIsReadAfterTheHandler: who passes a body on may still read of it when the request is answered.
func TestServer_BodyIsReadAfterTheHandler(t *testing.T) {
	serveTLS(t, 0, func(s *secured) {
		bodies := make(chan io.Reader, 1)
		s.handle = func(w http.ResponseWriter, r *http.Request) {
			body, over := limit.Paced(w, r, span)
			defer over()
			bodies <- body
		}
		read, write := io.Pipe()
		req, err := http.NewRequestWithContext(s.Context(), "POST", "https://a/", read)
		require.NoError(s, err)
		req.ContentLength = 10
		res, err := s.http.Do(req)
		require.NoError(s, err)
		require.NoError(s, res.Body.Close())
		_, err = (<-bodies).Read(make([]byte, 1))
		require.Error(s, err)
		require.NoError(s, write.Close())
	})
}

// TestServer_AnswerMayOutliveABodyThatNobodyRead: net/http reads the rest of it when the answer begins, and from then on whether the client goes.
func TestServer_AnswerMayOutliveABodyThatNobodyRead(t *testing.T) {
	for _, bytes := range []int{30_000, 100_000} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			serve(t, 0, func(s *served) {
				ended := make(chan error, 1)
				s.handle = func(w http.ResponseWriter, r *http.Request) {
					body, over := limit.Paced(w, r, span)
					defer over()
					_ = http.NewResponseController(w).Flush()
					_, _ = body.Read(make([]byte, 1)) // as who passes it on does, who does not know
					pause(3 * span)
					ended <- r.Context().Err()
				}
				conn := s.dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", bytes))
				go func() { _, _ = io.WriteString(conn, strings.Repeat("x", bytes)) }()
				status, _ := s.status(conn)
				require.Equal(s, "200 OK", status)
				require.NoError(s, <-ended)
			})
		})
	}
}
