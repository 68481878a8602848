package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/limit"
)

// TestReplica_ReadsReachNoPodAndNoWorker: what does may have been done when its answer is lost.
func TestReplica_ReadsReachNoPodAndNoWorker(t *testing.T) {
	t.Parallel()
	proxies, err := limit.NewProxies([]string{"192.0.2.0/24"}) // where httptest's requests come from
	require.NoError(t, err)
	reads := ground{
		config: Config{Domain: "example.com"}, bounds: bounds{proxies: proxies}, at: &addresses{publicURL: "https://k3v9x2m1q8w7rt.example.com"},
	}.reads()

	for url, want := range map[string]bool{
		"http://127.0.0.1:8765/v2/pods":                   true,
		"http://example.com/v2/f08vqgrv1p2xkd/status/j":   true,
		"https://k3v9x2m1q8w7rt.example.com/v2/pods":      true, // the server's own name
		"http://127.0.0.1:8765/v2/f08vqgrv1p2xkd/run":     false,
		"http://127.0.0.1:8765/v2/f08vqgrv1p2xkd/stream/": false,

		"http://127.0.0.1:8765/proxy/endpoints/f08vqgrv1p2xkd/": false,
		"http://f08vqgrv1p2xkd.example.com/v2/pods":             false,
		"http://F08vqgrv1p2xkd.example.com.:80/readyz":          false,
		"http://k3v9x2m1q8w7rt-8888.example.com/v2/pods":        false,
	} {
		r := httptest.NewRequest(http.MethodGet, url, http.NoBody)
		require.Equal(t, want, reads(r), url)

		forwarded := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+r.URL.Path, http.NoBody)
		forwarded.Header.Set("X-Forwarded-Host", r.Host)
		require.Equal(t, want, reads(forwarded), url)
	}

	named := httptest.NewRequest(http.MethodGet, "http://flash.example.com/v2/pods", http.NoBody)
	require.True(t, reads(named))
	named.Header.Set("X-Flash-Endpoint", "words")
	require.False(t, reads(named))
}
