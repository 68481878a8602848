package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
)

func TestServer_PathsThatTheRouterWouldTakeForOthersKnowTheirMethods(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	token := w.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	openAI := "/v2/" + string(w.endpoint) + "/openai/v1/"
	for _, c := range []struct{ path, allowed, other string }{
		{"/v2/registries/delegations", "GET, POST", "PUT"},
		{"/v2/registries/delegations", "GET, POST", "DELETE"},
		{"/v2/registries/delegations/a", "DELETE", "GET"},
		{openAI + "models", "GET", "POST"},
		{openAI + "chat/completions", "POST", "GET"},
		{openAI + "embeddings", "POST", "PATCH"},
		{"/_berth/artifacts/a", "PUT, GET", "POST"},
		{"/_berth/journal/verify", "POST", "GET"},
	} {
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, with(c.other, c.path, token, ""))
		require.Equal(t, 405, rec.Code, "%s %s", c.other, c.path)
		require.Equal(t, c.allowed, rec.Header().Get("Allow"), c.path)
		rec = httptest.NewRecorder()
		w.handler.ServeHTTP(rec, with("OPTIONS", c.path, token, ""))
		require.Equal(t, 204, rec.Code, c.path)
		require.Equal(t, "OPTIONS, "+c.allowed, rec.Header().Get("Allow"), c.path)
	}
}

func TestServer_ResourcesAreNoEndpoints(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	token := w.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	for _, c := range []struct{ method, path, allowed string }{
		{"POST", "/v2/pods/run", "OPTIONS, DELETE, GET, PATCH"},
		{"POST", "/v2/templates/a%2Fb", "OPTIONS, DELETE, GET, PATCH"},
		{"POST", "/v2/billing/run", ""},
		{"GET", "/v2/catalog/health", ""},
		{"GET", "/v2/pods/job-take/w", ""},
		{"POST", "/v2/serverless/openai/v1/completions", ""},
	} {
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, with(c.method, c.path, token, `{"input":{}}`))
		status := 405
		if c.allowed == "" {
			status = 404
		}
		require.Equal(t, status, rec.Code, "%s %s: %s", c.method, c.path, rec.Body)
		require.Equal(t, c.allowed, rec.Header().Get("Allow"), c.path)
	}
}

func TestServer_KnowsNoMethodBelowAPath(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	token := w.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	for _, path := range []string{
		"/v2/templates/a/b", "/v2/pods/a/unknown", "/v2/catalog/gpus/a/b", "/v2/registries/a/b", "/v2/registries/delegations/a/b", "/v2/serverless/a/builds/b/c",
		"/v2/" + string(w.endpoint) + "/status/a/b", "/v2/" + string(w.endpoint) + "/job-done/a/b/c",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "UNHEARD"} {
			rec := httptest.NewRecorder()
			w.handler.ServeHTTP(rec, with(method, path, token, ""))
			require.Equal(t, 404, rec.Code, "%s %s", method, path)
			require.Empty(t, rec.Header().Get("Allow"), "%s %s", method, path)
		}
	}
}

func TestServer_PagesAreForEverybodyUnderItsOwnNames(t *testing.T) {
	t.Parallel()
	page := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	e := openWith(t, func(s *httpapi.Services) {
		s.Docs, s.Console, s.Home = map[string]http.Handler{"/docs": page("the reference")}, page("the console"), "/console"
	})
	ask := func(method, host, path, accept string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, path, http.NoBody)
		req.Host = host
		req.Header.Set("Accept", accept)
		rec := httptest.NewRecorder()
		e.handler.ServeHTTP(rec, req)
		return rec
	}
	for path, want := range map[string]string{"/docs": "the reference", "/console": "the console", "/console/a/b": "the console"} {
		require.Equal(t, want, ask("GET", "example.com", path, "").Body.String(), path)
		require.Equal(t, 200, ask("HEAD", "example.com", path, "").Code, path)
		require.Equal(t, 403, ask("GET", "elsewhere.example", path, "").Code, path)
	}
	require.Equal(t, 401, ask("GET", "example.com", "/docs/more", "").Code)
	require.Equal(t, 403, ask("GET", "elsewhere.example", "/v2/openapi.json", "").Code)
	require.Equal(t, 403, ask("GET", "elsewhere.example", "/healthz", "").Code)

	for _, method := range []string{"GET", "HEAD"} {
		led := ask(method, "example.com", "/", "text/html")
		require.Equal(t, 302, led.Code)
		require.Equal(t, []string{"/console", "Accept"}, []string{led.Header().Get("Location"), led.Header().Get("Vary")})
	}
	require.Equal(t, 401, ask("GET", "example.com", "/", "*/*").Code)
	require.Equal(t, 401, ask("POST", "example.com", "/", "text/html").Code)
}
