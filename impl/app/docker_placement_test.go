package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

// As many as there are GPUs are accepted, and each gets one of its own.
func TestDocker_RealContainersGetOneGPUEach(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	if !givesGPUs(t, engine) {
		t.Skip("SKIPPED: this engine cannot give GPUs")
	}

	var hosts []map[string]any
	for i := range 20 {
		hosts = append(hosts, map[string]any{
			"id": fmt.Sprint("rack-", i), "dataCenterId": "EU-RO-1", "cloud": "SECURE", "gpu": "NVIDIA L4", "gpuCount": 8,
			"gpuDevices": devicesOf(i), "cudaVersion": "12.8", "vcpus": 64, "memoryGb": 512, "diskGb": 4000,
		})
	}

	fleet, err := json.Marshal(map[string]any{"hosts": hosts})
	require.NoError(t, err)
	c := app.Config{Data: t.TempDir(), Runtime: "docker", Fleet: filepath.Join(t.TempDir(), "fleet.json")}
	require.NoError(t, os.WriteFile(c.Fleet, fleet, 0o600))

	own(t, c.Data, owner)
	server := start(t, c)
	s := &shore{T: t, engine: engine, owner: owner, url: server.URL(), key: server.FirstKey()}

	var mu sync.Mutex
	var pods []string
	answers := map[int]int{}

	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			status, made := call(t, http.MethodPost, s.url+"/v2/pods", s.key, `{"name":"g","image":"`+dockertest.Image()+`","args":"stay","gpu":{"id":"NVIDIA L4","count":1}}`)
			mu.Lock()
			defer mu.Unlock()
			if answers[status]++; status == http.StatusCreated {
				pods = append(pods, made["id"].(string))
			}
		})
	}

	all.Wait()
	require.Equal(t, map[int]int{http.StatusCreated: 160, http.StatusBadRequest: 40}, answers)

	owners := map[string]string{}
	for _, s.pod = range pods[:8] { // they take their time
		s.path = "/v2/pods/" + s.pod
		s.await("RUNNING")
		id, running := s.container()
		require.True(t, running)
		devices := s.devices(id)
		require.Len(t, devices, 1)
		require.Empty(t, owners[devices[0]], "nobody else has it")
		owners[devices[0]] = s.pod
	}

	for _, pod := range pods {
		all.Go(func() {
			status, _ := call(t, http.MethodDelete, s.url+"/v2/pods/"+pod, s.key, "")
			if status != http.StatusNoContent {
				t.Errorf("delete: %d", status)
			}
		})
	}

	all.Wait()
	require.Eventually(t, func() bool { return len(s.left()) == 0 }, 5*time.Minute, time.Second, "nothing is left behind")
	require.NoError(t, server.Close())
}

// devicesOf gives the ids of a host's GPUs.
func devicesOf(host int) (ids []string) {
	for i := range 8 {
		ids = append(ids, fmt.Sprintf("GPU-%02d-%d", host, i))
	}
	return ids
}
