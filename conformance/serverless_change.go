package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// workerTemplate is a template for endpoints.
const workerTemplate = `{"name":"t","image":"from-template","args":"-t","disk":40,"ports":["90/http"],"env":{"A":"t","B":"t"},"serverless":true,` +
	`"allowedCudaVersions":["12.8"]}`

// fromTemplate are the members of an endpoint that name the template at the path.
func fromTemplate(at string) string {
	return `"templateId":"` + strings.TrimPrefix(at, templates+"/") + `"`
}

var _ = area(func() {
	create, both := []string{"createEndpoint", "createTemplate"}, []string{"createEndpoint", "updateEndpoint", "createTemplate"}
	add("serverless.template", create, func(c *Check) {
		at := c.newTemplate(workerTemplate)
		made := c.make(serverless, c.edited(c.without(gpuEndpoint, "image"), fromTemplate(at)))
		for member, want := range c.parsed(`{"image":"from-template","args":"-t","disk":40,"ports":["90/http"],"env":{"A":"t","B":"t"}}`).(map[string]any) {
			require.Equal(c, want, made[member], member)
		}
		require.Equal(c, []any{"12.8"}, made["gpu"].(map[string]any)["allowedCudaVersions"])
		made = c.make(serverless, c.edited(c.without(gpuEndpoint, "image"), fromTemplate(at), `"gpu":{"pools":["ADA_24"],"minCudaVersion":"12.9"}`))
		require.Empty(c, made["gpu"].(map[string]any)["allowedCudaVersions"], "a least version is the body's word, too")

		made = c.make(serverless, c.edited(gpuEndpoint, fromTemplate(at), `"disk":5,"env":{"A":"body","C":"body"},"args":"","ports":[]`))
		for member, want := range c.parsed(`{"image":"i","args":"","disk":5,"ports":[],"env":{"A":"body","B":"t","C":"body"}}`).(map[string]any) {
			require.Equal(c, want, made[member], member)
		}
	})

	add("serverless.template.snapshot", create, func(c *Check) {
		at := c.newTemplate(workerTemplate)
		endpoint := c.newEndpoint(c.without(gpuEndpoint, "image"), fromTemplate(at))
		c.changed(at, `{"image":"changed"}`)
		require.Equal(c, "from-template", c.read(endpoint)["image"])
	})

	add("serverless.template.kind", both, func(c *Check) {
		lines := c.Refused(c.REST("POST", serverless, c.edited(gpuEndpoint, fromTemplate(c.newTemplate(plainTemplate)))), 422)
		require.True(c, strings.HasPrefix(lines[0], "/templateId:"), lines)
		c.Refused(c.REST("PATCH", c.newEndpoint(gpuEndpoint), "{"+fromTemplate(c.newTemplate(plainTemplate))+"}"), 422)
	})

	add("serverless.template.unknown", both, func(c *Check) {
		c.needsControls()
		c.endpointRefused(404, gpuEndpoint, fromTemplate("nosuchtemplate"))
		c.Refused(c.REST("PATCH", c.newEndpoint(gpuEndpoint), `{"templateId":"nosuchtemplate"}`), 404)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		body := c.edited(gpuEndpoint, fromTemplate(c.newTemplate(workerTemplate)))
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + serverless, Body: body, Key: "Bearer " + stranger}), 404)
	})

	add("serverless.template.public", create, func(c *Check) {
		c.needsControls()
		at := c.newTemplate(c.edited(workerTemplate, `"public":true,"registry":"`+c.newRegistry()+`"`))
		require.NotNil(c, c.make(serverless, c.edited(gpuEndpoint, fromTemplate(at)))["registry"])
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		as := func(method, path, body string) Answer {
			return c.Send(Request{Method: method, URL: c.URL + path, Body: body, Key: "Bearer " + stranger})
		}
		a := as("POST", serverless, c.edited(c.without(gpuEndpoint, "image"), fromTemplate(at)))
		require.Equal(c, 201, a.Status, "%s", a.Body)
		require.Equal(c, "from-template", a.JSON["image"])
		require.Nil(c, a.JSON["registry"])
		require.Equal(c, 204, as("DELETE", serverless+"/"+a.JSON["id"].(string), "").Status)
	})

	add("serverless.template.update", both, func(c *Check) {
		at := c.newEndpoint(gpuEndpoint, `"env":{"OLD":"1"}`)
		changed := c.changed(at, `{`+fromTemplate(c.newTemplate(workerTemplate))+`,"disk":5,"env":{"A":"body"}}`)
		for member, want := range c.parsed(`{"image":"from-template","args":"-t","disk":5,"ports":["90/http"],"env":{"A":"body","B":"t"}}`).(map[string]any) {
			require.Equal(c, want, changed[member], member)
		}
		require.Equal(c, []any{"12.8"}, changed["gpu"].(map[string]any)["allowedCudaVersions"])
	})

	add("templates.delete.used", []string{"createEndpoint", "deleteTemplate", "updateEndpoint"}, func(c *Check) {
		at := c.newTemplate(workerTemplate)
		first, second := c.newEndpoint(gpuEndpoint, fromTemplate(at)), c.newEndpoint(gpuEndpoint, fromTemplate(at))
		c.Refused(c.REST("DELETE", at, ""), 400)
		c.read(at)
		c.deleted(first)
		c.Refused(c.REST("DELETE", at, ""), 400)
		c.changed(second, `{"templateId":""}`)
		c.deleted(at)
	})

	update := []string{"createEndpoint", "updateEndpoint", "getEndpoint"}
	add("serverless.get", []string{"createEndpoint", "getEndpoint"}, func(c *Check) {
		for _, body := range []string{fullEndpoint, cpuEndpoint, balancer} {
			made := c.make(serverless, body)
			require.Equal(c, made, c.read(serverless+"/"+made["id"].(string)))
		}
	})

	add("serverless.list", []string{"listEndpoints"}, func(c *Check) {
		first, second := c.make(serverless, gpuEndpoint), c.make(serverless, fullEndpoint)
		c.newestFirst(serverless, "endpoints", first["id"].(string), second["id"].(string))
		require.Contains(c, c.everyOne(serverless, "endpoints"), second)
	})

	add("serverless.names", []string{"createEndpoint"}, func(c *Check) {
		require.NotEqual(c, c.make(serverless, gpuEndpoint)["id"], c.make(serverless, gpuEndpoint)["id"])
	})

	every := []string{"getEndpoint", "updateEndpoint", "deleteEndpoint", "listEndpointWorkers", "listEndpointReleases"}
	add("serverless.unknown", every, func(c *Check) {
		for _, path := range []string{"", "/workers", "/releases"} {
			c.Refused(c.REST("GET", serverless+"/nosuchendpoint"+path, ""), 404)
		}
		for _, body := range []string{`{}`, `{"networkVolumes":["a"],"mounts":{"network":[{"volumeId":"b"}]}}`} {
			c.Refused(c.REST("PATCH", serverless+"/nosuchendpoint", body), 404)
		}
		c.Refused(c.REST("DELETE", serverless+"/nosuchendpoint", ""), 404)
	})

	add("serverless.ownership", append(every, "listEndpoints", "health"), func(c *Check) {
		at := c.newEndpoint(gpuEndpoint)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		as := func(method, url, body string) Answer {
			return c.Send(Request{Method: method, URL: url, Body: body, Key: "Bearer " + stranger})
		}
		for _, path := range []string{"", "/workers", "/releases"} {
			c.Refused(as("GET", c.URL+at+path, ""), 404)
		}
		c.Refused(as("PATCH", c.URL+at, `{"name":"b"}`), 404)
		c.Refused(as("DELETE", c.URL+at, ""), 404)
		require.NotContains(c, string(as("GET", c.URL+serverless, "").Body), strings.TrimPrefix(at, serverless+"/"))

		c.Refused(as("GET", c.QueueURL+"/v2/"+c.on(at).Endpoint+"/health", ""), 404)
		require.Equal(c, "e", c.read(at)["name"])
	})

	add("serverless.update", update, func(c *Check) {
		want := c.make(serverless, fullEndpoint)
		at := serverless + "/" + want["id"].(string)
		require.Equal(c, want, c.changed(at, `{}`))
		bare := c.make(serverless, `{"name":"a","type":"QUEUE","image":"","cpu":[{"id":"cpu3g","vcpuCount":2}],"scaling":{"type":"REQUEST_COUNT","requestCount":4}}`)
		require.Equal(c, bare, c.changed(serverless+"/"+bare["id"].(string), `{}`))

		want["name"] = "b"
		require.Equal(c, want, c.changed(at, `{"name":"b"}`))
		want["workers"].(map[string]any)["max"] = 6.0
		require.Equal(c, want, c.changed(at, `{"workers":{"max":6}}`))

		want["gpu"].(map[string]any)["count"] = 3.0
		require.Equal(c, want, c.changed(at, `{"gpu":{"count":3}}`))
		require.Equal(c, want, c.read(at))
	})

	add("serverless.update.members", update, func(c *Check) {
		at := c.newEndpoint(gpuEndpoint)
		want := c.parsed(c.without(fullEndpoint, "type")).(map[string]any)
		for _, member := range keys(want) {
			one := c.edited(`{}`, `"`+member+`":`+c.text(want[member]))
			require.Equal(c, want[member], c.changed(at, one)[member], member)
		}
		cpu := c.newEndpoint(cpuEndpoint)
		require.Equal(c, c.parsed(`[{"id":"cpu3c","vcpuCount":4,"memory":8}]`), c.changed(cpu, `{"cpu":[{"id":"cpu3c","vcpuCount":4}]}`)["cpu"])
	})

	add("serverless.update.clear", update, func(c *Check) {
		at := c.newEndpoint(fullEndpoint)
		empty := `{"args":"","ports":[],"env":{},"registry":null,"dataCenterIds":[],"networkVolumes":[]}`
		c.changed(at, empty)
		c.changed(at, `{"gpu":{"pools":["ADA_24"],"excludedTypes":[],"allowedCudaVersions":[],"minCudaVersion":""}}`)
		got := c.read(at)
		for member, value := range c.parsed(empty).(map[string]any) {
			require.Equal(c, value, got[member], member)
		}
		require.Equal(c, c.parsed(`{"pools":["ADA_24"],"excludedTypes":[],"count":2,"allowedCudaVersions":[],"minCudaVersion":null}`), got["gpu"])
	})

	add("serverless.update.refused", update, func(c *Check) {
		want := c.make(serverless, fullEndpoint)
		at := serverless + "/" + want["id"].(string)
		for _, member := range []string{
			`"gpu":{"pools":["NO_SUCH"]}`, `"gpu":{"pools":["ADA_24"],"excludedTypes":["no such"]}`, `"workers":{"min":9}`, `"dataCenterIds":["XX-YY-1"]`,
		} {
			c.Refused(c.REST("PATCH", at, `{"name":"b",`+member+`}`), 400)
		}

		c.Refused(c.REST("PATCH", at, `{"name":"b","networkVolumes":["nosuchvolume"]}`), 404)
		require.Equal(c, want, c.read(at))
		require.Len(c, c.read(at + "/releases")["releases"], 1)
	})
})
