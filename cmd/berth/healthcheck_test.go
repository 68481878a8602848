package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealthcheck_SucceedsOnlyAtAHealthyServer(t *testing.T) {
	t.Parallel()
	check := func(args ...string) error {
		cmd := newCommand()
		cmd.SetArgs(append([]string{"healthcheck"}, args...))
		return cmd.ExecuteContext(t.Context())
	}

	runServer(t, func(line []byte) {
		var ready struct{ URL string }
		require.NoError(t, json.Unmarshal(line, &ready))
		require.NoError(t, check(ready.URL))
		require.NoError(t, check(ready.URL+"/"))
	}, "serve", "--json", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"))

	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	require.ErrorContains(t, check(ill.URL), "503")
	ill.Close()
	require.Error(t, check(ill.URL))

	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	require.ErrorContains(t, check(silent.URL, "--timeout", "10ms"), "deadline")
}
