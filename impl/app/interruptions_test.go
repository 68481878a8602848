package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// crew are the workers of an endpoint that are interrupted while they work.
type crew struct {
	*testing.T
	s        *app.Server
	key      string
	id       string // of the endpoint
	controls string // key of the test controls
}

func (c *crew) ask(status int, method, path, key, body string) map[string]any {
	c.Helper()
	got, document := call(c.T, method, c.s.URL()+path, key, body)
	require.Equal(c, status, got, document)
	return document
}

// present waits until so many workers are there, and gives their ids.
func (c *crew) present(n int) (ids []string) {
	c.Helper()
	require.Eventually(c, func() bool {
		ids = nil
		for _, one := range c.ask(200, "GET", "/v2/serverless/"+c.id+"/workers", c.key, "")["workers"].([]any) {
			ids = append(ids, one.(map[string]any)["id"].(string))
		}
		return len(ids) == n
	}, time.Minute, time.Millisecond)
	return ids
}

// run submits a job and gives its id.
func (c *crew) run(input string) string {
	return c.ask(200, "POST", "/v2/"+c.id+"/run", c.key, `{"input":`+input+`}`)["id"].(string)
}

func (c *crew) status(job string) map[string]any {
	return c.ask(200, "GET", "/v2/"+c.id+"/status/"+job, c.key, "")
}

func TestInterruptions_LoseNoJobAndRepeatNoStep(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Ephemeral: true, TestControls: true})
	s.Clock().Freeze()
	c := &crew{T: t, s: s, key: s.FirstKey(), controls: s.ControlsKey()}
	const jobs, together = 1000, 25
	c.id = c.ask(201, "POST", "/v2/serverless", c.key, fmt.Sprintf(`{"name":"e","type":"QUEUE","image":"i","cpu":[{"id":"cpu3c","vcpuCount":2}],
		"workers":{"max":%d},"scaling":{"type":"REQUEST_COUNT","requestCount":1}}`, together))["id"].(string)

	steps := map[string][]int{} // of each job, on a volume that outlives workers
	var ids []string
	for range jobs {
		id := c.run(`{}`)
		ids, steps[id] = append(ids, id), nil
	}

	take := func(worker string) string {
		job := c.ask(200, "GET", "/v2/"+c.id+"/job-take/"+worker+"?job_in_progress=0", c.key, "")
		return job["id"].(string)
	}
	interrupted := 0
	for interrupted < jobs {
		// Each takes a job, and does two steps of four. Then all are interrupted.
		var taken []string
		for _, worker := range c.present(together) {
			job := take(worker)
			require.Empty(t, steps[job], "it has been interrupted before")
			taken, steps[job] = append(taken, job), []int{0, 1}
		}
		interrupted += int(c.ask(200, "POST", "/_berth/interrupt", c.controls, `{"endpoint":"`+c.id+`"}`)["workers"].(float64))
		for _, job := range taken {
			require.Eventually(t, func() bool { return c.status(job)["status"] == "IN_QUEUE" }, time.Minute, time.Millisecond)
		}

		// Others take the same jobs, since these stand before the others, and go on where they were.
		for _, worker := range c.present(together) {
			job := take(worker)
			require.Contains(t, taken, job)
			require.Len(t, steps[job], 2)
			steps[job] = append(steps[job], 2, 3)
			c.ask(200, "POST", "/v2/"+c.id+"/job-done/"+worker+"/"+job+"?isStream=false", c.key, `{"output":4}`)
		}
	}

	require.Equal(t, jobs, interrupted)
	for _, id := range ids {
		status := c.status(id)
		require.Equal(t, []any{"COMPLETED", 4.0, 1.0}, []any{status["status"], status["output"], status["retries"]})
		require.Equal(t, []int{0, 1, 2, 3}, steps[id])
	}
	require.NoError(t, s.Close())
}

// asWorker makes this program a worker that does a job step by step, and leaves each step in the file that its input names.
const asWorker = "BERTH_TEST_STEPS"

// The steps of a job, and after which of them it asks at the gate that its input names whether to go on.
const (
	stepsOfAJob = 6
	stepAtGate  = 3
)

// doSteps is that worker. It heeds SIGTERM unless its job is stubborn.
func doSteps() {
	id := os.Getenv("RUNPOD_POD_ID")
	ask := func(method, url string, body []byte) []byte {
		req, err := http.NewRequest(method, url, bytes.NewReader(body)) //nolint:noctx // it ends with the process
		if err != nil {
			os.Exit(1)
		}
		req.Header.Set("Authorization", os.Getenv("RUNPOD_AI_API_KEY"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			os.Exit(1)
		}
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		return text
	}

	for {
		var job struct {
			ID    string
			Input struct {
				File, Gate string
				Stubborn   bool
			}
		}
		if json.Unmarshal(ask("GET", strings.ReplaceAll(os.Getenv("RUNPOD_WEBHOOK_GET_JOB"), "$ID", id), nil), &job) != nil || job.ID == "" {
			continue
		}

		if job.Input.Stubborn {
			signal.Ignore(syscall.SIGTERM)
		}
		done, _ := os.ReadFile(job.Input.File)
		for n := bytes.Count(done, []byte("\n")); n < stepsOfAJob; n++ {
			if n == stepAtGate {
				ask("GET", job.Input.Gate+"?job="+job.ID+"&worker="+id, nil)
			}
			f, err := os.OpenFile(job.Input.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = fmt.Fprintln(f, n)
			}
			if err != nil || f.Close() != nil {
				os.Exit(1)
			}
		}
		report := strings.NewReplacer("$RUNPOD_POD_ID", id, "$ID", job.ID).Replace(os.Getenv("RUNPOD_WEBHOOK_POST_OUTPUT"))
		ask("POST", report, []byte(`{"output":"done"}`))
	}
}

func TestInterruptions_JobsGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), TestControls: true, Endpoints: []app.Endpoint{
		{Name: "steps", Command: []string{"env", asWorker + "=1", os.Args[0]}, WorkersMax: 3},
	}})
	c := &crew{T: t, s: s, key: s.FirstKey(), controls: s.ControlsKey(), id: string(s.Endpoints()["steps"])}

	// Who comes to the gate with a job for the first time waits there until it is killed.
	const jobs = 6
	waiting := make(chan string, jobs)
	var came sync.Map
	gate := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, again := came.LoadOrStore(r.URL.Query().Get("job"), true); !again {
			waiting <- r.URL.Query().Get("worker")
			<-r.Context().Done()
		}
	}))
	defer gate.Close()

	files := map[string]string{}
	for i := range jobs {
		file := filepath.Join(t.TempDir(), fmt.Sprint(i))
		files[c.run(fmt.Sprintf(`{"file":%q,"gate":%q,"stubborn":%t}`, file, gate.URL, i == 0))] = file
	}
	for range jobs {
		c.ask(200, "POST", "/_berth/interrupt", c.controls, `{"worker":"`+<-waiting+`"}`)
	}

	for job, file := range files {
		require.Eventually(t, func() bool { return c.status(job)["status"] == "COMPLETED" }, time.Minute, 10*time.Millisecond)
		require.InDelta(t, 1, c.status(job)["retries"], 0)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "0\n1\n2\n3\n4\n5\n", string(text))
	}
	require.NoError(t, s.Close())
}
