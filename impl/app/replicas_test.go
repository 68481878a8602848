//go:build unix

package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// startReplicas starts servers that share a PostgreSQL of their own, and gives the key of the first.
func startReplicas(t *testing.T, n int, c app.Config) (all []*app.Server, key string) {
	t.Helper()
	dir := t.TempDir()
	c.Store = newCluster(t, "fsync=off").URL("")
	for i := range n {
		c.Data = filepath.Join(dir, fmt.Sprint(i))
		if i > 0 { // all have one key
			c.SecretKey = filepath.Join(dir, "0", "secret.key")
		}
		s := start(t, c)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		all = append(all, s)
	}

	return all, all[0].FirstKey()
}

// TestReplica_PathsOfPodsAreThePods: what each replica answers itself is not asked of it under the names of pods and endpoints.
func TestReplica_PathsOfPodsAreThePods(t *testing.T) {
	t.Parallel()
	replicas, _ := startReplicas(t, 2, app.Config{})
	for _, s := range replicas {
		for host, want := range map[string]int{"aaaaaaaaaaaaaa-8080.localhost": http.StatusNotFound, "aaaaaaaaaaaaaa.localhost": http.StatusUnauthorized} {
			for _, path := range []string{"/healthz", "/readyz"} {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, http.NoBody)
				require.NoError(t, err)
				req.Host = host
				res, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
				require.Equal(t, want, res.StatusCode, host+path)
			}
		}
	}
}

// TestReplica_GroupAskedAtOnceGivesEachDeviceOnce asks three replicas for 200 pods of a GPU at once, on a fleet that has 160 of them.
// The next owner knows what is taken.
func TestReplica_GroupAskedAtOnceGivesEachDeviceOnce(t *testing.T) {
	t.Parallel()
	var hosts []string
	for n := range 20 {
		hosts = append(hosts, fmt.Sprintf(`{"id":"h%d","dataCenterId":"US-KS-2","cloud":"SECURE","gpu":"NVIDIA L4","gpuCount":8,"vcpus":512,"memoryGb":4096,"diskGb":100000}`, n))
	}
	fleet := filepath.Join(t.TempDir(), "fleet.json")
	require.NoError(t, os.WriteFile(fleet, []byte(`{"hosts":[`+strings.Join(hosts, ",")+`]}`), 0o600))
	replicas, key := startReplicas(t, 3, app.Config{Fleet: fleet})

	create := func(s *app.Server) (status int, pod map[string]any) {
		require.Eventually(t, func() bool { // it has to try again if the owner changes in that moment
			status, pod = callPublic(t, http.MethodPost, s.URL()+"/v2/pods", key, `{"name":"one","image":"i","gpu":{"id":"NVIDIA L4","count":1}}`)
			return status != http.StatusServiceUnavailable
		}, time.Minute, 10*time.Millisecond)
		return status, pod
	}
	var mu sync.Mutex
	var pods []string
	statuses := map[int]int{}
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			status, pod := create(replicas[n%3])
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
			if status == http.StatusCreated {
				pods = append(pods, pod["id"].(string))
			}
		})
	}
	all.Wait()
	require.Equal(t, map[int]int{http.StatusCreated: 160, http.StatusBadRequest: 40}, statuses)

	require.NoError(t, replicas[0].Close()) // it has owned the database
	status, problem := create(replicas[1])
	require.Equal(t, http.StatusBadRequest, status, problem)
	status, _ = callPublic(t, http.MethodDelete, replicas[2].URL()+"/v2/pods/"+pods[0], key, "")
	require.Equal(t, http.StatusNoContent, status)
	require.Eventually(t, func() bool {
		status, _ := create(replicas[2])
		return status == http.StatusCreated
	}, 10*time.Second, 10*time.Millisecond, "the room of a pod that was removed")
	status, problem = create(replicas[1])
	require.Equal(t, http.StatusBadRequest, status, problem)
}

func TestReplicas_StatesAreSavedAndLoadedElsewhere(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), newCluster(t, "fsync=off").URL("")
	c := app.Config{Store: store, Data: filepath.Join(dir, "owner"), TestControls: true}
	owner := start(t, c)
	t.Cleanup(func() { require.NoError(t, owner.Close()) })
	c.Data, c.SecretKey = filepath.Join(dir, "other"), filepath.Join(dir, "owner", "secret.key")
	other := start(t, c)
	t.Cleanup(func() { require.NoError(t, other.Close()) })

	key := owner.FirstKey()
	status, body := call(t, "POST", other.URL()+"/v2/global-volumes", key, `{"name":"shared"}`)
	require.Equal(t, 201, status, body)
	for _, s := range []*app.Server{owner, other} {
		state := s.URL() + "/_berth/states/first"
		status, body = call(t, "PUT", state, owner.ControlsKey(), "")
		require.Equal(t, 204, status, body)
		status, body = callPublic(t, http.MethodPost, state+"/load", owner.ControlsKey(), "")
		require.Equal(t, 409, status, body)
		require.Contains(t, body["detail"], "the database is shared by servers: a state is loaded while none runs, by berth migrate")
	}
	require.NoDirExists(t, filepath.Join(dir, "other", "states"), "it is saved by the owner")

	alone := filepath.Join(dir, "alone")
	s := start(t, app.Config{Data: alone, TestControls: true, SecretKey: c.SecretKey})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	text, err := os.ReadFile(filepath.Join(dir, "owner", "states", "first.db"))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(alone, "states"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(alone, "states", "first.db"), text, 0o600))
	require.NoError(t, s.LoadState(t.Context(), "first"))
	_, body = call(t, "GET", s.URL()+"/v2/global-volumes", key, "")
	require.Len(t, body["globalVolumes"], 1, "a server with a database of its own loads it")
}
