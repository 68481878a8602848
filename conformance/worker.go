package conformance

import (
	"context"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"
)

func init() {
	add("queue.take", []string{"takeJob", "status"}, func(c *Check) {
		id := c.submit(`{"input":{},"s3Config":{"bucketName":"b"},"webhook":"http://127.0.0.1:9/hook"}`)
		j := c.takeJob("w", id)
		require.Equal(c, map[string]any{}, j["input"])
		require.Equal(c, map[string]any{"bucketName": "b"}, j["s3Config"])
		document := c.status(id)
		require.Equal(c, "IN_PROGRESS", document["status"])
		require.Equal(c, "w", document["workerId"])
		require.NotContains(c, document, "s3Config")
		c.done("w", id, `{}`)
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
	add("queue.take.hold", []string{"takeJob"}, func(c *Check) {
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", c.QueueURL+"/v2/"+c.Endpoint+"/job-take/w?x=1", nil)
		require.NoError(c, err)
		req.Header.Set("Authorization", c.Key)
		held := took(func() {
			res, err := client.Do(req)
			if err == nil {
				_ = res.Body.Close()
			}
			require.ErrorIs(c, err, context.DeadlineExceeded)
		})
		require.Greater(c, held, time.Second)
		// The worker hung up: the next job must not be leased to it.
		id := c.submit(job)
		c.takeJob("other", id)
		c.done("other", id, `{}`)
	})
	add("queue.order", []string{"run", "takeJobs"}, func(c *Check) {
		low := c.submit(numbered(0, `,"policy":{"lowPriority":true}`))
		first, second := c.submit(numbered(1, "")), c.submit(numbered(2, ""))
		require.Equal(c, []string{first, second, low}, taken(c, c.Queue("GET", "job-take-batch/w?batch_size=9", "")))
		for _, id := range []string{low, first, second} {
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
	add("queue.done.late", []string{"finishJob"}, func(c *Check) {
		j := c.ended(`{"output":1}`)
		c.done("w", j["id"].(string), `{"error":"again"}`)
		require.Equal(c, j, c.status(j["id"].(string)))
		c.done("w", "nosuchjob", `{"output":1}`)
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
		require.Equal(c, 200, c.Queue("GET", "ping/w?status=unhealthy&check=disk&reason=full", "").Status)
	})
}
