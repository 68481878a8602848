package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// openAIRoute is one route of the OpenAI API, with a body that it takes.
type openAIRoute struct{ method, path, body string }

const chat = "/v1/chat/completions"

var openAIRoutes = []openAIRoute{
	{"POST", chat, `{"model":"m"}`},
	{"POST", "/v1/completions", `{"model":"m","prompt":"p"}`},
	{"POST", "/v1/responses", `{"model":"m","input":"i"}`},
	{"POST", "/v1/messages", `{"model":"m","messages":[]}`},
	{"POST", "/v1/embeddings", `{"model":"m","input":["i"]}`},
	{"POST", "/v1/audio/speech", `{"model":"m","input":"i"}`},
	{"GET", "/v1/models", ""},
	{"GET", "/v1/models/a/b", ""},
}

var openAIOps = []string{
	"openAIChatCompletions", "openAICompletions", "openAIResponses", "openAIMessages", "openAIEmbeddings", "openAIRoute",
	"openAIModels", "openAIRouteGet",
}

// openAI calls a route and plays the worker of the job that the call becomes.
func (c *Check) openAI(r openAIRoute, work func(id string)) Answer {
	call := c.call(r, "Bearer "+c.Key)
	work(c.takeAny().id)
	return call.answer()
}

// openAIWorker is a worker of these rules alone: what it is asked to stop must not reach those of other rules.
const openAIWorker = "openai"

// stopped asserts that the worker is asked to stop the job.
func (c *Check) stopped(id string) {
	require.Contains(c, c.Queue("GET", "job-stop/"+openAIWorker+"?x=1", "").JSON["jobsToStop"], id)
}

// takenJob is a job as a worker gets it.
type takenJob struct {
	id, raw string
	input   map[string]any
}

// takeAny takes the next job, holding for it.
func (c *Check) takeAny() takenJob {
	a := c.Queue("GET", "job-take/"+openAIWorker+"?x=1", "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return takenJob{a.JSON["id"].(string), string(a.Body), a.JSON["input"].(map[string]any)}
}

// streamsChunk streams one chunk of the job.
func (c *Check) streamsChunk(id, output string) {
	a := c.Queue("POST", "job-stream/"+openAIWorker+"/"+id+"?isStream=false", `{"output":`+output+`}`)
	require.Equal(c, 200, a.Status, "%s", a.Body)
}

// openAIFails asserts a problem with the error object of the OpenAI API, and gives that object.
func (c *Check) openAIFails(a Answer, status int) map[string]any {
	c.Refused(a, status)
	require.NotContains(c, a.JSON, "status")
	object, ok := a.JSON["error"].(map[string]any)
	require.True(c, ok, "%s", a.Body)
	return object
}

// events is an answer that is read while it comes.
type events struct {
	c        *Check
	request  *http.Request
	opened   chan *http.Response
	failed   error // why nothing was opened
	response *http.Response
	lines    *bufio.Reader
	hangUp   context.CancelFunc
}

// asStream posts to a route; the answer may begin only after the worker's first chunk.
func (c *Check) asStream(path, body string) *events {
	return c.call(openAIRoute{"POST", path, body}, "Bearer "+c.Key)
}

// call sends a request to a route. Whoever asks for the answer holds it against the documents, which are not for two at a time.
func (c *Check) call(r openAIRoute, authorization string) *events {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	req, err := http.NewRequestWithContext(ctx, r.method, c.QueueURL+"/v2/"+c.Endpoint+"/openai"+r.path, strings.NewReader(r.body))
	require.NoError(c, err)
	req.Header.Set("Authorization", authorization)
	req.Header.Set("Content-Type", "application/json")

	e := &events{c: c, request: req, opened: make(chan *http.Response, 1), hangUp: cancel}
	go func() {
		defer close(e.opened)
		response, err := client.Do(req) //nolint:bodyclose // rest and answer close it
		if e.failed = err; err == nil {
			e.opened <- response
		}
	}()

	return e
}

// answer waits for an answer that is no stream.
func (e *events) answer() Answer {
	defer e.hangUp()
	response := <-e.opened
	require.NotNil(e.c, response, "the call failed: %v", e.failed)
	defer func() { _ = response.Body.Close() }()
	body, err := whole(response.Body)
	require.NoError(e.c, err)
	a := Answer{Status: response.StatusCode, Header: response.Header, Body: body}
	require.NoError(e.c, json.Unmarshal(body, &a.JSON))
	e.c.Spec.Check(e.c, e.request, a)
	return a
}

// next reads n bytes of the stream as soon as they come.
func (e *events) next(n int) string {
	e.open()
	text := make([]byte, n)
	_, err := io.ReadFull(e.lines, text)
	require.NoError(e.c, err)
	return string(text)
}

func (e *events) open() {
	if e.response != nil {
		return
	}
	e.response = <-e.opened
	require.NotNil(e.c, e.response, "the call failed: %v", e.failed)
	require.Equal(e.c, 200, e.response.StatusCode)
	require.Equal(e.c, "text/event-stream", e.response.Header.Get("Content-Type"))
	e.lines = bufio.NewReader(e.response.Body)
}

// rest reads the stream to its end.
func (e *events) rest() string {
	defer e.hangUp()
	e.open()
	defer func() { _ = e.response.Body.Close() }()
	text, err := whole(e.lines)
	require.NoError(e.c, err)
	return string(text)
}

const (
	streaming = `{"model":"m","stream":true}`
	doneEvent = "data: [DONE]\n\n"
)

var _ = area(func() {
	add("openai.input", openAIOps, func(c *Check) {
		for _, r := range openAIRoutes {
			if r.body != "" {
				r.body = `{"big":9007199254740993,"text":"<&>","twice":1,"twice":2,"stream":null}`
			}
			call := c.call(r, "Bearer "+c.Key)
			j := c.takeAny()
			require.Equal(c, r.path, j.input["openai_route"])

			if r.body == "" {
				require.NotContains(c, j.input, "openai_input")
			} else {
				require.Contains(c, j.raw, `"openai_input":`+r.body)
			}

			c.done(openAIWorker, j.id, `{"output":{"id":"x"}}`)
			require.Equal(c, 200, call.answer().Status)
		}
	})

	add("openai.routes", []string{"openAIRoute", "openAIRouteGet"}, func(c *Check) {
		for path, route := range map[string]string{
			"/v1/rerank": "/v1/rerank", "/v1/images/generations": "/v1/images/generations", "/v1/models/a%2Fb": "/v1/models/a/b", "/v1/files": "/v1/files",
			"/v1/%01%7F%22%5C%C2%85%F0%9F%98%80": "/v1/\x01\x7f\"\\\u0085\U0001f600",
		} {
			for method, body := range map[string]string{"POST": `{"model":"m"}`, "GET": ""} {
				call := c.call(openAIRoute{method, path, body}, "Bearer "+c.Key)
				j := c.takeAny()
				require.Equal(c, route, j.input["openai_route"])
				c.done(openAIWorker, j.id, `{"output":{"id":"x"}}`)
				require.Equal(c, 200, call.answer().Status)
			}
		}
	})

	add("openai.answer", openAIOps, func(c *Check) {
		const want = `{"id":"x","big":9007199254740993,"error":null}`
		text, err := json.Marshal(want)
		require.NoError(c, err)
		for _, r := range openAIRoutes {
			for _, output := range []string{want, "[" + want + `,{"id":"y"}]`, "[" + string(text) + "]"} {
				a := c.openAI(r, func(id string) { c.done(openAIWorker, id, `{"output":`+output+`}`) })
				require.Equal(c, 200, a.Status, "%s", a.Body)
				require.Equal(c, "application/json", a.Header.Get("Content-Type"))
				require.Equal(c, want, string(a.Body))
			}
		}
		long := `{"id":"x","text":"` + strings.Repeat("x", 300<<10) + `"}`
		a := c.openAI(openAIRoutes[0], func(id string) { c.done(openAIWorker, id, `{"output":`+long+`}`) })
		require.True(c, long == string(a.Body), "a long one")

		for _, report := range []string{`{}`, `{"output":[]}`} {
			a := c.openAI(openAIRoutes[0], func(id string) {
				c.streamsChunk(id, want)
				c.done(openAIWorker, id, report)
			})
			require.Equal(c, want, string(a.Body))
		}

		long = strings.Replace(long, "xxx", strings.Repeat("x", 1_500_000), 1)
		a = c.openAI(openAIRoutes[0], func(id string) {
			c.streamsChunk(id, long)
			c.streamsChunk(id, want)
			c.done(openAIWorker, id, `{}`)
		})
		require.True(c, long == string(a.Body), "what was streamed is kept in several chunks")
	})

	add("openai.answer.none", openAIOps, func(c *Check) {
		for _, r := range openAIRoutes {
			for _, report := range []string{`{"output":7}`, `{"output":["text"]}`, `{}`} {
				a := c.openAI(r, func(id string) { c.done(openAIWorker, id, report) })
				require.Equal(c, "job_output", c.openAIFails(a, 502)["code"])
			}
		}
	})

	add("openai.error", openAIOps[:1], func(c *Check) {
		for output, status := range map[string]int{
			`{"error":{"message":"no such model","type":"NotFoundError","code":404}}`:            404,
			`[{"error":{"message":"no such model","type":"NotFoundError","code":"404"}}]`:        404,
			`{"object":"error","message":"no such model","type":"NotFoundError","code":404}`:     404,
			`{"error":{"message":"no such model","type":"NotFoundError","code":"nothing"}}`:      500,
			`{"object":"error","message":"no such model","type":"NotFoundError","code":200}`:     500,
			`{"type":"error","error":{"message":"no such model","type":"NotFoundError"}}`:        500,
			`[{"object":"error","message":"no such model","type":"NotFoundError","code":40301}]`: 500,
		} {
			a := c.openAI(openAIRoutes[0], func(id string) { c.done(openAIWorker, id, `{"output":`+output+`}`) })
			object := c.openAIFails(a, status)
			require.Equal(c, "no such model", object["message"])
			require.Equal(c, "NotFoundError", object["type"])
			require.Equal(c, "no such model", a.JSON["detail"])
		}

		a := c.openAI(openAIRoutes[0], func(id string) {
			c.done(openAIWorker, id, `{"error":{"message":"too long","type":"BadRequestError","code":400}}`)
		})
		require.Equal(c, "too long", c.openAIFails(a, 400)["message"])

		response := `{"object":"response","status":"failed","error":{"code":"server_error","message":"it broke"}}`
		a = c.openAI(openAIRoutes[2], func(id string) { c.done(openAIWorker, id, `{"output":`+response+`}`) })
		require.Equal(c, 200, a.Status, "an error inside an object of another kind is that object's own affair")
		require.Equal(c, response, string(a.Body))
	})

	add("openai.error.literal", openAIOps[:1], func(c *Check) {
		for literal, status := range map[string]int{
			`{'message': "The model ` + "`none`" + ` doesn't exist.", 'type': 'NotFoundError', 'param': None, 'code': 404}`: 404,
			`{'message': 'it\'s \\ \xe9 \u20ac \U0001f600 "é" \n', 'type': 'x', 'ok': [True, 1.5], 'code': 422}`:            422,
			`{'message': 'cut off`: 500,
			`{'message': open}`:    500,
		} {
			text, err := json.Marshal(literal)
			require.NoError(c, err)
			a := c.openAI(openAIRoutes[0], func(id string) { c.done(openAIWorker, id, `{"error":`+string(text)+`}`) })

			object := c.openAIFails(a, status)
			switch status {
			case 404:
				require.Equal(c, "The model `none` doesn't exist.", object["message"])
				require.Equal(c, "NotFoundError", object["type"])
			case 422:
				require.Equal(c, "it's \\ é € 😀 \"é\" \n", object["message"])
			default:
				require.Equal(c, literal, object["message"], "text like any other")
			}
		}
	})

	add("openai.failed", append([]string{"cancel"}, openAIOps...), func(c *Check) {
		for _, r := range openAIRoutes {
			object := c.openAIFails(c.openAI(r, func(id string) { c.done(openAIWorker, id, `{"error":"it broke"}`) }), 500)
			require.Equal(c, "it broke", object["message"])
			require.Equal(c, "server_error", object["type"])
			require.Equal(c, "job_failed", object["code"])
			a := c.openAI(r, func(id string) { c.cancel(id) })
			require.Equal(c, "job_cancelled", c.openAIFails(a, 409)["code"])
			require.Equal(c, "false", a.Header.Get("X-Should-Retry"))
		}

		raised := `{"error":"{\"error_type\":\"<class 'ValueError'>\",\"error_message\":\"asked to fail\",\"error_traceback\":\"...\"}"}`
		a := c.openAI(openAIRoutes[0], func(id string) { c.done(openAIWorker, id, raised) })
		require.Equal(c, "asked to fail", c.openAIFails(a, 500)["message"])
	})

	waited("openai.timeout", append([]string{"status"}, openAIOps...), time.Duration(len(openAIRoutes))*10*time.Second, func(c *Check) {
		for _, r := range openAIRoutes {
			a := c.openAI(r, func(id string) {
				require.Equal(c, 200, c.Queue("GET", "status/"+id+"?ttl=10000", "").Status)
				c.passes(10 * time.Second)
			})
			require.Equal(c, "job_timed_out", c.openAIFails(a, 504)["code"])
		}
	})

	add("openai.wait", openAIOps[:1], func(c *Check) {
		c.set("POST", "reset", "")
		c.frozen(func() {
			for _, body := range []string{`{}`, streaming} {
				call := c.asStream(chat, body)
				c.Eventually(func() bool { return c.counted("inQueue") == 1 }, "the call is a job")
				c.advance(299 * time.Second)
				require.Empty(c, call.opened, "it waits for 300 s")

				c.Eventually(func() bool {
					c.advance(time.Second)
					return len(call.opened) > 0
				}, "the wait is over")
				require.Equal(c, "job_unheard", c.openAIFails(call.answer(), 504)["code"])
				require.Zero(c, c.counted("inQueue"), "the job is cancelled")
			}
		})
	})

	add("openai.hangup", append([]string{"status"}, openAIOps[:1]...), func(c *Check) {
		for _, body := range []string{`{}`, streaming} {
			e := c.asStream(chat, body)
			j := c.takeAny()
			if body == streaming {
				c.streamsChunk(j.id, `"data: 1\n\n"`)
				require.Equal(c, "data: 1\n\n", e.next(9))
			}
			e.hangUp()
			c.Eventually(func() bool { return c.status(j.id)["status"] == "CANCELLED" }, "the job is cancelled")
			c.stopped(j.id)
		}
	})

	add("openai.errors.body", openAIOps, func(c *Check) {
		for _, r := range openAIRoutes {
			url := c.QueueURL + "/v2/" + c.Endpoint + "/openai" + r.path
			object := c.openAIFails(c.Send(Request{Method: r.method, URL: url, Body: r.body, Key: "-"}), 401)
			require.Equal(c, "unauthorized", object["code"])
			a := c.Send(Request{Method: r.method, URL: c.QueueURL + "/v2/nosuchendpoint/openai" + r.path, Body: r.body})
			object = c.openAIFails(a, 404)
			require.Equal(c, "not_found", object["code"])
			require.Equal(c, "invalid_request_error", object["type"])
			require.Equal(c, a.JSON["detail"], object["message"])
			require.Contains(c, object, "param")
		}

		object := c.openAIFails(c.Queue("POST", "openai"+chat, `{"stream":"yes"}`), 422)
		require.Contains(c, object["message"], "/stream:")
		c.openAIFails(c.Queue("POST", "openai"+chat, `[]`), 422)
		c.openAIFails(c.Queue("POST", "openai/nothing", `{}`), 404)
		c.openAIFails(c.Queue("GET", "openai"+chat, ""), 405)
	})

	add("openai.auth", openAIOps, func(c *Check) {
		_, key := c.newKey("", "queue:"+c.Endpoint+":invoke")
		_, other := c.newKey("", "queue:aaaaaaaaaaaaaa:invoke")
		for _, r := range openAIRoutes {
			for _, authorization := range []string{key, "Bearer " + key} {
				call := c.call(r, authorization)
				c.done(openAIWorker, c.takeAny().id, `{"output":{}}`)
				require.Equal(c, 200, call.answer().Status)
			}
			c.openAIFails(c.call(r, other).answer(), 403)
		}
	})

	add("openai.limits", openAIOps[:6], func(c *Check) {
		body := func(n int) string { return `{"a":"` + strings.Repeat("x", n-8) + `"}` }
		a := c.openAI(openAIRoute{"POST", chat + "?beta=true", body(20_000_000)}, func(id string) { c.done(openAIWorker, id, `{"output":{}}`) })
		require.Equal(c, 200, a.Status)
		for _, r := range openAIRoutes[:6] {
			c.openAIFails(c.Queue("POST", "openai"+r.path, body(20_000_001)), 413)
		}
	})
})

// counted gives a count of the endpoint's jobs.
func (c *Check) counted(count string) float64 {
	return c.Queue("GET", "health", "").JSON["jobs"].(map[string]any)[count].(float64)
}
