package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDocs_HasEveryPageWithoutAServer(t *testing.T) {
	t.Parallel()
	handler, err := documentation()
	require.NoError(t, err)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}

	require.Equal(t, "/docs", get("/").Header().Get("Location"))
	require.Equal(t, "/docs", get("/docs/").Header().Get("Location"))
	for path, has := range map[string]string{
		"/docs": "<h1", "/docs/troubleshooting": "IN_QUEUE", "/docs/settings": "queue-listen", "/docs/rules": "pods.create", "/docs/site.js": "DOMParser",
		"/docs/reference": "/docs/controls", "/docs/rest": "/v2/openapi.json", "/openapi/controls.json": "/_berth/clock",
	} {
		require.Equal(t, http.StatusOK, get(path).Code, path)
		require.Contains(t, get(path).Body.String(), has, path)
	}
	require.NotEqual(t, get("/v2/openapi.json").Body.String(), get("/v2/openapi.json?contract=public-2026-10").Body.String())
	require.Equal(t, http.StatusBadRequest, get("/v2/openapi.json?contract=none").Code)
	require.Equal(t, http.StatusNotFound, get("/docs/none").Code)
	require.Equal(t, http.StatusNotFound, get("/v2/pods").Code)
}
