package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/certificate/certificatetest"
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

	certificate, key, _ := certificatetest.Files(t, "berth.example")
	runServer(t, func(line []byte) {
		var ready struct{ URL string }
		require.NoError(t, json.Unmarshal(line, &ready))
		at, err := url.Parse(ready.URL)
		require.NoError(t, err)
		require.Equal(t, "https", at.Scheme)
		own := "127.0.0.1:" + at.Port()
		require.NoError(t, check("https://"+own), "the certificate is for another name")
		require.NoError(t, check("--listen", "0.0.0.0:"+at.Port(), "--tls-cert", certificate), "as the environment of a container says it")
		require.NoError(t, check("--listen", "localhost:"+at.Port(), "--tls-cert", certificate), "it is this machine's own, whatever it is called")
		require.ErrorContains(t, check("http://"+own), "400")
	}, "serve", "--json", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--tls-cert", certificate, "--tls-key", key)

	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	require.ErrorContains(t, check(ill.URL), "503")
	ill.Close()
	require.Error(t, check(ill.URL))

	for _, wrong := range []string{"foo", "localhost:8765", "http://", "ftp://localhost"} {
		require.EqualError(t, check(wrong), `URL: "`+strings.TrimSuffix(wrong, "/")+`" is not an http or https URL`)
	}

	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	require.ErrorContains(t, check(silent.URL, "--timeout", "10ms"), "deadline")
}
