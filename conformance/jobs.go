package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// The rules play the worker themselves; they run one after the other, so that none takes another's job.

// submit runs a job and gives its id.
func (c *Check) submit(body string) string {
	a := c.Queue("POST", "run", body)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON["id"].(string)
}

// takeJob takes the next job as the worker, and asserts which one it is.
func (c *Check) takeJob(worker, id string) map[string]any {
	a := c.Queue("GET", "job-take/"+worker+"?gpu=x&job_in_progress=0", "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.Equal(c, id, a.JSON["id"])
	return a.JSON
}

// done reports a result as SDK workers do: JSON with the content type of a form, and the bare key.
func (c *Check) done(worker, id, report string) {
	a := c.Send(Request{
		Method: "POST", URL: c.QueueURL + "/v2/" + c.Endpoint + "/job-done/" + worker + "/" + id + "?gpu=x&isStream=false",
		Body: report, Key: c.Key, Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
	require.Equal(c, 200, a.Status, "%s", a.Body)
}

func (c *Check) status(id string) map[string]any {
	a := c.Queue("GET", "status/"+id, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// ended runs one job to its end with the report, and gives its status document.
func (c *Check) ended(report string) map[string]any {
	id := c.submit(job)
	c.takeJob("w", id)
	c.done("w", id, report)
	return c.status(id)
}

const job = `{"input":{"n":1}}`

// jobRefused asserts that /run refuses the body with the status, and each line begins an error.
func (c *Check) jobRefused(body string, status int, lines ...string) {
	errors := c.Refused(c.Queue("POST", "run", body), status)
	require.Len(c, errors, len(lines), "%v", errors)
	for i, line := range lines {
		require.True(c, strings.HasPrefix(errors[i], line), "%q does not begin with %q", errors[i], line)
	}
}

func init() {
	add("queue.run", []string{"run", "cancel"}, func(c *Check) {
		a := c.Queue("POST", "run", job)
		require.Equal(c, 200, a.Status)
		require.Equal(c, "IN_QUEUE", a.JSON["status"])
		c.cancel(a.JSON["id"].(string))
	})
	add("queue.success", []string{"run", "status", "cancel", "health"}, func(c *Check) {
		id := c.submit(job)
		require.Equal(c, 200, c.Queue("GET", "status/"+id, "").Status)
		require.Equal(c, 200, c.Queue("GET", "health", "").Status)
		require.Equal(c, 200, c.Queue("POST", "cancel/"+id, "{}").Status)
	})
	add("queue.auth", []string{"health"}, func(c *Check) {
		for _, key := range []string{c.Key, "Bearer " + c.Key, "bearer " + c.Key} {
			require.Equal(c, 200, c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/health", Key: key}).Status)
		}
	})
	add("queue.errors.body", []string{"status", "run"}, func(c *Check) {
		for _, a := range []Answer{c.Queue("GET", "status/none", ""), c.Queue("POST", "run", `{}`)} {
			require.Equal(c, "application/problem+json", a.Header.Get("Content-Type"))
			require.NotContains(c, a.JSON, "status")
			require.Equal(c, a.JSON["detail"], a.JSON["error"])
			require.NotEmpty(c, a.JSON["title"])
		}
	})
	add("queue.input", []string{"run"}, func(c *Check) {
		c.jobRefused(`{}`, 422, "/input:")
		c.jobRefused(`{"input":[1]}`, 422, "/input:")
		c.jobRefused(`{"input":"text"}`, 422, "/input:")
		c.jobRefused(`{"input":null}`, 422, "/input:")
		c.jobRefused(`{"input":{},"other":1}`, 422, "/other:")
		c.jobRefused(`{"input":{},"webhook":"ftp://x/"}`, 422, "/webhook:")
		c.jobRefused(`{"input":{}`, 400)
	})
	add("queue.policy", []string{"run"}, func(c *Check) {
		c.jobRefused(`{"input":{},"policy":{"executionTimeout":4999,"ttl":9999,"other":1}}`, 422,
			"/policy/executionTimeout:", "/policy/ttl:", "/policy/other:")
		c.jobRefused(`{"input":{},"policy":{"executionTimeout":604800001,"ttl":604800001}}`, 422, "/policy/executionTimeout:", "/policy/ttl:")
		c.cancel(c.submit(`{"input":{},"policy":{"executionTimeout":5000,"ttl":604800000,"lowPriority":true}}`))
	})
	add("queue.limits", []string{"run", "runSync"}, func(c *Check) {
		body := func(n int) string { return `{"input":{"a":"` + strings.Repeat("x", n-18) + `"}}` }
		c.cancel(c.submit(body(10_000_000)))
		c.Refused(c.Queue("POST", "run", body(10_000_001)), 413)
		c.Refused(c.Queue("POST", "runsync", body(20_000_001)), 413)
		a := c.Queue("POST", "runsync?wait=1000", body(20_000_000))
		require.Equal(c, 200, a.Status)
		c.cancel(a.JSON["id"].(string))
	})
	add("queue.job.ids", []string{"run", "runSync"}, func(c *Check) {
		id := c.submit(job)
		require.Regexp(c, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
		c.cancel(id)
		id = c.Queue("POST", "runsync?wait=1000", job).JSON["id"].(string)
		require.Regexp(c, `^sync-[0-9a-f-]{36}$`, id)
		c.cancel(id)
	})
	add("queue.runsync", []string{"runSync", "takeJob", "finishJob"}, func(c *Check) {
		answers := make(chan Answer, 1)
		go func() { answers <- c.Queue("POST", "runsync", job) }()
		taken := c.Queue("GET", "job-take/w?x=1", "")
		require.Equal(c, 200, taken.Status)
		c.done("w", taken.JSON["id"].(string), `{"output":{"n":2}}`)
		a := <-answers
		require.Equal(c, 200, a.Status)
		require.Equal(c, "COMPLETED", a.JSON["status"])
		require.Equal(c, map[string]any{"n": 2.0}, a.JSON["output"])
		require.Contains(c, a.JSON, "delayTime")
		require.Contains(c, a.JSON, "executionTime")
	})
	add("queue.runsync.wait", []string{"runSync"}, func(c *Check) {
		a := c.Queue("POST", "runsync?wait=1000", job)
		require.Equal(c, 200, a.Status)
		require.Equal(c, "IN_QUEUE", a.JSON["status"])
		c.cancel(a.JSON["id"].(string))
	})
	add("queue.wait.range", []string{"runSync", "statusSync"}, func(c *Check) {
		for _, wait := range []string{"999", "300001", "1e3", "1000.0", "x", ""} {
			errors := c.Refused(c.Queue("POST", "runsync?wait="+wait, job), 422)
			require.Len(c, errors, 1)
			require.True(c, strings.HasPrefix(errors[0], "query.wait:"), errors[0])
		}
		c.Refused(c.Queue("GET", "status-sync/x?wait=999", ""), 422)
	})
	add("queue.status.methods", []string{"status", "statusPost", "statusSync", "statusSyncPost"}, func(c *Check) {
		id := c.ended(`{"output":1}`)["id"].(string)
		for _, method := range []string{"GET", "POST"} {
			for _, operation := range []string{"status/", "status-sync/"} {
				a := c.Queue(method, operation+id, "")
				require.Equal(c, 200, a.Status)
				require.Equal(c, "COMPLETED", a.JSON["status"])
			}
		}
	})
	add("queue.status.document", []string{"status", "cancel"}, func(c *Check) {
		id := c.submit(job)
		c.cancel(id)
		for _, j := range []map[string]any{c.ended(`{"output":1}`), c.ended(`{"error":"x"}`), c.status(id)} {
			require.Contains(c, j, "delayTime")
			require.Contains(c, j, "executionTime")
			require.Contains(c, j, "workerId")
		}
	})
	add("queue.status-sync", []string{"statusSync"}, func(c *Check) {
		id := c.submit(job)
		c.takeJob("w", id)
		answers := make(chan Answer, 1)
		go func() { answers <- c.Queue("GET", "status-sync/"+id+"?wait=20000", "") }()
		c.done("w", id, `{"output":3}`)
		require.Equal(c, "COMPLETED", (<-answers).JSON["status"])
	})
	add("queue.status.ttl", []string{"status"}, func(c *Check) {
		for _, ttl := range []string{"0", "-1", "1.5", "x"} {
			c.Refused(c.Queue("GET", "status/x?ttl="+ttl, ""), 422)
		}
		id := c.submit(job)
		require.Equal(c, 200, c.Queue("GET", "status/"+id+"?ttl=6000", "").Status)
		c.cancel(id)
	})
	add("queue.unknown", []string{"run", "status", "cancel", "health", "takeJob"}, func(c *Check) {
		for _, op := range c.Operations() {
			if op.Document != "queue" && op.Document != "worker" {
				continue
			}
			r := Request{Method: op.Method, URL: c.QueueURL + op.Path} // whose endpoint is called endpointId
			if op.Body {
				r.Body = job
			}
			c.Refused(c.Send(r), 404)
		}
		for _, r := range []Request{
			{Method: "GET", URL: "/v2/" + c.Endpoint + "/status/nosuchjob"},
			{Method: "POST", URL: "/v2/" + c.Endpoint + "/cancel/nosuchjob"},
		} {
			r.URL = c.QueueURL + r.URL
			c.Refused(c.Send(r), 404)
		}
	})
	add("queue.cancel.waiting", []string{"cancel", "takeJob"}, func(c *Check) {
		first, second := c.submit(job), c.submit(job)
		require.Equal(c, "CANCELLED", c.cancel(first)["status"])
		c.takeJob("w", second)
		c.done("w", second, `{}`)
	})
	add("queue.cancel.running", []string{"cancel", "stopJobs"}, func(c *Check) {
		id := c.submit(job)
		c.takeJob("w", id)
		require.Equal(c, "CANCELLED", c.cancel(id)["status"])
		a := c.Queue("GET", "job-stop/w?x=1", "")
		require.Equal(c, 200, a.Status)
		require.Equal(c, []any{id}, a.JSON["jobsToStop"])
		c.done("w", id, `{"output":1}`)
		require.Equal(c, "CANCELLED", c.status(id)["status"])
	})
	add("queue.cancel.ended", []string{"cancel"}, func(c *Check) {
		id := c.ended(`{"output":1}`)["id"].(string)
		require.Equal(c, "COMPLETED", c.cancel(id)["status"])
	})
	add("queue.health", []string{"health"}, func(c *Check) {
		before := c.Queue("GET", "health", "").JSON["jobs"].(map[string]any)
		c.ended(`{"output":1}`)
		c.ended(`{"error":"x"}`)
		id := c.submit(job)
		health := c.Queue("GET", "health", "").JSON
		after := health["jobs"].(map[string]any)
		require.Equal(c, before["completed"].(float64)+1, after["completed"])
		require.Equal(c, before["failed"].(float64)+1, after["failed"])
		require.Equal(c, before["inQueue"].(float64)+1, after["inQueue"])
		require.ElementsMatch(c, []string{"idle", "initializing", "ready", "running", "throttled", "unhealthy"}, keys(health["workers"].(map[string]any)))
		c.cancel(id)
	})
}

func (c *Check) cancel(id string) map[string]any {
	a := c.Queue("POST", "cancel/"+id, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// took measures f on the real clock.
func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// taken reads the array of a batch take.
func taken(c *Check, a Answer) []string {
	var list []struct{ ID string }
	require.NoError(c, json.Unmarshal(a.Body, &list), "%s", a.Body)
	var ids []string
	for _, j := range list {
		ids = append(ids, j.ID)
	}
	return ids
}

func numbered(n int, members string) string { return fmt.Sprintf(`{"input":{"n":%d}%s}`, n, members) }
