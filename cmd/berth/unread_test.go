package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// unread is a standard error that nobody reads until its gate opens.
type unread struct {
	gate chan struct{}
	mu   sync.Mutex
	text bytes.Buffer
}

func (u *unread) Write(p []byte) (int, error) {
	<-u.gate
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.text.Write(p)
}

// read gives what was written.
func (u *unread) read() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.text.String()
}

func TestServe_UnreadStandardErrorBlocksNoRequest(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr := &unread{gate: make(chan struct{})}
	r, w := io.Pipe()
	cmd := newCommand()
	cmd.SetArgs([]string{"serve", "--json", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", "debug", "--quota-minute", "1000000", "--quota-hour", "1000000"})
	cmd.SetOut(w)
	cmd.SetErr(stderr)

	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	var ready struct{ URL, Key, MetricsURL string }
	require.NoError(t, json.NewDecoder(r).Decode(&ready))

	get := func(url string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+ready.Key)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(body)
	}

	id := strings.Repeat("x", 100)
	dropped := func() bool {
		return !strings.Contains(get(ready.MetricsURL), "\nberth_log_lines_dropped_total 0\n")
	}
	requests := 0
	for ; requests%500 != 499 || !dropped(); requests++ { // a megabyte of lines, and one more
		require.Contains(t, get(ready.URL+"/v2/pods/"+id), "404")
		require.Less(t, requests, 20_000)
	}

	close(stderr.gate)
	require.Eventually(t, func() bool { return strings.Contains(stderr.read(), "lines of the log were dropped") }, time.Minute, time.Millisecond, "there is room for more lines")
	require.NotContains(t, get(ready.URL+"/v2/pods"), "title")
	stop()
	require.NoError(t, <-done)

	require.Equal(t, 1, strings.Count(stderr.read(), "lines of the log were dropped"))
	require.Contains(t, stderr.read(), "msg=draining", "it is read to its end")
}

func TestServe_ClosedStandardErrorEndsNothing(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "serve", "--json", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", "debug")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)

	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, stderr.Close())
	require.NoError(t, cmd.Start())

	var ready struct{ URL, Key string }
	require.NoError(t, json.NewDecoder(stdout).Decode(&ready))
	for range 20 { // each is a line that nobody can read
		res, err := http.Get(ready.URL + "/healthz") //nolint:noctx // of the test's own server
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 200, res.StatusCode)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))

	require.NoError(t, cmd.Wait())
}
