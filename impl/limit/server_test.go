package limit_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

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

func TestServer_WhoReadsTheBodyMayTakeItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		paced bool
		bytes int
	}{"a short one": {true, 30_000}, "a long one": {false, 100_000}, "a long one, asked for twice": {true, 100_000}} {
		t.Run(name, func(t *testing.T) {
			serve(t, 0, func(s *served) {
				s.handle = late(c.paced)
				text := strings.Repeat("x", c.bytes)
				status, took := s.status(s.dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(text), text)))
				require.Equal(s, "200 OK", status)
				require.Equal(s, 6*span, took)
			})
		})
		t.Run(name+" over HTTP 2", func(t *testing.T) {
			serveTLS(t, 0, func(s *secured) {
				s.handle = late(c.paced)
				req, err := http.NewRequestWithContext(s.Context(), "POST", "https://a/", strings.NewReader(strings.Repeat("x", c.bytes)))
				require.NoError(s, err)
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
