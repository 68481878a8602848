package conformance

import (
	"strconv"

	"github.com/stretchr/testify/require"
)

// The state in which the storage takes writes.
const writable = `{"state":"writable"}`

// unwritable runs f while the storage takes no writes, once for each reason, with the title that names it.
func (c *Check) unwritable(f func(title string)) {
	for state, title := range map[string]string{"full": "Storage Full", "failing": "Storage Failing", "locked": "Storage Locked"} {
		func() {
			c.set("PUT", "storage", `{"state":"`+state+`"}`)
			defer c.set("PUT", "storage", writable)
			f(title)
		}()
	}
}

// unstored asserts the answer to what the storage could not take.
func (c *Check) unstored(a Answer, title string) {
	c.Refused(a, 503)
	require.Equal(c, title, a.JSON["title"])
	c.retriable(a)
}

// retriable asserts that the answer says when to try again.
func (c *Check) retriable(a Answer) {
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(c, err)
	require.Positive(c, seconds)
}

var _ = area(func() {
	add("errors.storage", []string{"createPod", "updatePod", "deletePod", "createTemplate"}, func(c *Check) {
		id := c.running(gpuPod)
		c.frozen(func() { // or the pod is up for a second more
			before := c.everyPod()
			c.unwritable(func(title string) {
				c.unstored(c.REST("POST", "/v2/pods", gpuPod), title)
				c.unstored(c.patch(id, `{"name":"other"}`), title)
				c.unstored(c.REST("DELETE", "/v2/pods/"+id, ""), title)
				c.unstored(c.REST("POST", templates, plainTemplate), title)
			})
			require.Equal(c, before, c.everyPod())
		})

		require.Equal(c, "other", c.patched(id, `{"name":"other"}`)["name"])
		c.terminated(id)
	})

	add("errors.storage.reads", []string{"getPod", "listPods", "listGpuTypes"}, func(c *Check) {
		id := c.newPod(gpuPod)
		before := c.getPod(id)["name"]
		c.unwritable(func(string) {
			require.Equal(c, before, c.getPod(id)["name"])
			require.Equal(c, 200, c.listPods(c.Key).Status)
			c.catalog("gpus", "")
		})
	})

	add("queue.errors.storage", []string{"run", "runSync", "cancel", "status", "health"}, func(c *Check) {
		id := c.submit(job)
		before := c.counts("jobs")
		c.unwritable(func(title string) {
			for _, operation := range []string{"run", "runsync?wait=1000"} {
				a := c.Queue("POST", operation, job)
				c.unstored(a, title)
				require.NotContains(c, a.JSON, "status")
				require.Equal(c, a.JSON["detail"], a.JSON["error"])
			}
			c.unstored(c.Queue("POST", "cancel/"+id, ""), title)
			require.Equal(c, "IN_QUEUE", c.status(id)["status"])
			require.Equal(c, before, c.counts("jobs"))
		})

		require.Equal(c, "CANCELLED", c.cancel(id)["status"])
		next := c.submit(job)
		c.takeJob("w", next) // and no other one
		c.done("w", next, "{}")
	})

	add("queue.errors.storage.worker", []string{"takeJob", "finishJob", "streamJob"}, func(c *Check) {
		id := c.submit(job)
		report := func(operation, body string) Answer {
			return c.Queue("POST", operation+"/w/"+id+"?isStream=false", body)
		}

		c.unwritable(func(title string) {
			for range 2 { // the job is in doubt by then
				c.unstored(c.Queue("GET", "job-take/w?job_in_progress=0", ""), title)
				require.Equal(c, "IN_QUEUE", c.status(id)["status"])
			}
		})

		c.takeJob("w", id)
		before := c.counts("jobs")
		c.unwritable(func(title string) {
			c.unstored(report("job-stream", `{"output":1}`), title)
			c.unstored(report("job-done", `{"output":1}`), title)
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		})

		require.Equal(c, before, c.counts("jobs"))
		require.Equal(c, 200, report("job-done", `{"output":"once"}`).Status)
		ended := c.status(id)
		require.Equal(c, "COMPLETED", ended["status"])
		require.Equal(c, "once", ended["output"])

		next := c.submit(job)
		c.unwritable(func(title string) {
			c.unstored(c.Queue("GET", "job-take-batch/w?batch_size=2&job_in_progress=0", ""), title)
			require.Equal(c, "IN_QUEUE", c.status(next)["status"])
		})
		c.takeJob("w", next)
		c.done("w", next, "{}")
		next = c.submit(job)
		c.takeJob("w", next) // and no other one
		c.done("w", next, "{}")
	})

	add("graphql.errors.storage", nil, func(c *Check) {
		id := c.running(gpuPod)
		stop := `podStop(input:{podId:"` + id + `"}){id}`
		c.unwritable(func(title string) {
			a := c.graphQL(`mutation{` + stop + `}`)
			c.wrongly(a, 503, "UNAVAILABLE")
			c.retriable(a)
			require.Equal(c, map[string]any{"podStop": nil}, a.JSON["data"])
			require.Equal(c, title, a.JSON["errors"].([]any)[0].(map[string]any)["extensions"].(map[string]any)["title"])
			c.wrongly(c.graphQL(`mutation{a:`+stop+` b:`+stop+`}`), 503, "UNAVAILABLE")
			c.wrongly(c.graphQL(`mutation{podResume(input:{podId:"`+id+`",gpuCount:0}){id} `+stop+`}`), 200, "REJECTED")
			c.data(c.graphQL(`{myself{id pods{id}}}`))
		})

		require.Equal(c, "RUNNING", c.getPod(id)["status"])
		c.data(c.graphQL(`mutation{` + stop + `}`))
		require.Equal(c, "EXITED", c.getPod(id)["status"])
	})

	add("controls.storage", []string{"setStorage"}, func(c *Check) {
		c.unwritable(func(title string) { c.unstored(c.control("POST", "keys", `{"scopes":["all"]}`), title) })
		c.newKey("", "rest:read")
		c.Refused(c.control("PUT", "storage", `{"state":"lost"}`), 422)
		c.set("PUT", "storage", `{"state":"full"}`)
		c.set("POST", "reset", "")
		c.newPod(gpuPod)
	})
})
