package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/app"
)

func start(t *testing.T, c app.Config) *app.Server {
	c.Listen = "127.0.0.1:0"
	s, err := app.Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() }) // before its directory goes: it ends with the test by itself, but nobody waits for that
	return s
}

// loadDocuments loads them once: it takes a while.
var loadDocuments = sync.OnceValues(func() (*conformance.Documents, error) { return conformance.LoadDocuments("") })

func call(t *testing.T, method, url, key, body string) (int, map[string]any) {
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)

	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	documents, err := loadDocuments()
	require.NoError(t, err)

	documents.Check(t, req, conformance.Answer{Status: res.StatusCode, Header: res.Header, Body: text})
	var document map[string]any
	_ = json.Unmarshal(text, &document)
	return res.StatusCode, document
}

func TestServer_FirstKey_IsShownOnceAndStoredHashed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, app.Config{Data: dir})
	key := s.FirstKey()
	require.NotEmpty(t, key)
	require.NoError(t, s.Close())

	for _, name := range []string{"berth.db", "berth.db-wal"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if !os.IsNotExist(err) {
			require.NoError(t, err)
			require.NotContains(t, string(text), key)
			require.False(t, bytes.Contains(text, []byte(key[len(key)-40:])))
		}
	}

	s = start(t, app.Config{Data: dir})
	require.Empty(t, s.FirstKey())
	status, _ := call(t, "GET", s.URL()+"/v2/pods", key, "")
	require.Equal(t, 200, status)
	require.NoError(t, s.Close())
}

func TestServer_PodsJobsAndEndpointsOutliveARestart(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{{Name: "one"}}}
	s := start(t, c)
	key, endpoint := s.FirstKey(), string(s.Endpoints()["one"])
	_, pod := call(t, "POST", s.URL()+"/v2/pods", key, `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	_, job := call(t, "POST", s.URL()+"/v2/"+endpoint+"/run", key, `{"input":{}}`)
	require.NoError(t, s.Close())

	s = start(t, c)
	require.Equal(t, endpoint, string(s.Endpoints()["one"]))
	status, again := call(t, "GET", s.URL()+"/v2/pods/"+pod["id"].(string), key, "")
	require.Equal(t, 200, status)
	require.Equal(t, pod["createdAt"], again["createdAt"])

	_, document := call(t, "GET", s.URL()+"/v2/"+endpoint+"/status/"+job["id"].(string), key, "")
	require.Equal(t, "IN_QUEUE", document["status"])
	require.NoError(t, s.Close())
}

func TestServer_SecondAddressServesTheQueue(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), QueueListen: "127.0.0.1:0", Endpoints: []app.Endpoint{{Name: "one"}}})
	require.NotEqual(t, s.URL(), s.QueueURL())
	status, _ := call(t, "GET", s.QueueURL()+"/v2/"+string(s.Endpoints()["one"])+"/health", s.FirstKey(), "")
	require.Equal(t, 200, status)
	require.NoError(t, s.Close())
}

func TestServer_Close_AnswersHeldRequests(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{{Name: "one"}}})
	type answer struct {
		status   int
		document map[string]any
	}
	answers := make(chan answer, 1)
	go func() {
		status, document := call(t, "POST", s.URL()+"/v2/"+string(s.Endpoints()["one"])+"/runsync", s.FirstKey(), `{"input":{}}`)
		answers <- answer{status, document}
	}()
	require.Eventually(t, func() bool {
		_, health := call(t, "GET", s.URL()+"/v2/"+string(s.Endpoints()["one"])+"/health", s.FirstKey(), "")
		return health["jobs"].(map[string]any)["inQueue"] == 1.0
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, s.Close())

	a := <-answers
	require.Equal(t, 200, a.status)
	require.Equal(t, "IN_QUEUE", a.document["status"])
}

func TestDirectory_ServesOneServerAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, app.Config{Data: dir, Version: "1.2.3"})
	_, err := app.Start(t.Context(), app.Config{Data: dir, Listen: "127.0.0.1:0"})
	require.EqualError(t, err, fmt.Sprintf("another berth is serving from %s: berth 1.2.3, process %d", dir, os.Getpid()))
	require.NoError(t, s.Close())
	require.NoError(t, start(t, app.Config{Data: dir}).Close())
}

func TestStart_AddressInUseCostsNoFirstKey(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir()})
	used := strings.TrimPrefix(s.URL(), "http://")

	free := "127.0.0.1:0"
	for _, c := range []app.Config{{Listen: used}, {Listen: free, QueueListen: used}, {Listen: free, MetricsListen: used}} {
		c.Data = t.TempDir()
		_, err := app.Start(t.Context(), c)
		require.ErrorContains(t, err, "address already in use")
		next := start(t, app.Config{Data: c.Data})
		require.NotEmpty(t, next.FirstKey(), "nobody has seen it")
		require.NoError(t, next.Close())
	}
	require.NoError(t, s.Close())
}

func TestServer_QuotasOutliveARestartAndKeysMayChange(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Quotas: app.Quotas{Day: 3}}
	s := start(t, c)
	key := s.FirstKey()
	for range 3 {
		status, _ := call(t, "GET", s.URL()+"/v2/pods", key, "")
		require.Equal(t, 200, status)
	}
	require.NoError(t, s.Close())

	s = start(t, c)
	status, problem := call(t, "GET", s.URL()+"/v2/pods", key, "")
	require.Equal(t, 429, status)
	require.Contains(t, problem["detail"], "each day")

	keys, err := app.OpenKeys(t.Context(), c.Data, "")
	require.NoError(t, err)
	made, exempt, err := keys.Create(t.Context(), app.NewKey("ci", []string{"rest:read"}, true, time.Hour))
	require.NoError(t, err)

	status, _ = call(t, "GET", s.URL()+"/v2/pods", exempt, "")
	require.Equal(t, 200, status, "at once")
	require.NoError(t, keys.Revoke(t.Context(), made.ID))
	require.Eventually(t, func() bool {
		status, _ := call(t, "GET", s.URL()+"/v2/pods", exempt, "")
		return status == 401
	}, 10*time.Second, 50*time.Millisecond)
	require.NoError(t, keys.Close())
	require.NoError(t, s.Close())
}

func TestServer_CatalogAndFleetHoldAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}

	c := app.Config{
		Data: t.TempDir(),
		Catalog: file("catalog.json", `{"dataCenters":[{"id":"HOME-1","name":"home","region":"EUROPE","country":"DE"}],
			"cpus":[{"id":"own","name":"own","memoryPerVcpuGb":2,"minVcpu":2,"maxVcpu":8,"pricePerVcpu":0.5}]}`),
		Fleet: file("fleet.json", `{"hosts":[{"id":"desk","dataCenterId":"HOME-1","cloud":"SECURE","cpus":["own"],"vcpus":4,"memoryGb":8,"diskGb":100}]}`),
	}

	const pod = `{"name":"a","image":"i","cpu":{"id":"own","vcpuCount":4}}`
	s := start(t, c)
	key := s.FirstKey()
	status, made := call(t, "POST", s.URL()+"/v2/pods", key, pod)
	require.Equal(t, 201, status)
	require.Equal(t, "HOME-1", made["dataCenterId"])
	require.InDelta(t, 2, made["cost"], 1e-9)
	require.NoError(t, s.Close())

	s = start(t, c)
	status, problem := call(t, "POST", s.URL()+"/v2/pods", key, pod)
	require.Equal(t, 400, status)
	require.Contains(t, problem["detail"], "nothing can hold the pod now")

	status, _ = call(t, "DELETE", s.URL()+"/v2/pods/"+made["id"].(string), key, "")
	require.Equal(t, 204, status)
	status, _ = call(t, "POST", s.URL()+"/v2/pods", key, pod)
	require.Equal(t, 201, status)
	require.NoError(t, s.Close())

	c.Fleet = file("fleet.json", `{"hosts":[{"id":"desk"}]}`)
	c.Listen = "127.0.0.1:0"
	_, err := app.Start(t.Context(), c)
	require.ErrorContains(t, err, `fleet.json: hosts[0].dataCenterId "" is not in the catalog`)
}

// lines is a log that several goroutines write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func TestServer_DoesNotLogTheKeyInAQuery(t *testing.T) {
	t.Parallel()
	var log lines
	s := start(t, app.Config{Data: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})

	secret := s.FirstKey()[len(s.FirstKey())-40:]
	for _, body := range []string{`{"query":"{myself{id}}"}`, `{"query":"{myself{"}`, `nonsense`} {
		for _, path := range []string{"/graphql", "/graphql/", "/nosuchpath"} {
			for _, method := range []string{"POST", "GET"} {
				_, _ = call(t, method, s.URL()+path+"?api_key="+s.FirstKey(), s.FirstKey(), body)
			}
		}
	}
	require.NoError(t, s.Close())

	require.Contains(t, log.text.String(), "/graphql")
	require.NotContains(t, log.text.String(), secret)
}
