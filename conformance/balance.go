package conformance

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// lb is an endpoint that balances load, as the rules use it.
type lb struct {
	*Check
	at, id, base string
}

// newBalancer makes one.
func (c *Check) newBalancer(members ...string) *lb {
	made := c.make(serverless, c.edited(balancer, members...))
	id := made["id"].(string)
	return &lb{c, serverless + "/" + id, id, made["requestUrls"].(map[string]any)["base"].(string)}
}

// asked are the changes of a request.
type asked struct {
	method, url, host, key, worker string
	length                         int64
	header                         map[string]string
}

// send sends a request to the endpoint; what is not said of it is a GET of its base with the key of the run.
func (l *lb) send(r asked) Answer {
	if r.method == "" {
		r.method = "GET"
	}
	if r.url == "" {
		r.url = l.base + "/some/path"
	}
	req, err := http.NewRequestWithContext(l.context(), r.method, r.url, nil)
	require.NoError(l, err)
	req.Host = r.host
	if r.length > 0 {
		req.ContentLength, req.Body = r.length, io.NopCloser(strings.NewReader("x"))
		req.Header.Set("Expect", "100-continue")
	}
	switch r.key {
	case "-":
	case "":
		req.Header.Set("Authorization", "Bearer "+l.Key)
	default:
		req.Header.Set("Authorization", r.key)
	}
	if r.worker != "" {
		req.Header.Set("X-Runpod-Worker-Id", r.worker)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}

	l.note(exchange{method: r.method, url: r.url})
	a, err := do(req)
	if err != nil {
		l.unanswered(err)
	}
	a.JSON = a.object()
	l.note(exchange{method: r.method, url: r.url, answer: &a})
	return a
}

// refused asserts that the request is refused, and by which word of the public service.
func (l *lb) refused(a Answer, status int, word string) {
	l.Refused(a, status)
	require.InDelta(l, status, a.JSON["status"], 0)
	if word != "" {
		require.Equal(l, word, a.JSON["error"])
	}
}

// waits has a request wait for a worker, and gives once it does.
func (l *lb) waits(r asked) chan Answer {
	before := l.requests()["inQueue"].(float64)
	answers := l.later(func() Answer { return l.send(r) })
	for deadline := time.Now().Add(l.suite.patience()); l.requests()["inQueue"].(float64) <= before; l.sleep(time.Millisecond) { // the clock stands
		require.True(l, time.Now().Before(deadline), "the request does not wait for a worker")
	}
	return answers
}

// still asserts that a request waits yet.
func (l *lb) still(answers chan Answer) {
	select {
	case a := <-answers:
		require.Fail(l, "the request waits no longer", "%d %s", a.Status, a.Body)
	default:
	}
}

// requests gives the endpoint's requests in numbers.
func (l *lb) requests() map[string]any {
	a := l.on(l.at).Queue("GET", "health", "")
	require.Equal(l, 200, a.Status, "%s", a.Body)
	return a.JSON["jobs"].(map[string]any)
}

// comes moves the clock on until a worker is there, and gives it.
func (l *lb) comes() map[string]any {
	l.Eventually(func() bool {
		l.advance(time.Second)
		all := l.crew(l.at)
		return len(all) > 0 && (all[0]["status"] == "IDLE" || all[0]["status"] == "RUNNING")
	}, "a worker that is up")
	return l.crew(l.at)[0]
}

var _ = area(func() {
	made := []string{"createEndpoint", "health"}
	add("balance.urls", made, func(c *Check) {
		l := c.newBalancer(`"workers":{"max":0}`)
		urls := c.read(l.at)["requestUrls"].(map[string]any)
		require.ElementsMatch(c, []string{"base", "health"}, keys(urls))
		require.Equal(c, c.QueueURL+"/v2/"+l.id+"/health", urls["health"])
		require.Equal(c, 200, c.Send(Request{Method: "GET", URL: urls["health"].(string)}).Status)
		for _, path := range []string{"", "/", "/v1/chat/completions", "/../../v2/pods", "/%2e%2e/%2e%2e/v2/pods", "//a%2Fb"} {
			l.refused(l.send(asked{url: urls["base"].(string) + path}), 400, "no workers available")
		}
	})

	add("balance.key", made, func(c *Check) {
		l := c.newBalancer(`"workers":{"max":0}`)
		l.refused(l.send(asked{key: "-"}), 401, "")
		l.refused(l.send(asked{key: "Bearer nonsense"}), 401, "")
		l.refused(l.send(asked{key: c.key("read")}), 403, "")
		l.refused(l.send(asked{key: c.key("other")}), 403, "")
		l.refused(l.send(asked{key: c.key("any")}), 400, "no workers available")
		_, stranger := c.newKey(`,"user":"somebody"`, "all")
		l.refused(l.send(asked{key: "Bearer " + stranger}), 404, "")
		l.refused(l.send(asked{url: strings.Replace(l.base, l.id, "aaaaaaaaaaaaaa", 1)}), 404, "")

		queue := c.make(serverless, gpuEndpoint)["id"].(string)
		l.refused(l.send(asked{url: strings.Replace(l.base, l.id, queue, 1)}), 404, "")
	})

	add("balance.names", made, func(c *Check) {
		c.needsProxy()
		l := c.newBalancer(`"workers":{"max":0}`)
		for _, host := range []string{l.id + ".localhost", strings.ToUpper(l.id) + ".localhost.:80"} {
			l.refused(l.send(asked{url: c.URL + "/v2/pods", host: host}), 400, "no workers available")
		}
		for _, host := range []string{"x." + l.id + ".localhost", l.id + "x.localhost"} {
			require.Equal(c, 200, l.send(asked{url: c.URL + "/v2/pods", host: host}).Status, "the API answers at %s", host)
		}
		for _, path := range []string{"/proxy/pods/aaaaaaaaaaaaaa/80/", "/proxy", "/v2/../proxy/endpoints/" + l.id + "/", "//proxy/endpoints/" + l.id + "/", "/proxy/endpoints/" + l.id + "%2f"} {
			a := l.send(asked{url: c.URL + path})
			require.Equal(c, 404, a.Status, path)
			require.NotContains(c, string(a.Body), "no workers available", path)
		}
	})

	add("balance.wait", made, func(c *Check) {
		c.needsControls()
		none := c.newBalancer(`"workers":{"max":0}`)
		none.refused(none.send(asked{}), 400, "no workers available")
		c.frozen(func() {
			l := c.newBalancer(`"env":{"BERTH_SIM_START_ERROR":"it does not start"}`)
			answers := l.waits(asked{})
			c.advance(2*time.Minute - time.Millisecond)
			l.still(answers)
			c.advance(time.Millisecond)
			l.refused(<-answers, 400, "no workers available")
		})
	})

	add("balance.wakes", append(made, "listEndpointWorkers"), func(c *Check) {
		c.needsControls()
		l := c.newBalancer()
		require.Empty(c, c.crew(l.at))
		answers := l.waits(asked{method: "POST"})
		w := l.comes()
		a := <-answers
		require.Equal(c, w["id"], a.Header.Get("X-Runpod-Worker-Id"))
		l.refused(a, 502, "")
		require.Contains(c, a.JSON["detail"], "simulated")
	})

	add("balance.scaling", append(made, "listEndpointWorkers"), func(c *Check) {
		c.needsControls()
		l := c.newBalancer(`"workers":{"max":3,"idleTimeout":5}`)
		c.frozen(func() {
			var all []chan Answer
			for range 5 {
				all = append(all, l.waits(asked{}))
			}
			l.Eventually(func() bool { return len(c.crew(l.at)) == 3 }, "a worker for every two requests")
			l.comes()
			for _, answers := range all {
				require.Equal(c, 502, (<-answers).Status)
			}
			counts := l.requests()
			require.InDelta(c, 5, counts["failed"], 0)
			require.InDelta(c, 0, counts["inQueue"], 0)
			require.InDelta(c, 0, counts["inProgress"], 0)
			l.Eventually(func() bool {
				c.advance(time.Second)
				return len(c.crew(l.at)) == 0
			}, "idle workers end")
		})
	})

	add("balance.affinity", append(made, "listEndpointWorkers"), func(c *Check) {
		c.needsControls()
		l := c.newBalancer(`"workers":{"min":2,"max":2}`)
		l.Eventually(func() bool {
			c.advance(time.Second)
			all := c.crew(l.at)
			return len(all) == 2 && all[0]["status"] == "IDLE" && all[1]["status"] == "IDLE"
		}, "two workers")
		for _, w := range c.crew(l.at) {
			id := w["id"].(string)
			for _, mode := range []string{"", "strict ", "strict-resume "} {
				require.Equal(c, id, l.send(asked{worker: mode + id}).Header.Get("X-Runpod-Worker-Id"), mode)
			}
		}
		require.NotEmpty(c, l.send(asked{worker: "nosuch"}).Header.Get("X-Runpod-Worker-Id"))
		for _, mode := range []string{"strict ", "strict-resume "} {
			l.refused(l.send(asked{worker: mode + "nosuch"}), 404, "affinity_worker_gone")
		}
	})

	add("balance.affinity.timeout", append(made, "listEndpointWorkers"), func(c *Check) {
		c.needsControls()
		c.frozen(func() {
			c.set("PUT", "fleet", `{"boot":600000}`)
			defer c.set("PUT", "fleet", `{"boot":2000}`)
			l := c.newBalancer(`"workers":{"min":1,"max":1}`)
			var id string
			l.Eventually(func() bool {
				for _, w := range c.crew(l.at) {
					id = w["id"].(string)
				}
				return id != ""
			}, "a worker that is being started")
			answers := l.waits(asked{worker: "strict " + id})
			c.advance(5*time.Minute - time.Millisecond)
			l.still(answers)
			c.advance(time.Millisecond)
			l.refused(<-answers, 400, "worker_timeout")
		})
	})

	add("balance.bodies", made, func(c *Check) {
		l := c.newBalancer(`"workers":{"max":0}`)
		const most = 30 << 20
		l.refused(l.send(asked{method: "POST", length: 1}), 400, "no workers available")
		l.refused(l.send(asked{method: "POST", length: most + 1}), 413, "")
	})

	add("balance.workers", []string{"getBalancedWorkers", "createEndpoint"}, func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			l := c.newBalancer(`"workers":{"min":1,"max":1}`, `"env":{"PORT":"8000"}`)
			crew := func(key string) Answer {
				return c.Send(Request{Method: "GET", URL: c.URL + controlsPath + "endpoints/" + l.id + "/workers", Key: key})
			}
			id := l.comes()["id"]
			a := crew("")
			require.Equal(c, 200, a.Status, "%s", a.Body)
			require.Equal(c, []any{8000.0, 8000.0, "/ping"}, []any{a.JSON["port"], a.JSON["healthPort"], a.JSON["healthPath"]})
			require.Equal(c, []any{map[string]any{"id": id, "health": "healthy", "requests": 0.0}}, a.JSON["workers"], "nothing of it is reached")

			_, invoker := c.newKey("", "queue:*:invoke", "rest:write")
			c.Refused(crew("Bearer "+invoker), 403)
			_, stranger := c.newKey(`,"user":"stranger"`, "all")
			c.Refused(crew("Bearer "+stranger), 404)
			q, _ := c.ownQueue()
			c.Refused(c.about("endpoints/"+q.Endpoint+"/workers"), 404)
		})
	})

	add("balance.delete", append(made, "deleteEndpoint"), func(c *Check) {
		c.needsControls()
		c.frozen(func() {
			l := c.newBalancer(`"env":{"BERTH_SIM_START_ERROR":"it does not start"}`)
			answers := l.waits(asked{})
			require.Equal(c, 204, c.REST("DELETE", l.at, "").Status)
			l.refused(<-answers, 404, "")
			l.refused(l.send(asked{}), 404, "")
		})
	})
})
