package app_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// TestTake_OfAWorkerThatHasGoneGetsNoJob, even if the job comes before the server has noticed: the worker never pings, and asks again, so that
// nothing would take the job from it. Each round is one chance to be too early.
func TestTake_OfAWorkerThatHasGoneGetsNoJob(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), TestControls: true, Endpoints: []app.Endpoint{{Name: "one"}}})
	queue := "/v2/" + string(s.Endpoints()["one"])
	held := func() float64 { return askAs(t, s, s.ControlsKey(), "GET", "/_berth/clock", "").json["held"].(float64) }
	for round := range 200 {
		worker, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL(), "http://"))
		require.NoError(t, err)
		_, err = io.WriteString(worker, fmt.Sprintf("GET %s/job-take/w HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", queue, s.FirstKey()))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return held() == 1 }, 10*time.Second, time.Millisecond)
		require.NoError(t, worker.Close())

		id := ask(t, s, "POST", queue+"/run", `{"input":{}}`).json["id"].(string)
		waits := func() bool { return ask(t, s, "GET", queue+"/status/"+id, "").json["status"] == "IN_QUEUE" }
		require.Eventually(t, waits, 10*time.Second, time.Millisecond, "round %d", round)
		require.Equal(t, 200, ask(t, s, "POST", queue+"/cancel/"+id, "").status)
		require.Eventually(t, func() bool { return held() == 0 }, 10*time.Second, time.Millisecond)
	}
}
