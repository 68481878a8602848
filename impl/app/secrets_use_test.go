package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

func TestSecrets_InTheEnvironmentOfWhatStarts(t *testing.T) {
	t.Parallel()
	c := app.Config{
		Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{printing}, RuntimeSettings: setting.Values{"process-accept": {"env:LEVEL", "env:NONE"}},
	}
	s := start(t, c)

	key := s.FirstKey()
	do := func(status int, method, path, body string) map[string]any {
		t.Helper()
		got, document := call(t, method, s.URL()+path, key, body)
		require.Equal(t, status, got, document)
		return document
	}

	secret := "/v2/account/secrets/" + do(201, "POST", "/v2/account/secrets", `{"name":"level","value":"the-first-value"}`)["id"].(string)
	pod := do(201, "POST", "/v2/pods", strings.TrimSuffix(printingPod, "}")+
		`,"env":{"LEVEL":"<{{ RUNPOD_SECRET_level }}>","NONE":"{{ RUNPOD_SECRET_Level }}"}}`)["id"].(string)
	reached := func(status string) {
		t.Helper()
		require.Eventually(t, func() bool { return do(200, "GET", "/v2/pods/"+pod, "")["status"] == status }, time.Minute, 10*time.Millisecond)
	}
	restart := func() {
		t.Helper()
		reached("RUNNING")
		do(200, "POST", "/v2/pods/"+pod+"/action", `{"action":"restart"}`)
	}

	env := variables(t, s, key, pod, 0)
	require.Equal(t, "<the-first-value>", env["LEVEL"])
	require.Equal(t, "{{ RUNPOD_SECRET_Level }}", env["NONE"], "a name is compared as it is written")
	logLines(t, s, key, "/v2/pods/"+pod+"/logs?source=system&tail=500", "there is no secret of this name, and the environment keeps what refers to it: Level", 0)
	require.Equal(t, "<{{ RUNPOD_SECRET_level }}>", do(200, "GET", "/v2/pods/"+pod, "")["env"].(map[string]any)["LEVEL"])

	do(200, "PATCH", secret, `{"value":"the-second-value"}`)
	require.Equal(t, "<the-first-value>", variables(t, s, key, pod, 0)["LEVEL"], "what runs keeps its value")
	restart()
	require.Equal(t, "<the-second-value>", variables(t, s, key, pod, 1)["LEVEL"])

	do(204, "DELETE", secret, "")
	restart()
	require.Equal(t, "<{{ RUNPOD_SECRET_level }}>", variables(t, s, key, pod, 2)["LEVEL"])

	do(201, "POST", "/v2/account/secrets", `{"name":"level","value":"`+strings.Repeat("x", 131_072)+`"}`)
	restart()
	reached("ERROR")
	logLines(t, s, key, "/v2/pods/"+pod+"/logs?source=system&tail=500", "pod is ERROR: env: LEVEL has 131080 bytes with the secrets that it names, and a program takes at most 131071", 0)
	require.NoError(t, s.Close())

	err := filepath.WalkDir(c.Data, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(path, "logs") {
			return err
		}
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}

		if strings.HasPrefix(filepath.Base(path), "berth.db") {
			require.NotContains(t, string(text), "the-second-value", path)
		}
		return err
	})
	require.NoError(t, err)
}

func TestSecrets_OfAnEndpointAreOpenedForItsWorkers(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{
		Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{printing}, RuntimeSettings: setting.Values{"process-accept": {"env:LEVEL"}},
	})
	key := s.FirstKey()
	status, document := call(t, "POST", s.URL()+"/v2/account/secrets", key, `{"name":"level","value":"high"}`)
	require.Equal(t, 201, status, document)

	status, document = call(t, "POST", s.URL()+"/v2/serverless", key, `{"name":"e","type":"QUEUE","image":"printing","env":{"LEVEL":"{{ RUNPOD_SECRET_level }}"},
		"scaling":{"type":"QUEUE_DELAY","queueDelay":4},"workers":{"min":1,"max":1},"cpu":[{"id":"cpu3g","vcpuCount":2}]}`)
	require.Equal(t, 201, status, document)
	endpoint := "/v2/serverless/" + document["id"].(string)

	var worker string
	require.Eventually(t, func() bool {
		_, list := call(t, "GET", s.URL()+endpoint+"/workers", key, "")
		workers := list["workers"].([]any)
		if len(workers) > 0 {
			worker = workers[0].(map[string]any)["id"].(string)
		}
		return worker != ""
	}, time.Minute, 10*time.Millisecond)

	require.Contains(t, logLines(t, s, key, endpoint+"/workers/"+worker+"/logs?source=container&tail=500", "that is all", 0), "LEVEL=high", 0)
	require.NoError(t, s.Close())
}
