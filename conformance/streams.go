package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// yield streams one chunk as SDK workers do.
func (c *Check) yield(worker, id, chunk string) {
	a := c.Send(Request{
		Method: "POST", URL: c.QueueURL + "/v2/" + c.Endpoint + "/job-stream/" + worker + "/" + id + "?gpu=x&isStream=false",
		Body: chunk, Key: c.Key, Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
	require.Equal(c, 200, a.Status, "%s", a.Body)
}

// stream reads the stream of a job as SDK clients do: the status, and the chunks as JSON.
func (c *Check) stream(id string) (status string, chunks []string) {
	a := c.streamAs("GET", id, "", "Bearer "+c.Key, "*/*")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	var document struct {
		Status string
		Stream []json.RawMessage
	}
	require.NoError(c, json.Unmarshal(a.Body, &document), "%s", a.Body)
	require.NotNil(c, document.Stream, "%s", a.Body)

	chunks = []string{}
	for _, chunk := range document.Stream {
		chunks = append(chunks, string(chunk))
	}
	return document.Status, chunks
}

func (c *Check) streamAs(method, id, query, key, accept string) Answer {
	return c.Send(Request{
		Method: method, URL: c.QueueURL + "/v2/" + c.Endpoint + "/stream/" + id + query, Key: key, Header: map[string]string{"Accept": accept},
	})
}

// streaming gives a job that the worker w holds.
func (c *Check) streaming() string {
	id := c.submit(job)
	c.takeJob("w", id)
	return id
}

// heldFor asserts that a read of the stream is held for so long, and then gives no chunk.
func (c *Check) heldFor(id, query string, d time.Duration) {
	answers := c.hold(func() Answer { return c.streamAs("GET", id, query, "Bearer "+c.Key, "") })
	c.almost(d)
	require.Empty(c, answers)
	c.rest()
	require.Equal(c, []any{}, (<-answers).JSON["stream"])
}

var _ = area(func() {
	stream := []string{"stream", "streamJob"}
	add("queue.stream", stream, func(c *Check) {
		id := c.streaming()
		c.yield("w", id, `{"output":{"text":["a"]},"metrics":{"n":1}}`)
		c.yield("w", id, `{"output":2}`)
		a := c.streamAs("GET", id, "", c.Key, "application/json")
		require.JSONEq(c, `[{"output":{"text":["a"]},"metrics":{"n":1}},{"output":2}]`, string(a.Body))
		c.done("w", id, `{"output":[]}`)
	})

	add("queue.stream.object", stream, func(c *Check) {
		id := c.streaming()
		for _, r := range []struct {
			key, accept string
			object      bool
		}{
			{c.Key, "application/json", false},
			{c.Key, "*/*", false},
			{"Bearer " + c.Key, "application/json", false},
			{"Bearer " + c.Key, "*/*", true},
			{"Bearer " + c.Key, "application/json, text/plain", true},
			{"Bearer " + c.Key, "", true},
		} {
			c.yield("w", id, `{"output":1}`)
			a := c.streamAs("GET", id, "", r.key, r.accept)
			if r.object {
				require.JSONEq(c, `{"status":"IN_PROGRESS","stream":[{"output":1}]}`, string(a.Body))
			} else {
				require.JSONEq(c, `[{"output":1}]`, string(a.Body))
			}
		}

		c.done("w", id, `{}`)
	})

	add("queue.stream.methods", []string{"stream", "streamPost"}, func(c *Check) {
		id := c.streaming()
		for _, method := range []string{"GET", "POST"} {
			c.yield("w", id, `{"output":1}`)
			require.JSONEq(c, `[{"output":1}]`, string(c.streamAs(method, id, "", c.Key, "").Body))
		}
		c.done("w", id, `{}`)
	})

	add("queue.stream.order", stream, func(c *Check) {
		id := c.streaming()
		want := []string{}
		for i := range 20 {
			chunk := fmt.Sprintf(`{"output":%d,"metrics":{"n":%d}}`, i, i)
			c.yield("w", id, chunk)
			want = append(want, chunk)
		}

		_, chunks := c.stream(id)
		for i := range want {
			require.JSONEq(c, want[i], chunks[i])
		}
		c.done("w", id, `{}`)
	})

	add("queue.stream.once", stream, func(c *Check) {
		id := c.streaming()
		c.yield("w", id, `{"output":1}`)
		_, chunks := c.stream(id)
		require.Len(c, chunks, 1)
		c.yield("w", id, `{"output":2}`)
		_, chunks = c.stream(id)
		require.Equal(c, []string{`{"output":2}`}, chunks)
		c.done("w", id, `{}`)
	})

	waited("queue.stream.hold", []string{"stream"}, 8*time.Second, func(c *Check) {
		id := c.streaming()
		c.heldFor(id, "", 8*time.Second)
		answers := c.hold(func() Answer { return c.streamAs("GET", id, "", "Bearer "+c.Key, "") })
		c.yield("w", id, `{"output":1}`)
		require.Len(c, (<-answers).JSON["stream"], 1, "the first chunk ends the hold")
		c.done("w", id, `{}`)
	})

	waited("queue.stream.wait", []string{"stream"}, 301*time.Second, func(c *Check) {
		for _, wait := range []string{"999", "300001", "x"} {
			c.Refused(c.streamAs("GET", "x", "?wait="+wait, c.Key, ""), 422)
		}
		id := c.streaming()
		c.heldFor(id, "?wait=1000", time.Second)
		require.Equal(c, 200, c.Queue("GET", "ping/w?job_id="+id, "").Status)
		c.heldFor(id, "?wait=300000", 300*time.Second)
	})

	waited("queue.stream.present", []string{"stream"}, time.Second, func(c *Check) {
		id := c.submit(job)
		answers := c.hold(func() Answer { return c.streamAs("GET", id, "?wait=1000", "Bearer "+c.Key, "") })
		c.advance(time.Second)
		require.JSONEq(c, `{"status":"IN_QUEUE","stream":[]}`, string((<-answers).Body))
		c.cancel(id)
	})

	add("queue.stream.last", stream, func(c *Check) {
		for report, status := range map[string]string{`{"output":[]}`: "COMPLETED", `{"error":"x"}`: "FAILED"} {
			id := c.streaming()
			c.yield("w", id, `{"output":1}`)
			c.done("w", id, report)
			got, chunks := c.stream(id)
			require.Equal(c, status, got)
			require.Len(c, chunks, 1)
		}
	})

	add("queue.stream.after", stream, func(c *Check) {
		for report, status := range map[string]string{`{"output":[]}`: "COMPLETED", `{"error":"x"}`: "FAILED"} {
			id := c.streaming()
			c.yield("w", id, `{"output":1}`)
			c.done("w", id, report)
			c.stream(id)
			for range 3 {
				got, chunks := c.stream(id)
				require.Equal(c, status, got)
				require.Empty(c, chunks)
			}
		}
	})

	waited("queue.stream.stopped", stream, 5*time.Second, func(c *Check) {
		cancelled := c.streaming()
		timed := c.submit(`{"input":{},"policy":{"executionTimeout":5000}}`)
		c.takeJob("w", timed)
		c.yield("w", cancelled, `{"output":1}`)
		c.yield("w", timed, `{"output":1}`)
		c.cancel(cancelled)
		c.passes(5 * time.Second)

		for id, status := range map[string]string{cancelled: "CANCELLED", timed: "TIMED_OUT"} {
			got, chunks := c.stream(id)
			require.Equal(c, status, got)
			require.Len(c, chunks, 1)
			got, chunks = c.stream(id)
			require.Equal(c, status, got)
			require.Empty(c, chunks)
			c.Refused(c.streamAs("GET", id, "", "Bearer "+c.Key, ""), 404)
			require.Equal(c, status, c.status(id)["status"])
		}
	})

	add("queue.stream.none", []string{"stream"}, func(c *Check) {
		id := c.ended(`{"output":1}`)["id"].(string)
		status, chunks := c.stream(id)
		require.Equal(c, "COMPLETED", status)
		require.Empty(c, chunks)
	})

	add("queue.stream.split", stream, func(c *Check) {
		object := `{"a":"` + strings.Repeat("é", 600_000) + `"}`
		for _, text := range []string{strings.Repeat("aé\n", 600_000), strings.Repeat("\x01", 400_000), strings.Repeat("\"\\", 500_000), object} {
			id := c.streaming()
			whole, err := json.Marshal(text)
			require.NoError(c, err)
			if text == object {
				whole = []byte(object)
			}
			c.yield("w", id, `{"output":`+string(whole)+`}`)
			_, chunks := c.stream(id)
			require.Greater(c, len(chunks), 1)

			var joined strings.Builder
			for _, chunk := range chunks {
				require.True(c, strings.HasPrefix(chunk, `{"output":"`), "%.20s", chunk)
				require.LessOrEqual(c, len(chunk), 1_000_000+len(`{"output":}`))
				var piece struct{ Output string }
				require.NoError(c, json.Unmarshal([]byte(chunk), &piece))
				joined.WriteString(piece.Output)
			}

			require.True(c, text == joined.String(), "the pieces make the whole again")
			c.done("w", id, `{}`)
		}
	})

	retry := []string{"retry"}
	add("queue.retry", retry, func(c *Check) {
		id := c.ended(`{"error":"x"}`)["id"].(string)
		require.Equal(c, map[string]any{"id": id, "status": "IN_QUEUE"}, c.retry(id))
		c.cancel(id)
	})

	waited("queue.retry.timed-out", retry, 20*time.Second, func(c *Check) {
		id := c.submit(`{"input":{},"policy":{"ttl":10000}}`)
		c.passes(10 * time.Second)
		require.Equal(c, "TIMED_OUT", c.status(id)["status"])
		require.Equal(c, map[string]any{"id": id, "status": "IN_QUEUE"}, c.retry(id))
		c.almost(10 * time.Second)
		require.Equal(c, "IN_QUEUE", c.status(id)["status"], "its time to live begins anew")
		c.cancel(id)
	})

	add("queue.retry.input", retry, func(c *Check) {
		id := c.submit(`{"input":{"big":9007199254740993}}`)
		c.takeJob("w", id)
		c.done("w", id, `{"error":"x"}`)
		c.retry(id)
		a := c.Queue("GET", "job-take/w?x=1", "")
		require.Equal(c, id, a.JSON["id"])
		require.Contains(c, string(a.Body), `{"big":9007199254740993}`)
		c.done("w", id, `{}`)
	})

	add("queue.retry.output", retry, func(c *Check) {
		id := c.streaming()
		c.yield("w", id, `{"output":1}`)
		c.done("w", id, `{"error":"x","output":{"part":1}}`)
		c.retry(id)
		require.Equal(c, map[string]any{"id": id, "status": "IN_QUEUE"}, c.status(id))
		c.takeJob("w", id)
		c.done("w", id, `{}`)
		_, chunks := c.stream(id)
		require.Empty(c, chunks)
	})

	waited("queue.retry.attempts", retry, 3*time.Minute, func(c *Check) {
		id := c.submit(job)
		for round := range 2 {
			for i := range 3 {
				require.Equal(c, "IN_QUEUE", c.status(id)["status"])
				c.loses(id, 3*round+i)
			}
			require.Equal(c, "FAILED", c.status(id)["status"])
			c.retry(id)
		}

		c.cancel(id)
	})

	add("queue.retry.conflict", retry, func(c *Check) {
		waiting := c.submit(job)
		done := c.submit(job)
		c.Refused(c.Queue("POST", "retry/"+waiting, ""), 409)
		c.takeJob("w", waiting)
		c.takeJob("w", done)
		c.Refused(c.Queue("POST", "retry/"+waiting, ""), 409)
		c.done("w", done, `{}`)
		c.Refused(c.Queue("POST", "retry/"+done, ""), 409)
		c.cancel(waiting)
		c.Refused(c.Queue("POST", "retry/"+waiting, ""), 409)
	})

	waited("queue.retry.expired", retry, 30*time.Minute, func(c *Check) {
		id := c.ended(`{"error":"x"}`)["id"].(string)
		c.passes(30 * time.Minute)
		c.Refused(c.Queue("POST", "retry/"+id, ""), 404)
	})

	purge := []string{"purgeQueue"}
	add("queue.purge", purge, func(c *Check) {
		c.Queue("POST", "purge-queue", "")
		c.submit(job)
		c.submit(`{"input":{},"policy":{"lowPriority":true}}`)
		require.Equal(c, map[string]any{"removed": 2.0, "status": "completed"}, c.Queue("POST", "purge-queue", "").JSON)
		require.Equal(c, map[string]any{"removed": 0.0, "status": "completed"}, c.Queue("POST", "purge-queue", "{}").JSON)
	})

	add("queue.purge.cancelled", purge, func(c *Check) {
		purged := c.submit(job)
		c.Queue("POST", "purge-queue", "")
		require.Equal(c, "CANCELLED", c.status(purged)["status"])
		after := c.submit(job)
		c.takeJob("w", after)
		c.done("w", after, `{}`)
	})

	add("queue.purge.running", purge, func(c *Check) {
		id := c.streaming()
		c.Queue("POST", "purge-queue", "")
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
		c.done("w", id, `{"output":1}`)
		require.Equal(c, "COMPLETED", c.status(id)["status"])
	})
})

func (c *Check) retry(id string) map[string]any {
	a := c.Queue("POST", "retry/"+id, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}
