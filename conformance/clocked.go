package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// plenty is a quota that no rule reaches.
const plenty = 1_000_000

// The rules that take minutes or days: they freeze the clock of the target and set it forward.

// quotas runs f with a key of a user who made no request yet, and the quotas.
func (c *Check) quotas(minute, hour, day int, f func(key string)) {
	c.limit = true
	c.set("PUT", "quotas", fmt.Sprintf(`{"minute":%d,"hour":%d,"day":%d}`, minute, hour, day))
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

	before := max(0, wait-2*time.Second) // the window may be about to end
	c.advance(before)
	c.Refused(c.listPods(key), 429)
	c.advance(wait - before)
	require.Equal(c, 200, c.listPods(key).Status)
}

var _ = area(func() {
	add("rates.reset", []string{"listPods"}, func(c *Check) {
		for _, w := range []struct {
			name              string
			length            time.Duration
			minute, hour, day int
		}{
			{"minute", time.Minute, 3, plenty, plenty},
			{"hour", time.Hour, plenty, 3, plenty},
			{"day", 24 * time.Hour, plenty, plenty, 3},
		} {
			c.quotas(w.minute, w.hour, w.day, func(key string) { c.exceeds(key, w.name, w.length, 3) })
		}
	})

	add("auth.expiry", []string{"listPods"}, func(c *Check) {
		c.frozen(func() {
			_, key := c.newKey(`,"expiresIn":60000`, "all")
			c.advance(time.Minute - time.Millisecond)
			require.Equal(c, 200, c.listPods(key).Status)
			c.advance(time.Millisecond)
			c.Refused(c.listPods(key), 401)
		})
	})

	add("auth.revoked", []string{"listPods"}, func(c *Check) {
		id, key := c.newKey("", "all")
		require.Equal(c, 200, c.listPods(key).Status)
		c.set("DELETE", "keys/"+id, "")
		c.Refused(c.listPods(key), 401)
	})

	add("auth.ownership", []string{"getPod", "deletePod", "updatePod", "podAction", "health"}, func(c *Check) {
		pod := c.newPod(gpuPod)
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

	waited("queue.retention.run", []string{"status"}, 30*time.Minute, func(c *Check) {
		id := c.ended(`{"output":1}`)["id"].(string)
		c.keptFor(id, 30*time.Minute)
	})

	waited("queue.retention.runsync", []string{"status", "runSync"}, 2*time.Minute, func(c *Check) {
		c.syncKept("", time.Minute)
		c.syncKept("?wait=90000", time.Minute)
	})
	waited("queue.retention.runsync.long", []string{"status", "runSync"}, 5*time.Minute, func(c *Check) {
		c.syncKept("?wait=90001", 5*time.Minute)
	})

	waited("queue.retention.timed-out", []string{"status", "run"}, 30*time.Minute+10*time.Second, func(c *Check) {
		id := c.submit(`{"input":{},"policy":{"ttl":10000}}`)
		c.passes(10 * time.Second)
		c.keptFor(id, 30*time.Minute)
	})

	waited("queue.wait.default", []string{"runSync", "statusSync"}, 3*time.Minute, func(c *Check) {
		id := c.submit(job)
		for method, operation := range map[string]string{"GET": "status-sync/" + id, "POST": "runsync"} {
			answers := c.hold(func() Answer { return c.Queue(method, operation, job) })
			c.almost(90 * time.Second)
			require.Empty(c, answers)
			c.rest()
			require.Equal(c, "IN_QUEUE", (<-answers).JSON["status"])
		}
	})

	waited("queue.ttl", []string{"run", "status"}, 24*time.Hour, func(c *Check) {
		short, normal := c.submit(`{"input":{},"policy":{"ttl":10000}}`), c.submit(job)
		c.almost(10 * time.Second)
		require.Equal(c, "IN_QUEUE", c.status(short)["status"])
		c.rest()
		require.Equal(c, "TIMED_OUT", c.status(short)["status"])
		c.almost(24*time.Hour - 10*time.Second)
		require.Equal(c, "IN_QUEUE", c.status(normal)["status"])
		c.rest()
		require.Equal(c, "TIMED_OUT", c.status(normal)["status"], "a day by default")
	})

	waited("queue.ttl.running", []string{"run", "status", "stopJobs"}, 10*time.Second, func(c *Check) {
		id, worker := c.submit(`{"input":{},"policy":{"ttl":10000}}`), c.worker("late")
		c.takeJob(worker, id)
		c.almost(10 * time.Second)
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.rest()
		require.Equal(c, "TIMED_OUT", c.status(id)["status"])
		require.Equal(c, []any{id}, c.Queue("GET", "job-stop/"+worker, "").JSON["jobsToStop"])
	})

	waited("queue.ttl.status", []string{"status"}, 5*time.Second, func(c *Check) {
		id := c.submit(job)
		require.Equal(c, 200, c.Queue("GET", "status/"+id+"?ttl=5000", "").Status)
		c.almost(5 * time.Second)
		require.Equal(c, "IN_QUEUE", c.status(id)["status"])
		c.rest()
		ended := c.status(id)
		require.Equal(c, "TIMED_OUT", ended["status"])
		require.NotContains(c, fmt.Sprint(ended["error"]), "86400000", "which it no longer had")
	})

	waited("queue.ttl.status.most", []string{"status"}, 7*24*time.Hour, func(c *Check) {
		id := c.submit(job)
		require.Equal(c, 200, c.Queue("GET", "status/"+id+"?ttl=99999999999", "").Status)
		c.almost(7 * 24 * time.Hour)
		require.Equal(c, "IN_QUEUE", c.status(id)["status"])
		c.rest()
		require.Equal(c, "TIMED_OUT", c.status(id)["status"])
	})

	waited("queue.ttl.status.ended", []string{"status"}, 30*time.Minute, func(c *Check) {
		long, short := c.ended(`{"output":1}`)["id"].(string), c.ended(`{"output":1}`)["id"].(string)
		require.Equal(c, 200, c.Queue("GET", "status/"+long+"?ttl=86400000", "").Status)
		require.Equal(c, 200, c.Queue("GET", "status/"+short+"?ttl=6000", "").Status)
		c.advance(20 * time.Second)
		require.Equal(c, 404, c.Queue("GET", "status/"+short, "").Status)
		c.status(long)
		c.advance(29*time.Minute + 40*time.Second)
		require.Equal(c, 404, c.Queue("GET", "status/"+long, "").Status)
	})

	waited("queue.execution-timeout", []string{"run", "stopJobs"}, 600*time.Second, func(c *Check) {
		worker := c.worker("w") // one that no other rule asked to stop anything
		short, normal := c.submit(`{"input":{},"policy":{"executionTimeout":5000}}`), c.submit(job)
		c.takeJob(worker, short)
		c.takeJob(worker, normal)
		c.almost(5 * time.Second)
		require.Equal(c, "IN_PROGRESS", c.status(short)["status"])

		c.rest()
		require.Equal(c, "TIMED_OUT", c.status(short)["status"])
		require.Equal(c, []any{short}, c.Queue("GET", "job-stop/"+worker, "").JSON["jobsToStop"])
		ping := func() { require.Equal(c, 200, c.Queue("GET", "ping/"+worker+"?job_id="+normal, "").Status) }
		for range 26 { // all the while its worker pings
			ping()
			c.advance(22 * time.Second)
		}
		ping()
		c.almost(23 * time.Second)
		require.Equal(c, "IN_PROGRESS", c.status(normal)["status"])

		c.rest()
		require.Equal(c, "TIMED_OUT", c.status(normal)["status"], "600 s by default")
	})

	waited("queue.stop.named", []string{"ping", "stopJobs"}, 3*time.Minute, func(c *Check) {
		worker, id := c.worker("deaf"), c.submit(job)
		c.takeJob(worker, id)
		c.cancel(id)
		c.advance(3 * time.Minute) // by then nobody knows of the worker any more
		require.Equal(c, 200, c.Queue("GET", "ping/"+worker+"?job_id="+id, "").Status)
		require.Equal(c, []any{id}, c.Queue("GET", "job-stop/"+worker, "").JSON["jobsToStop"])
	})

	waited("queue.stop.lost", []string{"ping", "stopJobs"}, 30*time.Second, func(c *Check) {
		worker, id := c.worker("late"), c.submit(job)
		c.takeJob(worker, id)
		c.passes(30 * time.Second)
		require.Equal(c, "IN_QUEUE", c.status(id)["status"])
		require.Equal(c, 200, c.Queue("GET", "ping/"+worker+"?job_id="+id, "").Status)
		require.Equal(c, []any{id}, c.Queue("GET", "job-stop/"+worker, "").JSON["jobsToStop"])
		c.takeJob("other", id)
		c.done("other", id, `{}`)
	})

	waited("queue.stop.again", []string{"ping", "stopJobs"}, 22*time.Second, func(c *Check) {
		worker, id := c.worker("stubborn"), c.submit(job)
		c.takeJob(worker, id)
		c.cancel(id)
		for range 2 {
			require.Equal(c, []any{id}, c.Queue("GET", "job-stop/"+worker, "").JSON["jobsToStop"])
			c.advance(11 * time.Second)
			require.Equal(c, 200, c.Queue("GET", "ping/"+worker+"?job_id="+id, "").Status)
		}
	})

	waited("queue.lease", []string{"ping", "takeJob"}, 30*time.Second, func(c *Check) {
		id := c.submit(job)
		silent := c.worker("silent") // which never pings
		c.takeJob(silent, id)
		c.almost(30 * time.Second)
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])

		c.rest()
		require.Equal(c, "IN_QUEUE", c.status(id)["status"])
		c.takeJob("other", id)
		c.done(silent, id, `{"output":"late"}`)
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])

		c.done("other", id, `{"output":"right"}`)
		require.Equal(c, "right", c.status(id)["output"])
	})

	waited("queue.lease.progress", []string{"takeJob", "finishJob", "status"}, 30*time.Second, func(c *Check) {
		id := c.submit(job)
		c.takeJob("gone", id)
		c.done("gone", id, `{"status":"IN_PROGRESS","output":"`+strings.Repeat("half", 50_000)+`"}`)
		require.Contains(c, c.status(id), "output")
		c.almost(30 * time.Second)
		c.rest()

		j := c.status(id)
		require.Equal(c, "IN_QUEUE", j["status"])
		require.NotContains(c, j, "output")
		c.takeJob("next", id)
		require.NotContains(c, c.status(id), "output")
		c.done("next", id, `{}`)
	})

	waited("queue.lease.no-sign", []string{"takeJob"}, 30*time.Second, func(c *Check) {
		id := c.submit(job)
		c.takeJob("mute", id)
		c.almost(30 * time.Second)
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.rest()
		require.Equal(c, "IN_QUEUE", c.status(id)["status"])
		c.takeJob("other", id)
		c.done("other", id, `{}`)
	})

	waited("queue.lease.sign", []string{"finishJob", "streamJob", "stopJobs"}, 2*time.Minute, func(c *Check) {
		first, second := c.submit(job), c.submit(job)
		c.takeJob("quiet", first)
		c.takeJob("quiet", second)
		keeps := func(say func()) {
			c.advance(29 * time.Second)
			require.Equal(c, "IN_PROGRESS", c.status(first)["status"])
			say()
		}

		keeps(func() { c.done("quiet", second, `{"status":"IN_PROGRESS","output":"half"}`) })
		keeps(func() {
			require.Equal(c, 200, c.Queue("POST", "job-stream/quiet/"+second, `{"output":"part"}`).Status)
		})

		keeps(func() {
			answers := c.hold(func() Answer { return c.Queue("GET", "job-stop/quiet", "") })
			c.advance(25 * time.Second)
			require.Equal(c, 204, (<-answers).Status)
		})

		c.almost(5 * time.Second)
		require.Equal(c, "IN_PROGRESS", c.status(first)["status"])
		c.rest()
		require.Equal(c, "IN_QUEUE", c.status(first)["status"], "it fell silent")

		c.done("quiet", second, `{}`)
		c.takeJob("other", first)
		c.done("other", first, `{}`)
	})

	waited("queue.lease.ping", []string{"ping", "takeJob"}, 150*time.Second, func(c *Check) {
		id := c.submit(job)
		c.takeJob("w", id)
		for range 5 {
			require.Equal(c, 200, c.Queue("GET", "ping/w?job_id=another,"+id, "").Status)
			c.advance(29 * time.Second)
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		}
		c.done("w", id, `{}`)
	})

	waited("queue.lease.other", []string{"takeJob"}, time.Minute, func(c *Check) {
		id := c.submit(job)
		c.takeJob("silent", id)
		require.Equal(c, 200, c.Queue("GET", "ping/silent", "").Status)
		c.passes(30 * time.Second)
		require.Equal(c, "IN_QUEUE", c.status(id)["status"])

		answers := c.hold(func() Answer { return c.Queue("GET", "job-take/silent?x=1", "") })
		require.Equal(c, 200, c.Queue("GET", "ping/silent?job_id="+id, "").Status) // it still runs it
		require.Empty(c, answers)
		c.takeJob("other", id)
		c.advance(25 * time.Second)
		require.Equal(c, 204, (<-answers).Status)
		c.done("other", id, `{}`)
	})

	waited("queue.lease.idle", []string{"takeJob"}, time.Minute, func(c *Check) {
		mute, id := c.worker("mute"), c.submit(job) // one that never pings
		c.takeJob(mute, id)
		c.passes(30 * time.Second)
		require.Equal(c, "IN_QUEUE", c.status(id)["status"])
		busy := c.hold(func() Answer { return c.Queue("GET", "job-take/"+mute+"?job_in_progress=1", "") })
		c.advance(time.Second)
		require.Equal(c, 204, (<-busy).Status)
		c.takeJob(mute, id)
		c.done(mute, id, `{}`)
	})

	waited("queue.status.retries.counted", []string{"status", "takeJob"}, time.Minute, func(c *Check) {
		id := c.submit(job)
		require.NotContains(c, c.status(id), "retries")
		for n := range 2 {
			c.loses(id, n)
			require.EqualValues(c, n+1, c.status(id)["retries"])
		}
	})

	waited("queue.health.retried", []string{"health", "takeJob"}, 30*time.Second, func(c *Check) {
		retried := func() float64 { return c.Queue("GET", "health", "").JSON["jobs"].(map[string]any)["retried"].(float64) }
		before := retried()
		id := c.submit(job)
		c.loses(id, 0)
		require.Equal(c, before+1, retried())
	})

	add("queue.order.low.scaling", []string{"run", "listEndpointWorkers"}, func(c *Check) {
		managed, at := c.managed()
		c.resting(at)
		managed.submit(`{"input":{},"policy":{"lowPriority":true}}`)
		c.advance(time.Minute)
		require.Empty(c, c.crew(at))
		managed.submit(job)
		c.Eventually(func() bool { return len(c.crew(at)) == 1 }, "a worker is started for the other job")
		c.resting(at)
	})

	waited("queue.attempts", []string{"takeJob", "status"}, 90*time.Second, func(c *Check) {
		id := c.submit(job)
		for i := range 3 {
			c.loses(id, i)
		}
		document := c.status(id)
		require.Equal(c, "FAILED", document["status"])
		require.Contains(c, document["error"], "3 attempts")
	})

	waited("queue.ping.unhealthy.lease", []string{"ping", "status"}, 30*time.Second, func(c *Check) {
		id := c.submit(job)
		c.takeJob("ill", id)
		require.Equal(c, 200, c.Queue("GET", "ping/ill?job_id="+id, "").Status)
		c.advance(20 * time.Second)
		require.Equal(c, 200, c.Queue("GET", "ping/ill?status=unhealthy&check=disk&reason=full&job_id="+id, "").Status)
		c.almost(10 * time.Second)
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.rest()
		require.Equal(c, "IN_QUEUE", c.status(id)["status"])
	})

	add("queue.take.refused", []string{"takeJob", "takeJobs"}, func(c *Check) {
		c.frozen(func() {
			for _, operation := range []string{"job-take/refused?x=1", "job-take-batch/refused"} {
				c.advance(time.Second)
				take := func() Answer {
					return c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/" + operation, Key: "-"})
				}
				for range 10 {
					c.Refused(take(), 401)
				}
				answers := c.hold(take)
				c.advance(time.Second - time.Millisecond)
				require.Empty(c, answers)

				c.advance(time.Millisecond)
				c.Refused(<-answers, 401)
				c.Refused(take(), 401)
			}
		})
	})

	waited("queue.take.busy", []string{"takeJob", "takeJobs"}, 3*time.Second, func(c *Check) {
		for _, operation := range []string{"job-take/busy?gpu=x&job_in_progress=1", "job-take/busy&job_in_progress=1", "job-take-batch/busy?batch_size=2&job_in_progress=1"} {
			answers := c.hold(func() Answer { return c.Queue("GET", operation, "") })
			c.almost(time.Second)
			require.Empty(c, answers)
			c.rest()
			require.Equal(c, 204, (<-answers).Status)
		}
	})

	waited("queue.take.none", []string{"takeJob", "takeJobs", "stopJobs"}, 75*time.Second, func(c *Check) {
		for _, operation := range []string{"job-take/idle?x=1", "job-take-batch/idle", "job-stop/idle"} {
			answers := c.hold(func() Answer { return c.Queue("GET", operation, "") })
			c.almost(25 * time.Second)
			require.Empty(c, answers)
			c.rest()
			require.Equal(c, 204, (<-answers).Status)
		}
	})
})

// loses has a worker take the job and go silent.
func (c *Check) loses(id string, n int) {
	worker := "silent" + strconv.Itoa(n)
	c.takeJob(worker, id)
	require.Equal(c, 200, c.Queue("GET", "ping/"+worker, "").Status)
	c.passes(30 * time.Second)
}

// syncKept asserts how long the result of a /runsync with the query is kept.
func (c *Check) syncKept(query string, d time.Duration) {
	answers := c.later(func() Answer { return c.Queue("POST", "runsync"+query, job) })
	taken := c.Queue("GET", "job-take/w?x=1", "")
	require.Equal(c, 200, taken.Status)
	id := taken.JSON["id"].(string)
	c.done("w", id, `{"output":1}`)
	require.Equal(c, "COMPLETED", (<-answers).JSON["status"])
	c.keptFor(id, d)
}

// keptFor asserts that the ended job can be read for that long from now, and not longer.
func (c *Check) keptFor(id string, d time.Duration) {
	c.almost(d)
	c.status(id)
	c.rest()
	c.Refused(c.Queue("GET", "status/"+id, ""), 404)
}
