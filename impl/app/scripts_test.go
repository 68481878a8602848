package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestServer_ScriptOutlivesARestart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, app.Config{Data: data, TestControls: true})
	s.Clock().Freeze()
	l := &life{T: t, s: s, key: s.FirstKey()}
	made := l.make("/v2/serverless", `{"name":"s","type":"QUEUE","image":"i","cpu":[{"id":"cpu3c","vcpuCount":2}],"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`)
	id := strings.TrimPrefix(made, "/v2/serverless/")
	script := "/_berth/endpoints/" + id + "/script"
	l.askAs(s.ControlsKey(), 204, "PUT", script, `{"coldStart":{"pull":1000},"answers":[{"delay":{"fixed":60000},"output":"first","times":1},{"delay":{"fixed":60000},"output":"{{attempt}}"}]}`)
	l.base = "/v2/" + id
	job := l.run(`{"input":{}}`)
	l.advance(10 * time.Second)
	require.Equal(t, "IN_PROGRESS", l.ask(200, "GET", l.base+"/status/"+job, "")["status"])
	require.NoError(t, s.Close())

	// What the workers had is given back, as that of all that a restart ends; the answer that was used stays used.
	l.s = start(t, app.Config{Data: data, TestControls: true})
	l.s.Clock().Freeze()
	require.Equal(t, []any{1.0, 0.0}, l.askAs(l.s.ControlsKey(), 200, "GET", script, "")["used"])
	l.advance(time.Second)
	require.NotEqual(t, "COMPLETED", l.ask(200, "GET", l.base+"/status/"+job, "")["status"])
	l.advance(5 * time.Minute)
	status := l.ask(200, "GET", l.base+"/status/"+job, "")
	require.Equal(t, []any{"COMPLETED", 2.0, 60000.0}, []any{status["status"], status["output"], status["executionTime"]})

	l.askAs(l.s.ControlsKey(), 204, "POST", "/_berth/reset", "{}")
	l.askAs(l.s.ControlsKey(), 404, "GET", script, "")
	require.NoError(t, l.s.Close())
}

// On a clock that runs, a script takes its time.
func TestServer_ScriptPlaysInRealTime(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), TestControls: true})
	l := &life{T: t, s: s, key: s.FirstKey()}
	id := strings.TrimPrefix(l.make("/v2/serverless", `{"name":"s","type":"QUEUE","image":"i","cpu":[{"id":"cpu3c","vcpuCount":2}],"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`), "/v2/serverless/")
	l.askAs(s.ControlsKey(), 204, "PUT", "/_berth/endpoints/"+id+"/script", `{"coldStart":{},"answers":[{"delay":{"fixed":200},"output":"done"}]}`)
	l.base = "/v2/" + id
	job := l.run(`{"input":{}}`)
	require.Eventually(t, func() bool {
		return l.ask(200, "GET", l.base+"/status/"+job, "")["status"] == "COMPLETED"
	}, time.Minute, 10*time.Millisecond)
	status := l.ask(200, "GET", l.base+"/status/"+job, "")
	require.GreaterOrEqual(t, status["executionTime"], 200.0)
	require.NoError(t, s.Close())
}
