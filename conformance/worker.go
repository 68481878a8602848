package conformance

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

var _ = area(func() {
	add("queue.take", []string{"takeJob", "status"}, func(c *Check) {
		id := c.submit(`{"input":{"n":7}}`)
		require.Equal(c, map[string]any{"n": 7.0}, c.takeJob("w", id)["input"])
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.done("w", id, `{}`)
	})

	add("queue.take.once", []string{"takeJob"}, func(c *Check) {
		first, second := c.submit(job), c.submit(job)
		c.takeJob("w", first)
		c.takeJob("other", second)
		c.done("w", first, `{}`)
		c.done("other", second, `{}`)
	})

	add("queue.take.batch", []string{"takeJobs"}, func(c *Check) {
		ids := []string{c.submit(job), c.submit(job), c.submit(job)}
		a := c.Queue("GET", "job-take-batch/w?gpu=x&batch_size=2&job_in_progress=1", "")
		require.Equal(c, 200, a.Status)
		require.Equal(c, ids[:2], taken(c, a))
		a = c.Queue("GET", "job-take-batch/w?batch_size=2", "")
		require.Equal(c, ids[2:], taken(c, a))
		for _, id := range ids {
			c.done("w", id, `{}`)
		}
	})

	add("queue.take.batch.bytes", []string{"takeJobs"}, func(c *Check) {
		ids := []string{c.submit(`{"input":{"text":"` + strings.Repeat("x", 8_000_000) + `"}}`), c.submit(job), c.submit(job)}
		for _, want := range [][]string{ids[:1], ids[1:]} {
			require.Equal(c, want, taken(c, c.Queue("GET", "job-take-batch/w?batch_size=9&job_in_progress=1", "")))
		}
		for _, id := range ids {
			c.done("w", id, `{}`)
		}
	})

	add("queue.take.hold", []string{"takeJob"}, func(c *Check) { c.held("job-take/w?x=1") })
	add("queue.take.gone", []string{"takeJob"}, func(c *Check) {
		c.held("job-take/w?x=1")
		id := c.submit(job)
		if c.ControlsKey == "" { // nobody says when the target has noticed: until then it gives the job to who is gone, for the time of a lease
			got := c.untilTaken("job-take/other?gpu=x&job_in_progress=0")
			require.Equal(c, 200, got.Status, "%s", got.Body)
			require.Equal(c, id, got.JSON["id"])
		} else {
			c.takeJob("other", id)
		}
		c.done("other", id, `{}`)
	})

	add("queue.stop", []string{"stopJobs"}, func(c *Check) { c.held("job-stop/patient?x=1") })
	add("queue.order", []string{"run", "takeJobs"}, func(c *Check) {
		ids := []string{c.submit(job), c.submit(job), c.submit(job)}
		require.Equal(c, ids, taken(c, c.Queue("GET", "job-take-batch/w?batch_size=9", "")))
		for _, id := range ids {
			c.done("w", id, `{}`)
		}
	})

	add("queue.order.low", []string{"run", "takeJobs"}, func(c *Check) {
		const lower = `{"input":{},"policy":{"lowPriority":true}}`
		low, lowest, normal := c.submit(lower), c.submit(lower), c.submit(job)
		require.Equal(c, []string{normal, low, lowest}, taken(c, c.Queue("GET", "job-take-batch/w?batch_size=9", "")))
		for _, id := range []string{low, lowest, normal} {
			c.done("w", id, `{}`)
		}
	})

	add("queue.done", []string{"finishJob", "status"}, func(c *Check) {
		j := c.ended(`{"output":{"big":9007199254740993,"text":"<&>"}}`)
		require.Equal(c, "COMPLETED", j["status"])
		require.Contains(c, string(c.Queue("GET", "status/"+j["id"].(string), "").Body), `{"big":9007199254740993,"text":"<&>"}`)
	})

	add("queue.done.any-type", []string{"finishJob"}, func(c *Check) {
		require.Equal(c, "COMPLETED", c.ended(`{"output":1,"unlisted":true}`)["status"])
	})
	add("queue.done.empty", []string{"finishJob"}, func(c *Check) {
		j := c.ended(`{}`)
		require.Equal(c, "COMPLETED", j["status"])
		require.NotContains(c, j, "output")
	})

	add("queue.done.error", []string{"finishJob"}, func(c *Check) {
		j := c.ended(`{"error":"it broke","output":{"part":1}}`)
		require.Equal(c, "FAILED", j["status"])
		require.Equal(c, "it broke", j["error"])
		require.Equal(c, map[string]any{"part": 1.0}, j["output"])
		require.Equal(c, `{"code":7}`, c.ended(`{"error":{"code":7}}`)["error"])
		require.Equal(c, "COMPLETED", c.ended(`{"error":null,"output":1}`)["status"])
	})

	add("queue.done.error.long", []string{"finishJob", "status"}, func(c *Check) {
		const half = 64 << 10
		begin, end := strings.Repeat("b", half), strings.Repeat("e", half)
		require.Equal(c, begin+end, c.ended(`{"error":"` + begin + end + `"}`)["error"])

		kept := c.ended(`{"error":"` + begin + strings.Repeat("x", 12345) + end + `"}`)["error"].(string)
		require.Less(c, len(kept), 2*half+100)
		require.True(c, strings.HasPrefix(kept, begin) && strings.HasSuffix(kept, end))
		require.Contains(c, kept, "12345 bytes")
	})

	add("queue.done.late", []string{"finishJob"}, func(c *Check) {
		j := c.ended(`{"output":1}`)
		c.done("w", j["id"].(string), `{"error":"again"}`)
		require.Equal(c, j, c.status(j["id"].(string)))
		c.done("w", "nosuchjob", `{"output":1}`)
	})

	add("queue.done.appended", []string{"takeJob", "finishJob", "streamJob", "ping"}, func(c *Check) {
		id := c.submit(job)
		require.Equal(c, id, c.untilTaken("job-take/w&gpu=x&job_in_progress=0").JSON["id"])
		require.Equal(c, 200, c.Queue("GET", "ping/w&gpu=x", "").Status)
		require.Equal(c, 200, c.Queue("POST", "job-stream/w/"+id+"&gpu=x&isStream=false", `{"output":"part"}`).Status)
		_, chunks := c.stream(id)
		require.Len(c, chunks, 1)
		require.Contains(c, chunks[0], `"part"`)
		require.Equal(c, 200, c.Queue("POST", "job-done/w/"+id+"&gpu=x&isStream=false", `{"output":"whole"}`).Status)
		require.Equal(c, "whole", c.status(id)["output"])
	})

	add("queue.progress", []string{"finishJob", "status"}, func(c *Check) {
		id := c.submit(job)
		c.takeJob("w", id)
		c.done("w", id, `{"status":"IN_PROGRESS","output":"half"}`)
		require.Equal(c, "half", c.status(id)["output"])
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.done("w", id, `{"output":"whole"}`)
		c.done("w", id, `{"status":"IN_PROGRESS","output":"half"}`)
		require.Equal(c, "whole", c.status(id)["output"])
		require.Equal(c, "COMPLETED", c.status(id)["status"])
	})

	add("queue.fence", []string{"finishJob"}, func(c *Check) {
		id := c.submit(job)
		c.takeJob("w", id)
		c.done("stranger", id, `{"output":"stolen"}`)
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		for _, nobody := range []string{"*", "&x"} {
			require.Equal(c, 422, c.Queue("POST", "job-done/"+nobody+"/"+id, `{"output":"stolen"}`).Status)
			require.Equal(c, 422, c.Queue("GET", "job-take/"+nobody, "").Status)
		}
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.done("w", id, `{}`)
	})

	add("queue.stream.append", []string{"streamJob"}, func(c *Check) {
		id := c.submit(job)
		c.takeJob("w", id)
		require.Equal(c, 200, c.Queue("POST", "job-stream/w/"+id+"?isStream=false", `{"output":"part"}`).Status)
		c.done("w", id, `{"output":[]}`)
		require.Equal(c, []any{}, c.status(id)["output"])
	})

	add("queue.ping", []string{"ping"}, func(c *Check) {
		require.Equal(c, 200, c.Queue("GET", "ping/w?gpu=x&runpod_version=1.7.0", "").Status)
		require.Equal(c, 200, c.Queue("GET", "ping/w?gpu=x&job_id=a,b&runpod_version=1.7.0", "").Status)
	})

	add("queue.ping.unhealthy", []string{"ping", "health"}, func(c *Check) {
		before := c.counts("workers")["unhealthy"]
		require.Equal(c, 200, c.Queue("GET", "ping/"+c.worker("ill")+"?status=unhealthy&check=disk&reason=full", "").Status)
		require.Equal(c, before+1, c.counts("workers")["unhealthy"])
	})

	add("queue.output.limit", []string{"finishJob"}, func(c *Check) {
		c.outputLimit(10_000_000, func() string { return c.submit(job) })
	})
	add("queue.output.limit.runsync", []string{"finishJob", "runSync"}, func(c *Check) {
		c.outputLimit(20_000_000, func() string { return c.sync(job) })
	})
	add("queue.progress.limit", []string{"finishJob", "status"}, func(c *Check) {
		c.progressLimit(10_000_000, c.submit(job))
		c.progressLimit(20_000_000, c.sync(job))
	})
	add("queue.output.limit.report", []string{"finishJob"}, func(c *Check) {
		const most = 64_000_000 // bytes of a report
		id := c.submit(job)
		c.takeJob("w", id)
		c.tooLong("job-done/w/"+id, `{"output":"`+strings.Repeat("x", most)+`"}`)
		j := c.status(id)
		require.Equal(c, "FAILED", j["status"])
		require.NotContains(c, j, "output")
		require.Contains(c, j["error"], strconv.Itoa(most+len(`{"output":""}`)))
		require.Contains(c, j["error"], strconv.Itoa(most))
	})
	add("queue.done.nan", []string{"finishJob"}, func(c *Check) {
		for _, output := range []string{`NaN`, `[1,-Infinity,"NaN"]`, `{"loss":Infinity}`} {
			id := c.submit(job)
			c.takeJob("w", id)
			report := "job-done/w/" + id + "?isStream=false"
			require.Equal(c, 400, c.Queue("POST", report, `{"status":"IN_PROGRESS","output":`+output+`}`).Status)
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])

			require.Equal(c, 400, c.Queue("POST", report, `{"output":`+output+`}`).Status)
			require.Equal(c, "FAILED", c.status(id)["status"])
			require.Contains(c, c.status(id)["error"], "NaN")
		}
	})
	add("queue.done.refused", []string{"finishJob"}, func(c *Check) {
		for _, output := range unreadable {
			id := c.submit(job)
			c.takeJob("w", id)
			report := "job-done/w/" + id
			require.Equal(c, 400, c.Queue("POST", report, `{"status":"IN_PROGRESS","output":`+output+`}`).Status)
			require.Equal(c, 400, c.Queue("POST", report, `{"output":`+output+`,"status":"IN_PROGRESS"}`).Status)
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])

			require.Equal(c, 400, c.Queue("POST", report, `{"output":`+output+`}`).Status)
			require.Equal(c, "FAILED", c.status(id)["status"])
			require.Contains(c, c.status(id)["error"], "the report was refused: ")
		}
	})
	add("queue.done.broken", []string{"finishJob"}, func(c *Check) {
		for _, broken := range []string{``, `{"output":"cut`, `{"output":1} and more`, `<html>`} {
			id := c.submit(job)
			c.takeJob("w", id)
			require.Equal(c, 400, c.Queue("POST", "job-done/w/"+id, `{"status":"IN_PROGRESS","output":"cut`).Status)
			require.Equal(c, 400, c.Queue("POST", "job-done/other/"+id, broken).Status, "who does not hold the job fails none")
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])

			require.Equal(c, 400, c.Queue("POST", "job-done/w/"+id, broken).Status)
			require.Equal(c, "FAILED", c.status(id)["status"])
			require.Contains(c, c.status(id)["error"], "the report was refused: ")
		}
	})
	add("queue.done.schema", []string{"finishJob"}, func(c *Check) {
		for report, why := range map[string]string{
			`{"output":1,"stopPod":"yes"}`: "/stopPod", `{"output":1,"status":5}`: "/status", `{"output":1,"output":2}`: "appears twice",
			`["output"]`: "must be an object", `null`: "must be an object",
		} {
			id := c.submit(job)
			c.takeJob("w", id)
			require.Equal(c, 422, c.Queue("POST", "job-done/w/"+id, `{"status":"IN_PROGRESS","stopPod":"yes"}`).Status)
			require.Equal(c, 422, c.Queue("POST", "job-done/other/"+id, report).Status, "who does not hold the job fails none")
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])

			require.Equal(c, 422, c.Queue("POST", "job-done/w/"+id, report).Status)
			require.Equal(c, "FAILED", c.status(id)["status"])
			require.Contains(c, c.status(id)["error"], why)
		}
	})
	add("queue.stream.refused", []string{"streamJob"}, func(c *Check) {
		for _, refused := range []func(part string){
			func(part string) { require.Equal(c, 400, c.Queue("POST", part, `{"output":NaN}`).Status) },
			func(part string) {
				require.Equal(c, 400, c.Queue("POST", part, `{"output":`+unreadable[0]+`}`).Status)
			},
			func(part string) {
				require.Equal(c, 400, c.Queue("POST", part, `{"output":`+unreadable[1]+`}`).Status)
			},
			func(part string) { require.Equal(c, 400, c.Queue("POST", part, `{"output":"cut`).Status) },
			func(part string) { require.Equal(c, 400, c.Queue("POST", part, ``).Status) },
			func(part string) { require.Equal(c, 422, c.Queue("POST", part, `["no object"]`).Status) },
			func(part string) {
				long := `{"output":2,"metrics":"` + strings.Repeat("x", 1_000_000) + `"}`
				require.Equal(c, 400, c.Queue("POST", part, long).Status)
			},
			func(part string) { c.tooLong(part, `{"output":"`+strings.Repeat("x", 64_000_000)+`"}`) },
		} {
			id := c.submit(job)
			c.takeJob("w", id)
			part := "job-stream/w/" + id
			require.Equal(c, 200, c.Queue("POST", part, `{"output":1}`).Status)
			refused(part)
			require.Equal(c, 200, c.Queue("POST", part, `{"output":3}`).Status)
			c.done("w", id, `{"output":[]}`)
			require.Equal(c, "FAILED", c.status(id)["status"])
			require.NotEmpty(c, c.status(id)["error"])
		}
	})
	add("bounds.workers", []string{"ping", "takeJob"}, func(c *Check) {
		longest := c.worker("l")
		longest += strings.Repeat("l", 200-len(longest))
		require.Equal(c, 200, c.Queue("GET", "ping/"+longest, "").Status)
		for _, operation := range []string{"ping/", "job-take/", "job-stop/"} {
			a := c.Queue("GET", operation+longest+"l", "")
			require.Equal(c, 422, a.Status, "%s", a.Body)
			require.Contains(c, string(a.Body), "path.workerId")
		}
	})
})

// unreadable are values that other readers of JSON take.
var unreadable = []string{`"half of \ud83d"`, strings.Repeat("[", 600) + strings.Repeat("]", 600)}

// held asserts that the request is not answered within a second, and hangs up.
func (c *Check) held(operation string) {
	before := c.heldNow()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.QueueURL+"/v2/"+c.Endpoint+"/"+operation, nil)
	require.NoError(c, err)
	req.Header.Set("Authorization", c.Key)
	res, err := client.Do(req)
	if err == nil {
		_ = res.Body.Close()
	}
	require.ErrorIs(c, err, context.DeadlineExceeded)
	c.untilHeld(before)
}

// untilTaken takes until there is something to take, and three times at most.
func (c *Check) untilTaken(operation string) (a Answer) {
	for range 3 {
		if a = c.Queue("GET", operation, ""); a.Status != http.StatusNoContent {
			break
		}
	}
	return a
}

// tooLong asserts that the report is refused by its length, before it is sent.
func (c *Check) tooLong(operation, report string) {
	a := c.Send(Request{
		Method: "POST", URL: c.QueueURL + "/v2/" + c.Endpoint + "/" + operation, Body: report, Key: c.Key,
		Header: map[string]string{"Content-Type": "application/json", "Expect": "100-continue"},
	})
	c.Refused(a, 413)
}

// outputLimit asserts how large the output of a job may be, in bytes.
func (c *Check) outputLimit(limit int, submit func() string) {
	finish := func(size int) map[string]any {
		id := submit()
		c.takeJob("w", id)
		c.done("w", id, `{"output":"`+strings.Repeat("x", size-2)+`"}`)
		return c.status(id)
	}

	j := finish(limit)
	require.Equal(c, "COMPLETED", j["status"])
	require.Len(c, j["output"], limit-2)
	j = finish(limit + 1)
	require.Equal(c, "FAILED", j["status"])
	require.NotContains(c, j, "output")
	require.Contains(c, j["error"], strconv.Itoa(limit))
	require.Contains(c, j["error"], strconv.Itoa(limit+1))
}

// progressLimit reports progress of that size and of more of a job that waits, and ends it.
func (c *Check) progressLimit(limit int, id string) {
	c.takeJob("w", id)
	size := func() int { return len(c.status(id)["output"].(string)) }
	progress := func(size int) string {
		return `{"status":"IN_PROGRESS","output":"` + strings.Repeat("x", size-2) + `"}`
	}
	c.done("w", id, progress(limit))
	require.Equal(c, limit-2, size())

	refused := c.Queue("POST", "job-done/w/"+id, progress(limit+1))
	require.Equal(c, 400, refused.Status)
	require.Contains(c, string(refused.Body), strconv.Itoa(limit+1))
	require.Contains(c, string(refused.Body), strconv.Itoa(limit))
	require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
	require.Equal(c, limit-2, size(), "what was shown before")

	c.done("w", id, `{"output":"whole"}`)
	require.Equal(c, "COMPLETED", c.status(id)["status"])
}
