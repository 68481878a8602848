package conformance

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

var _ = area(func() {
	read := []string{"status"}
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

	add("queue.status.waiting", read, func(c *Check) {
		id := c.submit(job)
		require.Equal(c, map[string]any{"id": id, "status": "IN_QUEUE"}, c.status(id))
		c.cancel(id)
	})

	add("queue.status.running", read, func(c *Check) {
		id := c.submit(job)
		c.takeJob("w", id)
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.done("w", id, `{}`)
	})

	add("queue.status.document", []string{"status", "cancel"}, func(c *Check) {
		id := c.submit(job)
		c.cancel(id)
		for _, j := range []map[string]any{c.ended(`{"output":1}`), c.ended(`{"error":"x"}`), c.status(id)} {
			require.Contains(c, j, "delayTime")
			require.Contains(c, j, "executionTime")
			require.Contains(c, j, "workerId")
		}
		require.Equal(c, "w", c.ended(`{}`)["workerId"])
	})

	add("queue.status.output", read, func(c *Check) {
		for output, want := range map[string]any{
			`"text"`: "text", `7.5`: 7.5, `false`: false, `[1,"a",null]`: []any{1.0, "a", nil}, `{"a":null}`: map[string]any{"a": nil}, `""`: "",
		} {
			require.Equal(c, want, c.ended(`{"output":` + output + `}`)["output"])
		}
	})

	add("queue.status.error", read, func(c *Check) {
		require.Equal(c, "it broke", c.ended(`{"error":"it broke"}`)["error"])
		require.NotContains(c, c.ended(`{"output":1}`), "error")
	})
	add("queue.status.retries", read, func(c *Check) {
		require.NotContains(c, c.ended(`{"output":1}`), "retries")
	})

	add("queue.status.times", []string{"status", "statusSync", "takeJob"}, func(c *Check) {
		var id string
		hold := func() { c.Queue("GET", "status-sync/"+id+"?wait=1000", "") }
		var j map[string]any
		whole := took(func() {
			id = c.submit(job)
			hold()
			c.takeJob("w", id)
			hold()
			c.done("w", id, `{}`)
			j = c.status(id)
		}).Milliseconds()

		for _, member := range []string{"delayTime", "executionTime"} {
			require.GreaterOrEqual(c, j[member], 1000.0)
			require.LessOrEqual(c, j[member], float64(whole))
		}
	})

	add("queue.status.ttl", read, func(c *Check) {
		for _, ttl := range []string{"0", "-1", "1.5", "x", ""} {
			c.Refused(c.Queue("GET", "status/x?ttl="+ttl, ""), 422)
			c.Refused(c.Queue("POST", "status/x?ttl="+ttl, ""), 422)
		}
		id := c.submit(job)
		require.Equal(c, 200, c.Queue("GET", "status/"+id+"?ttl=60000", "").Status)
		c.cancel(id)
	})

	add("queue.status-sync", []string{"statusSync"}, func(c *Check) {
		id := c.submit(job)
		c.takeJob("w", id)
		wait := func() Answer { return c.Queue("GET", "status-sync/"+id+"?wait=60000", "") }
		finish := func(answers chan Answer) {
			require.Empty(c, answers, "it is held while the job runs")
			c.done("w", id, `{"output":3}`)
			require.Equal(c, "COMPLETED", (<-answers).JSON["status"])
		}

		if c.ControlsKey == "" {
			asked := time.Now()
			answers := c.later(wait)
			c.sleep(time.Second)
			finish(answers)
			require.Less(c, time.Since(asked), 55*time.Second, "as soon as the job ends, not as the wait does")
			return
		}

		c.frozen(func() { finish(c.hold(wait)) }) // its wait is never over
	})

	add("queue.status-sync.wait", []string{"statusSync"}, func(c *Check) {
		id := c.submit(job)
		var a Answer
		require.GreaterOrEqual(c, took(func() { a = c.Queue("GET", "status-sync/"+id+"?wait=1000", "") }).Milliseconds(), int64(900))
		require.Equal(c, 200, a.Status)
		require.Equal(c, "IN_QUEUE", a.JSON["status"])
		c.cancel(id)
	})

	add("queue.status-sync.range", []string{"statusSync", "statusSyncPost"}, func(c *Check) {
		c.waitRefused("GET", "status-sync/x", "")
		c.waitRefused("POST", "status-sync/x", "")
	})
})

var _ = area(func() {
	add("queue.cancel.waiting", []string{"cancel", "takeJob"}, func(c *Check) {
		first, second := c.submit(job), c.submit(job)
		a := c.cancel(first)
		require.Equal(c, first, a["id"])
		require.Equal(c, "CANCELLED", a["status"])
		c.takeJob("w", second)
		c.done("w", second, `{}`)
	})

	add("queue.cancel.running", []string{"cancel", "stopJobs"}, func(c *Check) {
		id := c.submit(job)
		c.takeJob(c.worker("stopped"), id)
		require.Equal(c, "CANCELLED", c.cancel(id)["status"])
		a := c.Queue("GET", "job-stop/"+c.worker("stopped")+"?x=1", "")
		require.Equal(c, 200, a.Status)
		require.Equal(c, []any{id}, a.JSON["jobsToStop"])
	})

	add("queue.cancel.progress", []string{"cancel"}, func(c *Check) {
		progress := strings.Repeat("half", 50_000)
		for _, body := range []string{job, `{"input":{},"webhook":"http://127.0.0.1:9/nobody"}`} {
			a := c.Queue("POST", "run", body)
			require.Equal(c, 200, a.Status, "%s", a.Body)
			id := a.JSON["id"].(string)
			c.takeJob("shows", id)
			c.done("shows", id, `{"status":"IN_PROGRESS","output":"`+progress+`"}`)
			require.Equal(c, progress, c.cancel(id)["output"])
			require.Equal(c, progress, c.status(id)["output"])
		}
	})

	add("queue.cancel.late", []string{"cancel", "finishJob"}, func(c *Check) {
		id := c.submit(job)
		c.takeJob("late", id)
		c.cancel(id)
		before := c.status(id)
		c.done("late", id, `{"output":1}`)
		require.Equal(c, before, c.status(id))
	})

	add("queue.cancel.ended", []string{"cancel"}, func(c *Check) {
		id := c.submit(job)
		c.cancel(id)
		for _, j := range []map[string]any{c.ended(`{"output":1}`), c.ended(`{"error":"x"}`), c.status(id)} {
			require.Equal(c, j, c.cancel(j["id"].(string)))
		}
	})

	add("queue.health", []string{"health"}, func(c *Check) {
		before := c.counts("jobs")
		require.ElementsMatch(c, []string{"completed", "failed", "inProgress", "inQueue", "retried"}, keys(c.Queue("GET", "health", "").JSON["jobs"].(map[string]any)))
		c.ended(`{"output":1}`)
		c.ended(`{"error":"x"}`)
		taken, waiting := c.submit(job), c.submit(job)
		c.takeJob("w", taken)
		after := c.counts("jobs")
		for _, name := range []string{"completed", "failed", "inProgress", "inQueue"} {
			require.Equal(c, before[name]+1, after[name], name)
		}
		c.done("w", taken, `{}`)
		c.cancel(waiting)
	})

	add("queue.health.workers", []string{"health", "ping", "takeJob"}, func(c *Check) {
		before := c.counts("workers")
		c.Queue("GET", "ping/"+c.worker("counted")+"?gpu=x", "")
		idle := c.counts("workers")
		require.Equal(c, before["idle"]+1, idle["idle"])

		id := c.submit(job)
		c.takeJob(c.worker("counted"), id)
		running := c.counts("workers")
		require.Equal(c, before["running"]+1, running["running"])
		require.Equal(c, before["idle"], running["idle"])
		c.done(c.worker("counted"), id, `{}`)
	})

	add("queue.health.workers.more", []string{"health"}, func(c *Check) {
		workers := c.counts("workers")
		for _, name := range []string{"initializing", "ready", "throttled", "unhealthy"} {
			require.Contains(c, workers, name)
		}
		c.Queue("GET", "ping/"+c.worker("ready")+"?gpu=x", "")
		require.Equal(c, workers["ready"]+1, c.counts("workers")["ready"])
	})

	add("queue.metrics", []string{"metrics", "health"}, func(c *Check) {
		ready := c.worker("ready")
		c.Queue("GET", "ping/"+ready+"?gpu=x", "")
		metrics := c.Queue("GET", "metrics", "").JSON
		require.Equal(c, map[string]any(c.Queue("GET", "health", "").JSON["workers"].(map[string]any)), metrics["workers"])
		require.Contains(c, metrics["readyWorkers"], ready)
		id := c.submit(job)
		c.takeJob(ready, id)
		require.NotContains(c, c.Queue("GET", "metrics", "").JSON["readyWorkers"], ready, "it works")
		c.done(ready, id, `{}`)
	})

	add("queue.rates.off", []string{"cancel"}, func(c *Check) {
		for range 120 { // more than the 100 in 10 s of the preset
			c.Refused(c.Queue("POST", "cancel/nosuchjob", ""), 404)
		}
	})
})
