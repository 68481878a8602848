package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// The rules that take minutes or days: they freeze the clock of the target and set it forward.

// quotas runs f with a key of a user who made no request yet, and the quotas.
func (c *Check) quotas(minute, hour, day int, f func(key string)) {
	c.set("PUT", "quotas", fmt.Sprintf(`{"minute":%d,"hour":%d,"day":%d}`, minute, hour, day))
	defer c.set("POST", "reset", "")
	_, key := c.newKey(`,"user":"counted"`, "all")
	c.frozen(func() { f(key) })
}

// exceeds asserts that the quota of n requests holds for the window, and that the next one begins a fresh count.
func (c *Check) exceeds(key, window string, length time.Duration, n int) {
	for i := range n {
		require.Equal(c, 200, c.listPods(key).Status, "request %d", i)
	}
	a := c.listPods(key)
	c.Refused(a, 429)
	require.Contains(c, a.JSON["detail"], window)
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(c, err)
	wait := time.Duration(seconds) * time.Second
	require.Positive(c, wait)
	require.LessOrEqual(c, wait, length)
	c.advance(wait - 2*time.Second)
	c.Refused(c.listPods(key), 429)
	c.advance(2 * time.Second)
	require.Equal(c, 200, c.listPods(key).Status)
}

func init() {
	const plenty = 1_000_000
	for _, w := range []struct {
		name              string
		length            time.Duration
		minute, hour, day int
	}{
		{"minute", time.Minute, 3, plenty, plenty},
		{"hour", time.Hour, plenty, 3, plenty},
		{"day", 24 * time.Hour, plenty, plenty, 3},
	} {
		add("rates.reset."+w.name, []string{"listPods"}, func(c *Check) {
			c.quotas(w.minute, w.hour, w.day, func(key string) { c.exceeds(key, w.name, w.length, 3) })
		})
	}
	add("rates.exceeded", []string{"listPods", "createPod", "getPod", "deletePod"}, func(c *Check) {
		c.quotas(1, plenty, plenty, func(key string) {
			c.listPods(key)
			for _, op := range c.Operations() {
				if op.Document != "rest" {
					continue
				}
				a := c.Send(Request{Method: op.Method, URL: c.URL + op.Path, Key: "Bearer " + key})
				c.Refused(a, 429)
				minute, _ := c.rates(a)
				require.Zero(c, minute)
			}
		})
	})
	add("rates.user", []string{"listPods"}, func(c *Check) {
		c.quotas(1, plenty, plenty, func(key string) {
			_, second := c.newKey(`,"user":"counted"`, "all")
			_, other := c.newKey(`,"user":"other"`, "all")
			require.Equal(c, 200, c.listPods(key).Status)
			c.Refused(c.listPods(second), 429)
			require.Equal(c, 200, c.listPods(other).Status)
		})
	})
	add("rates.exempt", []string{"listPods"}, func(c *Check) {
		c.quotas(1, plenty, plenty, func(string) {
			_, key := c.newKey(`,"user":"counted","exempt":true`, "all")
			for range 3 {
				a := c.listPods(key)
				require.Equal(c, 200, a.Status)
				require.Empty(c, a.Header.Get("RateLimit"))
				require.Empty(c, a.Header.Get("RateLimit-Policy"))
			}
		})
	})
	add("auth.expired", []string{"listPods", "health"}, func(c *Check) {
		_, key := c.newKey(`,"expiresIn":60000`, "all")
		c.frozen(func() {
			c.advance(58 * time.Second)
			require.Equal(c, 200, c.listPods(key).Status)
			c.advance(2 * time.Second)
			a := c.listPods(key)
			c.Refused(a, 401)
			require.Contains(c, a.JSON["detail"], "expired")
			c.Refused(c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/health", Key: key}), 401)
		})
	})
	add("auth.revoked", []string{"listPods"}, func(c *Check) {
		id, key := c.newKey("", "all")
		require.Equal(c, 200, c.listPods(key).Status)
		c.set("DELETE", "keys/"+id, "")
		c.Refused(c.listPods(key), 401)
	})
	add("auth.scopes", []string{"listPods", "createPod", "deletePod", "run", "takeJob"}, func(c *Check) {
		_, reader := c.newKey("", "rest:read")
		_, writer := c.newKey("", "rest:write")
		require.Equal(c, 200, c.listPods(reader).Status)
		for _, op := range c.Operations() {
			key := reader
			if op.Method == "GET" && op.Document == "rest" {
				key = writer
			}
			c.Refused(c.Send(Request{Method: op.Method, URL: c.URL + op.Path, Key: "Bearer " + key}), 403)
		}
	})
	add("auth.scopes.endpoint", []string{"health"}, func(c *Check) {
		health := func(key string) Answer {
			return c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/health", Key: key})
		}
		_, own := c.newKey("", "queue:"+c.Endpoint+":invoke")
		_, every := c.newKey("", "queue:*:invoke")
		_, other := c.newKey("", "queue:otherendpoint1:invoke")
		require.Equal(c, 200, health(own).Status)
		require.Equal(c, 200, health(every).Status)
		c.Refused(health(other), 403)
	})
	add("errors.foreign", []string{"getPod", "deletePod", "updatePod", "podAction", "health"}, func(c *Check) {
		pod := c.createPod(gpuPod)["id"].(string)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		send := func(method, url, body string) {
			c.Refused(c.Send(Request{Method: method, URL: url, Body: body, Key: "Bearer " + stranger}), 404)
		}
		send("GET", c.URL+"/v2/pods/"+pod, "")
		send("PATCH", c.URL+"/v2/pods/"+pod, `{"name":"b"}`)
		send("POST", c.URL+"/v2/pods/"+pod+"/action", `{"action":"stop"}`)
		send("DELETE", c.URL+"/v2/pods/"+pod, "")
		send("GET", c.QueueURL+"/v2/"+c.Endpoint+"/health", "")
		require.Empty(c, c.listPods(stranger).JSON["pods"])
		require.Equal(c, 200, c.REST("GET", "/v2/pods/"+pod, "").Status)
	})

	add("queue.retention.run", []string{"status"}, func(c *Check) {
		c.frozen(func() {
			id := c.ended(`{"output":1}`)["id"].(string)
			c.keptFor(id, 30*time.Minute)
		})
	})
	add("queue.retention.runsync", []string{"status", "runSync"}, func(c *Check) {
		c.frozen(func() {
			for wait, kept := range map[string]time.Duration{"": time.Minute, "?wait=90000": time.Minute, "?wait=90001": 5 * time.Minute} {
				answers := make(chan Answer, 1)
				go func() { answers <- c.Queue("POST", "runsync"+wait, job) }()
				taken := c.Queue("GET", "job-take/w?x=1", "")
				require.Equal(c, 200, taken.Status)
				id := taken.JSON["id"].(string)
				c.done("w", id, `{"output":1}`)
				require.Equal(c, "COMPLETED", (<-answers).JSON["status"])
				c.keptFor(id, kept)
			}
		})
	})
	add("queue.runsync.default", []string{"runSync"}, func(c *Check) {
		c.frozen(func() {
			answers := c.hold(func() Answer { return c.Queue("POST", "runsync", job) })
			taken := c.Queue("GET", "job-take/w?x=1", "")
			c.advance(90*time.Second - time.Millisecond)
			require.Empty(c, answers)
			c.advance(time.Millisecond)
			require.Equal(c, "IN_PROGRESS", (<-answers).JSON["status"])
			c.done("w", taken.JSON["id"].(string), `{}`)
		})
	})
	add("queue.ttl", []string{"run", "status", "stopJobs"}, func(c *Check) {
		c.frozen(func() {
			const limited = `{"input":{},"policy":{"ttl":10000}}`
			held := c.submit(limited)
			c.takeJob("w", held)
			waiting := c.submit(limited)
			c.advance(9999 * time.Millisecond)
			require.Equal(c, "IN_PROGRESS", c.status(held)["status"])
			require.Equal(c, "IN_QUEUE", c.status(waiting)["status"])
			c.advance(time.Millisecond)
			require.Equal(c, "TIMED_OUT", c.status(held)["status"])
			require.Equal(c, "TIMED_OUT", c.status(waiting)["status"])
			require.Equal(c, []any{held}, c.Queue("GET", "job-stop/w", "").JSON["jobsToStop"])
			c.keptFor(waiting, 30*time.Minute)
		})
	})
	add("queue.ttl.default", []string{"run"}, func(c *Check) {
		c.frozen(func() {
			id := c.submit(job)
			c.advance(24*time.Hour - time.Millisecond)
			require.Equal(c, "IN_QUEUE", c.status(id)["status"])
			c.advance(time.Millisecond)
			require.Equal(c, "TIMED_OUT", c.status(id)["status"])
		})
	})
	add("queue.status.ttl.sets", []string{"status"}, func(c *Check) {
		c.frozen(func() {
			id := c.submit(job)
			require.Equal(c, 200, c.Queue("GET", "status/"+id+"?ttl=5000", "").Status)
			c.advance(4999 * time.Millisecond)
			require.Equal(c, "IN_QUEUE", c.status(id)["status"])
			c.advance(time.Millisecond)
			require.Equal(c, "TIMED_OUT", c.status(id)["status"])
		})
	})
	add("queue.execution-timeout", []string{"run", "stopJobs"}, func(c *Check) {
		c.frozen(func() {
			short, normal := c.submit(`{"input":{},"policy":{"executionTimeout":5000}}`), c.submit(job)
			c.takeJob("w", short)
			c.takeJob("w", normal)
			c.advance(4999 * time.Millisecond)
			require.Equal(c, "IN_PROGRESS", c.status(short)["status"])
			c.advance(time.Millisecond)
			require.Equal(c, "TIMED_OUT", c.status(short)["status"])
			require.Equal(c, []any{short}, c.Queue("GET", "job-stop/w", "").JSON["jobsToStop"])
			c.advance(594 * time.Second)
			require.Equal(c, "IN_PROGRESS", c.status(normal)["status"])
			c.advance(time.Second)
			require.Equal(c, "TIMED_OUT", c.status(normal)["status"], "600 s by default")
		})
	})
	add("queue.lease", []string{"ping", "takeJob"}, func(c *Check) {
		c.frozen(func() {
			before := c.Queue("GET", "health", "").JSON["jobs"].(map[string]any)["retried"].(float64)
			id := c.submit(job)
			c.takeJob("silent", id)
			ping := func() { require.Equal(c, 200, c.Queue("GET", "ping/silent?job_id="+id, "").Status) }
			ping()
			c.advance(29 * time.Second)
			ping()
			c.advance(29 * time.Second)
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
			c.advance(time.Second)
			document := c.status(id)
			require.Equal(c, "IN_QUEUE", document["status"])
			require.EqualValues(c, 1, document["retries"])
			require.Equal(c, before+1, c.Queue("GET", "health", "").JSON["jobs"].(map[string]any)["retried"])
			c.takeJob("other", id)
			c.done("silent", id, `{"output":"late"}`)
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
			c.done("other", id, `{"output":"right"}`)
			require.Equal(c, "right", c.status(id)["output"])
		})
	})
	add("queue.lease.avoid", []string{"takeJob"}, func(c *Check) {
		c.frozen(func() {
			id := c.submit(job)
			c.takeJob("silent", id)
			require.Equal(c, 200, c.Queue("GET", "ping/silent", "").Status)
			c.advance(30 * time.Second)
			require.Equal(c, "IN_QUEUE", c.status(id)["status"])
			answers := c.hold(func() Answer { return c.Queue("GET", "job-take/silent?x=1", "") })
			c.takeJob("other", id)
			c.advance(25 * time.Second)
			require.Equal(c, 204, (<-answers).Status)
			c.done("other", id, `{}`)
		})
	})
	add("queue.attempts", []string{"takeJob", "status"}, func(c *Check) {
		c.frozen(func() {
			id := c.submit(job)
			for i := range 3 {
				worker := "silent" + strconv.Itoa(i)
				c.takeJob(worker, id)
				require.Equal(c, 200, c.Queue("GET", "ping/"+worker, "").Status)
				c.advance(30 * time.Second)
			}
			document := c.status(id)
			require.Equal(c, "FAILED", document["status"])
			require.Contains(c, document["error"], "3 attempts")
		})
	})
	add("queue.take.none", []string{"takeJob", "takeJobs", "stopJobs"}, func(c *Check) {
		c.frozen(func() {
			for _, operation := range []string{"job-take/idle?x=1", "job-take-batch/idle", "job-stop/idle"} {
				answers := c.hold(func() Answer { return c.Queue("GET", operation, "") })
				c.advance(25*time.Second - time.Millisecond)
				require.Empty(c, answers)
				c.advance(time.Millisecond)
				require.Equal(c, 204, (<-answers).Status)
			}
		})
	})
	add("queue.output.limit", []string{"finishJob", "status"}, func(c *Check) {
		output := func(n int) string { return `{"output":"` + strings.Repeat("x", n-2) + `"}` }
		require.Equal(c, "COMPLETED", c.ended(output(10_000_000))["status"])
		document := c.ended(output(10_000_001))
		require.Equal(c, "FAILED", document["status"])
		require.NotContains(c, document, "output")
		require.Contains(c, document["error"], "10000001")
		require.Contains(c, document["error"], "10000000")
	})
}

// keptFor asserts that the ended job can be read for that long from now, and not longer. The clock is frozen.
func (c *Check) keptFor(id string, d time.Duration) {
	c.advance(d - time.Millisecond)
	c.status(id)
	c.advance(time.Millisecond)
	c.Refused(c.Queue("GET", "status/"+id, ""), 404)
}
