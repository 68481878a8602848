package conformance

import (
	"github.com/stretchr/testify/require"
)

// bareTemplateOf stores a template with more members than bareTemplate has, and gives its id.
func (c *Check) bareTemplateOf(members string) string {
	return c.make(templates, bareTemplate(members))["id"].(string)
}

// Templates in PATCH of a pod, and in clusters.
var _ = area(func() {
	patch, create := []string{"updatePod", "createTemplate", "getPod"}, []string{"createCluster", "createTemplate", "listClusterPods"}
	settings := func(pod map[string]any) []any {
		return []any{pod["image"], pod["args"], pod["disk"], pod["ports"], pod["env"], pod["registry"]}
	}
	env := func(pairs ...string) map[string]any {
		all := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return all
	}

	add("pods.patch.template", patch, func(c *Check) {
		registry := c.newRegistry()
		id := c.newPod(with(`"args":"own","env":{"A":"own","C":"own"},"ports":["90/tcp"],"disk":21`))
		body := `{"templateId":"` + c.bareTemplateOf(`,"registry":"`+registry+`"`) + `"}`
		want := []any{"from-template", "-a -b", 33.0, []any{"80/http"}, env("A", "t", "B", "t"), registry}
		require.Equal(c, want, settings(c.patched(id, body)))
		require.Equal(c, want, settings(c.getPod(id)))
		require.Nil(c, c.patched(id, `{"templateId":"`+c.bareTemplateOf("")+`"}`)["registry"])
	})

	add("pods.patch.template.body", patch, func(c *Check) {
		body := `{"templateId":"` + c.bareTemplateOf(`,"registry":"`+c.newRegistry()+`"`) + `",`
		id := c.newPod(with(`"env":{"D":"before"}`))
		pod := c.patched(id, body+`"image":"own","args":"","disk":5,"ports":[],"env":{"B":"own","C":"own"},"registry":null}`)
		require.Equal(c, []any{"own", "", 5.0, []any{}, env("A", "t", "B", "own", "C", "own"), nil}, settings(pod))
		require.Equal(c, `'c d'`, c.patched(id, body+`"cmd":["c d"]}`)["args"])
	})

	add("pods.patch.template.rest", patch, func(c *Check) {
		mounts := map[string]any{"persistent": map[string]any{"size": 20.0, "path": "/a"}}
		id := c.newPod(with(`"mounts":{"persistent":{"size":20,"path":"/a"}}`))
		pod := c.patched(id, `{"templateId":"`+c.bareTemplateOf(`,"mounts":{"persistent":{"size":30,"path":"/t"}}`)+`"}`)
		require.Equal(c, []any{nil, mounts, "a"}, []any{pod["template"], pod["mounts"], pod["name"]})
		require.Equal(c, map[string]any{}, c.patched(c.newPod(gpuPod), `{"templateId":"`+c.bareTemplateOf(`,"mounts":{"persistent":{"size":30,"path":"/t"}}`)+`"}`)["mounts"])
	})

	add("pods.patch.template.unknown", patch, func(c *Check) {
		id := c.newPod(gpuPod)
		c.Refused(c.patch("nosuchpod", `{"templateId":"`+c.bareTemplateOf("")+`"}`), 404)
		for _, unknown := range []string{"notemplate", ""} {
			a := c.patch(id, `{"templateId":"`+unknown+`","name":"b"}`)
			c.Refused(a, 404)
			require.Contains(c, a.JSON["detail"], "templateId")
		}
		require.Equal(c, "a", c.getPod(id)["name"])
	})
	add("pods.patch.template.serverless", patch, func(c *Check) {
		a := c.patch(c.newPod(gpuPod), `{"templateId":"`+c.bareTemplateOf(`,"serverless":true`)+`"}`)
		c.Refused(a, 422)
		require.Contains(c, a.JSON["detail"], "serverless")
	})

	// of gives the body of a cluster of a template, with more members.
	of := func(template, members string) string {
		return `{"name":"c","type":"TRAINING","compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":1,"podCount":2},"templateId":"` + template + `"` + members + `}`
	}

	add("clusters.create.template", create, func(c *Check) {
		registry := c.newRegistry()
		id := c.bareTemplateOf(`,"registry":"` + registry + `","mounts":{"persistent":{"size":20,"path":"/d"}}`)
		made := c.make(clusters, of(id, ""))
		require.Equal(c, id, made["template"])
		at := clusters + "/" + made["id"].(string)
		require.Equal(c, id, c.read(at)["template"])
		for _, pod := range c.members(at) {
			require.Equal(c, []any{"from-template", "-a -b", 33.0, []any{"80/http"}, env("A", "t", "B", "t"), registry}, settings(pod))
			require.Equal(c, map[string]any{"persistent": map[string]any{"size": 20.0, "path": "/d"}}, pod["mounts"])
			require.Equal(c, id, pod["template"])
		}
		require.NotContains(c, c.make(clusters, cluster), "template")
	})

	add("clusters.create.template.alone", []string{"createCluster", "createTemplate"}, func(c *Check) {
		id := c.bareTemplateOf("")
		for member, value := range map[string]string{
			"image": `"i"`, "args": `""`, "entrypoint": `[]`, "cmd": `[]`, "disk": `5`, "env": `{}`, "ports": `[]`, "mounts": `{}`,
		} {
			a := c.REST("POST", clusters, of(id, `,"`+member+`":`+value))
			c.Refused(a, 400)
			require.Contains(c, a.JSON["detail"], member)
		}
	})

	add("clusters.create.template.unknown", []string{"createCluster"}, func(c *Check) {
		a := c.REST("POST", clusters, of("notemplate", ""))
		c.Refused(a, 404)
		require.Contains(c, a.JSON["detail"], "templateId")
		c.invalid("POST", clusters, clusterWith(`"templateId":$`), "/templateId:", `""`, `7`, `null`)
	})
	add("clusters.create.template.serverless", []string{"createCluster", "createTemplate"}, func(c *Check) {
		a := c.REST("POST", clusters, of(c.bareTemplateOf(`,"serverless":true`), ""))
		c.Refused(a, 422)
		require.Contains(c, a.JSON["detail"], "serverless")
	})

	add("clusters.create.template.kept", []string{"createCluster", "deleteTemplate", "deleteCluster"}, func(c *Check) {
		id := c.bareTemplateOf("")
		at := c.newCluster(of(id, ""))
		c.Refused(c.REST("DELETE", templates+"/"+id, ""), 400)
		require.Equal(c, 204, c.REST("DELETE", at, "").Status)
		require.Equal(c, 204, c.REST("DELETE", templates+"/"+id, "").Status)
	})
})
