package record_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/record"
	"github.com/berthdev/berth/spec"
)

// serving starts a server.
func serving(t *testing.T) *app.Server {
	s, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Listen: "127.0.0.1:0"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func parsed(t *testing.T, address string) *url.URL {
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}

// recorder starts a proxy in front of the upstream, and gives its address and that of the file.
func recorder(t *testing.T, upstream string, s record.Settings) (address, file string) {
	file = filepath.Join(t.TempDir(), "recording.jsonl")
	w, err := record.Create(file, upstream, time.Now())
	require.NoError(t, err)
	s.Upstream = record.Upstream{REST: parsed(t, upstream)}
	proxy, err := record.NewRecorder(s, w)
	require.NoError(t, err)
	front := httptest.NewServer(proxy)
	t.Cleanup(func() {
		front.Close()
		require.NoError(t, w.Close())
	})
	return front.URL, file
}

func loaded(t *testing.T, file string) *record.Recording {
	r, err := record.Load(file)
	require.NoError(t, err)
	return r
}

// player starts one of the recording.
func player(t *testing.T, file string) string {
	p, err := record.NewPlayer(loaded(t, file))
	require.NoError(t, err)
	front := httptest.NewServer(p)
	t.Cleanup(front.Close)
	return front.URL
}

// client sends requests to an address and notes the answers.
type client struct {
	*testing.T
	address, key string
	got          []string
}

// send sends a request and gives the body of its answer as an object.
func (c *client) send(method, path, body string) (object map[string]any) {
	req, err := http.NewRequestWithContext(c.Context(), method, c.address+path, strings.NewReader(body))
	require.NoError(c, err)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(c, err)
	require.NoError(c, res.Body.Close())
	c.got = append(c.got, method+" "+path+" "+res.Status+" "+string(text))
	_ = json.Unmarshal(text, &object) // it may be none
	return object
}

// id sends a request that makes something, and gives its id.
func (c *client) id(path, body string) string {
	made := c.send("POST", path, body)
	id, ok := made["id"].(string)
	require.True(c, ok, "%s: %v", path, made)
	return id
}

// becomes reads a resource until it has the status.
func (c *client) becomes(path, status string) {
	require.Eventually(c, func() bool { return c.send("GET", path, "")["status"] == status }, 20*time.Second, 50*time.Millisecond)
}

// session does what a client does: pods, templates, volumes, endpoints, jobs, GraphQL, and what is refused.
func (c *client) session() {
	pod := c.id("/v2/pods", `{"name":"first","image":"ubuntu:24.04","cpu":{"id":"cpu3g","vcpuCount":2},"env":{"API_TOKEN":"hunter22","SEEN":"1"},"ports":["8888/http","22/tcp"]}`)
	c.becomes("/v2/pods/"+pod, "RUNNING")
	c.send("PATCH", "/v2/pods/"+pod, `{"name":"renamed"}`)
	gpu := c.id("/v2/pods", `{"name":"second","image":"cuda","gpu":{"id":"NVIDIA L4","count":1}}`)
	c.becomes("/v2/pods/"+gpu, "RUNNING")
	c.send("GET", "/v2/pods?limit=1", "")
	c.send("POST", "/v2/pods/"+pod+"/action", `{"action":"stop"}`)
	c.becomes("/v2/pods/"+pod, "EXITED")
	c.send("GET", "/v2/pods", "")

	template := c.id("/v2/templates", `{"name":"mine","image":"ubuntu:24.04","serverless":false}`)
	c.send("GET", "/v2/templates/"+template, "")
	volume := c.id("/v2/network-volumes", `{"name":"data","size":20,"dataCenter":"US-KS-2"}`)
	c.send("PATCH", "/v2/network-volumes/"+volume, `{"size":30}`)
	registry := c.id("/v2/registries", `{"name":"private","username":"somebody","password":"hunter22"}`)

	endpoint := c.id("/v2/serverless", `{"name":"own","type":"QUEUE","image":"none","cpu":[{"id":"cpu3g","vcpuCount":2}],"workers":{"max":0},"timeout":600000,"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`)
	queue := "/v2/" + endpoint + "/"
	job := c.id(queue+"run", `{"input":{"n":1.50}}`)
	c.send("GET", queue+"status/"+job, "")
	require.Equal(c, job, c.send("GET", queue+"job-take/w?job_in_progress=0", "")["id"])
	c.send("POST", queue+"job-done/w/"+job, `{"output":{"list":["a","b"],"sum":3}}`)
	c.send("GET", queue+"status/"+job, "")
	other := c.id(queue+"run", `{"input":{}}`)
	c.send("POST", queue+"cancel/"+other, "")
	c.send("GET", queue+"health", "")

	query := func(document string) { c.send("POST", "/graphql", `{"query":`+quoted(document)+`}`) }
	query(`query { pod(input: {podId: "` + gpu + `"}) { id name desiredStatus costPerHr } }`)
	query(`mutation { podStop(input: {podId: "` + gpu + `"}) { id desiredStatus } }`)
	query(`mutation { secretCreate(input: {name: "s", value: "hunter22"}) { id name } }`)
	query(`query { nothing }`)

	c.send("POST", "/v2/pods", `{"name":"","image":"i"}`)
	c.send("GET", "/v2/pods/nosuchpod", "")
	c.send("PUT", "/v2/pods", `{}`)
	c.send("GET", "/v2/nothing", "")
	c.send("POST", "/v2/templates", `{`)
	stranger := &client{T: c.T, address: c.address}
	stranger.send("GET", "/v2/pods", "")
	stranger.key = "brt_not_a_key"
	stranger.send("GET", "/v2/pods", "")
	c.got = append(c.got, stranger.got...)

	for _, path := range []string{"/v2/serverless/" + endpoint, "/v2/registries/" + registry, "/v2/network-volumes/" + volume, "/v2/templates/" + template, "/v2/pods/" + gpu, "/v2/pods/" + pod} {
		c.send("DELETE", path, "")
	}
	c.send("GET", "/v2/pods/"+pod, "")
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// target is a server to send requests to.
func target(t *testing.T, address, key string) *record.Target {
	return &record.Target{Upstream: record.Upstream{REST: parsed(t, address)}, Key: key}
}

// rulesOf are those of the conformance suite.
func rulesOf(t *testing.T) func(string) []record.Rule {
	documented, err := spec.Rules()
	require.NoError(t, err)
	says := map[string]string{}
	for _, r := range documented {
		says[r.ID] = r.Says
	}
	return func(edition string) (all []record.Rule) {
		rules, err := conformance.RulesOf(edition)
		require.NoError(t, err)
		for _, r := range rules {
			all = append(all, record.Rule{ID: r.ID, Says: says[r.ID], Operations: r.Ops})
		}
		return all
	}
}

func TestRecording_PlaysBackAndComparesWithoutDifferences(t *testing.T) {
	t.Parallel()
	server := serving(t)
	address, file := recorder(t, server.URL(), record.Settings{})
	live := &client{T: t, address: address, key: server.FirstKey()}
	live.session()

	again := &client{T: t, address: player(t, file), key: "any"}
	again.session()
	require.Equal(t, masked(live.got), masked(again.got))

	left, right := serving(t), serving(t)
	c := &record.Comparison{Left: target(t, left.URL(), left.FirstKey()), Right: target(t, right.URL(), right.FirstKey()), Patience: 20 * time.Second, Rules: rulesOf(t)}
	report, err := c.Run(t.Context(), loaded(t, file))
	require.NoError(t, err)
	require.Empty(t, report.Differences)
	require.Greater(t, report.Compared, 35)

	third := serving(t)
	c.Left, c.Right = nil, target(t, third.URL(), third.FirstKey())
	report, err = c.Run(t.Context(), loaded(t, file))
	require.NoError(t, err)
	require.Empty(t, report.Differences)
}

// masked gives answers as a recording has them: the variable whose name says that it is secret is not.
func masked(all []string) (same []string) {
	for _, one := range all {
		same = append(same, strings.ReplaceAll(one, "hunter22", "***"))
	}
	return same
}
