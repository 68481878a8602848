package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// asJSON says that a body is JSON, even if it is empty.
var asJSON = map[string]string{"Content-Type": "application/json"}

// tooLarge is a body over the limit of REST.
func tooLarge() string { return `{"name":"` + strings.Repeat("x", 1<<20) + `"}` }

// refusals are requests that break one thing each, by the status that they get.
func (c *Check) refusals() map[int]Request {
	return map[int]Request{
		400: {Method: "POST", URL: "/v2/pods", Body: `{"name":`},
		401: {Method: "GET", URL: "/v2/pods", Key: "-"},
		404: {Method: "GET", URL: "/v2/pods/nosuchpod"},
		405: {Method: "PUT", URL: "/v2/pods"},
		413: {Method: "POST", URL: "/v2/pods", Body: tooLarge()},
		415: {Method: "POST", URL: "/v2/pods", Body: `{}`, Header: map[string]string{"Content-Type": "text/plain"}},
		422: {Method: "POST", URL: "/v2/pods", Body: `{}`},
	}
}

var _ = area(func() {
	create := []string{"createPod"}
	add("errors.body", create, func(c *Check) {
		for status, r := range c.refusals() {
			r.URL = c.URL + r.URL
			a := c.Send(r)
			require.EqualValues(c, status, a.JSON["status"])
			require.Equal(c, status, a.Status)
			require.NotEmpty(c, a.JSON["title"])
			require.NotEmpty(c, a.JSON["detail"])
		}
	})

	add("errors.list", create, func(c *Check) {
		require.Len(c, c.REST("POST", "/v2/pods", with(`"args":7`)).JSON["errors"], 1)
		require.NotContains(c, c.REST("GET", "/v2/pods/nosuchpod", "").JSON, "errors")
	})

	add("errors.content-type", create, func(c *Check) {
		for _, r := range c.refusals() {
			r.URL = c.URL + r.URL
			require.Equal(c, "application/problem+json", c.Send(r).Header.Get("Content-Type"))
		}
	})

	add("errors.all-at-once", create, func(c *Check) {
		c.createRefused(`{"name":7,"image":"i","args":7,"env":7,"gpu":{"id":7}}`, 422, "/name:", "/args:", "/env:", "/gpu/id:")
	})
	add("errors.pointer", create, func(c *Check) {
		require.Equal(c, []string{"/gpu/count: must be >= 1"}, c.Refused(c.REST("POST", "/v2/pods", withGPU(`{"id":"NVIDIA L4","count":0}`)), 422))
	})
	add("errors.pointer.root", create, func(c *Check) {
		require.Equal(c, []string{": must be an object"}, c.Refused(c.REST("POST", "/v2/pods", `[]`), 422))
	})
	add("errors.pointer.escape", create, func(c *Check) {
		c.createRefused(with(`"a/b~c":1`), 422, "/a~1b~0c:")
	})

	add("errors.malformed", create, func(c *Check) {
		for _, body := range []string{`{"name":`, `{} {}`, `nope`, `{"name":"a",}`, `{'name':'a'}`} {
			c.createRefused(body, 400)
		}
		for _, op := range c.Operations() {
			if op.Body {
				c.Refused(c.Send(Request{Method: op.Method, URL: c.address(op), Body: `{"a":`}), 400)
			}
		}
	})

	add("errors.empty", create, func(c *Check) {
		for _, op := range c.Operations() {
			if op.Body {
				c.Refused(c.Send(Request{Method: op.Method, URL: c.address(op), Header: asJSON}), 400)
			}
		}
	})

	add("errors.utf8", []string{"createPod", "run"}, func(c *Check) {
		c.createRefused("{\"name\":\"\xff\",\"image\":\"i\",\"gpu\":{\"id\":\"NVIDIA L4\"}}", 400)
		c.Refused(c.Queue("POST", "run", "{\"input\":{\"a\":\"\xff\"}}"), 400)
	})

	add("errors.parameters", nil, func(c *Check) {
		for _, op := range c.Operations() {
			if op.OpenQuery {
				continue
			}
			r := Request{Method: op.Method, URL: c.address(op) + "?nosuch=1"}
			if op.Body {
				r.Body = "{}"
			}
			require.Contains(c, strings.Join(c.Refused(c.Send(r), 422), "\n"), "query.nosuch:")
		}
		require.Equal(c, 200, c.REST("GET", "/v2/pods?&", "").Status)
		require.Contains(c, c.Refused(c.REST("GET", "/v2/pods?=1", ""), 422)[0], "query.:", "one without a name is unknown, too")
	})

	add("errors.parameters.path", nil, func(c *Check) {
		for _, op := range c.Operations() {
			for _, segment := range strings.Split(op.Template, "/") {
				name, is := strings.CutPrefix(segment, "{")
				if name = strings.TrimSuffix(name, "}"); !is {
					continue
				}
				for _, noUTF8 := range []string{"%FF", "%ff"} {
					path := strings.NewReplacer("{", "", "}", "").Replace(strings.Replace(op.Template, segment, noUTF8, 1))
					r := Request{Method: op.Method, URL: c.base(op.Document) + path}
					if op.Body {
						r.Body = "{}"
					}
					require.Contains(c, strings.Join(c.Refused(c.Send(r), 422), "\n"), "path."+name+":", "%s %s", op.Method, path)
				}
			}
		}
	})

	add("errors.parameters.syntax", nil, func(c *Check) {
		for _, op := range c.Operations() {
			r := Request{Method: op.Method, URL: c.address(op) + "?a=%zz"}
			if op.Body {
				r.Body = "{}"
			}
			require.Contains(c, strings.Join(c.Refused(c.Send(r), 422), "\n"), "query.a:")
		}
	})

	add("errors.size", []string{"createPod", "createTemplate"}, func(c *Check) {
		for _, op := range c.Operations() {
			if !op.Body {
				continue
			}
			limit := cmp.Or(op.MaxBody, 1<<20)
			r := Request{Method: op.Method, URL: c.address(op), Body: strings.Repeat(" ", limit+1)}
			r.Header = map[string]string{"Expect": "100-continue"} // so that it is refused before it is sent
			a := c.Send(r)
			c.Refused(a, 413)
			require.Contains(c, a.JSON["detail"], strconv.Itoa(limit))
		}

		c.make(templates, strings.Replace(plainTemplate, `"t"`, `"`+strings.Repeat("x", 1<<20-len(plainTemplate)+1)+`"`, 1))
	})

	add("errors.duplicate-member", create, func(c *Check) {
		c.createRefused(`{"name":"a","name":"b","image":"i","gpu":{"id":"NVIDIA L4"}}`, 422, "/name:")
		c.createRefused(withGPU(`{"id":"NVIDIA L4","id":"NVIDIA L4"}`), 422, "/gpu/id:")
		c.createRefused(with(`"env":{"A":"1","A":"1"}`), 422, "/env/A:")
	})

	add("errors.integers", append(create, "createEndpoint"), func(c *Check) {
		body := func(disk string) string {
			return `{"name":"a","image":"i","gpu":{"id":"NVIDIA L4"},"disk":` + disk + `}`
		}
		for _, disk := range []string{"5.5", "55e-1", "5.0000000000000000000001", "9223372036854775808", "9223372036854775808.0", "1e400"} {
			c.createRefused(body(disk), 422, "/disk:")
		}
		for written, disk := range map[string]float64{"5.0": 5, "5e1": 50, "50e-1": 5, "0.5E+1": 5} {
			require.Equal(c, disk, c.createPod(body(written))["disk"], written)

			made := c.make(serverless, c.edited(cpuEndpoint, `"scaling":{"type":"REQUEST_COUNT","requestCount":`+written+`}`))
			require.Equal(c, map[string]any{"type": "REQUEST_COUNT", "requestCount": disk}, made["scaling"], written)
		}
	})

	add("errors.media-type", create, func(c *Check) { c.mediaTypeRefused("text/plain", "application/problem+json", "json") })
	add("errors.media-type.absent", create, func(c *Check) { c.mediaTypeRefused("") })
	add("errors.media-type.parameters", create, func(c *Check) {
		for _, kind := range []string{"application/json; charset=utf-8", "Application/JSON;charset=UTF-8"} {
			// The body breaks its schema: it was read.
			c.Refused(c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: "{}", Header: map[string]string{"Content-Type": kind}}), 422)
		}
	})

	add("errors.media-type.charset", create, func(c *Check) {
		c.mediaTypeRefused("application/json; charset=iso-8859-1", `application/json; charset="utf-16"`, "application/json; charset=us-ascii")
		a := c.Send(Request{Method: "POST", URL: c.URL + graphqlPath, Body: `{"query":"{myself{id}}"}`, Header: map[string]string{"Content-Type": "application/json; charset=latin1"}})
		c.wrongly(a, 415, "REJECTED")
	})

	add("errors.media-type.encoding", create, func(c *Check) {
		for _, coding := range []string{"gzip", "identity, br"} {
			header := map[string]string{"Content-Type": "application/json", "Content-Encoding": coding}
			a := c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: "{}", Header: header})
			c.Refused(a, 415)
			require.Equal(c, "identity", a.Header.Get("Accept-Encoding"), coding)
			c.wrongly(c.Send(Request{Method: "POST", URL: c.URL + graphqlPath, Body: `{"query":"{myself{id}}"}`, Header: header}), 415, "REJECTED")
		}
		header := map[string]string{"Content-Type": "application/json", "Content-Encoding": "identity"}
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: "{}", Header: header}), 422) // it was read
	})

	add("errors.escapes", []string{"getPod"}, func(c *Check) {
		id := c.newPod(cpuPod)
		escaped := fmt.Sprintf("%%%02x", id[0]) + id[1:]
		for _, path := range []string{"/v2/pods/" + escaped, "/v2/%70ods/" + id, "/%76%32/pods/" + strings.ToUpper(escaped[:3]) + id[1:]} {
			require.Equal(c, id, c.read(path)["id"], path)
		}
		c.Refused(c.REST("GET", "/v2/pods/"+id+"%2Faction", ""), 404) // one segment
	})

	add("errors.unknown-path", nil, func(c *Check) {
		for _, path := range []string{"/v2/nothing", "/v2", "/", "/v2/pods/a/b/c", "/v3/pods", "/v1pods", "/v2/catalog/health", "/v2/pods/job-take/a"} {
			c.Refused(c.REST("GET", path, ""), 404)
		}
		c.Refused(c.REST("PUT", "/v2/pods/a/b", ""), 404) // and no wrong method of /v2/pods/a
	})

	add("errors.method", nil, func(c *Check) {
		c.methodsRefused("rest")
		a := c.REST("POST", "/v2/pods/run", `{"input":{}}`) // which is no operation of an endpoint "pods"
		require.Equal(c, 405, a.Status)
		require.Contains(c, a.Header.Get("Allow"), "PATCH")
	})
	add("errors.unread", nil, func(c *Check) {
		for _, text := range []string{
			"nonsense\r\n\r\n", "GET /v2/pods HTTP/1.1\r\n\r\n", "GET /v2/pods HTTP/9.0\r\nHost: a\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nNo Name: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nLong: " + strings.Repeat("x", 100_000) + "\r\n\r\n",
		} {
			c.notRead(c.sends(text))
		}
	})
})

// mediaTypeRefused asserts 415 of every operation with a body of such a content type.
func (c *Check) mediaTypeRefused(kinds ...string) {
	for _, op := range c.Operations() {
		if op.Body && !op.AnyType {
			for _, kind := range kinds {
				r := Request{Method: op.Method, URL: c.address(op), Body: "{}", Header: map[string]string{"Content-Type": kind}}
				c.Refused(c.Send(r), 415)
			}
		}
	}
}

// methodsRefused asserts that each path of the document answers 405, with the right methods, to every other one.
func (c *Check) methodsRefused(document string) {
	methods := map[string][]string{}
	for _, op := range c.Operations() {
		if op.Document == document {
			methods[op.Path] = append(methods[op.Path], op.Method)
		}
	}

	for path, known := range methods {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if slices.Contains(known, method) {
				continue
			}
			a := c.Send(Request{Method: method, URL: c.base(document) + path})
			require.Equal(c, 405, a.Status, "%s %s", method, path)

			var allowed []string
			for one := range strings.SplitSeq(a.Header.Get("Allow"), ",") {
				if one = strings.TrimSpace(one); one != "OPTIONS" && one != "HEAD" {
					allowed = append(allowed, one)
				}
			}

			require.ElementsMatch(c, known, allowed, "%s %s", method, path)
		}
	}
}

// The order of the checks.
var _ = area(func() {
	add("errors.order", nil, func(c *Check) {
		for status, r := range c.refusals() {
			r.URL, r.Key = c.URL+r.URL, "-"
			require.Equal(c, 401, c.Send(r).Status, "instead of %d", status)
		}
		require.Equal(c, 401, c.Send(Request{Method: "GET", URL: c.URL + "/v2/nothing", Key: "-"}).Status)
	})

	add("errors.order.scope", []string{"createPod", "deletePod"}, func(c *Check) {
		reader := c.key("read")
		for status, r := range c.refusals() {
			if r.Method == "POST" {
				r.URL, r.Key = c.URL+r.URL, reader
				require.Equal(c, 403, c.Send(r).Status, "instead of %d", status)
			}
		}
		c.Refused(c.Send(Request{Method: "DELETE", URL: c.URL + "/v2/pods/nosuchpod", Key: reader}), 403)
	})

	add("errors.order.scope-rate", []string{"createPod"}, func(c *Check) {
		c.exhausted(func(send func(key, method, path, body string) Answer, key, reader string) {
			c.Refused(send(reader, "POST", "/v2/pods", gpuPod), 403)
			c.Refused(send(key, "POST", "/v2/pods", gpuPod), 429)
		})
	})

	add("errors.order.rate", []string{"createPod", "getPod"}, func(c *Check) {
		c.exhausted(func(send func(key, method, path, body string) Answer, key, _ string) {
			for status, r := range c.refusals() {
				if status != 401 && status != 405 {
					r.URL, r.Key = c.URL+r.URL, "Bearer "+key
					require.Equal(c, 429, c.Send(r).Status, "instead of %d", status)
				}
			}

			for _, op := range c.Operations() {
				if op.Document == "rest" {
					require.Equal(c, 429, send(key, op.Method, op.Path, "").Status, "%s %s", op.Method, op.Path)
				}
			}
		})
	})

	add("errors.order.size", []string{"createPod"}, func(c *Check) {
		c.createRefused(strings.TrimSuffix(tooLarge(), "}"), 413)
		text := map[string]string{"Content-Type": "text/plain"}
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: "nope", Header: text}), 415)
	})

	add("errors.order.syntax", []string{"createPod"}, func(c *Check) {
		c.Refused(c.REST("POST", "/v2/pods?nosuch=1", `{"name":7,"other":`), 400)
	})
	add("errors.order.schema", []string{"getPod", "updatePod", "podAction", "status"}, func(c *Check) {
		c.Refused(c.REST("GET", "/v2/pods/nosuchpod?nosuch=1", ""), 422)
		c.Refused(c.patch("nosuchpod", `{"nosuch":1}`), 422)
		c.Refused(c.REST("POST", "/v2/pods/nosuchpod/action", `{}`), 422)
		c.Refused(c.Queue("GET", "status/nosuchjob?ttl=0", ""), 422)
	})

	add("errors.order.existence", []string{"updatePod", "podAction"}, func(c *Check) {
		c.Refused(c.patch("nosuchpod", `{"mounts":{"network":[]}}`), 404)
		c.Refused(c.patch("nosuchpod", `{"ports":["1/tcp","1/udp"]}`), 404)
		c.Refused(c.REST("PATCH", "/v2/account/secrets/nosuchsecret", `{"description":"`+strings.Repeat("é", 40_000)+`"}`), 404)
		secret := `{"input":{},"s3Config":{"secret":"` + strings.Repeat("x", 66_000) + `"}}`
		for _, operation := range []string{"run", "runsync"} {
			c.Refused(c.Send(Request{Method: "POST", URL: c.QueueURL + "/v2/nosuchendpoint/" + operation, Body: secret}), 404)
		}
	})
})
