package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// open sends the text to the server, and gives what comes on its connection.
func (s *server) open(t *testing.T, text string) (net.Conn, *bufio.Reader) {
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	return conn, bufio.NewReader(conn)
}

// TestEnding_RequestsMayFinish, whether their answers have begun or not, but for answers that have no end.
func TestEnding_RequestsMayFinish(t *testing.T) {
	t.Parallel()
	came, goOn := make(chan struct{}, 10), make(chan struct{})
	serve := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stream":
			w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
			_, _ = io.WriteString(w, "data: 1\n\n")
		case "/begun":
			_, _ = io.WriteString(w, "be")
		}
		if r.URL.Path != "/silent" {
			_ = http.NewResponseController(w).Flush()
		}
		came <- struct{}{}
		if r.URL.Path == "/stream" {
			<-r.Context().Done()
			return
		}
		<-goOn
		_, _ = io.WriteString(w, "gun")
	}
	ending, end := context.WithCancel(t.Context())
	c := newCrew(t, []http.HandlerFunc{serve}, func(c *Config) { c.Ending = ending })
	c.live = []compute.PublishedPort{{Private: 8888, Public: c.ports["w0"][0].Public, Type: "http"}}

	type asked struct {
		path string
		from *bufio.Reader
	}
	var all []asked
	for _, host := range []string{"Host: " + ours + "\r\n", "Host: " + endpoint + ".localhost\r\nAuthorization: Bearer good\r\n"} {
		for _, path := range []string{"/stream", "/begun", "/silent"} {
			_, from := c.open(t, "GET "+path+" HTTP/1.1\r\n"+host+"Connection: close\r\n\r\n")
			all = append(all, asked{path, from})
			<-came
			if path != "/silent" { // the answer has come through
				_, err := from.Peek(1)
				require.NoError(t, err)
			}
		}
	}

	end() // of the server
	for _, a := range all {
		if a.path == "/stream" {
			_, _ = io.ReadAll(a.from) // it ends, or this does not
		}
	}
	close(goOn)
	for _, a := range all {
		if a.path == "/stream" {
			continue
		}
		res, err := http.ReadResponse(a.from, nil)
		require.NoError(t, err, a.path)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err, a.path)
		require.NoError(t, res.Body.Close())
		require.Equal(t, map[string]string{"/begun": "begun", "/silent": "gun"}[a.path], string(body))
	}
}

// TestTunnel_EndsSomeTimeAfterTheProgramHasEndedItsSide: a client that never closes its own keeps nothing.
func TestTunnel_EndsSomeTimeAfterTheProgramHasEndedItsSide(t *testing.T) {
	for _, host := range []string{endpoint, pod + "-8888"} {
		t.Run(host, func(t *testing.T) {
			inBubble(t, func(s *slow) {
				s.starts()
				begun := time.Now()
				text, err := io.ReadAll(s.post(host, "good", "X-Reads: nothing more\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n"))
				require.NoError(s, err)
				require.True(s, strings.HasPrefix(string(text), "HTTP/1.1 101 ") && strings.HasSuffix(string(text), "\r\n\r\nthe end\n"), "%s", text)
				require.Equal(s, halfTime, time.Since(begun))
			})
		})
	}
}
