//go:build unix

package app_test

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// TestReplica_HandsOverWhileARequestStillComes: a client that sends slowly holds up nobody but itself.
func TestReplica_HandsOverWhileARequestStillComes(t *testing.T) {
	t.Parallel()
	const long = 10 * time.Minute
	replicas, key := startReplicas(t, 2, app.Config{Drain: long, StallTimeout: long})
	owner, other := replicas[0], replicas[1]

	body, rest := io.Pipe()
	came := make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(came) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, owner.URL()+"/v2/pods", body)
	require.NoError(t, err)
	req.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "Expect": {"100-continue"}}
	transport := &http.Transport{ExpectContinueTimeout: long}
	t.Cleanup(transport.CloseIdleConnections)
	statuses := make(chan int, 1)
	go func() {
		defer close(statuses)
		res, err := transport.RoundTrip(req)
		if err == nil {
			statuses <- res.StatusCode
			_ = res.Body.Close()
		}
	}()
	<-came // the owner reads it
	_, err = rest.Write([]byte("{"))
	require.NoError(t, err)

	over := make(chan error, 1)
	go func() { over <- owner.Close() }()
	require.Eventually(t, func() bool {
		status, owns := probed(t, other)
		return status == http.StatusOK && owns == "true"
	}, time.Minute, 10*time.Millisecond)
	status, _ := callPublic(t, http.MethodGet, other.URL()+"/v2/pods", key, "")
	require.Equal(t, http.StatusOK, status)

	_, err = rest.Write([]byte(`"name":"late","image":"i","gpu":{"id":"NVIDIA L4","count":1}}`))
	require.NoError(t, err)
	require.NoError(t, rest.Close())
	require.Equal(t, http.StatusServiceUnavailable, <-statuses, "it is to be asked again")
	require.NoError(t, <-over)
}
