package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkProxy asks for 1 KB through the proxy, and beside it through that of net/http/httputil with nothing around it.
func BenchmarkProxy(b *testing.B) {
	answer := make([]byte, 1024)
	s := newServer(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) })
	to, err := url.Parse("http://127.0.0.1:" + strconv.Itoa(s.live[1].Public))
	require.NoError(b, err)
	bare := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(pr *httputil.ProxyRequest) { pr.SetURL(to) }, Transport: &http.Transport{MaxIdleConnsPerHost: mostOfPod}})
	b.Cleanup(bare.Close)

	for _, c := range []struct{ name, url string }{{"Through", s.url}, {"Bare", bare.URL}} {
		b.Run(c.name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: mostOfPod}}
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					req, err := http.NewRequestWithContext(b.Context(), "GET", c.url, nil)
					require.NoError(b, err)
					req.Host = pod + "-8888.localhost"
					res, err := client.Do(req)
					require.NoError(b, err)
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
			})
		})
	}
}
