package limit_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// read reads an answer and its body, and reports whether it is the last one of the connection.
func (s *served) read(c net.Conn) (status int, header http.Header, last bool, body string) {
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(s, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(s, err)
	return answer.StatusCode, answer.Header, answer.Close, string(text)
}

func TestUnread_WhatIsNoRequestGetsAProblem(t *testing.T) {
	serve(t, 4, func(s *served) {
		s.handle = func(http.ResponseWriter, *http.Request) { require.Fail(s, "it came to the handler") }
		for text, want := range map[string]struct {
			status int
			detail string
		}{
			"nonsense\r\n\r\n":                                                 {400, "the request line, the path or a header is malformed"},
			"GET / HTTP/1.1\r\n\r\n":                                           {400, "missing required Host header"},
			"GET / HTTP/1.1\r\nHost: a\r\nA b: c\r\n\r\n":                      {400, "invalid header name"},
			"GET / HTTP/9.0\r\nHost: a\r\n\r\n":                                {505, "unsupported protocol version"},
			"GET / HTTP/1.1\r\nHost: a\r\nLong: " + strings.Repeat("x", 2<<20): {431, "the request line and the headers are over the limit of 65536 bytes"},
			"GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n":                {417, "Expect must be 100-continue"},
			"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n":     {501, "the transfer encoding must be chunked"},
		} {
			status, header, last, body := s.read(s.dial(text))
			require.Equal(s, want.status, status)
			require.Equal(s, "application/problem+json", header.Get("Content-Type"))
			require.True(s, last)

			var problem map[string]any
			require.NoError(s, json.Unmarshal([]byte(body), &problem))
			require.Equal(s, map[string]any{
				"title": http.StatusText(want.status), "status": float64(want.status), "detail": "the request cannot be read: " + want.detail,
			}, problem)
		}

		pause(time.Second) // net/http waits for as long before it closes some of them
	})
}

func TestUnread_LeavesWhatAHandlerWrites(t *testing.T) {
	serve(t, 4, func(s *served) {
		const looks = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
		s.handle = func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, looks+strings.Repeat("x", 10_000))
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, looks)
		}
		_, _, _, body := s.read(s.dial("GET / HTTP/1.0\r\n\r\n")) // no chunks: each write is one of the connection
		require.Equal(s, looks+strings.Repeat("x", 10_000)+looks, body)
	})
}

func TestUnread_LaterRequestGetsAProblemToo(t *testing.T) {
	serve(t, 4, func(s *served) {
		s.handle = func(http.ResponseWriter, *http.Request) {}
		c := s.dial(get + "nonsense\r\n\r\n")
		both := bufio.NewReader(c)
		for _, kind := range []string{"", "application/problem+json"} {
			answer, err := http.ReadResponse(both, nil)
			require.NoError(s, err)
			_, err = io.Copy(io.Discard, answer.Body)
			require.NoError(s, err)
			require.NoError(s, answer.Body.Close())
			require.Equal(s, kind, answer.Header.Get("Content-Type"))
		}
	})
}
