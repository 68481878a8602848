package console_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/console"
)

func get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	console.New().ServeHTTP(w, r)
	return w
}

// assets are the paths of the files that the page loads.
func assets(t *testing.T) []string {
	found := regexp.MustCompile(`/console/assets/[^"]+`).FindAllString(get(console.Root).Body.String(), -1)
	require.NotEmpty(t, found)
	return found
}

func TestConsole_IsOnePageAtEveryPath(t *testing.T) {
	t.Parallel()
	page := get(console.Root).Body.String()
	require.Contains(t, page, `<div id="root">`)
	for _, path := range []string{"/console/", "/console/pods", "/console/jobs/one-u1", "/console/index.html"} {
		require.True(t, console.IsPath(path))
		require.Equal(t, page, get(path).Body.String(), path)
	}
	require.False(t, console.IsPath("/consoles"))
	for _, path := range []string{"/console/assets/index.html", "/console/assets/none.js", "/console/assets/"} {
		require.Equal(t, http.StatusNotFound, get(path).Code, path)
	}
}

func TestConsole_KeepsTheBrowserAtThisServer(t *testing.T) {
	t.Parallel()
	h := get(console.Root).Header()
	policy := h.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.Contains(t, policy, "frame-ancestors 'none'")
	require.NotContains(t, policy, "unsafe")
	require.NotContains(t, policy, "://")
	require.Equal(t, []string{"nosniff", "no-referrer", "same-origin", "no-cache"},
		[]string{h.Get("X-Content-Type-Options"), h.Get("Referrer-Policy"), h.Get("Cross-Origin-Opener-Policy"), h.Get("Cache-Control")})
	require.NotRegexp(t, `<script>|<style|style=|\son[a-z]+=`, get(console.Root).Body.String()) // the policy would forbid it
}

func TestConsole_FilesAreKeptByTheBrowser(t *testing.T) {
	t.Parallel()
	for _, path := range assets(t) {
		packed := get(path, "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", packed.Header().Get("Content-Encoding"))
		require.Contains(t, packed.Header().Get("Cache-Control"), "immutable")
		require.Equal(t, "Accept-Encoding", packed.Header().Get("Vary"))
		kind := map[bool]string{true: "text/css; charset=utf-8", false: "text/javascript; charset=utf-8"}[strings.HasSuffix(path, ".css")]
		require.Equal(t, kind, packed.Header().Get("Content-Type"))

		inside, err := gzip.NewReader(packed.Body)
		require.NoError(t, err)
		text, err := io.ReadAll(inside)
		require.NoError(t, err)
		plain := get(path, "Accept-Encoding", "br, gzip;q=0")
		require.Empty(t, plain.Header().Get("Content-Encoding"))
		require.Equal(t, string(text), plain.Body.String())
		require.NotEqual(t, packed.Header().Get("ETag"), plain.Header().Get("ETag"))

		again := get(path, "Accept-Encoding", "gzip", "If-None-Match", packed.Header().Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.Code)
		require.Empty(t, again.Body.String())
	}
}

func TestConsole_AsksNoOtherServer(t *testing.T) {
	t.Parallel()
	for _, path := range assets(t) {
		require.NotRegexp(t, `(import|fetch|src|@import|url)\(?["' ]*https?://`, get(path).Body.String(), path)
	}
}
