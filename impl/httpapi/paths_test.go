package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
)

func TestHandler_CountsAnEndpointOnceHoweverItsPathIsEscaped(t *testing.T) {
	t.Parallel()
	e := openWith(t, func(s *httpapi.Services) {
		s.QueueRates = control.NewQueueRates(s.Clock, map[string]int64{"run": 1})
	})
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	path := "/v2/" + string(e.endpoint) + "/run"
	require.Equal(t, 200, e.call("POST", path, token, `{"input":{}}`).Code)
	require.Equal(t, 429, e.call("POST", path, token, `{"input":{}}`).Code)
	escaped := fmt.Sprintf("/v2/%%%02x%s/run", e.endpoint[0], e.endpoint[1:])
	require.Equal(t, 429, e.call("POST", escaped, token, `{"input":{}}`).Code)
}

func TestServices_NoSuccessForAClientThatSendsNoMore(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	server := httptest.NewServer(e.handler)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()

	_, err = io.WriteString(conn, "POST /v2/templates HTTP/1.1\r\nHost: example.com\r\nContent-Type: application/json\r\nAuthorization: Bearer "+token+
		"\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(answer), "HTTP/1.1 4"), "%s", answer)
	require.Contains(t, string(answer), "application/problem+json")
}

func TestServices_KeyAfterSeveralSpaces(t *testing.T) {
	t.Parallel()
	e := open(t)
	require.Equal(t, 200, e.call("GET", "/v2/pods", "  "+e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}}), "").Code)
}
