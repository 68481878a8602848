//go:build unix

package app_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

// probed gives what the server says of itself.
func probed(t *testing.T, s *app.Server) (status int, owns string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/readyz", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Len(t, res.Header.Values("Berth-Owns"), 1)
	return res.StatusCode, res.Header.Get("Berth-Owns")
}

// TestReplica_IsReadyWhileTheOwnerLeaves asks one that sends the question on to an owner that is about to stop. A balancer that took the
// answer for the owner's alone would have nobody left.
func TestReplica_IsReadyWhileTheOwnerLeaves(t *testing.T) {
	t.Parallel()
	up := filepath.Join(t.TempDir(), "up")
	stubborn := app.Endpoint{Name: "stubborn", WorkersMin: 1, Command: []string{"sh", "-c", `trap "" TERM; touch "$0"; while :; do sleep 1; done`, up}}
	replicas, _ := startReplicas(t, 2, app.Config{Endpoints: []app.Endpoint{stubborn}}) // the owner owns the store until that has ended
	owner, other := replicas[0], replicas[1]
	require.Eventually(t, func() bool {
		_, err := os.Stat(up)
		return err == nil
	}, time.Minute, 10*time.Millisecond)

	status, owns := probed(t, owner)
	require.Equal(t, 200, status)
	require.Equal(t, "true", owns)
	over := make(chan error, 1)
	go func() { over <- owner.Close() }()
	require.Eventually(t, func() bool {
		status, _ := probed(t, owner)
		return status == 503
	}, 10*time.Second, time.Millisecond)
	status, owns = probed(t, other)
	require.Equal(t, 200, status)
	require.Equal(t, "false", owns)

	require.NoError(t, <-over)
	require.Eventually(t, func() bool {
		status, owns := probed(t, other)
		return status == 200 && owns == "true"
	}, 30*time.Second, 10*time.Millisecond)
}

// TestReplica_GivesNoticeAfterTheHandover: what comes meanwhile is sent on.
func TestReplica_GivesNoticeAfterTheHandover(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Store: newCluster(t, "fsync=off").URL(""), DrainNotice: 30 * time.Second}
	owner := start(t, c)
	key := owner.FirstKey()
	c.SecretKey, c.Data, c.DrainNotice = filepath.Join(c.Data, "secret.key"), t.TempDir(), 0
	other := start(t, c)
	over := make(chan error, 1)
	go func() { over <- owner.Close() }()
	require.Eventually(t, func() bool {
		_, owns := probed(t, other)
		return owns == "true"
	}, 28*time.Second, 10*time.Millisecond)
	status, owns := probed(t, owner)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "false", owns)
	status, _ = callPublic(t, http.MethodGet, owner.URL()+"/v2/pods", key, "")
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, <-over)
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

// TestKeys_NewerProgramLeavesTheDatabaseToItsReplicas: they would not know the schema that it makes.
func TestKeys_NewerProgramLeavesTheDatabaseToItsReplicas(t *testing.T) {
	t.Parallel()
	url := newCluster(t, "fsync=off").URL("")
	server := start(t, app.Config{Data: t.TempDir(), Store: url})
	keys, err := app.OpenKeys(t.Context(), "", url)
	require.NoError(t, err)
	require.NoError(t, keys.Close())

	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(t.Context())) }()
	_, err = c.Exec(t.Context(), "UPDATE berth_schema SET version = version - 1")
	require.NoError(t, err)
	for _, open := range []func(context.Context, string, string) (*app.Keys, error){app.OpenKeys, app.OpenUsers} {
		_, err = open(t.Context(), "", url)
		require.ErrorContains(t, err, "the replica at "+server.URL()+" uses it, and its schema is of version ")
	}
}
