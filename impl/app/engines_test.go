package app_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
	"github.com/berthdev/berth/impl/setting"
)

// navy is a berth over three engines, in a process of its own, with a host for each: one and two are in its file.
type navy struct {
	*testing.T
	*berth
	part     part
	owner    string
	machines []dockertest.Machine
	image    string // of berth's own worker
}

func newNavy(t *testing.T) *navy {
	machines, certs := dockertest.Machines(t)
	owner := strings.ToLower(rand.Text())[:10]
	n := &navy{T: t, owner: owner, machines: machines}
	for _, m := range machines {
		n.image = m.Import("berth", "github.com/berthdev/berth/cmd/berth")
	}

	port := app.FreePort(t)
	dir := t.TempDir()
	own(t, dir, owner)
	n.part = part{
		Data: dir, Listen: "0.0.0.0:" + port, WorkerURL: fmt.Sprintf("http://%s:%s", machines[0].Gateway, port),
		Fleet:    filepath.Join(t.TempDir(), "fleet.json"),
		Settings: setting.Values{"docker-certs": {certs}, "engine-timeout": {"5s"}, "gpu-query-image": {dockertest.Player(t)}},
	}
	text, err := json.Marshal(map[string]any{"hosts": []any{n.host("one"), n.host("two")}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(n.part.Fleet, text, 0o600))
	n.berth = servePart(t, n.part)
	t.Cleanup(func() {
		for _, m := range machines {
			m.Sweep(owner)
			m.Sweep(owner + workerOwner)
		}
	})
	return n
}

// host describes one of the hosts, each with room for three workers of two vCPUs.
func (n *navy) host(id string) map[string]any {
	i := map[string]int{"one": 0, "two": 1, "three": 2}[id]
	return map[string]any{
		"id": id, "engine": n.machines[i].Address, "dataCenterId": "EU-RO-1", "cloud": "SECURE", "cpus": []string{"cpu3c", "cpu3g"},
		"vcpus": 6, "memoryGb": 64, "diskGb": 100,
	}
}

// restart kills the server and starts it again.
func (n *navy) restart() {
	n.kill()
	key, admin := n.key, n.admin
	n.berth = servePart(n.T, n.part)
	n.key, n.admin = key, admin
}

// controls sends a request of the hosts.
func (n *navy) controls(method, path string, body any, want int) map[string]any {
	n.Helper()
	text := ""
	if body != nil {
		raw, err := json.Marshal(body)
		require.NoError(n, err)
		text = string(raw)
	}
	status, answer := call(n.T, method, n.url+"/_berth/hosts"+path, n.admin, text)
	require.Equal(n, want, status, answer)
	return answer
}

// away gives why nothing is placed on a host; empty if something is.
func (n *navy) away(id string) string {
	for _, one := range n.controls("GET", "", nil, 200)["hosts"].([]any) {
		if h := one.(map[string]any); h["id"] == id {
			why, _ := h["away"].(string)
			return why
		}
	}
	return "not in the fleet"
}

func (n *navy) awaitAway(id, part string) {
	n.Helper()
	require.Eventually(n, func() bool {
		why := n.away(id)
		return part == "" && why == "" || part != "" && strings.Contains(why, part)
	}, time.Minute, 200*time.Millisecond, id)
}

// Not beside other tests, which need the engines.
func TestEngines_FinishJobsWhileHostsComeAndGo(t *testing.T) {
	n := newNavy(t)
	status, made := call(t, "POST", n.url+"/v2/serverless", n.key, `{"name":"slow","type":"QUEUE","image":"`+n.image+`","args":"worker --handler sleep",
		"cpu":[{"id":"cpu3c","vcpuCount":2}],"disk":1,"scaling":{"type":"QUEUE_DELAY","queueDelay":0.5},"workers":{"max":9,"idleTimeout":2}}`)
	require.Equal(t, 201, status, made)
	f := &fleet{T: t, at: func() (string, string) { return n.url, n.url }, key: n.key, id: made["id"].(string)}
	require.Empty(t, n.containers())

	const jobsInAll = 1000
	jobs := f.submit(jobsInAll, 500)
	most := 0
	until := func(done int) {
		require.Eventually(t, func() bool {
			most = max(most, len(n.containers()))
			completed, failed := f.ended()
			return completed+failed >= float64(done)
		}, 5*time.Minute, 100*time.Millisecond)
	}

	until(100)
	require.LessOrEqual(t, most, 6, "two hosts have room for six")
	n.controls("POST", "", n.host("three"), 201)
	require.Eventually(t, func() bool {
		most = max(most, len(n.containers()))
		return most == 9
	}, time.Minute, 50*time.Millisecond)

	until(250)
	n.machines[1].Kill()
	n.awaitAway("two", "its engine has not answered")
	until(400)
	n.restart()
	until(550)
	n.controls("PATCH", "/one", map[string]any{"draining": true}, 200)
	n.machines[1].Start()
	n.awaitAway("two", "")
	until(650)

	n.machines[2].Stun() // its workers go on, and their jobs go to others
	n.awaitAway("three", "its engine has not answered")
	n.controls("PATCH", "/one", map[string]any{"draining": false}, 200)
	until(800)
	n.machines[2].Wake()
	n.awaitAway("three", "")
	n.restart()
	n.controls("DELETE", "/two", nil, 204)
	until(jobsInAll)

	f.requireDone(jobs)
	t.Logf("%v jobs lost a worker", f.send("GET", "health", "")["jobs"].(map[string]any)["retried"])
	require.Eventually(t, func() bool { return f.workers()["total"] == 0.0 }, time.Minute, 100*time.Millisecond)
	require.Eventually(t, func() bool { return len(n.left()) == 0 }, time.Minute, 100*time.Millisecond, "%v", n.left())
	require.Equal(t, 9, most)
}

// containers gives the names of those of this server on all machines whose engines answer.
func (n *navy) containers() (all []string) {
	for _, m := range n.machines {
		all = append(all, m.Up(n.owner)...)
	}
	return all
}

func (n *navy) left() (all []string) {
	for _, m := range n.machines {
		all = append(all, m.Left(n.owner)...)
	}
	return all
}

// pod creates a pod of the player and gives its path.
func (n *navy) pod(members string, steps ...string) string {
	n.Helper()
	status, made := call(n.T, "POST", n.url+"/v2/pods", n.key, n.podBody(members, steps...))
	require.Equal(n, 201, status, made)
	return "/v2/pods/" + made["id"].(string)
}

func (n *navy) podBody(members string, steps ...string) string {
	args := shellquote.Join(append(steps, "web 8080", "stay")...)
	return `{"name":"p","image":"` + dockertest.Player(n.T) + `","args":"` + args + `","disk":1` + members + `}`
}

func (n *navy) await(path, status string) (pod map[string]any) {
	n.Helper()
	require.EventuallyWithT(n, func(c *assert.CollectT) {
		_, pod = call(n.T, "GET", n.url+path, n.key, "")
		assert.Equal(c, status, pod["status"], pod)
	}, time.Minute, 200*time.Millisecond)
	return pod
}

// system gives what berth wrote in the log of a pod, as of now.
func (n *navy) system(path string) string {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.Context(), time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", n.url+path+"/logs?source=system", nil)
	require.NoError(n, err)
	req.Header.Set("Authorization", "Bearer "+n.key)
	response, err := http.DefaultClient.Do(req)
	require.NoError(n, err)
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(response.Body) // until the time is over: the log goes on
	return string(text)
}

// act asks for an action and gives the answer.
func (n *navy) act(path, action string) (int, map[string]any) {
	return call(n.T, "POST", n.url+path+"/action", n.key, `{"action":"`+action+`"}`)
}

const cpuPod = `,"cpu":{"id":"cpu3g","vcpuCount":2}`

func TestEngines_PodsOfALostHost(t *testing.T) {
	n := newNavy(t)
	n.controls("PATCH", "/one", map[string]any{"draining": true}, 200)
	moves := n.pod(cpuPod)
	n.await(moves, "RUNNING")
	status, volume := call(t, "POST", n.url+"/v2/network-volumes", n.key, `{"name":"v","size":10,"dataCenter":"EU-RO-1"}`)
	require.Equal(t, 201, status, volume)
	mounts := fmt.Sprintf(`%s,"mounts":{"network":[{"volumeId":"%s","path":"/kept"}]}`, cpuPod, volume["id"])
	first := n.pod(mounts, "read /kept/x", "write /kept/x one")
	n.await(first, "RUNNING")
	n.controls("PATCH", "/one", map[string]any{"draining": false}, 200)
	n.controls("PATCH", "/two", map[string]any{"draining": true}, 200)

	status, refusal := call(t, "POST", n.url+"/v2/pods", n.key, n.podBody(mounts))
	require.Equal(t, 400, status, refusal)
	require.Contains(t, refusal["detail"], "on the host that holds its data")
	status, refusal = call(t, "POST", n.url+"/v2/pods", n.key, n.podBody(`,"gpu":{"id":"NVIDIA L4"},"globalNetworking":true`))
	require.Equal(t, 400, status, refusal)
	require.Contains(t, refusal["detail"], "globalNetworking: hosts of this fleet have engines of their own")

	n.machines[1].Stun() // the containers go on
	n.await(moves, "ERROR")
	require.Contains(t, n.system(moves), "pod is ERROR: its container ended: its host two is lost: its engine has not answered for")
	n.await(first, "ERROR")
	status, refusal = n.act(first, "start")
	require.Equal(t, 400, status, refusal)
	require.Contains(t, refusal["detail"], "on the host that holds its data")
	status, _ = n.act(moves, "start")
	require.Equal(t, 200, status)
	elsewhere := n.await(moves, "RUNNING")
	require.Len(t, n.machines[0].Up(n.owner), 1)

	n.restart() // and it does not know any more what was where
	require.Equal(t, elsewhere["startedAt"], n.await(moves, "RUNNING")["startedAt"])
	require.Contains(t, n.away("two"), "its engine")
	n.machines[1].Wake()
	n.awaitAway("two", "")
	require.Empty(t, n.machines[1].Up(n.owner), "both have ended before anything is placed there")
	require.Len(t, n.machines[0].Up(n.owner), 1)

	n.controls("PATCH", "/two", map[string]any{"draining": false}, 200)
	status, _ = n.act(first, "start")
	require.Equal(t, 200, status)
	n.await(first, "RUNNING")
	s := &shore{T: t, url: n.url, path: first, key: n.key}
	lines, _ := s.logs("", "/kept/x: one")
	require.Equal(t, []string{"/kept/x: one"}, lines, "its volume is there")

	for _, path := range []string{first, moves} {
		status, _ := call(t, "DELETE", n.url+path, n.key, "")
		require.Equal(t, 204, status)
	}
	require.Eventually(t, func() bool { return len(n.machines[1].Up(n.owner)) == 0 }, time.Minute, 50*time.Millisecond)
	status, answer := call(t, "DELETE", n.url+"/v2/network-volumes/"+volume["id"].(string), n.key, "")
	require.Equal(t, 204, status, answer)
	require.Eventually(t, func() bool { return len(n.left()) == 0 }, 2*time.Minute, 50*time.Millisecond)
}

func TestEngines_AreAskedWhatTheirHostsHave(t *testing.T) {
	n := newNavy(t)
	n.controls("POST", "", map[string]any{"id": "three", "engine": n.machines[2].Address, "dataCenterId": "EU-RO-1"}, 400) // without a disk
	n.controls("POST", "", map[string]any{"id": "three", "engine": n.machines[1].Address, "dataCenterId": "EU-RO-1", "diskGb": 50}, 400)
	n.controls("POST", "", map[string]any{"id": "three", "engine": "tcp://192.0.2.1:2375", "dataCenterId": "EU-RO-1", "diskGb": 50}, 201)
	require.Contains(t, n.away("three"), "engine")
	n.controls("DELETE", "/three", nil, 204)
	for _, engine := range []string{"http://127.0.0.1:1", "box", "tcp://192.0.2.1"} {
		answer := n.controls("POST", "", map[string]any{"id": "three", "engine": engine, "dataCenterId": "EU-RO-1", "diskGb": 50}, 400)
		require.Contains(t, answer["detail"], "engine")
	}

	n.controls("POST", "", map[string]any{"id": "three", "engine": n.machines[2].Address, "dataCenterId": "EU-RO-1", "diskGb": 50}, 201)
	n.awaitAway("three", "")
	for _, one := range n.controls("GET", "", nil, 200)["hosts"].([]any) {
		if h := one.(map[string]any); h["id"] == "three" {
			require.Equal(t, "NVIDIA L4", h["gpu"])
			require.EqualValues(t, 2, h["gpuCount"])
			require.Equal(t, []any{"GPU-1", "GPU-2"}, h["gpuDevices"])
			require.Equal(t, "12.8", h["cudaVersion"])
			require.Positive(t, h["vcpus"])
			require.Contains(t, h["cpus"], "cpu3g")
		}
	}

	path := n.pod(`,"gpu":{"id":"NVIDIA L4","count":2},"ports":["8080/http"]`)
	pod := n.await(path, "RUNNING")
	require.Len(t, n.machines[2].Up(n.owner), 1)
	s := &shore{T: t, engine: n.machines[2].Client, owner: n.owner, pod: strings.TrimPrefix(path, "/v2/pods/")}
	id, _ := s.container()
	require.Equal(t, []string{"GPU-1", "GPU-2"}, s.devices(id))
	s.web(pod, "here")
	status, _ := call(t, "DELETE", n.url+path, n.key, "")
	require.Equal(t, 204, status)
	require.Eventually(t, func() bool { return len(n.left()) == 0 }, time.Minute, 50*time.Millisecond)
}

// TestEngines_PortsAndShellsOfEachHost asks pods on hosts that are reached by SSH, by TCP and by a socket alike.
func TestEngines_PortsAndShellsOfEachHost(t *testing.T) {
	n := newNavy(t)
	n.controls("POST", "", n.host("three"), 201)
	for i, id := range []string{"one", "two", "three"} {
		for _, other := range []string{"one", "two", "three"} {
			n.controls("PATCH", "/"+other, map[string]any{"draining": other != id}, 200)
		}
		n.awaitAway(id, "")
		path := n.pod(`,"ports":["8080/http","8081/http"]` + cpuPod)
		n.await(path, "RUNNING")
		require.Len(t, n.machines[i].Up(n.owner), 1)

		pod := strings.TrimPrefix(path, "/v2/pods/")
		ask := func(port string) (int, string) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.url+"/asked", http.NoBody)
			require.NoError(t, err)
			req.Host = pod + "-" + port + ".localhost"
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			defer func() { _ = res.Body.Close() }()
			text, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return res.StatusCode, string(text)
		}
		require.Eventually(t, func() bool { status, _ := ask("8080"); return status == 200 }, time.Minute, 100*time.Millisecond, id)
		began := time.Now()
		for range 20 {
			status, text := ask("8080")
			require.Equal(t, 200, status, text)
		}
		t.Logf("20 requests to a pod on %s: %s", n.machines[i].Address, time.Since(began))
		status, _ := ask("8081")
		require.Equal(t, 502, status, "nothing listens")

		status, _ = call(t, "DELETE", n.url+path, n.key, "")
		require.Equal(t, 204, status)
	}
	require.Eventually(t, func() bool { return len(n.left()) == 0 }, 2*time.Minute, 50*time.Millisecond)
}
