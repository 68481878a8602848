package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// lines reads JSON lines.
func lines(t *testing.T, out string) (all []map[string]any) {
	for line := range strings.Lines(out) {
		var document map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &document), line)
		all = append(all, document)
	}
	return all
}

func TestJobs_RunAndWait(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{}, "echo", "fail")
	job := s.document("jobs", "run", "echo", "--input", `{"a":9007199254740993}`, "--wait")
	require.Equal(t, "COMPLETED", job["status"])

	id := job["id"].(string)
	require.Contains(t, s.done("jobs", "status", "echo", id, "--json"), `"output":{"a":9007199254740993}`)

	detail := s.done("jobs", "status", "echo", id)
	require.Regexp(t, `^id         `+id+`\nstatus     COMPLETED\noutput     \{"a":9007199254740993\}\nerror      -\ndelay      \d+ ms\nexecution  \d+ ms\nworker     [a-z0-9]{14}\nretries    -\n$`, detail)
	require.Equal(t, "COMPLETED", s.document("jobs", "cancel", string(s.server.Endpoints()["echo"]), id)["status"])

	r := s.run("jobs", "run", "fail", "--input", "{}", "--wait", "--json")
	require.Equal(t, exitEnded, r.code)
	failed := lines(t, r.out)[0]
	require.Equal(t, "FAILED", failed["status"])
	require.Equal(t, "berth: job "+failed["id"].(string)+" is FAILED: failed as asked\nhint: berth jobs retry fail "+failed["id"].(string)+" runs it again\n", r.err)

	r = s.run("jobs", "retry", "fail", failed["id"].(string), "--wait")
	require.Equal(t, exitEnded, r.code)
	s.refuses(exitRefused, "berth: 409 Conflict: retry is not possible while the job is COMPLETED\nhint: only a job that FAILED or TIMED_OUT can be retried\n", "jobs", "retry", "echo", id)
}

// TestJobs_WaitForARetryHearsOfWorkers: what they were before it is no news, and is read first.
func TestJobs_WaitForARetryHearsOfWorkers(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.URL.Path
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"workers":[],"ended":[]}`)
			return
		}
		_, _ = io.WriteString(w, `{"id":"j1","status":"COMPLETED"}`)
	}))
	defer s.Close()

	r := call(t.Context(), "", "jobs", "retry", "f08vqgrv1p2xkd", "j1", "--wait", "--server", s.URL)
	require.Zero(t, r.code, r.err)
	require.Equal(t, "GET /v2/serverless/f08vqgrv1p2xkd/workers", <-asked)
	require.Equal(t, "POST /v2/f08vqgrv1p2xkd/retry/j1", <-asked)
}

func TestJobs_InputComesFromFlagFileOrStandardInput(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{}, "echo")
	file := filepath.Join(t.TempDir(), "input.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"from":"file"}`), 0o600))

	output := func(stdin string, args ...string) any {
		r := s.feed(stdin, append([]string{"jobs", "runsync", "echo", "--json"}, args...)...)
		require.Zero(t, r.code, r.err)
		return lines(t, r.out)[0]["output"]
	}

	require.Equal(t, map[string]any{"from": "flag"}, output("", "--input", `{"from":"flag"}`))
	require.Equal(t, map[string]any{"from": "file"}, output("", "--input", "@"+file))
	require.Equal(t, map[string]any{"from": "stdin"}, output(`{"from":"stdin"}`, "--input", "@-"))
	require.Equal(t, map[string]any{"from": "stdin"}, output(`{"from":"stdin"}`))
	require.Equal(t, map[string]any{"from": "body"}, output(`{"input":{"from":"body"}}`, "--file", "-", "--low-priority", "--ttl", "1h"))

	s.refuses(exitUsage, "berth: --input: it is not JSON: line 1: unexpected end of JSON input\n", "jobs", "run", "echo", "--input", "{")
	s.refuses(exitUsage, "berth: --ttl: 1.5ms is not a whole number of 1ms\n", "jobs", "run", "echo", "--input", "{}", "--ttl", "1.5ms")
	s.refuses(exitRefused, "berth: 422 Unprocessable Entity: the request breaks its schema in 2 places\n  /input: must be an object\n  /policy/ttl: must be >= 10000\n", "jobs", "run", "echo", "--input", "1", "--ttl", "1s")
}

func TestJobs_FollowShowsEveryChunkAndTheEnd(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{}, "stream")
	r := s.run("jobs", "run", "stream", "--input", `{"chunks":["first",{"n": 2},3],"ms":50}`, "--follow")
	require.Zero(t, r.code, r.err)
	require.True(t, strings.HasPrefix(r.out, "first\n{\"n\":2}\n3\nid         "), r.out)
	require.Contains(t, r.out, "status     COMPLETED\n")
	require.Regexp(t, `^job \S+ is IN_QUEUE\n(job \S+ is IN_PROGRESS\n)?$`, r.err)

	id := regexp.MustCompile(`id +(\S+)`).FindStringSubmatch(r.out)[1]
	again := s.run("jobs", "stream", "stream", id) // a chunk is handed over once
	require.Zero(t, again.code)
	require.True(t, strings.HasPrefix(again.out, "id "), again.out)

	r = s.run("jobs", "run", "stream", "--input", `{"chunks":["a","b"],"ms":50}`, "--follow", "--json")
	require.Zero(t, r.code, r.err)
	require.Empty(t, r.err)
	all := lines(t, r.out)
	require.Equal(t, "IN_QUEUE", all[0]["status"])

	var chunks []any
	for _, line := range all {
		if some, ok := line["stream"].([]any); ok {
			chunks = append(chunks, some...)
		}
	}

	require.Equal(t, []any{map[string]any{"output": "a"}, map[string]any{"output": "b"}}, chunks)
	last := all[len(all)-1]
	require.Equal(t, "COMPLETED", last["status"])
	require.Contains(t, last, "executionTime")
}

func TestJobs_ExitCodeDistinguishesCancelledFromLate(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Endpoints: []app.Endpoint{{Name: "nobody"}}})
	id := s.document("jobs", "run", "nobody", "--input", "{}")["id"].(string)
	for _, args := range [][]string{{"status", "nobody", id, "--wait"}, {"status", "nobody", id, "--follow"}, {"stream", "nobody", id}} {
		r := s.run(append(append([]string{"jobs"}, args...), "--timeout", "3100ms")...)
		require.Equal(t, exitTimeout, r.code, r.err)
		require.Contains(t, r.out, "status     IN_QUEUE\n")
		require.Contains(t, r.err, "berth: job "+id+" is IN_QUEUE after 3.1s\nhint: it goes on: berth jobs st")
	}

	r := s.run("jobs", "runsync", "nobody", "--input", "{}", "--timeout", "1s")
	require.Equal(t, exitTimeout, r.code, r.err)
	followed := make(chan ran)
	go func() { followed <- s.run("jobs", "status", "nobody", id, "--follow") }()
	require.Equal(t, "CANCELLED", s.document("jobs", "cancel", "nobody", id)["status"])

	r = <-followed
	require.Equal(t, exitEnded, r.code, r.err)
	require.Contains(t, r.err, "berth: job "+id+" is CANCELLED\n")
	require.Equal(t, "removed 1 jobs\n", s.done("jobs", "purge", "nobody"))
	require.Equal(t, map[string]any{"removed": 0.0, "status": "completed"}, s.document("jobs", "purge", "nobody"))
	require.Contains(t, s.done("jobs", "health", "nobody"), "jobs     in queue      0\n")
	require.Contains(t, s.document("jobs", "health", "nobody"), "workers")
}

func TestJobs_TakeAnEndpointByItsUniqueName(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Endpoints: []app.Endpoint{{Name: "one"}}})
	s.refuses(exitUsage, "berth: there is no endpoint \"two\"\nhint: berth endpoints list shows those that there are\n", "jobs", "health", "two")
	s.document("endpoints", "create", "--name", "one", "--image", "i", "--cpu", "cpu3g:2")
	r := s.run("jobs", "health", "one")
	require.Equal(t, exitUsage, r.code)
	require.Regexp(t, `^berth: 2 endpoints have the name "one": \S{14}, \S{14}\nhint: give the id of one\n$`, r.err)
	s.document("jobs", "health", string(s.server.Endpoints()["one"]))
	s.refuses(exitRefused, "berth: 404 Not Found: endpoint \"aaaaaaaaaaaaaa\" does not exist\nhint: berth endpoints list shows the endpoints; a job is kept for 30 minutes after its end, one of runsync for one\n", "jobs", "health", "aaaaaaaaaaaaaa")
}
