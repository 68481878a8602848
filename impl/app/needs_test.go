package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// callPublic sends a request of the public edition.
func callPublic(t *testing.T, method, url, key, body string) (int, map[string]any) {
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Berth-Contract", "public")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	var document map[string]any
	_ = json.NewDecoder(res.Body).Decode(&document)
	return res.StatusCode, document
}

// TestNeeds_OfAPodHoldAfterARestart has the machines change while the server is down: a stopped pod is placed
// only where all that it asked for is, and keeps its keys and its password.
func TestNeeds_OfAPodHoldAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := app.Config{Data: filepath.Join(dir, "data"), Fleet: filepath.Join(dir, "fleet.json")}
	host := func(id, cuda, vcpus, memory string) string {
		return `{"id":"` + id + `","dataCenterId":"US-KS-2","cloud":"SECURE","gpu":"NVIDIA L4","gpuCount":1,"cudaVersion":"` + cuda + `","vcpus":` + vcpus + `,"memoryGb":` + memory + `,"diskGb":100}`
	}
	fleet := func(hosts ...string) {
		require.NoError(t, os.WriteFile(c.Fleet, []byte(`{"hosts":[`+strings.Join(hosts, ",")+`]}`), 0o600))
	}

	for name, of := range map[string]struct {
		gpu, want     string   // what is asked for, and what the refusal names
		short, enough []string // hosts that do not have it, and one that has
	}{
		"a set of versions": {`"allowedCudaVersions":["12.8"]`, "12.8", []string{host("a", "12.4", "8", "32"), host("b", "12.9", "8", "32")}, []string{host("c", "12.8", "8", "32")}},
		"a least version":   {`"minCudaVersion":"12.8"`, "12.8", []string{host("a", "12.4", "8", "32")}, []string{host("c", "12.10", "8", "32")}},
		"least vCPUs":       {`"minVcpuCountPerGpu":16`, "16", []string{host("a", "12.8", "8", "64")}, []string{host("c", "12.8", "16", "32")}},
		"least memory":      {`"minRamPerGpu":64`, "64", []string{host("a", "12.8", "16", "32")}, []string{host("c", "12.8", "8", "64")}},
	} {
		c.Data = filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		fleet(append([]string{host("first", "12.8", "16", "64")}, of.short...)...)
		s := start(t, c)
		key := s.FirstKey()
		status, _ := callPublic(t, "PUT", s.URL()+"/v2/account/ssh-keys", key, `{"keys":["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b"]}`)
		require.Equal(t, 200, status)
		status, pod := callPublic(t, "POST", s.URL()+"/v2/pods", key, `{"name":"a","image":"i","startSsh":true,"startJupyter":true,"gpu":{"id":"NVIDIA L4",`+of.gpu+`}}`)
		require.Equal(t, 201, status, "%s: %v", name, pod)
		at := s.URL() + "/v2/pods/" + pod["id"].(string)
		status, _ = callPublic(t, "POST", at+"/action", key, `{"action":"stop"}`)
		require.Equal(t, 200, status)
		require.NoError(t, s.Close())

		fleet(of.short...) // its machine has gone
		s = start(t, c)
		at = s.URL() + "/v2/pods/" + pod["id"].(string)
		status, problem := callPublic(t, "POST", at+"/action", key, `{"action":"start"}`)
		require.Equal(t, 400, status, "%s: %v", name, problem)
		require.Contains(t, problem["detail"], of.want, name)
		require.NoError(t, s.Close())

		fleet(append(of.short, of.enough...)...)
		s = start(t, c)
		at = s.URL() + "/v2/pods/" + pod["id"].(string)
		status, started := callPublic(t, "POST", at+"/action", key, `{"action":"start"}`)
		require.Equal(t, 200, status, "%s: %v", name, started)
		require.Equal(t, pod["env"], started["env"])
		require.Len(t, started["env"], 2)
		require.Contains(t, of.enough[0], `"cudaVersion":"`+started["cudaVersion"].(string)+`"`)
		require.NoError(t, s.Close())
	}
}
