package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestDocs_AreServedToAnybodyIfAskedFor(t *testing.T) {
	t.Parallel()
	statuses := func(c app.Config) (got []int) {
		c.Data = t.TempDir()
		s := start(t, c)
		for _, request := range []string{
			"GET /docs", "GET /docs/rest", "GET /docs/controls", "GET /docs/swagger-ui-bundle.js", "POST /docs", "GET /docs/nothing", "GET /favicon.ico", "GET /",
		} {
			method, path, _ := strings.Cut(request, " ")
			req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, nil)
			require.NoError(t, err)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			got = append(got, res.StatusCode)
		}
		require.NoError(t, s.Close())

		return got
	}

	require.Equal(t, []int{401, 401, 401, 401, 401, 401, 401, 401}, statuses(app.Config{TestControls: true}))
	require.Equal(t, []int{200, 200, 401, 200, 405, 401, 401, 401}, statuses(app.Config{Docs: true}))
	require.Equal(t, []int{200, 200, 200, 200, 405, 401, 401, 401}, statuses(app.Config{Docs: true, TestControls: true}))
}

func TestConsole_IsServedToAnybodyIfAskedFor(t *testing.T) {
	t.Parallel()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answers := func(s *app.Server) (got []int, to string) {
		for _, path := range []string{"/console", "/console/pods/one", "/console/assets/none.js", "/consoles", "/"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
			require.NoError(t, err)
			req.Header.Set("Accept", "text/html")
			res, err := client.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			got, to = append(got, res.StatusCode), res.Header.Get("Location")
		}
		return got, to
	}

	s := start(t, app.Config{Data: t.TempDir(), Docs: true, Console: true})
	require.Equal(t, s.URL()+"/console", s.ConsoleURL())
	got, to := answers(s)
	require.Equal(t, []int{200, 200, 404, 401, 302}, got)
	require.Equal(t, "/console", to)

	s = start(t, app.Config{Data: t.TempDir(), Docs: true})
	require.Empty(t, s.ConsoleURL())
	got, to = answers(s)
	require.Equal(t, []int{401, 401, 401, 401, 302}, got)
	require.Equal(t, "/docs", to)
}
