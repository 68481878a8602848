package berth_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

// Workers with one key have three quarters of the connections: who asks for more at a time is asked to come again, as the SDK's workers do.
func TestPolls_OfOneKeyLeaveConnectionsForOthers(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Seed: "conformance/thousand/seed.yaml", MaxConnections: 8})
	const path = "/v2/endpofeachtest/"
	transport := &http.Transport{DisableKeepAlives: true}
	ask := func(ctx context.Context, what string) (int, http.Header) {
		req, err := http.NewRequestWithContext(ctx, "GET", s.QueueURL()+path+what, http.NoBody)
		if err != nil {
			return 0, nil
		}
		req.Header.Set("Authorization", "Bearer "+s.Key())
		res, err := transport.RoundTrip(req)
		if err != nil {
			return 0, nil
		}
		_ = res.Body.Close()
		return res.StatusCode, res.Header
	}

	ctx, cancel := context.WithCancel(t.Context())
	var held sync.WaitGroup
	for _, what := range []string{"job-take/a", "job-take/b", "job-take-batch/c", "job-stop/d", "job-stop/e", "job-take/f"} {
		held.Go(func() { ask(ctx, what) })
	}
	idle := func() any {
		_, health := call(t, "GET", s.QueueURL()+path+"health", s.Key(), "")
		return health["workers"].(map[string]any)["idle"]
	}
	require.Eventually(t, func() bool { return idle() == float64(6) }, time.Minute, time.Millisecond)

	for _, what := range []string{"job-take/g", "job-take-batch/g", "job-stop/g"} {
		status, head := ask(t.Context(), what)
		require.Equal(t, 429, status, what)
		require.NotEmpty(t, head.Get("Retry-After"), what)
	}
	cancel()
	held.Wait()
	status, answer := call(t, "POST", s.QueueURL()+path+"run", s.Key(), `{"input":{}}`)
	require.Equal(t, 200, status, answer)
	require.Eventually(t, func() bool {
		status, _ := ask(t.Context(), "job-take/g")
		return status == 200
	}, time.Minute, time.Millisecond)
}
