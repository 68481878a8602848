package conformance

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

func init() {
	create := []string{"createPod"}
	add("errors.body", create, func(c *Check) {
		a := c.REST("POST", "/v2/pods", `{"name":"a","image":"i","disk":0,"gpu":{"id":"NVIDIA L4"}}`)
		require.Len(c, c.Refused(a, 422), 1)
		require.EqualValues(c, 422, a.JSON["status"])
	})
	add("errors.all-at-once", create, func(c *Check) {
		c.createRefused(`{"name":7,"image":"i","disk":0,"extra":true,"gpu":{"id":"NVIDIA L4"}}`, 422, "/name:", "/disk:", "/extra:")
	})
	add("errors.malformed", create, func(c *Check) {
		for _, body := range []string{`{"name":`, `{} {}`, "{\"name\":\"\xff\"}", `nope`} {
			c.createRefused(body, 400)
		}
		for _, op := range c.Operations() {
			if op.Body {
				for _, body := range []string{"", `{"a":`} {
					r := Request{Method: op.Method, URL: c.URL + op.Path, Body: body, Header: map[string]string{"Content-Type": "application/json"}}
					c.Refused(c.Send(r), 400)
				}
			}
		}
	})
	add("errors.parameters", nil, func(c *Check) {
		for _, op := range c.Operations() {
			if op.OpenQuery {
				continue
			}
			r := Request{Method: op.Method, URL: c.URL + op.Path + "?nosuch=1"}
			if op.Body {
				r.Body = "{}"
			}
			require.Contains(c, strings.Join(c.Refused(c.Send(r), 422), "\n"), "query.nosuch:")
		}
	})
	add("errors.parameters.syntax", nil, func(c *Check) {
		for _, op := range c.Operations() {
			r := Request{Method: op.Method, URL: c.URL + op.Path + "?a=%zz"}
			if op.Body {
				r.Body = "{}"
			}
			require.Contains(c, strings.Join(c.Refused(c.Send(r), 422), "\n"), "query:")
		}
	})
	add("errors.size", create, func(c *Check) {
		for _, op := range c.Operations() {
			if !op.Body {
				continue
			}
			limit := cmp.Or(op.MaxBody, 1<<20)
			r := Request{Method: op.Method, URL: c.URL + op.Path, Body: strings.Repeat(" ", limit+1)}
			r.Header = map[string]string{"Expect": "100-continue"} // so that it is refused before it is sent
			a := c.Send(r)
			c.Refused(a, 413)
			require.Contains(c, a.JSON["detail"], strconv.Itoa(limit))
		}
	})
	add("errors.duplicate-member", create, func(c *Check) {
		c.createRefused(`{"name":"a","name":"b","image":"i","gpu":{"id":"NVIDIA L4"}}`, 422, "/name:")
	})
	add("errors.media-type", create, func(c *Check) {
		send := func(kind string) Answer {
			return c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: gpuPod, Header: map[string]string{"Content-Type": kind}})
		}
		for _, op := range c.Operations() {
			if op.Body && !op.AnyType {
				for _, kind := range []string{"text/plain", ""} {
					r := Request{Method: op.Method, URL: c.URL + op.Path, Body: "{}", Header: map[string]string{"Content-Type": kind}}
					c.Refused(c.Send(r), 415)
				}
			}
		}
		require.Equal(c, 201, send("application/json; charset=utf-8").Status)
	})
	add("errors.unknown-path", create, func(c *Check) {
		c.Refused(c.REST("GET", "/v2/nothing", ""), 404)
		a := c.REST("PUT", "/v2/pods", `{}`)
		c.Refused(a, 405)
		require.Contains(c, a.Header.Get("Allow"), "GET")
		require.Contains(c, a.Header.Get("Allow"), "POST")
	})
	add("errors.order", create, func(c *Check) {
		for _, r := range []Request{
			{Method: "GET", URL: "/v2/nothing"},
			{Method: "PUT", URL: "/v2/pods"},
			{Method: "POST", URL: "/v2/pods", Body: "nope", Header: map[string]string{"Content-Type": "text/plain"}},
			{Method: "POST", URL: "/v2/pods", Body: "{}"},
		} {
			r.URL, r.Key = c.URL+r.URL, "-"
			c.Refused(c.Send(r), 401)
		}
	})
	add("auth.required", []string{"listPods", "run"}, func(c *Check) {
		for _, op := range c.Operations() {
			c.Refused(c.Send(Request{Method: op.Method, URL: c.URL + op.Path, Key: "-"}), 401)
		}
		for _, key := range []string{"-", "Bearer nonsense", "Bearer " + wrong(c.Key), "Basic abc"} {
			c.Refused(c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: key}), 401)
			c.Refused(c.Send(Request{Method: "POST", URL: c.QueueURL + "/v2/" + c.Endpoint + "/run", Body: "{}", Key: key}), 401)
		}
	})
	add("auth.detail", []string{"listPods"}, func(c *Check) {
		details := map[any]bool{}
		for _, key := range []string{"-", "Bearer nonsense", "Bearer " + wrong(c.Key)} {
			a := c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: key})
			c.Refused(a, 401)
			details[a.JSON["detail"]] = true
		}
		require.Len(c, details, 3)
	})
	add("auth.bearer", []string{"listPods"}, func(c *Check) {
		c.Refused(c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: c.Key}), 401)
		require.Equal(c, 200, c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: "bearer " + c.Key}).Status)
	})
	add("documents", nil, func(c *Check) {
		for _, path := range []string{"/v2/openapi.json", "/openapi/queue.json", "/openapi/worker.json", "/openapi/controls.json"} {
			a := c.Send(Request{Method: "GET", URL: c.URL + path, Key: "-"})
			require.Equal(c, 200, a.Status)
			require.Equal(c, "3.1.0", a.JSON["openapi"])
		}
	})
}

// wrong gives a key of the right form that does not exist.
func wrong(key string) string {
	return key[:len(key)-4] + strings.Map(func(r rune) rune {
		if r == 'a' {
			return 'b'
		}
		return 'a'
	}, key[len(key)-4:])
}
