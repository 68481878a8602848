package conformance

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
)

const (
	serverless  = "/v2/serverless"
	gpuEndpoint = `{"name":"e","type":"QUEUE","image":"i","gpu":{"pools":["ADA_24"]},"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`
	cpuEndpoint = `{"name":"e","type":"QUEUE","image":"i","cpu":[{"id":"cpu3g","vcpuCount":2}],"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`
	byCount     = `{"name":"e","type":"QUEUE","image":"i","gpu":{"pools":["ADA_24"]},"scaling":{"type":"REQUEST_COUNT","requestCount":2}}`
	balancer    = `{"name":"e","type":"LOAD_BALANCER","image":"i","gpu":{"pools":["ADA_24"]},"scaling":{"type":"REQUEST_COUNT","requestCount":2}}`

	fullEndpoint = `{"name":"full","type":"QUEUE","image":"j","args":"-x","disk":30,"ports":["80/http"],"env":{"A":"1"},"registry":null,
		"gpu":{"pools":["AMPERE_24","ADA_24"],"excludedTypes":["NVIDIA L4"],"count":2,"allowedCudaVersions":["12.4","12.8"],"minCudaVersion":"12.4"},
		"workers":{"min":0,"max":5,"idleTimeout":60},"scaling":{"type":"QUEUE_DELAY","queueDelay":0.5},"dataCenterIds":["US-KS-2","EU-RO-1"],
		"networkVolumes":[],"timeout":60000,"flashboot":"FLASHBOOT"}`
)

// edited gives a body with more members: a later one takes the place of an earlier one.
func (c *Check) edited(body string, members ...string) string {
	whole := c.parsed(body).(map[string]any)
	for _, one := range members {
		for member, value := range c.parsed("{" + one + "}").(map[string]any) {
			whole[member] = value
		}
	}
	return c.text(whole)
}

// without gives a body without a member.
func (c *Check) without(body, member string) string {
	whole := c.parsed(body).(map[string]any)
	delete(whole, member)
	return c.text(whole)
}

// text writes JSON.
func (c *Check) text(value any) string {
	text, err := json.Marshal(value)
	require.NoError(c, err)
	return string(text)
}

// newEndpoint creates an endpoint and gives its path.
func (c *Check) newEndpoint(body string, members ...string) string {
	return serverless + "/" + c.make(serverless, c.edited(body, members...))["id"].(string)
}

// endpointRefused asserts that createEndpoint refuses the body, and gives the detail.
func (c *Check) endpointRefused(status int, body string, members ...string) string {
	a := c.REST("POST", serverless, c.edited(body, members...))
	c.Refused(a, status)
	return a.JSON["detail"].(string)
}

// on gives a Check whose queue is that of the endpoint at the path.
func (c *Check) on(path string) *Check { return c.at(strings.TrimPrefix(path, serverless+"/")) }

var _ = area(func() {
	create := []string{"createEndpoint"}
	both := []string{"createEndpoint", "updateEndpoint"}
	add("serverless.create", create, func(c *Check) {
		made := c.make(serverless, fullEndpoint)
		require.NotEmpty(c, made["id"])
		c.time(made["createdAt"])
		for member, want := range c.parsed(fullEndpoint).(map[string]any) {
			require.Equal(c, want, made[member], member)
		}
	})

	add("serverless.fields", create, func(c *Check) {
		common := []string{
			"id", "name", "type", "image", "args", "cmd", "entrypoint", "disk", "ports", "env", "registry", "gpu", "workers", "scaling", "dataCenterIds", "networkVolumes",
			"mounts", "timeout", "flashboot", "createdAt",
		}
		require.ElementsMatch(c, append(common, "requestUrls"), keys(c.make(serverless, gpuEndpoint)))
		require.ElementsMatch(c, append(common, "requestUrls", "cpu"), keys(c.make(serverless, cpuEndpoint)))
		require.ElementsMatch(c, append(common, "requestUrls"), keys(c.make(serverless, balancer)))
	})

	add("serverless.fields.settings", []string{"getEndpoint"}, func(c *Check) {
		declared := c.read(c.declared())
		require.NotContains(c, declared, "disk")
		require.Nil(c, declared["gpu"])
		require.NotContains(c, declared, "cpu")
	})

	add("serverless.create.required", create, func(c *Check) {
		require.Len(c, c.Refused(c.REST("POST", serverless, `{"image":"i","gpu":{"pools":["ADA_24"]}}`), 422), 3)
		for _, member := range []string{"name", "type", "scaling"} {
			lines := c.Refused(c.REST("POST", serverless, c.without(gpuEndpoint, member)), 422)
			require.True(c, strings.HasPrefix(lines[0], "/"+member+":"), lines)
		}
	})

	add("serverless.create.image", create, func(c *Check) {
		lines := c.Refused(c.REST("POST", serverless, c.without(gpuEndpoint, "image")), 422)
		require.True(c, strings.HasPrefix(lines[0], "/image:"), lines)
	})
	add("serverless.create.closed", create, func(c *Check) {
		c.invalid("POST", serverless, strings.TrimSuffix(gpuEndpoint, "}")+`,$:1}`, "/", `"id"`, `"volumes"`, `"cloud"`, `"createdAt"`, `"requestUrls"`)
		c.invalid("POST", serverless, c.edited(gpuEndpoint, `"gpu":{"pools":["ADA_24"],"id":"NVIDIA L4"}`), "/gpu/id:", "")
	})

	values := map[string][]string{
		"/name:": {`"name":""`, `"name":7`}, "/type:": {`"type":"queue"`, `"type":null`}, "/image:": {`"image":7`}, "/disk:": {`"disk":0`},
		"/ports/0:": {`"ports":["80"]`}, "/env/A:": {`"env":{"A":1}`}, "/templateId:": {`"templateId":7`},
		"/gpu/pools:": {`"gpu":{"pools":[]}`, `"gpu":{}`}, "/gpu/count:": {`"gpu":{"pools":["ADA_24"],"count":0}`},
		"/gpu/excludedTypes:":         {`"gpu":{"pools":["ADA_24"],"excludedTypes":["NVIDIA L4","NVIDIA L4"]}`},
		"/gpu/excludedTypes/0:":       {`"gpu":{"pools":["ADA_24"],"excludedTypes":["-NVIDIA L4"]}`, `"gpu":{"pools":["ADA_24"],"excludedTypes":[" "]}`},
		"/gpu/allowedCudaVersions/0:": {`"gpu":{"pools":["ADA_24"],"allowedCudaVersions":["12"]}`},
		"/gpu/minCudaVersion:":        {`"gpu":{"pools":["ADA_24"],"minCudaVersion":"twelve"}`},
		"/workers/min:":               {`"workers":{"min":-1}`}, "/workers/max:": {`"workers":{"max":1.5}`},
		"/workers/idleTimeout:": {`"workers":{"idleTimeout":0}`, `"workers":{"idleTimeout":3601}`},
		"/scaling/queueDelay:":  {`"scaling":{"type":"QUEUE_DELAY","queueDelay":0.4}`, `"scaling":{"type":"QUEUE_DELAY"}`},
		"/scaling/requestCount": {`"scaling":{"type":"REQUEST_COUNT","requestCount":0}`, `"scaling":{"type":"REQUEST_COUNT","requestCount":1000000001}`, `"scaling":{"type":"QUEUE_DELAY","queueDelay":1,"requestCount":1}`},
		"/scaling/type:":        {`"scaling":{"type":"NONE"}`, `"scaling":{}`},
		"/timeout:":             {`"timeout":-1`, `"timeout":604800001`}, "/flashboot:": {`"flashboot":"ON"`},
	}

	add("serverless.create.values", create, func(c *Check) {
		for place, members := range values {
			for _, member := range members {
				c.invalid("POST", serverless, c.edited(gpuEndpoint, member), place, "")
			}
		}
		c.invalid("POST", serverless, c.edited(cpuEndpoint, `"cpu":[]`), "/cpu:", "")
		c.invalid("POST", serverless, c.edited(cpuEndpoint, `"cpu":[{"id":"cpu3g","vcpuCount":3}]`), "/cpu/0/vcpuCount:", "")
	})

	add("serverless.update.values", both, func(c *Check) {
		at := c.newEndpoint(gpuEndpoint)
		for place, members := range values {
			for _, member := range members {
				if place != "/gpu/pools:" && place != "/type:" {
					c.invalid("PATCH", at, "{"+member+"}", place, "")
				}
			}
		}
		c.invalid("PATCH", at, `{"gpu":{"excludedTypes":["NVIDIA L4"]}}`, "/gpu", "")
	})

	add("serverless.defaults", create, func(c *Check) {
		made := c.make(serverless, gpuEndpoint)
		for member, want := range c.parsed(`{"args":"","disk":20,"ports":[],"env":{},"registry":null,"workers":{"min":0,"max":3,"idleTimeout":10},
			"gpu":{"pools":["ADA_24"],"excludedTypes":[],"count":1,"allowedCudaVersions":[],"minCudaVersion":null},
			"dataCenterIds":[],"networkVolumes":[],"timeout":300000,"flashboot":"OFF"}`).(map[string]any) {
			require.Equal(c, want, made[member], member)
		}
	})

	add("serverless.type", both, func(c *Check) {
		for _, body := range []string{gpuEndpoint, balancer} {
			at := c.newEndpoint(body)
			c.invalid("PATCH", at, `{"type":"$"}`, "/type:", "QUEUE", "LOAD_BALANCER")
			require.Equal(c, c.parsed(body).(map[string]any)["type"], c.read(at)["type"])
		}
	})

	add("serverless.type.delay", both, func(c *Check) {
		delay := `"scaling":{"type":"QUEUE_DELAY","queueDelay":4}`
		lines := c.Refused(c.REST("POST", serverless, c.edited(balancer, delay)), 422)
		require.True(c, strings.HasPrefix(lines[0], "/scaling/type:"), lines)
		at := c.newEndpoint(balancer)
		c.Refused(c.REST("PATCH", at, "{"+delay+"}"), 422)
		require.Equal(c, "REQUEST_COUNT", c.read(at)["scaling"].(map[string]any)["type"])
	})

	add("serverless.type.no-queue", []string{"createEndpoint", "run", "health"}, func(c *Check) {
		lb := c.on(c.newEndpoint(balancer))
		c.Refused(lb.Queue("POST", "run", job), 404)
		c.Refused(lb.Queue("POST", "purge-queue", ""), 404)
		for _, operation := range []string{"health", "metrics"} {
			require.Equal(c, 200, lb.Queue("GET", operation, "").Status)
		}
	})

	add("serverless.compute.one", create, func(c *Check) {
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, `"cpu":[{"id":"cpu3g","vcpuCount":2}]`), "exactly one of gpu and cpu")
		c.Refused(c.REST("POST", serverless, c.without(gpuEndpoint, "gpu")), 400)
	})

	add("serverless.compute.unknown", create, func(c *Check) {
		for gpu, named := range map[string]string{
			`{"pools":["NO_SUCH"]}`: "NO_SUCH", `{"pools":["ADA_24"],"excludedTypes":["no such"]}`: "no such", `{"pools":["ADA_24"],"count":100}`: "100",
			`{"pools":["ADA_24"],"excludedTypes":["NVIDIA GeForce RTX 4090"]}`: "gpu",
		} {
			require.Contains(c, c.endpointRefused(400, gpuEndpoint, `"gpu":`+gpu), named)
		}
		require.Contains(c, c.endpointRefused(400, cpuEndpoint, `"cpu":[{"id":"nosuch","vcpuCount":2}]`), "nosuch")
		require.Contains(c, c.endpointRefused(400, cpuEndpoint, `"cpu":[{"id":"cpu3g","vcpuCount":256}]`), "256")
	})

	add("serverless.compute.cpu", create, func(c *Check) {
		made := c.make(serverless, c.edited(cpuEndpoint, `"cpu":[{"id":"cpu3c","vcpuCount":4},{"id":"cpu3g","vcpuCount":2}]`))
		require.Equal(c, c.parsed(`[{"id":"cpu3c","vcpuCount":4,"memory":8},{"id":"cpu3g","vcpuCount":2,"memory":8}]`), made["cpu"])
		require.Nil(c, made["gpu"])
		twice := c.edited(cpuEndpoint, `"cpu":[{"id":"cpu3g","vcpuCount":2},{"id":"cpu3g","vcpuCount":2}]`)
		c.invalid("POST", serverless, twice, "/cpu/1:", "")
	})

	add("serverless.compute.fixed", both, func(c *Check) {
		gpu, cpu := c.newEndpoint(gpuEndpoint), c.newEndpoint(cpuEndpoint)
		c.Refused(c.REST("PATCH", gpu, `{"cpu":[{"id":"cpu3g","vcpuCount":2}]}`), 400)
		c.Refused(c.REST("PATCH", cpu, `{"gpu":{"pools":["ADA_24"]}}`), 400)
	})

	add("serverless.workers.bounds", both, func(c *Check) {
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, `"workers":{"min":4}`), "workers.min")
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, `"workers":{"max":1001}`), "workers.max")
		at := c.newEndpoint(gpuEndpoint, `"workers":{"max":1000}`)
		c.Refused(c.REST("PATCH", at, `{"workers":{"min":3,"max":2}}`), 400)
		require.EqualValues(c, 1000, c.read(at)["workers"].(map[string]any)["max"])
	})

	add("serverless.idle-timeout", both, func(c *Check) {
		require.Contains(c, c.endpointRefused(400, byCount, `"workers":{"idleTimeout":10}`), "workers.idleTimeout")
		at := c.newEndpoint(byCount)
		require.ElementsMatch(c, []string{"min", "max"}, keys(c.read(at)["workers"].(map[string]any)))
		c.Refused(c.REST("PATCH", at, `{"workers":{"idleTimeout":20}}`), 400)
		changed := c.changed(at, `{"workers":{"idleTimeout":20},"scaling":{"type":"QUEUE_DELAY","queueDelay":1}}`)
		require.EqualValues(c, 20, changed["workers"].(map[string]any)["idleTimeout"])
		require.NotContains(c, c.changed(at, `{"scaling":{"type":"REQUEST_COUNT","requestCount":1}}`)["workers"], "idleTimeout")
		made := c.make(serverless, c.edited(balancer, `"workers":{"idleTimeout":30}`))
		require.EqualValues(c, 30, made["workers"].(map[string]any)["idleTimeout"])
	})

	add("serverless.places", both, func(c *Check) {
		c.needsControls()
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, `"dataCenterIds":["XX-YY-1"]`), "XX-YY-1")
		c.endpointRefused(404, gpuEndpoint, `"networkVolumes":["nosuchvolume"]`)
		id := c.newVolume()
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, `"networkVolumes":["`+id+`"],"dataCenterIds":["EU-RO-1"]`), "US-KS-2")
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, `"networkVolumes":["`+id+`","`+c.newVolume()+`"]`), "US-KS-2")

		at := c.newEndpoint(gpuEndpoint, `"networkVolumes":["`+id+`"]`)
		require.Equal(c, []any{id}, c.read(at)["networkVolumes"])
		c.Refused(c.REST("PATCH", at, `{"dataCenterIds":["EU-RO-1"]}`), 400)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		body := c.edited(gpuEndpoint, `"networkVolumes":["`+id+`"]`)
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + serverless, Body: body, Key: "Bearer " + stranger}), 404)
	})

	add("serverless.volumes.used", []string{"createEndpoint", "deleteNetworkVolume"}, func(c *Check) {
		id := c.newVolume()
		at := c.newEndpoint(gpuEndpoint, `"networkVolumes":["`+id+`"]`)
		c.Refused(c.REST("DELETE", "/v2/network-volumes/"+id, ""), 400)
		c.deleted(at)
		c.deleted("/v2/network-volumes/" + id)
	})

	add("serverless.registry", both, func(c *Check) {
		c.endpointRefused(404, gpuEndpoint, `"registry":"nosuchcredential"`)
		id := c.newRegistry()
		at := c.newEndpoint(gpuEndpoint, `"registry":"`+id+`"`)
		require.Equal(c, id, c.read(at)["registry"])
		c.Refused(c.REST("PATCH", at, `{"registry":"nosuchcredential"}`), 404)
		require.Nil(c, c.changed(at, `{"registry":null}`)["registry"])
	})

	add("serverless.registry.used", []string{"createEndpoint", "deleteRegistry"}, func(c *Check) {
		id := c.newRegistry()
		at := c.newEndpoint(gpuEndpoint, `"registry":"`+id+`"`)
		c.Refused(c.REST("DELETE", registries+"/"+id, ""), 400)
		c.changed(at, `{"registry":null}`)
		c.deleted(registries + "/" + id)
	})

	add("serverless.ports", both, func(c *Check) {
		c.endpointRefused(400, gpuEndpoint, `"ports":["80/tcp","80/http"]`)
		c.Refused(c.REST("PATCH", c.newEndpoint(gpuEndpoint), `{"ports":["80/tcp","80/http"]}`), 400)
	})
})
