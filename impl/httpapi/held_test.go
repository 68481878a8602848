package httpapi_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
)

func TestHeld_RequestsThatWaitForJobsAreCountedWhileTheyDo(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	gone, hangUp := context.WithCancel(t.Context())
	hangUp() // or they would wait
	ask := func(method, operation, body string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		e.handler.ServeHTTP(rec, with(method, base+operation, token, body).WithContext(gone))
		return rec
	}
	for _, c := range []struct{ method, operation, body string }{
		{"POST", "runsync", `{"input":{}}`}, {"GET", "status-sync/none", ""}, {"POST", "status-sync/none", ""}, {"GET", "stream/none", ""}, {"POST", "stream/none", ""},
		{"POST", "openai/v1/chat/completions", `{}`}, {"GET", "openai/v1/models", ""},
	} {
		e.handler.(*httpapi.Handler).BoundHeld(0)
		full := ask(c.method, c.operation, c.body)
		require.Equal(t, 429, full.Code, c.operation)
		require.Contains(t, full.Body.String(), "requests that wait for jobs", c.operation)

		e.handler.(*httpapi.Handler).BoundHeld(1)
		for range 3 {
			require.NotEqual(t, 429, ask(c.method, c.operation, c.body).Code, "%s: the one before has ended", c.operation)
		}
	}
}
