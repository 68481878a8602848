//go:build unix

package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

// TestReplica_IsReadyWhileTheOwnerLeaves asks one that sends the question on to an owner that is about to stop. A balancer that took the
// answer for the owner's alone would have nobody left.
func TestReplica_IsReadyWhileTheOwnerLeaves(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, "fsync=off")
	key := filepath.Join(t.TempDir(), "secret.key")
	require.NoError(t, os.WriteFile(key, make([]byte, 32), 0o600))
	one := func(notice time.Duration) *app.Server {
		return start(t, app.Config{Data: t.TempDir(), Store: cluster.URL(""), SecretKey: key, DrainNotice: notice})
	}
	owner, other := one(8*time.Second), one(0)
	probe := func(s *app.Server) (status int, owns string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/readyz", nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Len(t, res.Header.Values("Berth-Owns"), 1)
		return res.StatusCode, res.Header.Get("Berth-Owns")
	}

	status, owns := probe(owner)
	require.Equal(t, 200, status)
	require.Equal(t, "true", owns)
	over := make(chan error, 1)
	go func() { over <- owner.Close() }()
	require.Eventually(t, func() bool {
		status, _ := probe(owner)
		return status == 503
	}, 10*time.Second, time.Millisecond)
	status, owns = probe(other)
	require.Equal(t, 200, status)
	require.Equal(t, "false", owns)

	require.NoError(t, <-over)
	require.Eventually(t, func() bool {
		status, owns := probe(other)
		return status == 200 && owns == "true"
	}, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, other.Close())
}

func TestExamine_SaysWhoOwnsTheStore(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, "fsync=off")
	examined := func() app.Finding {
		all := app.Examine(t.Context(), setting.Values{"store": {cluster.URL("")}})
		require.Equal(t, "store", all[len(all)-1].Name)
		return all[len(all)-1]
	}

	f := examined()
	require.True(t, f.Available)
	require.Contains(t, f.Detail, "schema 0 of ")
	require.Contains(t, f.Detail, "no server has owned it yet")
	require.Contains(t, strings.Join(f.Warnings, "\n"), "synchronous_standby_names")

	s := start(t, app.Config{Data: t.TempDir(), Store: cluster.URL("")})
	f = examined()
	require.Contains(t, f.Detail, "the server at "+s.URL()+" owns it (epoch 1, for ")
	require.Contains(t, f.Detail, "servers: "+s.URL())
	require.NoError(t, s.Close())
	require.Contains(t, examined().Detail, "no server owns it now (epoch 1)")

	require.NoError(t, cluster.Down(syscall.SIGTERM))
	f = examined()
	require.False(t, f.Available)
	require.Contains(t, f.Detail, "postgres://")
}
