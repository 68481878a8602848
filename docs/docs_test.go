package docs_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/docs"
)

func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	handler := docs.Handlers()[path]
	require.NotNil(t, handler, path)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestDocs_KeepTheBrowserAtThisServer(t *testing.T) {
	t.Parallel()
	for path := range docs.Handlers() {
		answer := get(t, path)
		if path == docs.Root+"/" {
			require.Equal(t, docs.Root, answer.Header().Get("Location"))
			continue
		}
		require.Equal(t, 200, answer.Code, path)
		require.NotEmpty(t, answer.Body.String(), path)
		policy := answer.Header().Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'", path)
		require.NotContains(t, policy, "unsafe", path)
		require.NotContains(t, policy, "://", path)
		require.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"), path)
		require.NotEmpty(t, answer.Header().Get("Content-Type"), path)
	}
}

func TestDocs_AreSentAsTheyAreKept(t *testing.T) {
	t.Parallel()
	packed := get(t, "/docs/settings", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", packed.Header().Get("Content-Encoding"))
	inside, err := gzip.NewReader(packed.Body)
	require.NoError(t, err)
	text, err := io.ReadAll(inside)
	require.NoError(t, err)
	require.Contains(t, string(text), "BERTH_QUEUE_LISTEN")

	plain := get(t, "/docs/settings")
	require.Empty(t, plain.Header().Get("Content-Encoding"))
	require.Equal(t, string(text), plain.Body.String())

	again := get(t, "/docs/settings", "Accept-Encoding", "gzip", "If-None-Match", packed.Header().Get("ETag"))
	require.Equal(t, http.StatusNotModified, again.Code)
}

// Each page that the list has is one, and says in it which of them it is.
func TestDocs_ListShowsWhereOneIs(t *testing.T) {
	t.Parallel()
	for path := range docs.Handlers() {
		page := get(t, path)
		if path == docs.Root || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html; charset") || path == docs.Root+"/" {
			continue
		}
		require.Contains(t, page.Body.String(), `<a href="`+path+`" aria-current="page">`)
	}
}
