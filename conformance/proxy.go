package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// inPod asks for the root of a port of a pod, without a key, and asserts that what refuses it is a problem. A target whose pods are not below
// localhost takes it for a request to the API.
func (c *Check) inPod(label, method string, length int64) Answer {
	req, err := http.NewRequestWithContext(c.context(), method, c.URL+"/", nil)
	require.NoError(c, err)
	req.Host = label + ".localhost"
	if length > 0 {
		req.ContentLength, req.Body = length, io.NopCloser(strings.NewReader("x"))
		req.Header.Set("Expect", "100-continue")
	}

	c.note(exchange{method: method, url: "http://" + req.Host})
	res, err := client.Do(req)
	require.NoError(c, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
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
