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
	for _, c := range []struct {
		route, path string
		below       bool
	}{
		{"/v2/pods/:id", "/v2/pods/a", false},
		{"/v2/pods/:id", "/v2/pods/a/b", true},
		{"/v2/pods/:id", "/v2/pods/a%2Fb", false},
		{"/v2/pods/:id", "/v2/pods/a%2Fb/c", true},
		{"/v2/pods/:id/action", "/v2/pods/a/action", false},
		{"/v2/:endpointId/openai/v1/:route", "/v2/a/openai/v1/b/c", false},
		{"/_berth/hosts/:id", "/_berth/hosts/a/b", false},
		{"", "/v3/pods", false},
	} {
		r := with(c.path)
		r.SetPath(c.route)
		require.Equal(t, c.below, below(r), "%s at %s", c.path, c.route)
	}

	escaped := with("/a%2Fb/c%20d", "a%2Fb", "c%20d", "%zz")
	escaped.unescape()
	require.Equal(t, []string{"a/b", "c d", "%zz"}, escaped.ParamValues(), "what cannot be unescaped stays")
	require.Empty(t, escaped.Request().URL.RawPath)
	require.Equal(t, "/a/b/c d", escaped.Request().URL.Path)
	usual := with("/c%20d", "c%20d")
	usual.unescape()
	require.Equal(t, []string{"c%20d"}, usual.ParamValues(), "the router took the path as it is read: that is its name")
}
