package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
)

func TestMiddleware_BrowsersAskForPagesByName(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "text/*": false, "application/json": false, "text/html": true, "text/html;q=0.9,*/*": true, "application/json, text/html;q=0.1": true,
		"text/html;q=0": false, "text/html;q=0.0,text/plain": false, "text/html;q=much": true, "text/html;=": false, "text/htmlx": false,
	} {
		require.Equal(t, want, asksForHTML(http.Header{"Accept": {accept}}), accept)
	}
	require.True(t, asksForHTML(http.Header{"Accept": {"application/json", "text/html"}}), "several headers are one list")
	require.False(t, asksForHTML(http.Header{}))
}

func TestMiddleware_QueuePathsHaveAnEndpointAndAnOperation(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct{ queue, openAI bool }{
		"/v2/abc/run": {true, false}, "/v2/abc/": {true, false}, "/v2/abc/openai/v1/models": {true, true}, "/v2/abc/openai/": {true, true},
		"/v2/abc": {}, "/v2/": {}, "/v2/pods/a": {}, "/v2/pods/openai/a": {}, "/v2/catalog/gpus": {}, "/abc/run": {}, "/v1/abc/run": {}, "/v2/abc/openai": {true, false}, "/abc/openai/x": {},
	} {
		require.Equal(t, want.queue, isQueuePath(path), path)
		require.Equal(t, want.openAI, isOpenAIPath(path), path)
	}
}

func TestMiddleware_OperationsAboutOnePodNameItsParameter(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/v2/pods/{id}": "id", "/v2/pods/{id}/logs": "id", "/v2/pods": "", "/v2/serverless/{id}": "",
		"/_berth/pods/{podId}/why": "podId", "/_berth/pods/{podId}/history": "podId", "/_berth/pods/{podId}/exec": "podId", "/_berth/v1/pod/{podId}/logs": "podId", "/_berth/jobs": "",
	} {
		require.Equal(t, want, onePod(path), path)
	}
}

func TestMiddleware_ControlsThatTellWorkWithoutTestControls(t *testing.T) {
	t.Parallel()
	var telling []string
	for id, op := range controls.Ops {
		if tells(op) {
			telling = append(telling, id)
		}
	}
	require.ElementsMatch(t, []string{
		"listJobs", "getJob", "whyJob", "getEvents", "whyEndpoint", "whyPod", "getBalancedWorkers", "getHistory", "getEndpointHistory", "getPodHistory", "getSession", "listKeys",
		"execPod", "execWorker", "listAudit", "listRefusals", "getLogs",
	}, telling)
	for path, want := range map[string]bool{"/_berth/jobs": true, "/_berth/jobs/{jobId}/why": true, "/_berth/events": true, "/_berth/journal": false} {
		require.Equal(t, want, ofJobs(path), path)
	}
}

func TestMiddleware_LeadsBrowsersFromTheRootAlone(t *testing.T) {
	t.Parallel()
	s := &Services{Home: "/console"}
	led := func(s *Services, method, path, accept string) bool {
		r := httptest.NewRequest(method, path, http.NoBody)
		r.Header.Set("Accept", accept)
		return s.led(r)
	}
	require.True(t, led(s, "GET", "/", "text/html"))
	require.True(t, led(s, "HEAD", "/", "text/html"))
	require.True(t, led(s, "GET", "/?a=b", "text/html"))
	require.False(t, led(s, "POST", "/", "text/html"))
	require.False(t, led(s, "GET", "/v2/pods", "text/html"))
	require.False(t, led(s, "GET", "/", "application/json"))
	require.False(t, led(&Services{}, "GET", "/", "text/html"), "there is no page")
}

func TestMiddleware_ShowsPagesAndWhatTheyLoad(t *testing.T) {
	t.Parallel()
	s := &Services{Docs: map[string]http.Handler{"/docs": http.NotFoundHandler(), "/docs/a.css": http.NotFoundHandler()}}
	for path, want := range map[string]bool{"/docs": true, "/docs/a.css": true, "/docs/b.css": false, "/console": false, "/console/a": false} {
		require.Equal(t, want, s.shows(path), path)
	}
	s.Console = http.NotFoundHandler()
	for path, want := range map[string]bool{"/console": true, "/console/a/b": true, "/consoles": false, "/": false} {
		require.Equal(t, want, s.shows(path), path)
	}
}

func TestMiddleware_OperationsThatDoTheSameShareALimit(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"run": "run", "statusSyncPost": "status", "streamPost": "stream", "openAIRouteGet": "openai", "health": ""} {
		require.Equal(t, want, queueOperations[id], id)
	}
	require.Equal(t, `"minute";r=1;t=59`, string(appendItem(nil, "minute", ";r=", 1, ";t=", 59)))
	require.NoError(t, limited(&request{}))
}
