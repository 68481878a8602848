package app_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

func TestPodsRunAsContainersWhichOutliveTheServer(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	c := app.Config{Data: t.TempDir(), Runtime: app.RuntimeDocker}
	require.NoError(t, os.WriteFile(filepath.Join(c.Data, "runtime-owner"), []byte(owner), 0o600))
	s := start(t, c)
	key := s.FirstKey()
	body, err := json.Marshal(map[string]any{
		"name": "web", "image": dockertest.Image(), "args": "'serve 8080' stay", "ports": []string{"8080/http"},
		"cpu": map[string]any{"id": "cpu3g", "vcpuCount": 2},
	})
	require.NoError(t, err)
	status, pod := call(t, "POST", s.URL()+"/v2/pods", key, string(body))
	require.Equal(t, 201, status, pod)
	path := "/v2/pods/" + pod["id"].(string)
	await := func(want string) map[string]any {
		t.Helper()
		require.Eventually(t, func() bool {
			_, pod = call(t, "GET", s.URL()+path, key, "")
			return pod["status"] == want
		}, 30*time.Second, 50*time.Millisecond)
		return pod
	}
	container := func() (id string, running bool) {
		found, err := engine.ContainerInspect(context.Background(), "berth-"+owner+"-"+pod["id"].(string), client.ContainerInspectOptions{})
		if errdefs.IsNotFound(err) {
			return "", false
		}
		require.NoError(t, err)
		return found.Container.ID, found.Container.State.Running
	}
	up := await("RUNNING")
	first, running := container()
	require.True(t, running)

	require.NoError(t, s.Close())
	_, running = container()
	require.True(t, running)
	s = start(t, c)
	again := await("RUNNING")
	require.Equal(t, up["startedAt"], again["startedAt"])
	same, _ := container()
	require.Equal(t, first, same)

	status, _ = call(t, "POST", s.URL()+path+"/action", key, `{"action":"restart"}`)
	require.Equal(t, 200, status)
	await("RUNNING")
	second, _ := container()
	require.NotEqual(t, first, second)
	status, _ = call(t, "POST", s.URL()+path+"/action", key, `{"action":"stop"}`)
	require.Equal(t, 200, status)
	require.Eventually(t, func() bool {
		id, running := container()
		return id == second && !running
	}, 30*time.Second, 50*time.Millisecond)
	status, _ = call(t, "DELETE", s.URL()+path, key, "")
	require.Equal(t, 204, status)
	require.Eventually(t, func() bool {
		id, _ := container()
		return id == ""
	}, 30*time.Second, 50*time.Millisecond)
	require.NoError(t, s.Close())
}

func TestARuntimeThatIsNoneIsAClearError(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]app.Config{
		`runtime must be sim, process or docker, and not "podman"`:           {Runtime: "podman"},
		`docker: pull must be if-absent, always or never, and not "often"`:   {Runtime: app.RuntimeDocker, Pull: "often"},
		`the test controls need the simulated fleet: runtime must be sim`:    {Runtime: app.RuntimeProcess, TestControls: true},
		`address to publish ports on: ParseAddr("here"): unable to parse IP`: {Runtime: app.RuntimeDocker, PublishOn: "here"},
	} {
		c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
		_, err := app.Start(t.Context(), c)
		require.EqualError(t, err, want)
	}
}

func TestAPodMayBeAProcessOfAnEndpointsCommand(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Runtime: app.RuntimeProcess, Endpoints: []app.Endpoint{{Name: "sleeper", Command: []string{"sleep"}}}})
	key := s.FirstKey()
	for args, want := range map[string]string{"1000": "RUNNING", "0": "EXITED", "nonsense": "ERROR"} {
		_, pod := call(t, "POST", s.URL()+"/v2/pods", key, `{"name":"a","image":"sleeper","args":"`+args+`","cpu":{"id":"cpu3g","vcpuCount":2}}`)
		require.Eventually(t, func() bool {
			_, now := call(t, "GET", s.URL()+"/v2/pods/"+pod["id"].(string), key, "")
			return now["status"] == want
		}, 20*time.Second, 50*time.Millisecond, args)
	}
	require.NoError(t, s.Close())
}
