package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// printing is a command that prints its environment, then stays.
var printing = app.Endpoint{Name: "printing", Command: []string{"sh", "-c", "env; echo that is all; exec sleep 1000"}}

const printingPod = `{"name":"a","image":"printing","cpu":{"id":"cpu3g","vcpuCount":2},"ports":["22/tcp"]}`

// variables waits until the run of the pod that comes after so many earlier ones has written its environment, and gives it.
func variables(t *testing.T, s *app.Server, key, pod string, earlier int) map[string]string {
	env := map[string]string{}
	lines := logLines(t, s, key, "/v2/pods/"+pod+"/logs?source=container&tail=5000", "that is all", earlier)
	for _, line := range lines[:len(lines)-1] {
		if name, value, is := strings.Cut(line, "="); is {
			env[name] = value
		}
		if line == "that is all" {
			clear(env)
		}
	}
	return env
}

// logLines reads a log up to a line that contains the text, and comes after so many earlier ones, and gives the lines.
func logLines(t *testing.T, s *app.Server, key, path, until string, earlier int) (lines []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+path, nil)
	require.NoError(t, err)

	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()

	for read := bufio.NewScanner(res.Body); read.Scan(); {
		text, isData := strings.CutPrefix(read.Text(), "data: ")
		if !isData {
			continue
		}
		var event struct{ Line string }
		require.NoError(t, json.Unmarshal([]byte(text), &event))

		if lines = append(lines, event.Line); strings.Contains(event.Line, until) {
			if earlier--; earlier < 0 {
				return lines
			}
		}
	}

	require.Fail(t, "the log has no line with: "+until, strings.Join(lines, "\n"))
	return nil
}

func TestProcesses_PodKeyIsForItsPodAndRun(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{printing}}
	s := start(t, c)
	all := s.FirstKey()
	_, made := call(t, "POST", s.URL()+"/v2/pods", all, printingPod)
	_, other := call(t, "POST", s.URL()+"/v2/pods", all, printingPod)
	id := made["id"].(string)
	at, otherAt := "/v2/pods/"+id, "/v2/pods/"+other["id"].(string)
	env := variables(t, s, all, id, 0)
	require.Equal(t, s.QueueURL(), env["RUNPOD_API_BASE_URL"])
	require.Equal(t, s.QueueURL()+"/v2", env["RUNPOD_ENDPOINT_BASE_URL"])
	require.Equal(t, made["dataCenterId"], env["RUNPOD_DC_ID"])
	require.Equal(t, []string{id, "0", "2", "22"}, []string{env["RUNPOD_POD_ID"], env["RUNPOD_GPU_COUNT"], env["RUNPOD_CPU_COUNT"], env["RUNPOD_TCP_PORT_22"]})

	key := env["RUNPOD_API_KEY"]
	status := func(method, path, key, body string) int {
		status, _ := call(t, method, s.URL()+path, key, body)
		return status
	}
	require.Equal(t, 200, status("GET", at, key, ""))
	require.Equal(t, 404, status("GET", otherAt, key, ""))
	require.Equal(t, 404, status("DELETE", otherAt, key, ""))
	require.Equal(t, 403, status("GET", "/v2/pods", key, ""))
	require.Equal(t, 403, status("POST", "/v2/pods", key, printingPod))
	require.Equal(t, 403, status("GET", "/v2/"+string(s.Endpoints()["printing"])+"/health", key, ""))
	require.Equal(t, 401, status("GET", at, strings.Replace(key, id, other["id"].(string), 1), ""), "it is not to be bent to another pod")

	require.Eventually(t, func() bool { // it has written its environment a moment before it is seen to run
		_, pod := call(t, "GET", s.URL()+at, key, "")
		return pod["status"] == "RUNNING"
	}, time.Minute, time.Millisecond)
	require.Equal(t, 200, status("POST", at+"/action", key, `{"action":"restart"}`))
	require.Equal(t, 401, status("GET", at, key, ""), "its run is over")

	next := variables(t, s, all, id, 1)["RUNPOD_API_KEY"]
	require.NotEqual(t, key, next)

	require.NoError(t, s.Close())
	s = start(t, c)
	require.Equal(t, 200, status("GET", at, next, ""), "it outlives a restart of the server")

	_, answer := call(t, "POST", s.URL()+"/graphql", next, `{"query":"mutation{podTerminate(input:{podId:\"`+id+`\"})}"}`)
	require.NotContains(t, answer, "errors")
	require.Equal(t, 401, status("GET", at, next, ""), "it ends with its pod")
	require.Equal(t, 404, status("GET", at, all, ""))
	require.Equal(t, 200, status("GET", otherAt, all, ""))
	require.NoError(t, s.Close())
}

func TestProcesses_PodKeysEndWithTheirSecret(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{printing}})
	_, made := call(t, "POST", s.URL()+"/v2/pods", s.FirstKey(), printingPod)
	key := variables(t, s, s.FirstKey(), made["id"].(string), 0)["RUNPOD_API_KEY"]
	another := start(t, app.Config{Data: t.TempDir()})
	status, document := call(t, "GET", another.URL()+"/v2/pods/"+made["id"].(string), key, "")
	require.Equal(t, 401, status)
	require.Equal(t, "invalid API key", document["detail"])
	require.NoError(t, another.Close())
	require.NoError(t, s.Close())
}

func TestProcesses_KeySetsOnlyWhatTheSettingsAccept(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{
		Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{printing, {Name: "own"}}, RuntimeSettings: setting.Values{"process-accept": {"env:LEVEL"}},
	})

	key := s.FirstKey()
	refused := func(method, path, body, words string) {
		status, document := call(t, method, s.URL()+path, key, body)
		require.Equal(t, 400, status, document)
		require.Contains(t, document["detail"], words)
	}

	with := func(members string) string { return strings.TrimSuffix(printingPod, "}") + "," + members + "}" }
	endpoint := func(members string) string {
		return `{"name":"e","type":"QUEUE","image":"printing","scaling":{"type":"QUEUE_DELAY","queueDelay":4},"workers":{"max":0},"cpu":[{"id":"cpu3g","vcpuCount":2}]` + members + `}`
	}
	_, pod := call(t, "POST", s.URL()+"/v2/pods", key, with(`"env":{"LEVEL":"3"}`))
	at := "/v2/pods/" + pod["id"].(string)
	_, made := call(t, "POST", s.URL()+"/v2/serverless", key, endpoint(`,"env":{"LEVEL":"3"}`))
	serverless := "/v2/serverless/" + made["id"].(string)
	require.Equal(t, "3", variables(t, s, key, pod["id"].(string), 0)["LEVEL"])

	const evil = `"env":{"LEVEL":"3","LD_PRELOAD":"/tmp/evil.so"}`
	refused("POST", "/v2/pods", with(evil), "env: this server runs processes of its own machine, in which LD_PRELOAD cannot be set")
	refused("POST", "/v2/pods", with(`"args":"-c id"`), "args: ")
	refused("POST", "/v2/pods", with(`"registry":"nosuch"`), "registry: ")
	refused("POST", "/v2/pods", strings.Replace(printingPod, "printing", "own", 1), `image: this server runs processes of its own machine, and "own" is none of its commands (printing)`)
	refused("POST", "/v2/pods", strings.Replace(printingPod, `"cpu":{"id":"cpu3g","vcpuCount":2}`, `"gpu":{"id":"NVIDIA L4"}`, 1), "gpu: ")
	refused("PATCH", at, `{`+evil+`}`, "LD_PRELOAD")
	refused("PATCH", at, `{"args":"x"}`, "args: ")
	refused("PATCH", at, `{"image":"/bin/sh"}`, "image: ")
	refused("POST", "/v2/serverless", endpoint(","+evil), "LD_PRELOAD")
	refused("POST", "/v2/serverless", endpoint(`,"args":"x"`), "args: ")
	refused("PATCH", serverless, `{`+evil+`}`, "LD_PRELOAD")
	refused("PATCH", serverless, `{"image":"/bin/sh"}`, "image: ")

	_, template := call(t, "POST", s.URL()+"/v2/templates", key, `{"name":"t","image":"printing","serverless":true,`+evil+`}`)
	refused("PATCH", serverless, `{"templateId":"`+template["id"].(string)+`"}`, "LD_PRELOAD")
	status, _ := call(t, "PATCH", s.URL()+at, key, `{"name":"b"}`)
	require.Equal(t, 200, status)

	status, _ = call(t, "PATCH", s.URL()+serverless, key, `{"workers":{"max":1}}`)
	require.Equal(t, 200, status)
	require.NoError(t, s.Close())
}

func TestEndpoint_DeclaredIsWhatTheSettingsSay(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{printing}}
	s := start(t, c)
	key, id := s.FirstKey(), s.Endpoints()["printing"]
	_, before := call(t, "GET", s.URL()+"/v2/serverless/"+string(id), key, "")
	require.NoError(t, s.Close())

	db, err := sqlite.Open(t.Context(), filepath.Join(c.Data, "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		e, err := tx.Endpoint(id)
		require.NoError(t, err)
		e.Image, e.Args, e.Env, e.TemplateID = "other", "-c id", map[string]string{"LD_PRELOAD": "/tmp/evil.so"}, "t"
		return tx.UpdateEndpoint(e)
	}))
	require.NoError(t, db.Close())

	s = start(t, c)
	_, after := call(t, "GET", s.URL()+"/v2/serverless/"+string(id), key, "")
	for _, port := range []map[string]any{before, after} {
		delete(port, "requestUrls")
	}
	require.Equal(t, before, after)
	require.NoError(t, s.Close())
}

func TestProcesses_HTTPPortOfAPodIsShown(t *testing.T) {
	t.Parallel()
	inPod := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			_, _ = io.WriteString(w, r.Host+r.RequestURI)
			return
		}
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n")
		_ = both.Flush()
		line, _ := both.ReadString('\n')
		_, _ = both.WriteString("you said " + line)
		_ = both.Flush()
	}))
	t.Cleanup(inPod.Close)

	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{printing}})
	key, port := s.FirstKey(), inPod.URL[strings.LastIndex(inPod.URL, ":")+1:] // a process has the ports of the machine
	own := s.URL()[strings.LastIndex(s.URL(), ":")+1:]
	_, made := call(t, "POST", s.URL()+"/v2/pods", key, strings.Replace(printingPod, "22/tcp", port+`/http","`+own+`/http`, 1))
	id := made["id"].(string)

	type answer struct{ *http.Response } // whose body is closed after the test
	ask := func(port string, header http.Header) answer {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/a?b", nil)
		require.NoError(t, err)
		req.Host, req.Header = id+"-"+port+".localhost", header
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return answer{res}
	}
	body := func(res answer) string {
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(text)
	}

	require.Eventually(t, func() bool { return body(ask(port, nil)) == id+"-"+port+".localhost/a?b" }, time.Minute, 10*time.Millisecond)
	require.Equal(t, http.StatusLoopDetected, ask(own, nil).StatusCode)

	upgraded := ask(port, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"lines"}})
	require.Equal(t, http.StatusSwitchingProtocols, upgraded.StatusCode)
	_, err := io.WriteString(upgraded.Body.(io.Writer), "hello\n")
	require.NoError(t, err)
	require.Equal(t, "you said hello\n", body(upgraded))

	status, _ := call(t, "POST", s.URL()+"/v2/pods/"+id+"/action", key, `{"action":"stop"}`)
	require.Equal(t, 200, status)
	stopped := ask(port, nil)
	require.Equal(t, 502, stopped.StatusCode)
	require.Contains(t, body(stopped), "EXITED")
}
