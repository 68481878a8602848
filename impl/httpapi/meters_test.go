package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/journal"
)

// counted is one answer that was counted.
type counted struct {
	operation string
	status    int
	took      time.Duration
}

// meters keeps what it counts.
type meters struct{ all []counted }

func (m *meters) of(operation string) httpapi.Meter { return meter{m, operation} }

// meter is that of one operation.
type meter struct {
	to        *meters
	operation string
}

func (m meter) Answered(status int, took time.Duration) {
	m.to.all = append(m.to.all, counted{m.operation, status, took})
}

// answering is a GraphQL that answers everything alike.
type answering struct{}

func (answering) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusAccepted)
}

func (answering) Operations() []string { return nil }

func (answering) Recorded(body []byte) (*journal.Document, []byte, journal.Secrets) {
	return nil, body, journal.Secrets{}
}

func TestServices_EachAnswerIsCountedUnderItsOperation(t *testing.T) {
	t.Parallel()
	met := &meters{}
	e := openWith(t, func(s *httpapi.Services) {
		s.Meter, s.GraphQL = met.of, answering{}
		s.Log = slog.New(slog.DiscardHandler)
		s.Ready = func(context.Context) error { return nil }
	})
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeRESTRead}})
	e.echo.GET("/v2/pods/slow/now", func(echo.Context) error {
		e.clock.Advance(1500 * time.Millisecond)
		return echo.ErrNotFound
	})

	builds := "/_berth/endpoints/" + string(e.endpoint) + "/builds"
	for _, c := range []struct {
		method, path string
		want         counted
	}{
		{"GET", "/v2/pods", counted{"listPods", 200, 0}},
		{"GET", "/v2/pods/none", counted{"getPod", 404, 0}},
		{"PUT", "/v2/pods", counted{"unknown", 405, 0}},
		{"GET", "/v2/nothing", counted{"unknown", 404, 0}},
		{"GET", "/v2/pods/slow/now", counted{"unknown", 404, 1500 * time.Millisecond}},
		{"GET", "/healthz", counted{"healthz", 200, 0}},
		{"HEAD", "/healthz", counted{"healthz", 200, 0}},
		{"GET", "/readyz", counted{"readyz", 200, 0}},
		{"HEAD", "/readyz", counted{"readyz", 200, 0}},
		{"GET", "/v2/openapi.json", counted{"document", 200, 0}},
		{"HEAD", "/openapi/queue.json", counted{"document", 200, 0}},
		{"POST", "/graphql", counted{"graphql", 202, 0}},
		{"GET", "/graphql", counted{"graphql", 202, 0}},
		{"POST", builds, counted{"createBuild", 403, 0}},
		{"DELETE", builds + "/one", counted{"cancelBuild", 403, 0}},
	} {
		met.all = nil
		req := httptest.NewRequestWithContext(t.Context(), c.method, c.path, http.NoBody)
		req.Header.Set("Authorization", "Bearer "+token)
		e.handler.ServeHTTP(httptest.NewRecorder(), req)
		require.Equal(t, []counted{c.want}, met.all, "%s %s", c.method, c.path)
	}
}

// TestServices_ARequestWithoutAnAnswerIsCountedAsThat: one that the server cuts off, and one whose client does not wait.
func TestServices_ARequestWithoutAnAnswerIsCountedAsThat(t *testing.T) {
	t.Parallel()
	met, trace := &meters{}, &tracer{}
	e := openWith(t, func(s *httpapi.Services) { s.Meter, s.Trace = met.of, trace })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	begun, cut := false, true
	e.echo.GET("/v2/pods/cut/now", func(c echo.Context) error {
		e.clock.Advance(time.Second)
		if begun {
			c.Response().WriteHeader(http.StatusAccepted)
		}
		if cut {
			panic(http.ErrAbortHandler)
		}
		return nil
	})

	ask := func(ctx context.Context) (status int) {
		met.all, trace.said = nil, nil
		e.log.Reset()
		req := httptest.NewRequestWithContext(ctx, "GET", "/v2/pods/cut/now", http.NoBody)
		req.Header.Set("Authorization", "Bearer "+token)
		func() {
			defer func() { _ = recover() }()
			e.handler.ServeHTTP(httptest.NewRecorder(), req)
		}()
		require.Len(t, met.all, 1)
		status = met.all[0].status
		require.Equal(t, counted{"unknown", status, time.Second}, met.all[0])
		require.Equal(t, "unknown "+http.StatusText(status), trace.said[len(trace.said)-1])
		require.Contains(t, e.log.String(), fmt.Sprintf("status=%d ", status))
		return status
	}

	require.Zero(t, ask(t.Context()))
	begun = true
	require.Equal(t, 202, ask(t.Context()), "what the client saw of it")
	begun, cut = false, false
	require.Equal(t, 200, ask(t.Context()))
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.Equal(t, 499, ask(gone))
	cut = true
	require.Equal(t, 499, ask(gone))
}

// traceKey is where the context of a request has its trace.
type traceKey struct{}

// tracer keeps what it is told.
type tracer struct{ said []string }

func (t *tracer) Request(r *http.Request, route, operation, id string) (*http.Request, func(int)) {
	t.said = append(t.said, operation+" at "+route)
	return r.WithContext(context.WithValue(r.Context(), traceKey{}, "of-"+id)), func(status int) {
		t.said = append(t.said, operation+" "+http.StatusText(status))
	}
}

func (t *tracer) Part(ctx context.Context, name string) func() {
	t.said = append(t.said, name+" begins "+t.ID(ctx)[:3])
	return func() { t.said = append(t.said, name+" ends") }
}

func (*tracer) ID(ctx context.Context) string {
	id, _ := ctx.Value(traceKey{}).(string)
	return id
}

func TestServices_EachRequestButThoseOfProbesIsTraced(t *testing.T) {
	t.Parallel()
	trace := &tracer{}
	e := openWith(t, func(s *httpapi.Services) {
		s.Trace = trace
		s.Ready = func(context.Context) error { return nil }
	})
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	rec := e.call("GET", "/v2/pods/none", token, "")
	require.Equal(t, []string{"getPod at /v2/pods/:id", "validation begins of-", "validation ends", "getPod Not Found"}, trace.said)
	require.Contains(t, e.log.String(), "trace=of-"+rec.Header().Get(echo.HeaderXRequestID))
	require.Len(t, rec.Header().Get(echo.HeaderXRequestID), 16)

	trace.said = nil
	e.log.Reset()
	require.Equal(t, 200, e.call("GET", "/healthz", "", "").Code)
	require.Equal(t, 200, e.call("GET", "/readyz", "", "").Code)
	require.Empty(t, trace.said)
	require.Contains(t, e.log.String(), "operation=healthz")
	require.NotContains(t, e.log.String(), "trace=", "there is none")

	e.echo.GET("/v2/pods/cut/now", func(echo.Context) error { panic(http.ErrAbortHandler) })
	require.PanicsWithError(t, http.ErrAbortHandler.Error(), func() { e.call("GET", "/v2/pods/cut/now", token, "") }, "net/http cuts the connection")
	require.Len(t, trace.said, 2, "its trace has its end")
}

func TestServices_LogNamesWhatIsMadeAndGivenOut(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	logged := func(method, path, body string) string {
		e.log.Reset()
		e.call(method, path, token, body)
		return e.log.String()
	}

	require.Regexp(t, `operation=run .*job=\S+`, logged("POST", base+"run", `{"input":{}}`))
	require.Regexp(t, `operation=takeJob .*worker=w job=\S+ status=200`, logged("GET", base+"job-take/w&job_in_progress=0", ""))
	require.Regexp(t, `operation=createPod .*pod=\S+`, logged("POST", "/v2/pods", pod))
	require.Regexp(t, `operation=createEndpoint .*endpoint=\S+`, logged("POST", "/v2/serverless", `{"name":"a","image":"i","type":"QUEUE","cpu":[{"id":"cpu3g","vcpuCount":2}],"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`))
	require.Regexp(t, `operation=run .*endpoint=nosuchendpoint job=\S+ status=404`, logged("POST", "/v2/nosuchendpoint/run", `{"input":{}}`), "the id that it would have had")
	long := logged("GET", "/v2/pods/"+strings.Repeat("x", 300), "")
	require.Contains(t, long, "pod="+strings.Repeat("x", 100)+" ")
}

func TestServices_LogSaysHowLongARequestTook(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	e.echo.GET("/v2/pods/slow/now", func(echo.Context) error {
		e.clock.Advance(2*time.Second + 500*time.Microsecond)
		return echo.ErrNotFound
	})
	e.call("GET", "/v2/pods/slow/now", token, "")
	require.Contains(t, e.log.String(), "ms=2000.5\n")
}
