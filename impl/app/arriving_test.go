package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// TestTake_LeaseBeginsWhenALongInputHasArrived: until then its worker cannot say anything of it.
func TestTake_LeaseBeginsWhenALongInputHasArrived(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), TestControls: true, Endpoints: []app.Endpoint{{Name: "one"}}})
	s.Clock().Freeze()
	queue := "/v2/" + string(s.Endpoints()["one"])
	input := strings.Repeat("x", 9_000_000) // more than the system takes without the worker
	submitted := ask(t, s, "POST", queue+"/run", `{"input":{"text":"`+input+`"}}`)
	require.Equal(t, 200, submitted.status, submitted.json)
	id := submitted.json["id"].(string)

	worker, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL(), "http://"))
	require.NoError(t, err)
	defer func() { _ = worker.Close() }()
	require.NoError(t, worker.(*net.TCPConn).SetReadBuffer(256<<10))
	_, err = io.WriteString(worker, fmt.Sprintf("GET %s/job-take/w HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", queue, s.FirstKey()))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(worker), nil)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(t, 200, answer.StatusCode)

	status := func() any { return ask(t, s, "GET", queue+"/status/"+id, "").json["status"] }
	require.NoError(t, s.Advance(t.Context(), 31*time.Second))
	require.Equal(t, "IN_PROGRESS", status())

	all, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Greater(t, len(all), len(input))
	require.Equal(t, 200, ask(t, s, "POST", queue+"/job-done/w/"+id, `{"output":1}`).status)
	require.Equal(t, "COMPLETED", status())
}
