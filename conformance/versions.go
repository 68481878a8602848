package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// document reads a published document.
func (c *Check) document(path string) map[string]any {
	a := c.Send(Request{Method: "GET", URL: c.URL + path, Key: "-"})
	require.Equal(c, 200, a.Status)
	require.Equal(c, "application/json", a.Header.Get("Content-Type"))
	return a.JSON
}

// walkObjects calls f for every object in a JSON value.
func walkObjects(value any, f func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		f(v)
		for _, member := range v {
			walkObjects(member, f)
		}
	case []any:
		for _, item := range v {
			walkObjects(item, f)
		}
	}
}

var _ = area(func() {
	const rest, queue = "/v2/openapi.json", "/openapi/queue.json"
	add("documents", nil, func(c *Check) {
		for _, path := range []string{rest, queue, "/openapi/worker.json"} {
			require.Equal(c, "3.1.0", c.document(path)["openapi"])
		}
	})

	add("documents.examples", nil, func(c *Check) {
		for _, path := range []string{rest, queue, "/openapi/worker.json"} {
			parameters := 0
			walkObjects(c.document(path), func(object map[string]any) {
				if object["in"] == "path" {
					parameters++
					require.Contains(c, object, "example", "%s: %s: %s", path, object["name"], object["description"])
				}
			})
			require.NotZero(c, parameters, path)
		}
	})

	add("documents.clients", nil, func(c *Check) {
		schemas := c.document(queue)["components"].(map[string]any)["schemas"].(map[string]any)
		submission := schemas["Submission"].(map[string]any)["properties"].(map[string]any)
		for _, member := range []string{"input", "s3Config"} {
			require.Equal(c, true, submission[member].(map[string]any)["additionalProperties"], member)
		}

		// Generators of clients name the answer of listPods ListPodsResponse; a schema of that name is in their way.
		for _, path := range []string{rest, queue, "/openapi/worker.json"} {
			document := c.document(path)
			operations := map[string]bool{}
			walkObjects(document["paths"], func(object map[string]any) {
				if id, ok := object["operationId"].(string); ok {
					operations[strings.ToLower(id)] = true
				}
			})

			for _, name := range keys(document["components"].(map[string]any)["schemas"].(map[string]any)) {
				of, is := strings.CutSuffix(strings.ToLower(name), "response")
				require.False(c, is && operations[of], "%s: schema %s", path, name)
			}
		}
	})

	add("documents.pages", nil, func(c *Check) {
		index := c.Send(Request{Method: "GET", URL: c.URL + "/docs", Key: "-"})
		if index.Status == 401 || index.Status == 404 {
			c.Skip("the target has no reference pages")
		}

		for _, path := range []string{"/docs", "/docs/reference", "/docs/rest", "/docs/queue", "/docs/worker"} {
			a := c.Send(Request{Method: "GET", URL: c.URL + path, Key: "-"})
			require.Equal(c, 200, a.Status)
			require.Contains(c, a.Header.Get("Content-Type"), "text/html")
			require.Contains(c, a.Header.Get("Content-Security-Policy"), "default-src 'none'")
			require.NotContains(c, string(a.Body), "://")
		}
	})

	add("versions.rest", nil, func(c *Check) {
		require.Equal(c, "2.0.0", c.document(rest)["info"].(map[string]any)["version"])
	})
	add("versions.rest.paths", nil, func(c *Check) {
		for _, path := range keys(c.document(rest)["paths"].(map[string]any)) {
			require.True(c, strings.HasPrefix(path, "/v2/"), path)
		}
	})

	add("versions.queue.paths", nil, func(c *Check) {
		for _, path := range keys(c.document(queue)["paths"].(map[string]any)) {
			require.True(c, strings.HasPrefix(path, "/v2/{endpointId}/"), path)
		}
	})

	add("versions.persistent-deprecated", nil, func(c *Check) {
		schemas := c.document(rest)["components"].(map[string]any)["schemas"].(map[string]any)
		require.Equal(c, true, schemas["PersistentMount"].(map[string]any)["deprecated"])
		require.NotContains(c, schemas["NetworkMount"], "deprecated")
	})
})
