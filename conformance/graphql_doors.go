package conformance

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

// same asserts that both doors refuse: with the status of REST, the code of GraphQL, and the words of REST in both.
func (c *Check) same(rest Answer, status int, graph Answer, code string) {
	c.Refused(rest, status)
	require.Contains(c, c.wrongly(graph, 200, code), rest.JSON["detail"].(string))
}

var _ = area(func() {
	add("graphql.doors", []string{"createPod"}, func(c *Check) {
		c.needsControls()
		gpu := func(fields string) Answer {
			return c.graphQL(`mutation{podFindAndDeployOnDemand(input:{imageName:"i",` + fields + `}){id}}`)
		}
		cpu := func(fields string) Answer {
			return c.graphQL(`mutation{deployCpuPod(input:{imageName:"i",` + fields + `}){id}}`)
		}

		for body, a := range map[string]Answer{
			withGPU(`{"id":"` + rtx4090 + `","count":1000}`):                c.deploying(`gpuCount:1000`),
			withGPU(`{"id":"nosuch"}`):                                      gpu(`gpuTypeId:"nosuch"`),
			withGPU(`{"id":"AMD Instinct MI300X OAM"},"cloud":"COMMUNITY"`): gpu(`gpuTypeId:"AMD Instinct MI300X OAM",cloudType:COMMUNITY`),
			with(`"ports":["22/tcp","22/udp"]`):                             c.deploying(`ports:"22/tcp,22/udp"`),
			with(`"dataCenterIds":["NOWHERE-1"]`):                           c.deploying(`dataCenterId:"NOWHERE-1"`),
			with(`"dataCenterIds":["AP-JP-1"],"globalNetworking":true`):     c.deploying(`dataCenterId:"AP-JP-1",globalNetwork:true`),
			withCPU(`{"id":"cpu3g","vcpuCount":64}`):                        cpu(`instanceId:"cpu3g-64-256"`),
			withCPU(`{"id":"nosuch","vcpuCount":2}`):                        cpu(`instanceId:"nosuch-2-8"`),
		} {
			c.same(c.REST("POST", "/v2/pods", body), 400, a, "REJECTED")
		}

		restore := c.capacity(l4s("EU-RO-1", 1, `,"disk":30`))
		defer restore()
		for more, fields := range map[string]string{
			`"gpu":{"id":"NVIDIA L4","count":2}`: `gpuCount:2`, `"gpu":{"id":"NVIDIA L4"},"disk":31`: `containerDiskInGb:31`,
			`"gpu":{"id":"NVIDIA L4"},"mounts":{"persistent":{"size":20,"path":"/a"}}`: `volumeInGb:20,volumeMountPath:"/a"`,
		} {
			c.same(c.REST("POST", "/v2/pods", `{"name":"a","image":"i",`+more+`}`), 400, gpu(`gpuTypeId:"NVIDIA L4",`+fields), "REJECTED")
		}

		c.same(c.REST("POST", volumePath, `{"name":"a","size":10,"dataCenter":"NOWHERE-1"}`), 400,
			c.graphQL(`mutation{createNetworkVolume(input:{name:"a",size:10,dataCenterId:"NOWHERE-1"}){id}}`), "REJECTED")
		volume := c.newVolume()
		c.same(c.REST("PATCH", volumePath+"/"+volume, `{"size":10}`), 400,
			c.graphQL(`mutation{updateNetworkVolume(input:{id:"`+volume+`",size:10}){id}}`), "REJECTED")
		c.same(c.REST("POST", templates, template(`"ports":["80/tcp","80/http"]`)), 400, c.savingTemplate(`ports:"80/tcp,80/http"`), "REJECTED")
		pod := c.newPod(gpuPod)
		c.same(c.patch(pod, `{"mounts":{"persistent":{"size":10,"path":"/a"}}}`), 400,
			c.graphQL(`mutation{podEditJob(input:{podId:"`+pod+`",volumeInGb:10,volumeMountPath:"/a"}){id}}`), "REJECTED")
	})

	add("graphql.doors.missing", []string{"createPod", "podAction"}, func(c *Check) {
		c.needsControls()
		c.same(c.REST("POST", "/v2/pods", with(`"registry":"nosuch"`)), 404, c.deploying(`containerRegistryAuthId:"nosuch"`), "NOT_FOUND")
		c.same(c.REST("POST", "/v2/pods", with(`"mounts":{"network":[{"volumeId":"nosuch","path":"/a"}]}`)), 404, c.deploying(`networkVolumeId:"nosuch"`), "NOT_FOUND")
		c.same(c.REST("POST", templates, template(`"registry":"nosuch"`)), 404, c.savingTemplate(`containerRegistryAuthId:"nosuch"`), "NOT_FOUND")
		for action, mutation := range map[string]string{"stop": "podStop", "start": "podResume", "restart": "podRestart"} {
			c.same(c.act("nosuchpod", action), 404, c.graphQL(`mutation{`+mutation+`(input:{podId:"nosuchpod"}){id}}`), "NOT_FOUND")
		}
		c.same(c.REST("PATCH", templates+"/nosuch", `{}`), 404, c.savingTemplate(`id:"nosuch"`), "NOT_FOUND")
		c.same(c.REST("DELETE", registries+"/nosuch", ""), 404, c.graphQL(`mutation{deleteRegistryAuth(registryAuthId:"nosuch")}`), "NOT_FOUND")

		_, key := c.newKey(`,"user":"stranger"`, "all")
		id := c.newPod(gpuPod)
		c.same(c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods/" + id + "/action", Body: `{"action":"stop"}`, Key: "Bearer " + key}), 404,
			c.graphQLAs("Bearer "+key, `mutation{podStop(input:{podId:"`+id+`"}){id}}`, nil), "NOT_FOUND")
	})

	add("graphql.doors.conflict", []string{"podAction"}, func(c *Check) {
		both := func(id, action, mutation string) {
			c.same(c.act(id, action), 409, c.graphQL(`mutation{`+mutation+`(input:{podId:"`+id+`"}){id}}`), "CONFLICT")
		}
		stopped, running := c.exited(), c.running(gpuPod)
		both(stopped, "stop", "podStop")
		both(stopped, "restart", "podRestart")
		both(running, "start", "podResume")
		c.patched(running, `{"locked":true}`)
		both(running, "stop", "podStop")
		both(running, "restart", "podRestart")
		c.patched(running, `{"locked":false}`)
	})

	add("graphql.doors.used", []string{"deleteRegistry", "deleteNetworkVolume", "deleteTemplate"}, func(c *Check) {
		registry, volume, template := c.newRegistry(), c.saveVolume("used", 20, "EU-RO-1"), c.saveTemplate("in use", nil)
		c.deploy(func(in *deployInput) {
			in.GpuTypeId, in.ContainerRegistryAuthId, in.NetworkVolumeId, in.TemplateId = to("NVIDIA L4"), &registry, volume.Id, template.Id
		})
		c.same(c.REST("DELETE", registries+"/"+registry, ""), 400, c.graphQL(`mutation{deleteRegistryAuth(registryAuthId:"`+registry+`")}`), "REJECTED")
		c.same(c.REST("DELETE", volumePath+"/"+*volume.Id, ""), 400, c.graphQL(`mutation{deleteNetworkVolume(input:{id:"`+*volume.Id+`"})}`), "REJECTED")
		c.same(c.REST("DELETE", templates+"/"+*template.Id, ""), 400, c.graphQL(`mutation{deleteTemplate(templateName:"in use")}`), "REJECTED")
	})

	add("graphql.doors.pods", []string{"getPod", "listPods", "podAction", "updatePod", "deletePod"}, func(c *Check) {
		made := c.deploy(func(in *deployInput) { in.Name = to("made by GraphQL") })
		c.becomes(made.Id, "RUNNING")
		require.Contains(c, c.listed(), made.Id)
		require.Equal(c, *made.CostPerHr, c.getPod(made.Id)["cost"])

		c.acted(made.Id, "stop", "EXITED")
		require.Equal(c, graphclient.PodStatusExited, *c.graphPod(made.Id).DesiredStatus)
		c.acted(made.Id, "start", "PROVISIONING")
		require.Equal(c, graphclient.PodStatusRunning, *c.graphPod(made.Id).DesiredStatus)

		c.patched(made.Id, `{"name":"changed by REST"}`)
		require.Equal(c, "changed by REST", *c.graphPod(made.Id).Name)
		c.terminated(made.Id)
		require.Nil(c, c.graphPod(made.Id))

		id := c.running(gpuPod)
		pods, _ := c.myPods()
		require.Contains(c, pods, id)
		require.Equal(c, c.getPod(id)["cost"], *pods[id].CostPerHr)

		c.stop(id)
		require.Equal(c, "EXITED", c.getPod(id)["status"])
		c.resume(graphclient.PodResumeInput{PodId: id})
		c.becomes(id, "RUNNING")
		c.edit(graphclient.PodEditJobInput{PodId: id, ImageName: to("changed-by-graphql")})
		require.Equal(c, "changed-by-graphql", c.getPod(id)["image"])

		c.data(c.graphQL(`mutation{podTerminate(input:{podId:"` + id + `"})}`))
		c.gone(id)
	})

	add("graphql.doors.billed", []string{"listPodBilling"}, func(c *Check) {
		c.frozen(func() {
			runs := func(id string) int64 {
				pod := c.becomes(id, "RUNNING")
				c.advance(time.Hour - c.now().Sub(c.time(pod["startedAt"])))
				return nano(pod["cost"])
			}

			billed := func(id string) int64 { return amount(c.bill("/pods?podId="+id), "totalAmount") }
			made := c.deploy(nil)
			cost := runs(made.Id)
			c.stop(made.Id)
			require.Equal(c, cost, billed(made.Id))

			id := c.newPod(gpuPod)
			cost = runs(id)
			c.stop(id)
			c.advance(time.Hour)
			require.Equal(c, cost, billed(id))
		})
	})
})
