package conformance

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// The rules of answers that come as server-sent events.

var _ = area(func() {
	add("openai.stream", append([]string{"streamJob"}, openAIOps[:6]...), func(c *Check) {
		for _, r := range openAIRoutes[:6] {
			e := c.asStream(r.path, streaming)
			j := c.takeAny()
			require.Equal(c, map[string]any{"model": "m", "stream": true}, j.input["openai_input"])
			c.streamsChunk(j.id, `"data: {\"n\":1}\n\ndata: {\"n\":2}\n\n"`)
			require.Equal(c, "data: {\"n\":1}\n\ndata: {\"n\":2}\n\n", e.next(30), "while the job runs")

			c.streamsChunk(j.id, `"event: x\r\ndata: é`+`"`)
			require.Equal(c, "event: x\r\ndata: é", e.next(18), "an event in two chunks")
			c.streamsChunk(j.id, `"\r\n\r\n"`)
			c.streamsChunk(j.id, `"data: [DONE]\n\n"`)
			c.done(openAIWorker, j.id, `{"output":["data: 1\n\n"]}`)
			require.Equal(c, "\r\n\r\n"+doneEvent, e.rest(), "no more than the chunks")
		}
	})

	add("openai.stream.json", openAIOps[:1], func(c *Check) {
		e := c.asStream(chat, streaming)
		id := c.takeAny().id
		c.streamsChunk(id, "{\"a\": 9007199254740993,\n \"b\": \"<&>\"}")
		c.streamsChunk(id, `[1, 2]`)
		c.done(openAIWorker, id, `{"output":[]}`)
		require.Equal(c, "data: {\"a\":9007199254740993,\"b\":\"<&>\"}\n\ndata: [1,2]\n\n"+doneEvent, e.rest())

		e = c.asStream(chat, streaming)
		id = c.takeAny().id
		long := strings.Repeat("é\\n", 400_000) // which is kept in several chunks
		for range 2 {
			c.streamsChunk(id, "{\"a\":\n \""+long+"\"}")
		}
		c.streamsChunk(id, `{"b": 2}`)
		c.done(openAIWorker, id, `{}`)
		event := "data: {\"a\":\"" + long + "\"}\n\n"
		require.True(c, event+event+"data: {\"b\":2}\n\n"+doneEvent == e.rest(), "a long one is one event, too")
	})

	add("openai.stream.unstreamed", openAIOps[:1], func(c *Check) {
		long := `{"a":"` + strings.Repeat("x", 300<<10) + `"}`
		for output, want := range map[string]string{
			long:                      "data: " + long + "\n\n",
			`{"a":1}`:                 "data: {\"a\":1}\n\n",
			`["data: 1\n\n",{"b":2}]`: "data: 1\n\ndata: {\"b\":2}\n\n",
		} {
			e := c.asStream(chat, streaming)
			c.done(openAIWorker, c.takeAny().id, `{"output":`+output+`}`)
			require.Equal(c, want+doneEvent, e.rest())
		}
	})

	add("openai.stream.done", openAIOps[:6], func(c *Check) {
		for _, r := range openAIRoutes[:6] {
			e := c.asStream(r.path, streaming)
			id := c.takeAny().id
			c.streamsChunk(id, `"data: 1\n\n"`)
			c.done(openAIWorker, id, `{}`)
			want := "data: 1\n\n"
			if strings.HasSuffix(r.path, "completions") {
				want += doneEvent
			}
			require.Equal(c, want, e.rest())
		}
	})

	add("openai.stream.failure", append([]string{"cancel"}, openAIOps[:1]...), func(c *Check) {
		stream := openAIRoute{"POST", chat, streaming}
		a := c.openAI(stream, func(id string) { c.done(openAIWorker, id, `{"error":{"message":"too long","code":400}}`) })
		require.Equal(c, "too long", c.openAIFails(a, 400)["message"], "nothing was sent: the answer still has a status")
		a = c.openAI(stream, func(id string) {
			c.streamsChunk(id, `{"error":{"message":"no such model","code":404}}`)
			c.done(openAIWorker, id, `{}`)
		})
		c.openAIFails(a, 404)
		e := c.asStream(chat, streaming)
		id := c.takeAny().id
		c.streamsChunk(id, `"data: half"`)
		require.Equal(c, "data: half", e.next(10))

		c.cancel(id)
		text := e.rest()
		require.True(c, strings.HasPrefix(text, "\n\ndata: {\"error\":{"), text)
		require.True(c, strings.HasSuffix(text, "}}\n\n"), text)
		require.Contains(c, text, `"code":"job_cancelled"`)
	})

	waited("openai.stream.restarted", append([]string{"takeJob", "streamJob"}, openAIOps[:1]...), 2*30*time.Second, func(c *Check) {
		for _, begun := range []bool{true, false} {
			e := c.asStream(chat, streaming)
			lost := c.worker("lost")
			a := c.Queue("GET", "job-take/"+lost+"?gpu=x", "") // it holds the request for the job
			require.Equal(c, 200, a.Status, "%s", a.Body)
			id := a.JSON["id"].(string)
			if begun {
				c.yield(lost, id, `{"output":"data: half\n\n"}`)
				require.Equal(c, "data: half\n\n", e.next(12))
			}
			c.passes(30 * time.Second)

			next := c.worker("next")
			c.takeJob(next, id)
			c.yield(next, id, `{"output":"data: half\n\n"}`)
			if !begun {
				c.done(next, id, `{}`)
				require.Equal(c, "data: half\n\n"+doneEvent, e.rest(), "nothing was sent of the attempt that was lost")
				continue
			}

			text := e.rest()
			require.True(c, strings.HasPrefix(text, "data: {\"error\":{"), text)
			require.Contains(c, text, `"code":"job_restarted"`)
			require.NotContains(c, text, "half")
			require.NotContains(c, text, doneEvent)
			c.Eventually(func() bool { return c.status(id)["status"] == "CANCELLED" }, "the job is cancelled")
		}
	})

	add("openai.stream.wait", openAIOps[:1], func(c *Check) {
		c.frozen(func() {
			e := c.asStream(chat, streaming)
			id := c.takeAny().id
			c.streamsChunk(id, `"data: 1\n\n"`)
			require.Equal(c, "data: 1\n\n", e.next(9))

			ended := make(chan string, 1)
			go func() {
				defer close(ended)
				ended <- e.rest()
			}()

			c.Eventually(func() bool {
				c.Queue("GET", "ping/"+openAIWorker+"?x=1&job_id="+id, "") // or the job would go back to the queue
				c.advance(10 * time.Second)
				return len(ended) > 0
			}, "the wait is over")

			require.Contains(c, <-ended, `"code":"job_unheard"`)
			require.Equal(c, "CANCELLED", c.status(id)["status"])
			c.stopped(id)
		})
	})
})
