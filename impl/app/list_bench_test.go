package app_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// BenchmarkListOfTenThousandRunningPods measures GET /v2/pods over HTTP while the loop watches the pods.
func BenchmarkListOfTenThousandRunningPods(b *testing.B) {
	const pods, clients = 10_000, 50
	s, err := app.Start(b.Context(), app.Config{Data: b.TempDir(), Listen: "127.0.0.1:0", Quotas: app.Quotas{Minute: 1e9, Hour: 1e9, Day: 1e9}})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	key := s.FirstKey()
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for range pods / clients {
				ask(b, "POST", s.URL()+"/v2/pods", key, `{"name":"a","image":"i","gpu":{"id":"NVIDIA L4"},"ports":["8888/http","22/tcp"],"env":{"A":"1"}}`)
			}
		})
	}
	group.Wait()
	for bytes.Count(ask(b, "GET", s.URL()+"/v2/pods", key, ""), []byte(`"cpu":{"util"`)) < pods {
		<-time.After(time.Second)
	}
	var times []time.Duration
	for b.Loop() {
		begin := time.Now()
		ask(b, "GET", s.URL()+"/v2/pods", key, "")
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1000, "ms-p50")
}

// ask sends a request that must succeed, and gives the body.
func ask(b *testing.B, method, url, key, body string) []byte {
	req, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
	require.NoError(b, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(b, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(b, err)
	require.Less(b, res.StatusCode, 300, "%s", text)
	return text
}
