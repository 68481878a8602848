package conformance

import "github.com/stretchr/testify/require"

// declared gives the path of an endpoint that the server's settings declare.
func (c *Check) declared() string {
	if c.Declared == "" {
		c.Skip("there is no endpoint that the settings of the target declare")
	}
	return serverless + "/" + c.Declared
}

var _ = area(func() {
	ops := []string{"updateEndpoint", "getEndpoint", "listEndpointReleases"}
	add("serverless.declared", ops, func(c *Check) {
		at := c.declared()
		before, releases := c.read(at), c.read(at+"/releases")
		template := c.newTemplate(template(`"serverless":true,"env":{"PATH":"/evil"}`))[len(templates)+1:]
		for member, value := range map[string]string{
			"name": `"other"`, "image": `"other"`, "args": `"-c 'import os'"`, "env": `{"PYTHONWARNINGS":"all:0:antigravity.x:0:0"}`, "disk": `30`,
			"ports": `["80/http"]`, "registry": `"` + c.newRegistry() + `"`, "cpu": `[{"id":"cpu3c","vcpuCount":2}]`, "gpu": `{"pools":["ADA_24"]}`,
			"dataCenterIds": `["EU-RO-1"]`, "networkVolumes": `["` + c.newVolume() + `"]`, "templateId": `"` + template + `"`,
		} {
			a := c.REST("PATCH", at, `{"workers":{"max":1},"`+member+`":`+value+`}`)
			c.Refused(a, 409)
			require.Contains(c, a.JSON["detail"], map[bool]string{true: "template", false: member}[member == "templateId"]+": the endpoint is declared by the server's settings", member)
		}

		for _, body := range []string{`{"cmd":["-c","import os"]}`, `{"templateId":"","cmd":["-c","import os"]}`, `{"templateId":"","entrypoint":["sh"]}`} {
			a := c.REST("PATCH", at, body)
			c.Refused(a, 409)
			require.Contains(c, a.JSON["detail"], "args: the endpoint is declared by the server's settings", body)
		}

		a := c.REST("PATCH", at, `{"args":"x","image":"y"}`)
		c.Refused(a, 409)
		require.Contains(c, a.JSON["detail"], "image, args: ")
		require.Equal(c, before, c.read(at))
		require.Equal(c, releases, c.read(at+"/releases"))
	})

	add("serverless.declared.same", ops, func(c *Check) {
		at := c.declared()
		before := c.read(at)
		workers := before["workers"].(map[string]any)
		same := map[string]any{}
		for _, member := range []string{"name", "image", "args", "ports", "env", "registry", "dataCenterIds", "networkVolumes"} {
			same[member] = before[member]
		}
		require.Equal(c, before, c.changed(at, c.text(same)))

		changed := c.changed(at, `{"workers":{"max":7},"env":{}}`)
		require.Equal(c, 7.0, changed["workers"].(map[string]any)["max"])
		require.Equal(c, before, c.changed(at, `{"workers":{"max":`+c.text(workers["max"])+`}}`))
	})

	add("graphql.endpoints.declared", nil, func(c *Check) {
		before := c.read(c.declared())
		template := *c.serverlessTemplate("of a declared endpoint")
		id := `id:"` + c.Declared + `"`
		for _, a := range []Answer{
			c.savingEndpoint(id + `,name:"other"`),
			c.savingEndpoint(id + `,templateId:"` + template + `"`),
			c.savingEndpoint(id + `,template:{name:"new",imageName:"i",env:[{key:"BROWSER",value:"/evil"}]}`),
			c.savingEndpoint(id + `,gpuIds:"ADA_24"`),
			c.savingEndpoint(id + `,compliance:[GDPR]`),
			c.graphQL(`mutation{updateEndpointTemplate(input:{endpointId:"` + c.Declared + `",templateId:"` + template + `"}){id}}`),
		} {
			require.Contains(c, c.wrongly(a, 200, "CONFLICT"), "the endpoint is declared by the server's settings")
		}

		require.Equal(c, before, c.read(c.declared()))
		require.NotContains(c, c.textOf(templates), `"new"`)
	})
})
