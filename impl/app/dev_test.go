package app_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestServer_DevKey_IsTheSameAtEveryStart(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir()}
	s := start(t, c)
	first, err := s.DevKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.FirstKey(), first)
	require.NoError(t, s.Close())

	file := filepath.Join(c.Data, "dev.key")
	require.EqualValues(t, 0o600, mode(t, file))

	s = start(t, c)
	again, err := s.DevKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, again)

	status, _ := call(t, "GET", s.URL()+"/v2/pods", again, "")
	require.Equal(t, 200, status)

	for _, lost := range []string{"", "nonsense", strings.Repeat("x", len(first)), first[:len(first)-4] + "0000"} {
		require.NoError(t, os.WriteFile(file, []byte(lost), 0o600))
		made, err := s.DevKey(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, lost, made)
		status, _ := call(t, "GET", s.URL()+"/v2/pods", made, "")
		require.Equal(t, 200, status, "a new one")
	}
	require.NoError(t, s.Close())
}

func TestEndpoint_DeclaredOnlyEarlierGetsNoWorkers(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{{Name: "old", Command: []string{"sh", "-c", "exec sleep 1000"}, WorkersMin: 1}}}
	s := start(t, c)
	key, old := s.FirstKey(), string(s.Endpoints()["old"])
	require.NoError(t, s.Close())

	var log bytes.Buffer
	c.Log, c.Endpoints = slog.New(slog.NewTextHandler(&log, nil)), []app.Endpoint{{Name: "new", Command: []string{"sh", "-c", "exec sleep 1000"}, WorkersMin: 1}}
	s = start(t, c)
	require.Eventually(t, func() bool {
		_, list := call(t, "GET", s.URL()+"/v2/serverless/"+old+"/workers", key, "")
		workers := list["workers"].([]any)
		return len(workers) == 1 && workers[0].(map[string]any)["status"] == "UNHEALTHY" &&
			strings.Contains(workers[0].(map[string]any)["reason"].(string), "without the command of its workers")
	}, time.Minute, 10*time.Millisecond)

	status, _ := call(t, "DELETE", s.URL()+"/v2/serverless/"+old, key, "")
	require.Equal(t, 204, status, "as the reason says")
	require.NoError(t, s.Close())
	require.NotContains(t, log.String(), "worker could not be started")
}

func TestServer_ReplaceWorkers_AlsoAfterTheyFailed(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("exit 1"), 0o600))

	s := start(t, app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{{Name: "e", Command: []string{"sh", program}, WorkersMin: 1, WorkersMax: 1}}})
	list := func() (workers, ended []any) {
		_, answer := call(t, "GET", s.URL()+"/v2/serverless/"+string(s.Endpoints()["e"])+"/workers", s.FirstKey(), "")
		ended, _ = answer["ended"].([]any)
		return answer["workers"].([]any), ended
	}

	up := func() string {
		workers, _ := list()
		if len(workers) == 1 && workers[0].(map[string]any)["startedAt"] != nil {
			return workers[0].(map[string]any)["id"].(string)
		}
		return ""
	}

	require.Eventually(t, func() bool {
		_, ended := list()
		return len(ended) > 0
	}, time.Minute, 10*time.Millisecond)

	require.NoError(t, os.WriteFile(program, []byte("exec sleep 1000"), 0o600))
	s.ReplaceWorkers("e")
	require.Eventually(t, func() bool { return up() != "" }, time.Minute, 10*time.Millisecond)
	first := up()
	s.ReplaceWorkers("e")
	require.Eventually(t, func() bool { now := up(); return now != "" && now != first }, time.Minute, 10*time.Millisecond)
	require.NoError(t, s.Close())
}
