package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// Version 1 of the REST interface, which has ended.
var _ = area(func() {
	add("v1.gone", nil, func(c *Check) {
		for _, path := range []string{"/v1", "/v1/", "/v1/pods", "/v1/pods/nosuchpod", "/v1/user", "/v1/pods/a/b/c", "/v1/pods?limit=1"} {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				a := c.Send(Request{Method: method, URL: c.URL + path, Body: `{"imageName":`})
				c.Refused(a, 410)
				require.EqualValues(c, 410, a.JSON["status"])
			}
		}
	})

	add("v1.head", nil, func(c *Check) {
		a := c.REST("HEAD", "/v1/pods", "")
		require.Equal(c, 410, a.Status)
		require.Empty(c, a.Body)
	})
	add("v1.key", nil, func(c *Check) {
		for _, path := range []string{"/v1/pods", "/v1/user"} {
			c.Refused(c.Send(Request{Method: "GET", URL: c.URL + path, Key: "-"}), 401)
		}
	})

	add("v1.operation", nil, func(c *Check) {
		for asked, want := range map[string]string{
			"POST /v1/pods": "POST /v2/pods", "GET /v1/pods/p1": "GET /v2/pods/p1", "DELETE /v1/pods/p1": "DELETE /v2/pods/p1", "POST /v1/pods/p1/update": "PATCH /v2/pods/p1",
			"POST /v1/pods/p1/stop": "POST /v2/pods/p1/action", "GET /v1/endpoints": "GET /v2/serverless", "PATCH /v1/endpoints/e1": "PATCH /v2/serverless/e1",
			"GET /v1/networkvolumes": "GET /v2/network-volumes", "POST /v1/templates": "POST /v2/templates", "GET /v1/containerregistryauth": "GET /v2/registries",
			"GET /v1/billing/endpoints": "GET /v2/billing/serverless",
		} {
			method, path, _ := strings.Cut(asked, " ")
			a := c.REST(method, path, "")
			c.Refused(a, 410)
			at, target, _ := strings.Cut(want, " ")
			require.Equal(c, "<"+target+`>; rel="successor-version"`, a.Header.Get("Link"), asked)
			require.Contains(c, a.JSON["detail"], at+" "+strings.NewReplacer("p1", "{id}", "e1", "{id}").Replace(target), asked)
		}
		require.Contains(c, c.REST("POST", "/v1/pods/p1/stop", "").JSON["detail"], `{"action":"stop"}`)
	})

	add("v1.members", nil, func(c *Check) {
		lines := func(method, path string) []string { return c.Refused(c.REST(method, path, ""), 410) }
		require.Subset(c, lines("POST", "/v1/pods"), []string{
			"/imageName: is /image", "/containerDiskInGb: is /disk", "/gpuTypeIds: is /gpu/id", "/interruptible: is not in version 2", "answer: desiredStatus is status",
		})
		require.Subset(c, lines("POST", "/v1/endpoints"), []string{"/workersMin: is /workers/min", "/executionTimeoutMs: is /timeout"})
		require.Contains(c, lines("GET", "/v1/pods"), "answer: the list is pods")
		require.Empty(c, lines("DELETE", "/v1/pods/p1"))
	})
})
