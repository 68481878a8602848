package httpapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/validate"
)

func TestReadyz_NamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	var store, reach error
	leaving := false
	e := openWith(t, func(s *httpapi.Services) {
		s.Ready = func(context.Context) error { return store }
		s.Reachable = func(context.Context) error { return reach }
		s.Leaving = func() bool { return leaving }
	})

	require.Equal(t, 200, e.call("GET", "/readyz", "", "").Code)
	leaving = true
	rec := e.call("GET", "/readyz", "", "")
	require.Equal(t, 503, rec.Code)
	require.Contains(t, rec.Body.String(), "not ready: the server is draining")
	require.NotContains(t, e.log.String(), "ERROR", "that is no failure")

	store, reach, leaving = errors.New("the secret reason"), errors.New("another one"), false
	rec = e.call("GET", "/readyz", "", "")
	require.Equal(t, 503, rec.Code)
	require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
	require.Contains(t, rec.Body.String(), "not ready: the store does not answer; what pods and workers run on does not answer")
	require.NotContains(t, rec.Body.String(), "secret")
	require.Contains(t, e.log.String(), "the secret reason")
}

func TestServices_EveryOperationIsKnownByItsRoute(t *testing.T) {
	t.Parallel()
	routes := map[string]bool{}
	for _, r := range open(t).echo.Routes() {
		routes[r.Method+" "+r.Path] = true
	}
	braces := strings.NewReplacer("{", ":", "}", "")
	for _, ops := range []map[string]validate.Op{rest.Ops, queue.Ops, worker.Ops} {
		for id, op := range ops {
			require.True(t, routes[op.Method+" "+braces.Replace(op.Path)], id)
		}
	}
	require.NotEmpty(t, controls.Ops) // they have no routes without their settings
}

func TestServices_LogLineNamesTheRequestAndStaysShort(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	rec := e.call("GET", "/v2/"+string(e.endpoint)+"/status/none", token, "")
	require.Equal(t, 404, rec.Code)

	line := e.log.String()
	for _, words := range []string{
		"request=" + rec.Header().Get(echo.HeaderXRequestID), "operation=status", "method=GET", "endpoint=" + string(e.endpoint), "job=none", "status=404", "ms=",
	} {
		require.Contains(t, line, words)
	}

	e.log.Reset()
	_ = e.call("GET", "/v2/pods/"+strings.Repeat("x", 5000), token, "")
	require.Contains(t, e.log.String(), "operation=getPod")
	require.Contains(t, e.log.String(), "pod=xxx")
	require.Less(t, e.log.Len(), 500)

	e.log.Reset()
	_ = e.call("GET", "/v2/nothing", token, "")
	require.Contains(t, e.log.String(), "operation=unknown")
}

func TestReadyz_NamesWhatTroublesTheStorage(t *testing.T) {
	t.Parallel()
	var trouble error
	e := openWith(t, func(s *httpapi.Services) {
		s.Ready = func(context.Context) error { return nil }
		s.Trouble = func() error { return trouble }
	})
	require.Equal(t, 200, e.call("GET", "/readyz", "", "").Code)

	full := &compute.Error{Code: compute.Unavailable, Detail: "the disk is full", RetryAfter: 7 * time.Second}
	trouble = full
	rec := e.call("GET", "/readyz", "", "")
	require.Equal(t, 503, rec.Code)
	require.Equal(t, "7", rec.Header().Get("Retry-After"))
	require.Contains(t, rec.Body.String(), "not ready: the disk is full")

	// While it lasts, what it refuses is not logged each time; what fails of something else is.
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	e.echo.GET("/v2/pods/refused/now", func(echo.Context) error { return full })
	e.echo.GET("/v2/pods/broken/now", func(echo.Context) error { return errors.New("another reason") })
	require.Equal(t, 503, e.call("GET", "/v2/pods/refused/now", token, "").Code)
	require.NotContains(t, e.log.String(), "level=ERROR")
	require.Equal(t, 500, e.call("GET", "/v2/pods/broken/now", token, "").Code)
	require.Contains(t, e.log.String(), "another reason")

	trouble = nil
	e.log.Reset()
	rec = e.call("GET", "/v2/pods/refused/now", token, "")
	require.Equal(t, "7", rec.Header().Get("Retry-After"))
	require.Contains(t, e.log.String(), "level=ERROR", "nothing else tells of it")
}
