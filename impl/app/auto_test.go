package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// A clock that goes by itself waits for a process that takes its time to start: else it would be at the end of the wait, or of the time in which a
// worker must be ready, long before.
func TestAuto_RunsWhileAWorkerStarts(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), TestControls: true, Endpoints: []app.Endpoint{
		{Name: "late", Command: []string{"sh", "-c", "sleep 1; " + asWorker + `=1 exec "$0"`, os.Args[0]}, WorkersMax: 1},
	}})
	gate := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer gate.Close()

	s.SetClock(app.ClockAuto, 0, 0)
	input := fmt.Sprintf(`{"input":{"file":%q,"gate":%q}}`, filepath.Join(t.TempDir(), "steps"), gate.URL)
	status, job := call(t, "POST", s.URL()+"/v2/"+string(s.Endpoints()["late"])+"/runsync", s.FirstKey(), input)
	require.Equal(t, 200, status)
	require.Equal(t, "COMPLETED", job["status"], job)
	require.NoError(t, s.Close())
}

// Who is answered late, as a fault has it, may ask for more before the clock goes on, as everybody may.
func TestAuto_GivesTimeAfterAnAnswerThatAFaultDelayed(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), TestControls: true, Endpoints: []app.Endpoint{{Name: "one"}}})
	s.Clock().Freeze()
	queue := s.URL() + "/v2/" + string(s.Endpoints()["one"])
	status, job := call(t, "POST", queue+"/run", s.FirstKey(), `{"input":{},"policy":{"ttl":90000}}`)
	require.Equal(t, 200, status, job)
	status, _ = call(t, "POST", s.URL()+"/_berth/faults", s.ControlsKey(), `{"operation":"listPods","when":"after","latency":60000}`)
	require.Equal(t, 201, status)

	begun := s.Clock().Now()
	s.SetClock(app.ClockAuto, 0, time.Hour)
	status, _ = call(t, "GET", s.URL()+"/v2/pods", s.FirstKey(), "")
	require.Equal(t, 200, status)
	for range 100 { // which do not count
		status, _ = call(t, "GET", s.URL()+"/_berth/clock", s.ControlsKey(), "")
		require.Equal(t, 200, status)
		require.Equal(t, begun.Add(time.Minute), s.Clock().Now())
	}
	_, job = call(t, "GET", queue+"/status/"+job["id"].(string), s.FirstKey(), "")
	require.Equal(t, "IN_QUEUE", job["status"])
}
