package conformance

import (
	"io"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"
)

// The rules of what is under way when its key is revoked.

// readAs reads the stream of a job with a key, and is held.
func (c *Check) readAs(key, id string) chan Answer {
	return c.hold(func() Answer { return c.streamAs("GET", id, "?wait=60000", "Bearer "+key, "") })
}

var _ = area(func() {
	add("auth.revoked.held", []string{"takeJob", "statusSync", "stopJobs"}, func(c *Check) {
		id, key := c.newKey("", "all")
		waits := c.submit(job)
		c.takeJob("w", waits)
		stops := c.submit(job)
		c.takeJob("stops", stops)
		held := func(operation string) chan Answer {
			return c.hold(func() Answer {
				return c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/" + operation, Key: key})
			})
		}
		take, wait, stop := held("job-take/revoked"), held("status-sync/"+waits), held("job-stop/stops")
		c.set("DELETE", "keys/"+id, "")

		next := c.submit(job)
		c.Refused(<-take, 401)
		c.takeJob("w", next)
		c.done("w", waits, `{"output":"not for that key"}`)
		c.Refused(<-wait, 401)
		c.done("w", next, `{}`)

		c.cancel(stops)
		c.Refused(<-stop, 401)
		a := c.Queue("GET", "job-stop/stops", "")
		require.Equal(c, []any{stops}, a.JSON["jobsToStop"], "%s", a.Body)

		id, key = c.newKey("", "all")
		take = held("job-take/revoked?job_in_progress=1")
		c.set("DELETE", "keys/"+id, "")
		c.Refused(<-take, 401) // though there was no job
	})

	add("auth.revoked.body", []string{"run"}, func(c *Check) {
		id, key := c.newKey("", "all")
		conn := c.sends(c.head("POST", "run", key, "Content-Length: "+strconv.Itoa(len(job)), "Connection: close") + job[:1])
		c.sleep(1500 * time.Millisecond)
		c.set("DELETE", "keys/"+id, "")
		_, err := io.WriteString(conn, job[1:])
		require.NoError(c, err)
		require.Equal(c, 401, c.answered(conn))
	})

	add("auth.revoked.stream", []string{"stream", "streamJob"}, func(c *Check) {
		id, key := c.newKey("", "all")
		streams, ends := c.submit(job), c.submit(job)
		c.takeJob("w", streams)
		c.takeJob("w", ends)
		chunk, end := c.readAs(key, streams), c.readAs(key, ends)
		c.set("DELETE", "keys/"+id, "")

		c.yield("w", streams, `{"output":"not for that key"}`)
		c.Refused(<-chunk, 401)
		_, chunks := c.stream(streams)
		require.Equal(c, []string{`{"output":"not for that key"}`}, chunks, "it stayed for another read")
		c.done("w", ends, `{}`)
		c.Refused(<-end, 401)
		c.done("w", streams, `{}`)
	})

	add("auth.revoked.openai", append([]string{"streamJob", "finishJob"}, openAIOps[:1]...), func(c *Check) {
		for _, body := range []string{`{"model":"m"}`, streaming} {
			id, key := c.newKey("", "all")
			call := c.call(openAIRoute{"POST", chat, body}, "Bearer "+key)
			j := c.takeAny()
			c.set("DELETE", "keys/"+id, "")
			c.done(openAIWorker, j.id, `{"output":{"text":"not for that key"}}`)
			c.openAIFails(call.answer(), 401)
		}

		id, key := c.newKey("", "all")
		call := c.call(openAIRoute{"POST", chat, streaming}, "Bearer "+key)
		j := c.takeAny()
		c.streamsChunk(j.id, `"data: 1\n\n"`)
		require.Equal(c, "data: 1\n\n", call.next(9))
		c.set("DELETE", "keys/"+id, "")
		c.streamsChunk(j.id, `"data: not for that key\n\n"`)

		rest := call.rest()
		require.Contains(c, rest, `"error":`)
		require.NotContains(c, rest, "not for that key")
		c.Eventually(func() bool { return c.status(j.id)["status"] == "CANCELLED" }, "nobody waits for the job any more")
		c.stopped(j.id)
	})

	add("auth.revoked.logs", []string{"getPodLogs", "getWorkerLogs", "changeUser"}, func(c *Check) {
		c.needsControls()
		pod := "/v2/pods/" + c.ticking(3) + "/logs"
		worker, _ := c.talking(3)
		for _, path := range []string{pod, worker} {
			id, key := c.newKey("", "rest:read")
			s := c.followAs(key, path, "?source=container", "")
			defer s.hangUp()
			s.until("tick 3")
			c.set("DELETE", "keys/"+id, "")
			c.advance(15 * time.Second) // the worker and the pod go on writing
			s.ends()
		}

		user, _, key := c.userWithKey("followed", "member", "all")
		a := c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: gpuPod, Key: "Bearer " + key})
		require.Equal(c, 201, a.Status, "%s", a.Body)
		quiet := c.followAs(key, "/v2/pods/"+a.JSON["id"].(string)+"/logs", "", "")
		defer quiet.hangUp()
		quiet.until("RUNNING")
		c.changeUser(user, `{"disabled":true}`)
		quiet.ends()
		c.changeUser(user, `{"disabled":false}`)
		c.Send(Request{Method: "DELETE", URL: c.URL + "/v2/pods/" + a.JSON["id"].(string), Key: "Bearer " + key})
	})
})
