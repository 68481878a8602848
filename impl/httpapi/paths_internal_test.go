package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

func TestPaths_AreReadAlikeHoweverTheyAreEscaped(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct{ path, raw string }{
		"/v2/%70ods":            {"/v2/pods", ""},
		"/v2/%70ods/a%2fb":      {"/v2/pods/a/b", "/v2/pods/a%2Fb"},
		"/v2/pods/a%2Fb/c%20d":  {"/v2/pods/a/b/c d", "/v2/pods/a%2Fb/c%20d"},
		"/v2/pods/a%2Fb/%7Eme!": {"/v2/pods/a/b/~me!", "/v2/pods/a%2Fb/~me%21"},
	} {
		sent := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		raw := sent.URL.RawPath
		read := plain(sent)
		require.Equal(t, want.path, read.URL.Path, path)
		require.Equal(t, want.raw, read.URL.RawPath, path)
		require.Equal(t, raw, sent.URL.RawPath, "what was sent stays")
	}
	usual := httptest.NewRequest(http.MethodGet, "/v2/pods/a%20b", http.NoBody)
	require.Same(t, usual, plain(usual))
}

func TestPaths_EndWithTheLastParameter(t *testing.T) {
	t.Parallel()
	with := func(path string, values ...string) *request {
		c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, path, http.NoBody), httptest.NewRecorder())
		names := make([]string, len(values))
		for i := range names {
			names[i] = string(rune('a' + i))
		}
		c.SetParamNames(names...)
		c.SetParamValues(values...)
		return &request{Context: c}
	}
	require.True(t, below(with("/", "a/b")))
	require.True(t, below(with("/", "x", "a/b")))
	require.False(t, below(with("/", "a/b", "x")))
	require.False(t, below(with("/", "a%2Fb")))
	require.False(t, below(with("/")))

	escaped := with("/a%2Fb/c%20d", "a%2Fb", "c%20d", "%zz")
	escaped.unescape()
	require.Equal(t, []string{"a/b", "c d", "%zz"}, escaped.ParamValues(), "what cannot be unescaped stays")
	require.Empty(t, escaped.Request().URL.RawPath)
	require.Equal(t, "/a/b/c d", escaped.Request().URL.Path)
	usual := with("/c%20d", "c%20d")
	usual.unescape()
	require.Equal(t, []string{"c%20d"}, usual.ParamValues(), "the router took the path as it is read: that is its name")
}
