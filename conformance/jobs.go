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

// sync submits a /runsync job whose wait is over at once, and gives its id.
func (c *Check) sync(body string) string {
	send := func() Answer { return c.Queue("POST", "runsync?wait=1000", body) }
	var a Answer
	if c.ControlsKey == "" {
		a = send()
	} else {
		answers := c.hold(send)
		c.advance(time.Second)
		a = <-answers
	}
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON["id"].(string)
}

// jobRefused asserts that /run refuses the body with the status, and each line begins an error.
func (c *Check) jobRefused(body string, status int, lines ...string) {
	errors := c.Refused(c.Queue("POST", "run", body), status)
	require.Len(c, errors, len(lines), "%v", errors)
	for i, line := range lines {
		require.True(c, strings.HasPrefix(errors[i], line), "%q does not begin with %q", errors[i], line)
	}
}

var _ = area(func() {
	run := []string{"run"}
	add("queue.run", []string{"run", "cancel"}, func(c *Check) {
		a := c.Queue("POST", "run", job)
		require.Equal(c, 200, a.Status)
		require.NotEmpty(c, a.JSON["id"])
		require.Equal(c, "IN_QUEUE", a.JSON["status"])
		c.cancel(a.JSON["id"].(string))
	})

	add("queue.success", []string{"run", "runSync", "status", "statusSync", "cancel", "health"}, func(c *Check) {
		id := c.submit(job)
		require.Equal(c, 200, c.Queue("GET", "status/"+id, "").Status)
		require.Equal(c, 200, c.Queue("GET", "health", "").Status)
		require.Equal(c, 200, c.Queue("POST", "cancel/"+id, "{}").Status)
		require.Equal(c, 200, c.Queue("GET", "status-sync/"+id, "").Status)
		c.cancel(c.sync(job))
	})

	add("queue.methods", nil, func(c *Check) { c.methodsRefused("queue") })
	add("queue.auth", []string{"health"}, func(c *Check) {
		for _, key := range []string{c.Key, "Bearer " + c.Key, "bearer " + c.Key} {
			require.Equal(c, 200, c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/health", Key: key}).Status)
		}
	})

	add("queue.errors.body", []string{"status", "run"}, func(c *Check) {
		for _, a := range []Answer{c.Queue("GET", "status/none", ""), c.Queue("POST", "run", `{"input":7}`)} {
			require.Equal(c, "application/problem+json", a.Header.Get("Content-Type"))
			require.NotEmpty(c, a.JSON["title"])
			require.NotEmpty(c, a.JSON["detail"])
			require.Equal(c, a.JSON["detail"], a.JSON["error"])
		}
	})

	add("queue.errors.status", []string{"status", "run", "health"}, func(c *Check) {
		path := c.QueueURL + "/v2/" + c.Endpoint
		for status, r := range map[int]Request{
			400: {Method: "POST", URL: path + "/run", Body: `{"input":`},
			401: {Method: "GET", URL: path + "/health", Key: "-"},
			403: {Method: "GET", URL: path + "/health", Key: c.key("read")},
			404: {Method: "GET", URL: path + "/status/nosuchjob"},
			405: {Method: "DELETE", URL: path + "/run"},
			413: {Method: "POST", URL: path + "/run", Body: input(10_000_001)},
			415: {Method: "POST", URL: path + "/run", Body: job, Header: map[string]string{"Content-Type": "text/plain"}},
			422: {Method: "POST", URL: path + "/run", Body: `{"input":7}`},
		} {
			a := c.Send(r)
			require.Equal(c, status, a.Status)
			require.NotContains(c, a.JSON, "status", "%d", status)
		}

		require.NotContains(c, c.Queue("GET", "nosuchoperation", "").JSON, "status")
	})

	add("queue.errors.list", run, func(c *Check) {
		require.Len(c, c.Queue("POST", "run", `{"input":7,"other":1}`).JSON["errors"], 2)
		require.NotContains(c, c.Queue("GET", "status/nosuchjob", "").JSON, "errors")
	})

	add("queue.input", run, func(c *Check) {
		for _, body := range []string{`{}`, `{"input":[1]}`, `{"input":"text"}`, `{"input":7}`, `{"input":null}`} {
			c.jobRefused(body, 422, "/input:")
			c.Refused(c.Queue("POST", "runsync?wait=1000", body), 422)
		}
	})

	add("queue.input.carried", []string{"run", "takeJob"}, func(c *Check) {
		const input = `{"z":9007199254740993,"text":"<&>","a":[1.50,null,{"b":{}}]}`
		id := c.submit(`{"input":` + input + `}`)
		a := c.Queue("GET", "job-take/w?x=1", "")
		require.Contains(c, string(a.Body), `"input":`+input)
		c.done("w", id, `{}`)
	})

	add("queue.input.twice", []string{"run", "takeJob"}, func(c *Check) {
		const input = `{"a":1,"b":{"c":2,"c":3},"a":[{"d":4,"d":5}]}`
		id := c.submit(`{"input":` + input + `,"s3Config":{"e":6,"e":7}}`)
		a := c.Queue("GET", "job-take/w?x=1", "")
		require.Contains(c, string(a.Body), `"input":`+input)
		require.Contains(c, string(a.Body), `{"e":6,"e":7}`)
		c.done("w", id, `{}`)
		c.jobRefused(`{"input":{},"input":{}}`, 422, "/input:")
	})

	add("queue.members", run, func(c *Check) {
		c.jobRefused(`{"input":{},"other":1}`, 422, "/other:")
		c.jobRefused(`{"input":{},"id":"x"}`, 422, "/id:")
	})

	add("queue.webhook.url", run, func(c *Check) {
		for _, webhook := range []string{`"ftp://example.com/"`, `"nonsense"`, `""`, `7`, `null`} {
			c.jobRefused(`{"input":{},"webhook":`+webhook+`}`, 422, "/webhook:")
		}
		for _, hostless := range []string{"http://", "https://", "http:///hook", "http://?a=1", "http://#a", "http://:80/hook", "http://user@/hook", "http://user@:80", "http:example.com"} {
			c.jobRefused(`{"input":{},"webhook":"`+hostless+`"}`, 422, "/webhook:")
		}
		for _, webhook := range []string{"http://127.0.0.1:9/hook?a=1", "https://example.com", "HTTP://127.0.0.1:9/", "Https://user:word@example.com:8443", "http://[::1]:9/a", "http://[::1]"} {
			c.cancel(c.submit(`{"input":{},"webhook":"` + webhook + `"}`))
		}
	})

	add("queue.webhook.url.long", run, func(c *Check) {
		long := "http://127.0.0.1:9/"
		long += strings.Repeat("x", 8192-len(long))
		c.jobRefused(`{"input":{},"webhook":"`+long+`x"}`, 422, "/webhook:")
		c.cancel(c.submit(`{"input":{},"webhook":"` + long + `"}`))
	})

	add("queue.policy", run, func(c *Check) {
		for _, policy := range []string{`7`, `[]`, `null`} {
			c.jobRefused(`{"input":{},"policy":`+policy+`}`, 422, "/policy:")
		}
		c.jobRefused(`{"input":{},"policy":{"other":1}}`, 422, "/policy/other:")
		c.cancel(c.submit(`{"input":{},"policy":{}}`))
	})

	add("queue.policy.execution-timeout", run, func(c *Check) {
		c.policyRange("executionTimeout", []string{`4999`, `604800001`, `5000.5`, `"5000"`, `null`}, []string{`5000`, `604800000`})
	})
	add("queue.policy.ttl", run, func(c *Check) {
		c.policyRange("ttl", []string{`9999`, `604800001`, `10000.5`, `"10000"`, `null`}, []string{`10000`, `604800000`})
	})
	add("queue.policy.low-priority", run, func(c *Check) {
		c.policyRange("lowPriority", []string{`1`, `"true"`, `null`}, []string{`true`, `false`})
	})

	add("queue.policy.defaults", []string{"run", "takeJob", "createEndpoint"}, func(c *Check) {
		id := c.submit(job)
		require.Equal(c, map[string]any{"executionTimeout": 600_000.0, "ttl": 86_400_000.0, "lowPriority": false}, c.takeJob("w", id)["policy"])
		c.done("w", id, `{}`)

		q := c.on(c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`))
		require.Equal(c, 300_000.0, q.takeJob("w", q.submit(job))["policy"].(map[string]any)["executionTimeout"])
	})

	add("queue.s3config", []string{"run", "takeJob", "status"}, func(c *Check) {
		for _, config := range []string{`[]`, `"bucket"`, `null`} {
			c.jobRefused(`{"input":{},"s3Config":`+config+`}`, 422, "/s3Config:")
		}
		id := c.submit(`{"input":{},"s3Config":{"bucketName":"b"}}`)
		require.Equal(c, map[string]any{"bucketName": "b"}, c.takeJob("w", id)["s3Config"])
		require.NotContains(c, c.status(id), "s3Config")
		c.done("w", id, `{}`)
	})

	add("queue.s3config.limit", []string{"run", "takeJob"}, func(c *Check) {
		config := func(bytes int) string { return `{"secret":"` + strings.Repeat("x", bytes-len(`{"secret":""}`)) + `"}` }
		c.Refused(c.Queue("POST", "run", `{"input":{},"s3Config":`+config(64<<10+1)+`}`), 400)
		id := c.submit(`{"input":{},"s3Config":` + config(64<<10) + `}`)
		require.Len(c, c.takeJob("w", id)["s3Config"].(map[string]any)["secret"], 64<<10-len(`{"secret":""}`))
		c.done("w", id, `{}`)
	})

	add("queue.limits", run, func(c *Check) {
		c.cancel(c.submit(input(10_000_000)))
		c.Refused(c.Queue("POST", "run", input(10_000_001)), 413)
	})
	add("queue.limits.runsync", []string{"runSync"}, func(c *Check) {
		c.cancel(c.sync(input(20_000_000)))
		c.Refused(c.Queue("POST", "runsync?wait=1000", input(20_000_001)), 413)
	})

	add("queue.limits.nothing-stored", []string{"run", "runSync", "health"}, func(c *Check) {
		before := c.counts("jobs")
		c.Refused(c.Queue("POST", "run", input(11_000_000)), 413)
		c.Refused(c.Queue("POST", "runsync?wait=1000", input(21_000_000)), 413)
		require.Equal(c, before, c.counts("jobs"))
	})

	add("queue.job.ids", []string{"run", "runSync"}, func(c *Check) {
		id := c.submit(job)
		require.Regexp(c, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
		c.cancel(id)
		id = c.sync(job)
		require.Regexp(c, `^sync-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
		c.cancel(id)
	})

	add("queue.job.ids.order", run, func(c *Check) {
		last := ""
		for range 5 {
			id := c.submit(job)
			c.cancel(id)
			require.Greater(c, id, last)
			last = id
		}
	})
})

var _ = area(func() {
	add("queue.runsync", []string{"runSync", "takeJob", "finishJob"}, func(c *Check) {
		answers := c.later(func() Answer { return c.Queue("POST", "runsync", job) })
		taken := c.Queue("GET", "job-take/w?x=1", "")
		require.Equal(c, 200, taken.Status)
		c.done("w", taken.JSON["id"].(string), `{"output":{"n":2}}`)
		a := <-answers
		require.Equal(c, 200, a.Status)
		require.Equal(c, taken.JSON["id"], a.JSON["id"])
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

	add("queue.runsync.wait.running", []string{"runSync", "takeJob"}, func(c *Check) {
		const wait = 2 * time.Second
		for range 10 { // the job may be taken so late that the wait is over
			asked := time.Now()
			answers := c.later(func() Answer { return c.Queue("POST", fmt.Sprintf("runsync?wait=%d", wait.Milliseconds()), job) })
			taken := c.untilTaken("job-take/w?x=1")
			inTime := time.Since(asked) < wait
			a := <-answers
			require.Equal(c, 200, a.Status)
			require.Equal(c, taken.JSON["id"], a.JSON["id"])
			c.done("w", a.JSON["id"].(string), `{}`)
			if a.JSON["status"] == "IN_PROGRESS" {
				return
			}
			require.False(c, inTime, "it was taken within the wait: %s", a.Body)
			require.Equal(c, "IN_QUEUE", a.JSON["status"])
		}
		require.Fail(c, "no job was taken within the wait")
	})

	add("queue.runsync.wait.after", []string{"runSync", "takeJob", "finishJob", "status"}, func(c *Check) {
		id := c.sync(job)
		c.takeJob("w", id)
		c.done("w", id, `{"output":5}`)
		require.EqualValues(c, 5, c.status(id)["output"])
	})

	add("queue.wait.range", []string{"runSync"}, func(c *Check) { c.waitRefused("POST", "runsync", job) })
	add("queue.unknown", nil, func(c *Check) {
		for _, op := range c.Operations() {
			if op.Document != "queue" && op.Document != "worker" {
				continue
			}
			r := Request{Method: op.Method, URL: c.address(op)} // whose endpoint is called endpointId
			if op.Body {
				r.Body = job
			}
			c.Refused(c.Send(r), 404)
		}
	})

	add("queue.unknown.job", []string{"status", "statusPost", "statusSync", "statusSyncPost", "cancel"}, func(c *Check) {
		for _, op := range c.Operations() {
			if path, ok := strings.CutSuffix(op.Path, "/jobId"); ok && op.Document == "queue" {
				path = strings.Replace(path, "endpointId", c.Endpoint, 1)
				c.Refused(c.Send(Request{Method: op.Method, URL: c.QueueURL + path + "/nosuchjob"}), 404)
			}
		}
	})

	add("queue.unknown.path", []string{"takeJob", "finishJob", "ping", "status", "cancel"}, func(c *Check) {
		id := c.submit(job)
		c.Refused(c.Queue("GET", "job-take/w/more?job_in_progress=1", ""), 404)
		c.takeJob("w", id)
		for path, method := range map[string]string{
			"job-done/w/" + id + "/": "POST", "job-done/w/" + id + "/more": "POST", "ping/w/more": "GET", "ping/w/": "GET", "status/" + id + "/": "GET",
			"cancel/" + id + "/more": "POST",
		} {
			c.Refused(c.Queue(method, path, map[string]string{"POST": `{"output":1}`}[method]), 404)
		}
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.done("w", id, `{"output":1}`)
	})
})

// input gives a submission of n bytes.
func input(n int) string { return `{"input":{"a":"` + strings.Repeat("x", n-18) + `"}}` }

// policyRange asserts which values a member of policy may have.
func (c *Check) policyRange(member string, refused, taken []string) {
	for _, value := range refused {
		c.jobRefused(`{"input":{},"policy":{"`+member+`":`+value+`}}`, 422, "/policy/"+member+":")
	}
	for _, value := range taken {
		c.cancel(c.submit(`{"input":{},"policy":{"` + member + `":` + value + `}}`))
	}
}

// waitRefused asserts 422 of each wait that is none.
func (c *Check) waitRefused(method, operation, body string) {
	for _, wait := range []string{"999", "300001", "1e3", "1000.0", "x", "", "-1000"} {
		errors := c.Refused(c.Queue(method, operation+"?wait="+wait, body), 422)
		require.Len(c, errors, 1)
		require.True(c, strings.HasPrefix(errors[0], "query.wait:"), errors[0])
	}
}

// counts gives the jobs or the workers of /health.
func (c *Check) counts(what string) map[string]float64 {
	counts := map[string]float64{}
	for name, n := range c.Queue("GET", "health", "").JSON[what].(map[string]any) {
		counts[name] = n.(float64)
	}
	return counts
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
