package reference_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/reference"
)

func get(t *testing.T, path string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	handler := reference.Handlers(reference.Settings{Controls: true, Playground: true, Editions: []string{"2.0.0", "wide"}})[path]
	require.NotNil(t, handler, path)
	handler.ServeHTTP(w, r)
	return w
}

func TestHandlers_ListOnlyPagesThatAreServed(t *testing.T) {
	t.Parallel()
	body := get(t, reference.Root, nil).Body.String()
	require.Contains(t, body, `href="/docs/rest"`)
	require.Contains(t, body, `href="/docs/controls"`)
	require.Contains(t, body, `href="/graphql"`)
	few := reference.Handlers(reference.Settings{})
	require.NotContains(t, few, "/docs/controls")
	require.Contains(t, few, "/docs/worker")
	w := httptest.NewRecorder()
	few[reference.Root].ServeHTTP(w, httptest.NewRequest(http.MethodGet, reference.Root, nil))
	require.NotContains(t, w.Body.String(), "controls")
	require.NotContains(t, w.Body.String(), "/graphql")
}

func TestHandlers_KeepTheBrowserAtThisServer(t *testing.T) {
	t.Parallel()
	for path := range reference.Handlers(reference.Settings{Controls: true}) {
		answer := get(t, path, nil)
		require.Equal(t, 200, answer.Code, path)
		require.NotEmpty(t, answer.Body.String(), path)
		require.Contains(t, answer.Header().Get("Content-Security-Policy"), "default-src 'none'", path)
		require.NotContains(t, answer.Header().Get("Content-Security-Policy"), "://", path)
		require.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"), path)
	}
}

func TestHandlers_CompressForWhoReadsThat(t *testing.T) {
	t.Parallel()
	const path = "/docs/swagger-ui-bundle.js"
	answer := get(t, path, nil)
	whole := answer.Body.String()
	require.Empty(t, answer.Header().Get("Content-Encoding"))
	require.Contains(t, whole, "SwaggerUIBundle")

	for accept, want := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "gzip; q=1": true, "deflate, gzip": true,
		"gzip;q=0": false, "br": false, "gzip;q=0.000, br": false, "": false, "xgzip": false, "gzip;q=x": false,
	} {
		answer := get(t, path, map[string]string{"Accept-Encoding": accept})
		require.Equal(t, "Accept-Encoding", answer.Header().Get("Vary"))
		if !want {
			require.Empty(t, answer.Header().Get("Content-Encoding"), accept)
			require.Equal(t, len(whole), answer.Body.Len(), accept)
			continue
		}

		require.Equal(t, "gzip", answer.Header().Get("Content-Encoding"), accept)
		inside, err := gzip.NewReader(answer.Body)
		require.NoError(t, err)
		text, err := io.ReadAll(inside)
		require.NoError(t, err)
		require.Equal(t, whole, string(text), accept)
	}
}

func TestHandlers_ShowTheEditionThatIsChosen(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{"": "2.0.0", "?contract=2.0.0": "2.0.0", "?contract=wide": "wide", "?contract=%22%3E": "2.0.0"} {
		r := httptest.NewRequest(http.MethodGet, "/docs/rest"+query, nil)
		w := httptest.NewRecorder()
		reference.Handlers(reference.Settings{Editions: []string{"2.0.0", "wide"}})["/docs/rest"].ServeHTTP(w, r)
		of := ""
		if want == "wide" {
			of = "?contract=wide"
		}
		require.Contains(t, w.Body.String(), `data-document="/v2/openapi.json`+of+`" data-contract="`+want+`"`, query)
		require.Contains(t, w.Body.String(), `<a href="?contract=`+want+`" aria-current="page">`+want+`</a>`, query)
		require.Contains(t, w.Body.String(), `href="/docs/queue`+of+`"`, query)
	}
}

func TestHandlers_DoNotResendWhatTheClientHas(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs/page.js", "/docs/swagger-ui.css"} {
		header := map[string]string{"Accept-Encoding": "gzip"}
		answer := get(t, path, header)
		header["If-None-Match"] = answer.Header().Get("ETag")
		require.NotEmpty(t, header["If-None-Match"])
		answer = get(t, path, header)
		require.Equal(t, http.StatusNotModified, answer.Code, path)
		require.Empty(t, answer.Body.String())
	}
}
