package app_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// harbor is a server over a cluster.
type harbor struct {
	*testing.T
	cluster *kubetest.Server
	server  *app.Server
	config  app.Config
}

// overCluster starts a server over a cluster of nodes with four GPUs each.
func overCluster(t *testing.T, nodes int) *harbor {
	cluster := kubetest.New(t)
	for i := range nodes {
		cluster.AddNode(t, kubetest.Node{Name: fmt.Sprintf("gpu%02d", i), CPUs: 32, MemoryGB: 128, DiskGB: 2000, GPUs: 4, Product: "NVIDIA-L4"})
	}
	c := app.Config{Data: t.TempDir(), Runtime: "kubernetes", RuntimeSettings: setting.Values{"kube-config": {cluster.Kubeconfig(t)}}, WorkerURL: "http://berth.test"}
	return &harbor{T: t, cluster: cluster, server: start(t, c), config: c}
}

func (h *harbor) call(method, path, body string) (int, map[string]any) {
	return call(h.T, method, h.server.URL()+path, h.server.FirstKey(), body)
}

// pod creates one that runs the steps on so many GPUs.
func (h *harbor) pod(gpus int, more string, steps ...string) string {
	h.Helper()
	status, made := h.call("POST", "/v2/pods", fmt.Sprintf(`{"name":"a","image":"registry.test/player:1","args":%q,"gpu":{"id":"NVIDIA L4","count":%d}%s}`,
		strings.Join(steps, " "), gpus, more))
	require.Equal(h, http.StatusCreated, status, made)
	return made["id"].(string)
}

func (h *harbor) status(id string) (status string) {
	_, pod := h.call("GET", "/v2/pods/"+id, "")
	status, _ = pod["status"].(string)
	return status
}

func (h *harbor) await(id, status string) {
	h.Helper()
	require.Eventually(h, func() bool { return h.status(id) == status }, time.Minute, 20*time.Millisecond, "%s does not become %s", id, status)
}

// says waits until the pod's log has the words.
func (h *harbor) says(id, words string) {
	h.Helper()
	query := fmt.Sprintf(`{"query":"{pod(input:{podId:\"%s\"}){lastStatusChange}}"}`, id)
	last := ""
	require.Eventually(h, func() bool {
		_, answer := h.call("POST", "/graphql", query)
		pod, _ := answer["data"].(map[string]any)["pod"].(map[string]any)
		last, _ = pod["lastStatusChange"].(string)
		return strings.Contains(last, words)
	}, time.Minute, 20*time.Millisecond, "it is %s", words)
}

func TestKubernetes_AFirstStartLooksForNothingElsewhere(t *testing.T) {
	t.Parallel()
	h := overCluster(t, 1)
	require.NoError(t, h.server.Close())

	db, err := sqlite.Open(t.Context(), filepath.Join(h.config.Data, "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	var names []string
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		all, err := tx.ListRuntimes()
		for _, at := range all {
			names = append(names, at.Name)
		}
		return err
	}))
	require.Equal(t, []string{"kubernetes"}, names)
}

func TestKubernetes_PodsOverHTTP(t *testing.T) {
	t.Parallel()
	h := overCluster(t, 2)

	t.Run("what has no room waits with the reason of the scheduler", func(t *testing.T) {
		const all, room = 12, 8
		ids := make([]string, all)
		var creates sync.WaitGroup
		for i := range all {
			creates.Go(func() { ids[i] = h.pod(1, "", "stay") })
		}
		creates.Wait()

		count := func() (running, waiting []string) {
			for _, id := range ids {
				switch h.status(id) {
				case "RUNNING":
					running = append(running, id)
				case "STARTING":
					waiting = append(waiting, id)
				}
			}
			return running, waiting
		}
		require.Eventually(t, func() bool {
			running, waiting := count()
			return len(running) == room && len(waiting) == all-room
		}, time.Minute, 50*time.Millisecond)
		running, waiting := count()
		h.says(waiting[0], "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.")

		status, hosts := h.call("GET", "/_berth/hosts", "")
		require.Equal(t, http.StatusOK, status)
		for _, one := range hosts["hosts"].([]any) {
			host := one.(map[string]any)
			require.Equal(t, "NVIDIA L4", host["gpu"])
			require.EqualValues(t, 4, host["gpuCount"])
		}

		for _, id := range running {
			status, _ = h.call("DELETE", "/v2/pods/"+id, "")
			require.Equal(t, http.StatusNoContent, status)
		}
		for _, id := range waiting {
			h.await(id, "RUNNING")
			status, _ = h.call("DELETE", "/v2/pods/"+id, "")
			require.Equal(t, http.StatusNoContent, status)
		}
		require.Eventually(t, func() bool { return len(h.cluster.Left()) == 0 }, time.Minute, 20*time.Millisecond)
	})

	t.Run("what no node can ever hold is refused", func(t *testing.T) {
		status, problem := h.call("POST", "/v2/pods", `{"name":"a","image":"i","gpu":{"id":"NVIDIA L4","count":5}}`)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, problem["detail"], "no host could hold it with nothing else on it")
	})

	t.Run("a pod is stopped, started and outlives the server", func(t *testing.T) {
		id := h.pod(1, `,"ports":["8080/http"]`, "stay")
		h.await(id, "RUNNING")
		for _, step := range [][2]string{{"stop", "EXITED"}, {"start", "RUNNING"}} {
			status, _ := h.call("POST", "/v2/pods/"+id+"/action", `{"action":"`+step[0]+`"}`)
			require.Equal(t, http.StatusOK, status)
			h.await(id, step[1])
		}

		before, key := h.cluster.Left(), h.server.FirstKey()
		require.NoError(t, h.server.Close())
		h.server = start(t, h.config)
		status, pod := call(t, "GET", h.server.URL()+"/v2/pods/"+id, key, "")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "RUNNING", pod["status"])
		require.Equal(t, before, h.cluster.Left())
		status, _ = call(t, "DELETE", h.server.URL()+"/v2/pods/"+id, key, "")
		require.Equal(t, http.StatusNoContent, status)
		require.Eventually(t, func() bool { return len(h.cluster.Left()) == 0 }, time.Minute, 20*time.Millisecond)
	})
}

func TestKubernetes_Reasons(t *testing.T) {
	t.Parallel()
	h := overCluster(t, 2)
	h.cluster.Refuse("registry.test/absent:1", "manifest unknown")
	status, made := h.call("POST", "/v2/pods", `{"name":"a","image":"registry.test/absent:1","gpu":{"id":"NVIDIA L4"}}`)
	require.Equal(t, http.StatusCreated, status)
	h.says(made["id"].(string), "manifest unknown")

	lost := h.pod(4, "", "stay")
	h.await(lost, "RUNNING")
	node := ""
	_, hosts := h.call("GET", "/_berth/hosts", "")
	require.Eventually(t, func() bool {
		_, hosts = h.call("GET", "/_berth/hosts", "")
		for _, one := range hosts["hosts"].([]any) {
			if host := one.(map[string]any); host["free"].(map[string]any)["gpus"] == 0.0 {
				node = host["id"].(string)
			}
		}
		return node != ""
	}, time.Minute, 50*time.Millisecond)

	h.cluster.RemoveNode(node)
	h.await(lost, "ERROR")
	h.says(lost, "node "+node)

	status, problem := h.call("POST", "/_berth/hosts", `{"id":"x","dataCenterId":"EU-RO-1"}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, problem["detail"], "the runtime's own scheduler")
}

func TestKubernetes_AWorkerWithoutRoomIsThrottled(t *testing.T) {
	t.Parallel()
	h := overCluster(t, 1)
	whole := h.pod(4, "", "stay")
	h.await(whole, "RUNNING")
	status, made := h.call("POST", "/v2/serverless", `{"name":"e","type":"QUEUE","image":"registry.test/player:1","args":"stay","gpu":{"pools":["AMPERE_24"]},"scaling":{"type":"QUEUE_DELAY","queueDelay":4},"workers":{"min":1,"max":1}}`)
	require.Equal(t, http.StatusCreated, status, made)
	crew := func() (status, reason string) {
		_, answer := h.call("GET", "/v2/serverless/"+made["id"].(string)+"/workers", "")
		for _, one := range answer["workers"].([]any) {
			w := one.(map[string]any)
			status, _ = w["status"].(string)
			reason, _ = w["reason"].(string)
		}
		return status, reason
	}
	require.Eventually(t, func() bool {
		status, reason := crew()
		return status == "THROTTLED" && strings.Contains(reason, "Insufficient nvidia.com/gpu")
	}, time.Minute, 50*time.Millisecond)

	deleted, _ := h.call("DELETE", "/v2/pods/"+whole, "")
	require.Equal(t, http.StatusNoContent, deleted)
	require.Eventually(t, func() bool {
		status, _ := crew()
		return status == "INITIALIZING"
	}, time.Minute, 50*time.Millisecond)
}

func TestKubernetes_GPUsByClaims(t *testing.T) {
	t.Parallel()
	cluster := kubetest.New(t)
	cluster.AddDeviceClass(t, "gpu.example.com")
	for _, name := range []string{"n1", "n2"} {
		cluster.AddNode(t, kubetest.Node{Name: name, CPUs: 32, MemoryGB: 128, DiskGB: 2000})
		cluster.AddDevices(t, kubetest.Devices{Node: name, Products: []string{"NVIDIA L4", "NVIDIA L4"}, CUDA: "12.8.0", Type: "gpu"})
	}
	c := app.Config{
		Data: t.TempDir(), Runtime: "kubernetes", WorkerURL: "http://berth.test",
		RuntimeSettings: setting.Values{"kube-config": {cluster.Kubeconfig(t)}, "kube-gpu-class": {"gpu.example.com"}},
	}
	h := &harbor{T: t, cluster: cluster, server: start(t, c), config: c}

	status, hosts := h.call("GET", "/_berth/hosts", "")
	require.Equal(t, http.StatusOK, status)
	for _, one := range hosts["hosts"].([]any) {
		host := one.(map[string]any)
		require.Equal(t, "NVIDIA L4", host["gpu"])
		require.EqualValues(t, 2, host["gpuCount"])
	}
	first, second := h.pod(2, "", "stay"), h.pod(2, "", "stay")
	h.await(first, "RUNNING")
	h.await(second, "RUNNING")
	third := h.pod(1, "", "stay")
	h.says(third, "0/2 nodes are available: 2 cannot allocate all claims.")
	status, problem := h.call("POST", "/v2/pods", `{"name":"a","image":"i","gpu":{"id":"NVIDIA L4","count":3}}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, problem["detail"], "no host could hold it with nothing else on it")

	status, _ = h.call("POST", "/v2/pods/"+first+"/action", `{"action":"stop"}`)
	require.Equal(t, http.StatusOK, status)
	h.await(third, "RUNNING")
	for _, id := range []string{first, second, third} {
		status, _ = h.call("DELETE", "/v2/pods/"+id, "")
		require.Equal(t, http.StatusNoContent, status)
	}
	require.Eventually(t, func() bool { return len(cluster.Left()) == 0 }, time.Minute, 20*time.Millisecond)
}
