package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/store/sqlite"
)

// cpu are flags for a machine that every runtime has.
var cpu = []string{"--cpu", "cpu3g", "--vcpus", "2"}

// requirePodIsWaitedFor creates a pod with --wait, and reads its log for a line.
func requirePodIsWaitedFor(s *served, image, args, line string) {
	s.Helper()
	pod := s.document(append([]string{"pods", "create", "--name", "first", "--image", image, "--args", args, "--wait", "--timeout", "3m"}, cpu...)...)
	id := pod["id"].(string)
	require.Equal(s, "RUNNING", pod["status"])
	require.NotNil(s, pod["runtime"])
	require.Eventually(s, func() bool { return strings.Contains(s.done("pods", "logs", id), line+"\n") }, 20*time.Second, 10*time.Millisecond)
	require.Equal(s, "EXITED", s.document("pods", "stop", id, "--wait")["status"])
	require.Equal(s, "deleted "+id+"\n", s.done("pods", "delete", id))
	require.Empty(s, s.document("pods", "list")["pods"])
}

// requireJobIsFollowed runs a job with --follow, and sees its chunks before its end.
func requireJobIsFollowed(s *served, endpoint string) {
	s.Helper()
	r := s.run("jobs", "run", endpoint, "--input", `{"chunks":["one",{"two":2}],"ms":20}`, "--follow", "--timeout", "3m")
	require.Zero(s, r.code, r.err)
	require.True(s, strings.HasPrefix(r.out, "one\n{\"two\":2}\nid "), r.out)
	require.Contains(s, r.out, "\nstatus     COMPLETED\n")
	require.Regexp(s, `^job \S+ is IN_QUEUE\n`, r.err)
}

func TestRuntimes_SimRunsPodsAndJobs(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Runtime: "sim"}, "stream")
	requirePodIsWaitedFor(s, "ubuntu:24.04", "", "sim: up")
	requireJobIsFollowed(s, "stream")
}

func TestRuntimes_ProcessRunsPodsAndJobs(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Runtime: "process", Endpoints: []app.Endpoint{{Name: "shell", Command: []string{"sh", "-c"}}}, RuntimeSettings: setting.Values{"process-accept": {"args"}}}, "stream")
	requirePodIsWaitedFor(s, "shell", "'echo ready; exec sleep 1000'", "ready")
	requireJobIsFollowed(s, "stream")
}

func TestRuntimes_DockerRunsPodsAndJobs(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	t.Cleanup(func() { dockertest.Sweep(t, owner+"-workers") })
	image := dockertest.Program(t, "berth", "github.com/berthdev/berth/cmd/berth")
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "berth.db"), compute.SystemClock{}) // a name without a database would be refused
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "runtime-owner"), []byte(owner), 0o600))

	s := serving(t, app.Config{Data: dir, Runtime: "docker", QueueListen: "0.0.0.0:0"})
	requirePodIsWaitedFor(s, dockertest.Image(), "'say ready' stay", "ready")
	made := s.document("endpoints", "create", "--name", "words", "--image", image, "--args", "worker --handler stream",
		"--cpu", "cpu3c:2", "--disk", "1", "--workers-min", "1", "--workers-max", "1", "--wait", "--timeout", "3m")
	requireJobIsFollowed(s, "words")
	require.Contains(t, s.done("endpoints", "workers", "words"), image)
	require.Contains(t, s.done("endpoints", "logs", "words"), "job is done")
	require.Equal(t, "deleted "+made["id"].(string)+"\n", s.done("endpoints", "delete", "words"))
}
