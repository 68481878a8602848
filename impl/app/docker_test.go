package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/store/sqlite"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(role); text != "" {
		var p part
		err := json.Unmarshal([]byte(text), &p)
		if err == nil {
			err = p.play()
		}
		fmt.Println(err)
		os.Exit(1)
	}
	if address := os.Getenv(asWeb); address != "" {
		fmt.Println(playWeb(address))
		os.Exit(1)
	}
	if dir := os.Getenv(asOther); dir != "" {
		if err := startAsOther(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(asWorker) != "" {
		doSteps()
	}
	if os.Getenv(asServing) != "" {
		fmt.Println(serveRequests())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// shore is a pod as its user sees it, and its container as the engine sees it.
type shore struct {
	*testing.T
	engine    *client.Client
	owner     string
	url, key  string
	pod, path string
}

// await waits until the pod has the status. An engine that makes hundreds of containers for other tests takes minutes.
func (s *shore) await(status string) (pod map[string]any) {
	s.Helper()
	require.Eventually(s, func() bool {
		_, pod = call(s.T, "GET", s.url+s.path, s.key, "")
		return pod["status"] == status
	}, 5*time.Minute, 50*time.Millisecond)
	return pod
}

// measured waits until it is known what the pod uses: a measurement that an engine under load does not answer comes again in 5 seconds.
func (s *shore) measured() {
	s.Helper()
	require.Eventually(s, func() bool {
		_, pod := call(s.T, "GET", s.url+s.path, s.key, "")
		use := pod["runtime"].(map[string]any)
		cpu, _ := use["cpu"].(map[string]any)
		memory, _ := use["memory"].(map[string]any)
		return cpu["util"] != nil && memory["util"] != nil
	}, time.Minute, 50*time.Millisecond, "what the pod uses is measured")
}

func (s *shore) act(action string) {
	s.Helper()
	status, answer := call(s.T, "POST", s.url+s.path+"/action", s.key, `{"action":"`+action+`"}`)
	require.Equal(s, 200, status, answer)
}

// container gives the engine's id of the pod's container, empty if there is none, and whether it runs.
func (s *shore) container() (id string, running bool) {
	found, err := s.engine.ContainerInspect(context.Background(), "berth-"+s.owner+"-"+s.pod, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return "", false
	}
	require.NoError(s, err)
	return found.Container.ID, found.Container.State.Running
}

// web gives where the pod's first port is published, and asks it for a path.
func (s *shore) web(pod map[string]any, path string) {
	s.Helper()
	port := pod["runtime"].(map[string]any)["ports"].([]any)[0].(map[string]any)
	require.EqualValues(s, 8080, port["private"])
	address := fmt.Sprintf("http://%s:%v/%s", port["ip"], port["public"], path)
	require.Eventually(s, func() bool {
		response, err := http.Get(address)
		if err != nil {
			return false
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		return err == nil && string(text) == "ok"
	}, 20*time.Second, 50*time.Millisecond, address)
}

// shown asks the pod's first port for a path as the proxy shows it, until the answer has the status, and gives that.
func (s *shore) shown(path string, status int) (text string) {
	s.Helper()
	require.Eventually(s, func() bool {
		req, err := http.NewRequestWithContext(context.Background(), "GET", s.url+"/"+path, nil)
		require.NoError(s, err)
		req.Host = s.pod + "-8080.localhost"
		res, err := http.DefaultClient.Do(req)
		require.NoError(s, err)
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		text = string(body)
		return err == nil && res.StatusCode == status
	}, 20*time.Second, 50*time.Millisecond)
	return text
}

// logs reads what the container wrote, up to a line, and gives the lines and the id of the last event.
func (s *shore) logs(after, until string) (lines []string, id string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+s.path+"/logs?source=container", nil)
	require.NoError(s, err)
	req.Header.Set("Authorization", "Bearer "+s.key)
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	response, err := http.DefaultClient.Do(req)
	require.NoError(s, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(s, 200, response.StatusCode)
	for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
		name, text, _ := strings.Cut(scanner.Text(), ": ")
		switch name {
		case "id":
			id = text
		case "data":
			var event struct{ Line string }
			require.NoError(s, json.Unmarshal([]byte(text), &event))
			if lines = append(lines, event.Line); event.Line == until {
				return lines, id
			}
		}
	}
	require.Fail(s, "the log ended", "%q before %q", lines, until)
	return nil, ""
}

// devices gives the GPUs that the engine gave the container.
func (s *shore) devices(container string) (ids []string) {
	found, err := s.engine.ContainerInspect(context.Background(), container, client.ContainerInspectOptions{})
	require.NoError(s, err)
	for _, r := range found.Container.HostConfig.DeviceRequests {
		require.Equal(s, [][]string{{"gpu"}}, r.Capabilities)
		ids = append(ids, r.DeviceIDs...)
	}
	return ids
}

// ownKey gives the key that the container has in its environment.
func (s *shore) ownKey(container string) string {
	found, err := s.engine.ContainerInspect(context.Background(), container, client.ContainerInspectOptions{})
	require.NoError(s, err)
	for _, variable := range found.Container.Config.Env {
		if key, is := strings.CutPrefix(variable, "RUNPOD_API_KEY="); is {
			return key
		}
	}
	require.Fail(s, "the container has no key")
	return ""
}

// opens asserts how a key for the pod is answered.
func (s *shore) opens(key string, want int) {
	s.Helper()
	status, _ := call(s.T, "GET", s.url+s.path, key, "")
	require.Equal(s, want, status)
}

// left gives what the engine has of this owner.
func (s *shore) left() (names []string) {
	filters := make(client.Filters).Add("label", "dev.berth.owner="+s.owner)
	containers, err := s.engine.ContainerList(context.Background(), client.ContainerListOptions{All: true, Filters: filters})
	require.NoError(s, err)
	for _, one := range containers.Items {
		names = append(names, one.Names...)
	}
	volumes, err := s.engine.VolumeList(context.Background(), client.VolumeListOptions{Filters: filters})
	require.NoError(s, err)
	for _, one := range volumes.Items {
		names = append(names, one.Name)
	}
	networks, err := s.engine.NetworkList(context.Background(), client.NetworkListOptions{Filters: filters})
	require.NoError(s, err)
	for _, one := range networks.Items {
		names = append(names, one.Name)
	}
	return names
}

func TestDocker_PodIsARealContainerThatOutlivesBerth(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	t.Run("a CPU pod with a network volume", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		own(t, dir, owner+"-cpu")
		b := serve(t, dir)
		status, volume := call(t, "POST", b.url+"/v2/network-volumes", b.key, `{"name":"v","size":10,"dataCenter":"EU-RO-1"}`)
		require.Equal(t, 201, status, volume)
		s := &shore{T: t, engine: engine, owner: owner + "-cpu", url: b.url, key: b.key}
		s.live(dir, b, map[string]any{
			"cpu":    map[string]any{"id": "cpu3g", "vcpuCount": 2},
			"mounts": map[string]any{"network": []any{map[string]any{"volumeId": volume["id"], "path": "/kept"}}},
		})
		status, answer := call(t, "DELETE", s.url+"/v2/network-volumes/"+volume["id"].(string), s.key, "")
		require.Equal(t, 204, status, answer)
		s.nothingLeft()
	})
	t.Run("a GPU pod with a persistent mount", func(t *testing.T) {
		t.Parallel()
		if !givesGPUs(t, engine) {
			t.Skip("SKIPPED: this engine cannot give GPUs")
		}
		dir := t.TempDir()
		own(t, dir, owner+"-gpu")
		b := serve(t, dir)
		s := &shore{T: t, engine: engine, owner: owner + "-gpu", url: b.url, key: b.key}
		s.live(dir, b, map[string]any{
			"gpu":    map[string]any{"id": "NVIDIA L4", "count": 2},
			"mounts": map[string]any{"persistent": map[string]any{"size": 10, "path": "/kept"}},
		}, "0", "1")
		s.nothingLeft()
	})
}

// givesGPUs reports whether the engine has the NVIDIA runtime.
func givesGPUs(t *testing.T, engine *client.Client) bool {
	info, err := engine.Info(t.Context(), client.InfoOptions{})
	require.NoError(t, err)
	_, has := info.Info.Runtimes["nvidia"]
	return has
}

// own has what the berth over that new data directory makes in the engine carry the owner's name. A name without a database would
// be refused.
func own(t *testing.T, dir, owner string) {
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "runtime-owner"), []byte(owner), 0o600))
}

// nothingLeft waits until the engine has nothing of the owner any more.
func (s *shore) nothingLeft() {
	s.Helper()
	require.Eventually(s, func() bool { return len(s.left()) == 0 }, 5*time.Minute, 100*time.Millisecond, "nothing is left behind")
}

// live creates the pod, with what the body says of its hardware and of what it keeps at /kept, and leads it through its life.
// gpus are those that it must get.
func (s *shore) live(dir string, b *berth, body map[string]any, gpus ...string) {
	t := s.T
	maps.Copy(body, map[string]any{
		"name": "web", "image": dockertest.Image(), "ports": []string{"8080/http"},
		"args": `'read /kept/x' 'write /kept/x one' 'read /x' 'write /x one' 'env NAME' 'web 8080' 'say ready' stay`,
		"env":  map[string]string{"NAME": "first"},
	})
	text, err := json.Marshal(body)
	require.NoError(t, err)
	status, made := call(t, "POST", s.url+"/v2/pods", s.key, string(text))
	require.Equal(t, 201, status, made)
	s.pod = made["id"].(string)
	s.path = "/v2/pods/" + s.pod

	up := s.await("RUNNING")
	s.measured()
	s.web(up, "before")
	lines, last := s.logs("", "asked for /before")
	require.Equal(t, []string{"/kept/x: nothing", "/x: nothing", "NAME=first", "ready", "asked for /before"}, lines)
	first, running := s.container()
	require.True(t, running)
	require.Equal(t, gpus, s.devices(first), "those that it booked, and no others")
	key := s.ownKey(first)
	s.opens(key, 200)

	b.kill()
	s.web(up, "meanwhile")
	b = serve(t, dir)
	s.url = b.url
	again := s.await("RUNNING")
	require.Equal(t, up["startedAt"], again["startedAt"])
	same, _ := s.container()
	require.Equal(t, first, same, "the same container")
	s.opens(key, 200)
	lines, _ = s.logs(last, "asked for /meanwhile")
	require.Equal(t, []string{"asked for /meanwhile"}, lines, "none is lost, none comes twice")

	s.act("stop")
	require.Nil(t, s.await("EXITED")["runtime"])
	require.Eventually(t, func() bool { _, running := s.container(); return !running }, 30*time.Second, 50*time.Millisecond)
	require.Contains(t, s.shown("ended", 502), "EXITED")
	s.act("start")
	s.await("RUNNING")
	require.Equal(t, "ok", s.shown("after", 200))
	lines, _ = s.logs("", "asked for /after")
	require.Equal(t, []string{"/kept/x: one", "/x: nothing", "NAME=first", "ready", "asked for /after"}, lines, "the mount has its data, the container disk is wiped")
	second, _ := s.container()
	require.NotEqual(t, first, second)
	s.opens(key, 401)
	key = s.ownKey(second)
	s.opens(key, 200)

	status, _ = call(t, "DELETE", s.url+s.path, s.key, "")
	require.Equal(t, 204, status)
	s.opens(key, 401)
	require.Eventually(t, func() bool { id, _ := s.container(); return id == "" }, 30*time.Second, 50*time.Millisecond)
}

// makePod creates a pod with an address in a network of the engine where it can have one, and waits until it is RUNNING.
func (s *shore) makePod(body string) {
	s.Helper()
	status, made := call(s.T, "POST", s.url+"/v2/pods", s.key, body)
	require.Equal(s, 201, status, made)
	s.pod = made["id"].(string)
	s.path = "/v2/pods/" + s.pod
}

func stayingPod() string {
	return `{"name":"p","image":"` + dockertest.Image() + `","args":"stay","cpu":{"id":"cpu3g","vcpuCount":2}}`
}

func TestDocker_StopsContainersThoughBerthStopsAtOnce(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	c := app.Config{Data: t.TempDir(), Runtime: "docker"}
	own(t, c.Data, owner)
	s := &shore{T: t, engine: engine, owner: owner}
	for range 4 {
		server := start(t, c)
		s.url = server.URL()
		if s.key == "" {
			s.key = server.FirstKey()
		}
		s.makePod(stayingPod())
		deleted := *s
		s.await("RUNNING")
		s.makePod(stayingPod())
		stopped := *s
		s.await("RUNNING")
		stopped.act("stop")
		status, _ := call(t, "DELETE", s.url+deleted.path, s.key, "")
		require.Equal(t, 204, status)
		require.NoError(t, server.Close())
		id, _ := deleted.container()
		require.Empty(t, id)
		_, running := stopped.container()
		require.False(t, running)
	}
}

func TestDocker_FindsWhatAKilledBerthLeft(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	dir := t.TempDir()
	own(t, dir, owner)
	b := serve(t, dir)
	s := &shore{T: t, engine: engine, owner: owner, key: b.key}
	for round := range 6 {
		s.url = b.url
		s.makePod(stayingPod())
		if round%2 == 0 { // in the middle of its start, or before, or after
			<-time.After(time.Duration(round) * 60 * time.Millisecond)
		} else {
			s.await("RUNNING")
		}
		status, _ := call(t, "DELETE", s.url+s.path, s.key, "")
		require.Equal(t, 204, status)
		b.kill()
		b = serve(t, dir)
		require.Eventually(t, func() bool { return len(s.left()) == 0 }, 90*time.Second, 50*time.Millisecond)
	}
}

func TestDocker_ContainersAreNotForgottenUnderAnotherRuntime(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	c := app.Config{Data: t.TempDir(), Runtime: "docker"}
	own(t, c.Data, owner)
	s := &shore{T: t, engine: engine, owner: owner}
	server := start(t, c)
	s.url, s.key = server.URL(), server.FirstKey()
	s.makePod(stayingPod())
	deleted := *s
	s.await("RUNNING")
	s.makePod(stayingPod())
	kept := *s
	s.await("RUNNING")
	before, _ := kept.container()
	require.NoError(t, server.Close())

	c.Runtime = "sim"
	server = start(t, c)
	status, _ := call(t, "DELETE", server.URL()+deleted.path, s.key, "")
	require.Equal(t, 204, status)
	require.NoError(t, server.Close())
	server = start(t, c)
	require.Eventually(t, func() bool { id, _ := deleted.container(); return id == "" }, 30*time.Second, 50*time.Millisecond)
	same, running := kept.container()
	require.Equal(t, before, same)
	require.True(t, running, "its pod lasts")
	require.NoError(t, server.Close())

	c.Runtime = "docker"
	server = start(t, c)
	kept.url = server.URL()
	kept.await("RUNNING")
	same, _ = kept.container()
	require.Equal(t, before, same, "it is taken up again")
	status, _ = call(t, "DELETE", server.URL()+kept.path, s.key, "")
	require.Equal(t, 204, status)
	require.NoError(t, server.Close())
	require.Empty(t, s.left())
}

func TestDocker_PodSaysThatThereIsNoGPU(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	c := app.Config{Data: t.TempDir(), Runtime: "docker"}
	own(t, c.Data, owner)
	server := start(t, c)
	s := &shore{T: t, engine: engine, owner: owner, url: server.URL(), key: server.FirstKey()}
	status, made := call(t, "POST", s.url+"/v2/pods", s.key, `{"name":"g","image":"`+dockertest.Image()+`","gpu":{"id":"NVIDIA L4"},"globalNetworking":true}`)
	require.Equal(t, 201, status, made)
	s.path = "/v2/pods/" + made["id"].(string)
	if givesGPUs(t, engine) {
		t.Skip("SKIPPED: this engine can give GPUs")
	}
	s.await("ERROR")
	_, answer := call(t, "POST", s.url+"/graphql", s.key, `{"query":"{pod(input:{podId:\"`+made["id"].(string)+`\"}){lastStatusChange}}"}`)
	require.Contains(t, answer["data"].(map[string]any)["pod"].(map[string]any)["lastStatusChange"], "there is no GPU runtime on this host")
	status, _ = call(t, "DELETE", s.url+s.path, s.key, "")
	require.Equal(t, 204, status)
	require.NoError(t, server.Close())
}

func TestStart_RefusesWrongSettingsOfRuntimes(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]app.Config{
		`runtime "podman": it must be sim, docker, kubernetes or process`:                    {Runtime: "podman"},
		`pull "often": it must be if-absent, always or never`:                                {Runtime: "docker", RuntimeSettings: setting.Values{"pull": {"often"}}},
		`process-accept "all": it must be args, commands, env or env:NAME`:                   {RuntimeSettings: setting.Values{"process-accept": {"args", "all"}}},
		`runtime "process": the test controls need a runtime that simulates: it must be sim`: {Runtime: "process", TestControls: true},
		`publish-on "here": ParseAddr("here"): unable to parse IP`:                           {Runtime: "docker", RuntimeSettings: setting.Values{"publish-on": {"here"}}},
	} {
		c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
		_, err := app.Start(t.Context(), c)
		require.EqualError(t, err, want)
	}
}

func TestProcesses_PodRunsTheCommandOfAnEndpoint(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{
		Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{{Name: "sleeper", Command: []string{"sleep"}}}, RuntimeSettings: setting.Values{"process-accept": {"args"}},
	})
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
