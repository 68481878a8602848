package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/journal"
)

// recorder is a server whose journal keeps 16 bytes of a body.
type recorder struct {
	*workshop
	journal *journal.Journal
}

func newRecorder(t *testing.T) *recorder {
	kept := journal.New(journal.Bounds{Entries: 100, Body: 16, Bytes: 1 << 20})
	return &recorder{newWorkshop(t, func(s *httpapi.Services) { s.Journal = kept }), kept}
}

// record sends a request and gives its entry; nil: it has none.
func (r *recorder) record(req *http.Request) *journal.Entry {
	r.journal.Clear()
	func() {
		defer func() { _ = recover() }() // the connection is cut
		r.handler.ServeHTTP(httptest.NewRecorder(), req)
	}()
	entries, _ := r.journal.List(journal.Filter{})
	if len(entries) == 0 {
		return nil
	}
	require.Len(r, entries, 1)
	return entries[0]
}

// with gives a request by a key.
func with(method, path, token, body string) *http.Request {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	return req
}

func TestRecord_ShowsTheShortBodyOfWhatWasRefusedBefore(t *testing.T) {
	t.Parallel()
	r := newRecorder(t)
	short, long := `{"name":"sixte"}`, `{"name":"sevent"}`
	shown := r.record(with("POST", "/v2/pods", "none", short))
	require.Equal(t, 401, shown.Status)
	require.Equal(t, "createPod", shown.Operation)
	require.EqualValues(t, 16, shown.Request.Body.Length)
	require.NotEmpty(t, shown.Request.Body.Text)

	unread := r.record(with("POST", "/v2/pods", "none", long))
	require.EqualValues(t, 17, unread.Request.Body.Length, "what it announced")
	require.Empty(t, unread.Request.Body.Text)
	waits := with("POST", "/v2/pods", "none", short)
	waits.Header.Set("Expect", "100-continue")
	asked := r.record(waits)
	require.EqualValues(t, 16, asked.Request.Body.Length)
	require.Empty(t, asked.Request.Body.Text, "it is not asked for in vain")
	endless := with("POST", "/v2/pods", "none", short)
	endless.ContentLength = -1
	require.Empty(t, r.record(endless).Request.Body.Text, "nobody knows how long it is")
}

func TestRecord_IsOfThePublishedInterfacesAlone(t *testing.T) {
	t.Parallel()
	r := newRecorder(t)
	for _, path := range []string{"/healthz", "/readyz", "/v2/openapi.json", "/openapi/queue.json", "/_berth/clock", "/_berth/session", "/_berth/none"} {
		require.Nil(t, r.record(with("GET", path, r.token, "")), path)
	}
	for path, operation := range map[string]string{
		"/v2/pods": "listPods", "/v2/pods/a": "getPod", "/nothing": "unknown", "/v2/nothing": "unknown", "/v1/pods": "unknown",
	} {
		require.Equal(t, operation, r.record(with("GET", path, r.token, "")).Operation, path)
	}
	hook := r.record(with("POST", "/_berth/inbox/a%26b", "", "{}"))
	require.Equal(t, "receiveWebhook", hook.Operation)
	require.Equal(t, "a&b", hook.Resources[0].ID, "no query that a worker has appended")
}

func TestRecord_KeepsTheStatusThatTheClientGot(t *testing.T) {
	t.Parallel()
	r := newRecorder(t)
	token := r.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	for name, answer := range map[string]echo.HandlerFunc{
		"silent": func(echo.Context) error { return nil },
		"early": func(c echo.Context) error {
			c.Response().Writer.WriteHeader(http.StatusEarlyHints)
			return c.String(http.StatusTeapot, "done")
		},
		"failed": func(echo.Context) error { return compute.Errorf(compute.Conflict, "not now") },
		"cut":    func(echo.Context) error { panic(http.ErrAbortHandler) },
	} {
		r.echo.GET("/v2/pods/"+name+"/now", answer)
	}
	for name, want := range map[string]int{"silent": 200, "early": 418, "failed": 409, "cut": 0} {
		require.Equal(t, want, r.record(with("GET", "/v2/pods/"+name+"/now", token, "")).Status, name)
	}
	require.Equal(t, "done", r.record(with("GET", "/v2/pods/early/now", token, "")).Response.Body.Text)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	require.Zero(t, r.record(with("GET", "/v2/pods/silent/now", token, "").WithContext(gone)).Status, "it got none")
}

func TestRecord_NamesWhatTheRequestIsAbout(t *testing.T) {
	t.Parallel()
	r := newRecorder(t)
	token := r.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	endpoint := journal.Resource{Kind: "endpoint", ID: string(r.endpoint)}
	base := "/v2/" + string(r.endpoint) + "/"
	require.Equal(t, []journal.Resource{endpoint, {Kind: "worker", ID: "w1"}}, r.record(with("GET", base+"ping/w1&job_in_progress=0", token, "")).Resources, "workers append a query")
	require.Equal(t, []journal.Resource{endpoint, {Kind: "job", ID: "j"}}, r.record(with("GET", base+"status/j", token, "")).Resources)
	require.Equal(t, []journal.Resource{{Kind: "pod", ID: "a/b"}}, r.record(with("GET", "/v2/pods/a%2Fb", token, "")).Resources)
	require.Equal(t, []journal.Resource{{Kind: "pod", ID: "a/b"}}, r.record(with("GET", "/v2/pods/a%2Fb", "none", "")).Resources, "refused, too")
	require.Empty(t, r.record(with("GET", "/v2/pods", token, "")).Resources)
	entry := r.record(with("GET", "/v2/pods?limit=1", token, ""))
	require.Equal(t, []string{"/v2/pods", "limit=1", "u", "example.com"}, []string{entry.Path, entry.Query, string(entry.User), entry.Host})
}
