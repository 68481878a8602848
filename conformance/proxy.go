package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// inPod asks for the root of a port of a pod, without a key, and asserts that what refuses it is a problem. A target whose pods are not below
// localhost takes it for a request to the API.
func (c *Check) inPod(label, method string, length int64) Answer {
	return c.inPodAt(label+".localhost", "/", method, length)
}

// inPodAt is inPod for a host and a path.
func (c *Check) inPodAt(host, path, method string, length int64) Answer {
	req, err := http.NewRequestWithContext(c.context(), method, c.URL+path, nil)
	require.NoError(c, err)
	req.Host = host
	if length > 0 {
		req.ContentLength, req.Body = length, io.NopCloser(strings.NewReader("x"))
		req.Header.Set("Expect", "100-continue")
	}

	c.note(exchange{method: method, url: "http://" + req.Host})
	res, err := client.Do(req)
	require.NoError(c, err)
	defer func() { _ = res.Body.Close() }()
	body, err := whole(res.Body)
	require.NoError(c, err)
	if res.StatusCode == 401 {
		return Answer{Status: 401}
	}
	a := Answer{Status: res.StatusCode, Header: res.Header, Body: body}
	require.NoError(c, json.Unmarshal(body, &a.JSON), "%s", body)
	c.Refused(a, a.Status)
	require.InDelta(c, a.Status, a.JSON["status"], 0)
	return a
}

// hidden asserts that there is no such port, and gives what the answer says.
func (c *Check) hidden(label string) string {
	a := c.inPod(label, "GET", 0)
	require.Equal(c, 404, a.Status, label)
	return strings.ReplaceAll(a.JSON["detail"].(string), strings.Split(label, "-")[0], "ID")
}

// needsProxy skips the rule where pods are not shown below localhost.
func (c *Check) needsProxy() {
	if c.inPod("aaaaaaaaaaaaaa-80", "GET", 0).Status == 401 {
		c.Skip("the target shows no pods below localhost")
	}
}

var _ = area(func() {
	shown := with(`"ports":["8888/http","22/tcp","53/udp"]`)
	ops := []string{"createPod", "podAction", "deletePod"}
	add("proxy.hidden", ops, func(c *Check) {
		c.needsProxy()
		id := c.newPod(shown)
		for _, port := range []int{1, 22, 53, 65535} {
			require.Equal(c, c.hidden("aaaaaaaaaaaaaa-"+strconv.Itoa(port)), c.hidden(id+"-"+strconv.Itoa(port)), "who asks learns of no pod")
		}
		require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+id, "").Status)
		c.hidden(id + "-8888")
	})

	add("proxy.status", ops, func(c *Check) {
		c.needsProxy()
		id := c.newPod(shown)
		c.acted(id, "stop", "EXITED")
		a := c.inPod(id+"-8888", "GET", 0)
		require.Equal(c, 502, a.Status)
		require.Contains(c, a.JSON["detail"], "EXITED")
	})

	add("proxy.bodies", ops, func(c *Check) {
		c.needsProxy()
		id := c.newPod(shown)
		const most = 100 << 20
		require.NotEqual(c, 413, c.inPod(id+"-8888", "POST", 1).Status)
		require.Equal(c, 413, c.inPod(id+"-8888", "POST", most+1).Status)
	})

	add("proxy.addresses", []string{"getSession", "whyPod", "createPod"}, func(c *Check) {
		at, _ := c.session(c.Key)["podAddress"].(string)
		require.Contains(c, at, "{podId}")
		require.Contains(c, at, "{port}")
		id := c.newPod(with(`"ports":["8888/http","22/tcp","80/http"]`))
		c.becomes(id, "RUNNING")
		var want []any
		for _, port := range []string{"8888", "80"} {
			want = append(want, strings.NewReplacer("{podId}", id, "{port}", port).Replace(at))
		}
		details := func() map[string]any {
			return c.about("pods/" + id + "/why").JSON["details"].(map[string]any)
		}
		require.Equal(c, want, details()["addresses"])

		reached, err := url.Parse(want[0].(string))
		require.NoError(c, err)
		require.NotEqual(c, 404, c.inPodAt(reached.Host, reached.Path+"/", "GET", 0).Status, "it leads to the pod")
		c.acted(id, "stop", "EXITED")
		require.NotContains(c, details(), "addresses")
	})

	add("proxy.names", nil, func(c *Check) {
		c.needsProxy()
		for _, label := range []string{"aaaaaaaaaaaaaa", "aaaaaaaaaaaaaa-0", "aaaaaaaaaaaaaa-080", "aaaaaaaaaaaaa-80", "aaaaaaaaaaaaaa-80-80", "x.aaaaaaaaaaaaaa-80", "aaaaaaaaaaaaaa-800000"} {
			require.Equal(c, 401, c.inPod(label, "GET", 0).Status, "the API answers at %s", label)
		}
		for _, label := range []string{"AAAAAAAAAAAAAA-80", "aaaaaaaaaaaaaa-80"} {
			require.Equal(c, 404, c.inPod(label, "GET", 0).Status, label)
		}
	})
})

// throughProxy are the requests to ports of pods and to endpoints.
var throughProxy = []string{"listJournal", "addFault", "setFaults"}

var _ = area(func() {
	add("controls.journal.proxy", throughProxy[:1], func(c *Check) {
		c.needsControls()
		c.needsProxy()
		id := c.newPod(with(`"ports":["8888/http"]`))
		status := c.inPodAt(id+"-8888.localhost", "/a%2Fb?c=d", "POST", 7).Status
		entries := c.journaled("operation=proxyPod&resource=" + id)
		require.Len(c, entries, 1)
		e := entries[0]
		require.Equal(c, []any{"POST", "/a%2Fb", "c=d", ""}, []any{e["method"], e["path"], e["query"], e["keyId"]})
		require.Equal(c, map[string]any{"pod": id, "port": "8888"}, e["resources"])
		require.EqualValues(c, status, e["status"])
		require.EqualValues(c, 7, e["request"].(map[string]any)["body"].(map[string]any)["length"])
		require.Contains(c, e["response"].(map[string]any)["body"].(map[string]any)["text"], "detail")

		l := c.newBalancer(`"workers":{"max":0}`)
		key, token := c.newKey("", "queue:"+l.id+":invoke")
		l.refused(l.send(asked{key: "Bearer " + token}), 400, "no workers available")
		l.refused(l.send(asked{key: "-"}), 401, "")
		entries = c.journaled("operation=proxyEndpoint&resource=" + l.id)
		require.Len(c, entries, 2)
		require.Equal(c, []any{key, ""}, []any{entries[0]["keyId"], entries[1]["keyId"]})
		require.Equal(c, map[string]any{"endpoint": l.id}, entries[0]["resources"])
		require.NotContains(c, c.text(entries[0]), token)
	})

	add("controls.faults.proxy", throughProxy[1:], func(c *Check) {
		c.needsControls()
		c.needsProxy()
		defer c.set("DELETE", "faults", "")
		id, other := c.newPod(with(`"ports":["8888/http"]`)), c.newPod(with(`"ports":["8888/http"]`))
		c.set("PUT", "faults", `{"faults":[{"operation":"proxyPod","resource":"`+id+`","status":418,"times":1}]}`)
		require.NotEqual(c, 418, c.inPod(other+"-8888", "GET", 0).Status)
		require.Equal(c, 418, c.inPod(id+"-8888", "GET", 0).Status)
		require.NotEqual(c, 418, c.inPod(id+"-8888", "GET", 0).Status)
		require.Equal(c, "proxyPod", c.journaled("operation=proxyPod&status=418&resource=" + id)[0]["fault"].(map[string]any)["operation"])

		l := c.newBalancer(`"workers":{"max":0}`)
		key, token := c.newKey("", "queue:"+l.id+":invoke")
		c.set("PUT", "faults", `{"faults":[{"operation":"proxyEndpoint","keyId":"`+key+`","status":503,"retryAfter":9}]}`)
		l.refused(l.send(asked{}), 400, "no workers available")
		l.refused(l.send(asked{key: "-"}), 401, "")
		a := l.send(asked{key: "Bearer " + token})
		l.refused(a, 503, "")
		require.Equal(c, "9", a.Header.Get("Retry-After"))

		c.set("PUT", "faults", `{"faults":[{"operation":"proxyEndpoint","body":[{"pointer":"/n","equals":7}],"status":503}]}`)
		for body, want := range map[string]int{`{"n":7}`: 503, `{"n":8}`: 400, `no JSON`: 400} {
			require.Equal(c, want, c.Send(Request{Method: "POST", URL: l.base + "/x", Body: body}).Status, body)
		}
	})
})
