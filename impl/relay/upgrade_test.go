package relay_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/relay"
)

// repeats takes a connection over, and sends back what comes.
func repeats(w http.ResponseWriter, _ *http.Request) {
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n")
	_, _ = io.Copy(conn, both)
}

func TestUpgrades_NothingThatCameWithTheRequestIsLost(t *testing.T) {
	t.Parallel()
	backend := httptest.NewServer(http.HandlerFunc(repeats))
	t.Cleanup(backend.Close)
	to, err := url.Parse(backend.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { proxy.ServeHTTP(relay.Upgrades(w, r), r) }))
	t.Cleanup(front.Close)

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(front.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\nfirst ")
	require.NoError(t, err)
	answer := bufio.NewReader(conn)
	res, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, res.StatusCode)
	_ = res.Body.Close()

	_, err = io.WriteString(conn, "second")
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	text, err := io.ReadAll(answer)
	require.NoError(t, err)
	require.Equal(t, "first second", string(text))
}
