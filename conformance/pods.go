package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

const (
	gpuPod = `{"name":"a","image":"i","gpu":{"id":"NVIDIA GeForce RTX 4090"}}`
	cpuPod = `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":4}}`
)

// with gives the body of a GPU pod with more members.
func with(members string) string {
	return strings.TrimSuffix(gpuPod, "}") + "," + members + "}"
}

func (c *Check) createPod(body string) map[string]any {
	a := c.REST("POST", "/v2/pods", body)
	require.Equal(c, 201, a.Status, "%s", a.Body)
	return a.JSON
}

// createRefused asserts that createPod answers the body with the status, and each of the lines begins an error.
func (c *Check) createRefused(body string, status int, lines ...string) {
	errors := c.Refused(c.REST("POST", "/v2/pods", body), status)
	require.Len(c, errors, len(lines), "%v", errors)
	for i, line := range lines {
		require.True(c, strings.HasPrefix(errors[i], line), "%q does not begin with %q", errors[i], line)
	}
}

// detailHas asserts that createPod answers the body with the status and a detail with the words.
func (c *Check) detailHas(body string, status int, words string) {
	a := c.REST("POST", "/v2/pods", body)
	c.Refused(a, status)
	require.Contains(c, a.JSON["detail"], words)
}

func init() {
	create := []string{"createPod"}
	add("pods.create", create, func(c *Check) {
		pod := c.createPod(gpuPod)
		require.Equal(c, "PROVISIONING", pod["status"])
		require.Nil(c, pod["startedAt"])
		require.Nil(c, pod["runtime"])
	})
	add("pods.create.closed", create, func(c *Check) {
		c.createRefused(with(`"templateId":"t"`), 422, "/templateId:")
		c.createRefused(with(`"mounts":{"other":1}`), 422, "/mounts/other:")
		c.createRefused(with(`"mounts":{"persistent":{"size":10,"path":"/d","x":1}}`), 422, "/mounts/persistent/x:")
		c.createRefused(`{"name":"a","image":"i","gpu":{"id":"NVIDIA L4","cudaVersions":[]}}`, 422, "/gpu/cudaVersions:")
		c.createRefused(`{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":4,"memory":8}}`, 422, "/cpu/memory:")
	})
	add("pods.create.required", create, func(c *Check) {
		c.createRefused(`{"image":"i","gpu":{"id":"NVIDIA L4"}}`, 422, "/name:")
		c.createRefused(`{"name":"a","gpu":{"id":"NVIDIA L4"}}`, 422, "/image:")
		c.createRefused(`{"name":"","image":"i","gpu":{"id":"NVIDIA L4"}}`, 422, "/name:")
	})
	add("pods.create.ranges", create, func(c *Check) {
		c.createRefused(with(`"disk":0`), 422, "/disk:")
		c.createRefused(`{"name":"a","image":"i","gpu":{"id":"NVIDIA L4","count":0}}`, 422, "/gpu/count:")
		c.createRefused(`{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":1}}`, 422, "/cpu/vcpuCount:")
		c.createRefused(with(`"mounts":{"persistent":{"size":9,"path":"/d"}}`), 422, "/mounts/persistent/size:")
		c.createRefused(with(`"mounts":{"network":[{"volumeId":"a","path":"/a"},{"volumeId":"b","path":"/b"}]}`), 422, "/mounts/network:")
	})
	add("pods.create.one-of-gpu-cpu", create, func(c *Check) {
		c.detailHas(`{"name":"a","image":"i"}`, 400, "gpu and cpu")
		c.detailHas(with(`"cpu":{"id":"cpu3g","vcpuCount":2}`), 400, "gpu and cpu")
	})
	add("pods.create.mount-kinds", create, func(c *Check) {
		c.detailHas(with(`"mounts":{"persistent":{"size":10,"path":"/d"},"network":[{"volumeId":"v","path":"/n"}]}`), 400, "mounts")
	})
	add("pods.create.cpu-persistent", create, func(c *Check) {
		c.detailHas(strings.TrimSuffix(cpuPod, "}")+`,"mounts":{"persistent":{"size":10,"path":"/d"}}}`, 400, "mounts.persistent")
	})
	add("pods.create.mount-complete", create, func(c *Check) {
		c.createRefused(with(`"mounts":{"persistent":{"size":10}}`), 422, "/mounts/persistent/path:")
		c.createRefused(with(`"mounts":{"network":[{"path":"/n"}]}`), 422, "/mounts/network/0/volumeId:")
	})
	add("pods.create.vcpu-power", create, func(c *Check) {
		c.createRefused(`{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":6}}`, 422, "/cpu/vcpuCount:")
		c.detailHas(`{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":256}}`, 400, "cpu.vcpuCount")
	})
	add("pods.create.ports", create, func(c *Check) {
		c.createPod(with(`"ports":["1/http","65535/tcp","53/udp"]`))
		for _, port := range []string{"0/tcp", "65536/tcp", "80/ftp", "80", "080/tcp", "80/tcp "} {
			c.createRefused(with(`"ports":["`+port+`"]`), 422, "/ports/0:")
		}
	})
	add("pods.ports.twice", create, func(c *Check) {
		c.detailHas(with(`"ports":["80/http","80/tcp"]`), 400, "ports")
	})
	add("pods.create.unknown-names", create, func(c *Check) {
		c.detailHas(`{"name":"a","image":"i","gpu":{"id":"No Such GPU"}}`, 400, "No Such GPU")
		c.detailHas(`{"name":"a","image":"i","cpu":{"id":"cpu9z","vcpuCount":2}}`, 400, "cpu9z")
		c.detailHas(with(`"dataCenterIds":["XX-YY-1"]`), 400, "XX-YY-1")
		c.detailHas(with(`"registry":"nocredential"`), 404, "nocredential")
		c.detailHas(with(`"mounts":{"network":[{"volumeId":"novolume","path":"/n"}]}`), 404, "novolume")
	})
	add("pods.create.global-networking", create, func(c *Check) {
		pod := c.createPod(with(`"globalNetworking":true`))
		require.Equal(c, true, pod["globalNetworking"].(map[string]any)["enabled"])
		c.detailHas(strings.TrimSuffix(cpuPod, "}")+`,"globalNetworking":true}`, 400, "globalNetworking")
		c.detailHas(`{"name":"a","image":"i","gpu":{"id":"AMD Instinct MI300X OAM"},"globalNetworking":true}`, 400, "globalNetworking")
	})
	add("pods.defaults", create, func(c *Check) {
		pod := c.createPod(gpuPod)
		require.EqualValues(c, 20, pod["disk"])
		require.Equal(c, "", pod["args"])
		require.Equal(c, []any{}, pod["ports"])
		require.Equal(c, map[string]any{}, pod["env"])
		require.Equal(c, "SECURE", pod["cloud"])
		require.Equal(c, map[string]any{}, pod["mounts"])
		require.EqualValues(c, 1, pod["gpu"].(map[string]any)["count"])
	})
	add("pods.cpu.memory", create, func(c *Check) {
		pod := c.createPod(cpuPod)
		require.EqualValues(c, 16, pod["cpu"].(map[string]any)["memory"])
	})
	add("pods.fields", create, func(c *Check) {
		common := []string{
			"id", "name", "image", "args", "disk", "ports", "env", "registry", "status", "actions", "mounts", "cloud",
			"dataCenterId", "template", "cost", "locked", "globalNetworking", "runtime", "createdAt", "startedAt",
		}
		require.ElementsMatch(c, append([]string{"gpu"}, common...), keys(c.createPod(gpuPod)))
		require.ElementsMatch(c, append([]string{"cpu"}, common...), keys(c.createPod(cpuPod)))
	})
	add("pods.status.provisioned", []string{"createPod", "getPod"}, func(c *Check) {
		c.becomes(c.createPod(gpuPod)["id"].(string), "STARTING", "RUNNING")
	})
	add("pods.status.healthy", []string{"createPod", "getPod"}, func(c *Check) {
		pod := c.becomes(c.createPod(gpuPod)["id"].(string), "RUNNING")
		require.NotNil(c, pod["runtime"])
		require.NotNil(c, pod["startedAt"])
	})
	add("pods.actions", []string{"createPod", "getPod"}, func(c *Check) {
		pod := c.createPod(gpuPod)
		require.Equal(c, []any{"stop", "terminate"}, pod["actions"])
		pod = c.becomes(pod["id"].(string), "RUNNING")
		require.Equal(c, []any{"stop", "restart", "terminate"}, pod["actions"])
	})
	add("pods.cost", create, func(c *Check) {
		require.InDelta(c, 1.38, c.createPod(`{"name":"a","image":"i","gpu":{"id":"NVIDIA GeForce RTX 4090","count":2}}`)["cost"], 1e-9)
	})
	add("pods.get.unknown", []string{"getPod", "deletePod"}, func(c *Check) {
		c.Refused(c.REST("GET", "/v2/pods/nosuchpod", ""), 404)
		c.Refused(c.REST("DELETE", "/v2/pods/nosuchpod", ""), 404)
	})
	add("pods.list", []string{"listPods"}, func(c *Check) {
		first, second := c.createPod(gpuPod)["id"], c.createPod(cpuPod)["id"]
		at := map[any]int{}
		for i, pod := range c.REST("GET", "/v2/pods", "").JSON["pods"].([]any) {
			at[pod.(map[string]any)["id"]] = i
		}
		require.Contains(c, at, first)
		require.Less(c, at[second], at[first])
	})
	add("pods.list.query", []string{"listPods"}, func(c *Check) {
		errors := c.Refused(c.REST("GET", "/v2/pods?includeClusterPods=maybe&other=1", ""), 422)
		require.Len(c, errors, 2)
		require.Contains(c, strings.Join(errors, "\n"), "query.includeClusterPods:")
		require.Contains(c, strings.Join(errors, "\n"), "query.other:")
	})
	add("pods.delete", []string{"deletePod", "getPod", "listPods"}, func(c *Check) {
		id := c.createPod(gpuPod)["id"].(string)
		require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+id, "").Status)
		c.Refused(c.REST("GET", "/v2/pods/"+id, ""), 404)
		c.Refused(c.REST("DELETE", "/v2/pods/"+id, ""), 404)
		require.NotContains(c, string(c.REST("GET", "/v2/pods", "").Body), id)
	})
	add("rest.ids", create, func(c *Check) {
		require.Regexp(c, `^[a-z0-9]{14}$`, c.createPod(gpuPod)["id"])
	})
}

func init() {
	act := func(c *Check, id, action string) Answer {
		return c.REST("POST", "/v2/pods/"+id+"/action", `{"action":"`+action+`"}`)
	}
	patch := func(c *Check, id, body string) Answer { return c.REST("PATCH", "/v2/pods/"+id, body) }
	patchOps := []string{"updatePod"}
	add("pods.action", []string{"podAction", "getPod"}, func(c *Check) {
		id := c.createPod(gpuPod)["id"].(string)
		c.becomes(id, "RUNNING")
		a := act(c, id, "restart")
		require.Equal(c, 200, a.Status, "%s", a.Body)
		require.Equal(c, "STARTING", a.JSON["status"])
		require.Nil(c, a.JSON["startedAt"])
		c.becomes(id, "RUNNING")
		a = act(c, id, "stop")
		require.Equal(c, 200, a.Status)
		require.Equal(c, "EXITED", a.JSON["status"])
		require.Equal(c, []any{"start", "terminate"}, a.JSON["actions"])
		require.Zero(c, a.JSON["cost"])
		a = act(c, id, "start")
		require.Equal(c, 200, a.Status)
		require.Equal(c, "PROVISIONING", a.JSON["status"])
		c.becomes(id, "RUNNING")
		require.Equal(c, 204, act(c, id, "terminate").Status)
		c.Refused(c.REST("GET", "/v2/pods/"+id, ""), 404)
		c.Refused(act(c, id, "terminate"), 404)
	})
	add("pods.action.conflict", []string{"podAction"}, func(c *Check) {
		id := c.createPod(gpuPod)["id"].(string)
		for _, action := range []string{"start", "restart"} {
			c.Refused(act(c, id, action), 409)
		}
		require.Equal(c, 200, act(c, id, "stop").Status)
		c.Refused(act(c, id, "stop"), 409)
		require.Len(c, c.Refused(act(c, id, "explode"), 422), 1)
		require.Len(c, c.Refused(c.REST("POST", "/v2/pods/"+id+"/action", `{}`), 422), 1)
	})
	add("pods.locked", []string{"updatePod", "podAction"}, func(c *Check) {
		id := c.createPod(gpuPod)["id"].(string)
		c.becomes(id, "RUNNING")
		require.Equal(c, true, patch(c, id, `{"locked":true}`).JSON["locked"])
		c.Refused(act(c, id, "stop"), 409)
		c.Refused(act(c, id, "restart"), 409)
		patch(c, id, `{"locked":false}`)
		require.Equal(c, 200, act(c, id, "stop").Status)
	})
	add("pods.patch", patchOps, func(c *Check) {
		before := c.createPod(with(`"env":{"A":"1"},"ports":["80/http"]`))
		id := before["id"].(string)
		require.Equal(c, 200, patch(c, id, `{}`).Status)
		after := patch(c, id, `{"name":"b","ports":[],"registry":null}`).JSON
		require.Equal(c, "b", after["name"])
		require.Equal(c, []any{}, after["ports"])
		require.Equal(c, before["env"], after["env"])
		require.Equal(c, before["image"], after["image"])
		require.Equal(c, after["name"], c.REST("GET", "/v2/pods/"+id, "").JSON["name"])
		require.Len(c, c.Refused(patch(c, id, `{"name":"","gpu":{"id":"x"},"env":null}`), 422), 3)
		c.Refused(patch(c, id, `{"ports":["1/tcp","1/udp"]}`), 400)
		c.Refused(patch(c, id, `{"registry":"nocredential"}`), 404)
		c.Refused(patch(c, "nosuchpod", `{}`), 404)
	})
	add("pods.patch.restart", patchOps, func(c *Check) {
		id := c.createPod(gpuPod)["id"].(string)
		c.becomes(id, "RUNNING")
		require.Equal(c, "RUNNING", patch(c, id, `{"name":"b"}`).JSON["status"])
		require.Equal(c, "RUNNING", patch(c, id, `{"image":"i"}`).JSON["status"], "the same image is no change")
		require.Equal(c, "STARTING", patch(c, id, `{"image":"other"}`).JSON["status"])
		c.becomes(id, "RUNNING")
	})
	add("pods.patch.mounts", patchOps, func(c *Check) {
		mounted := c.createPod(with(`"mounts":{"persistent":{"size":20,"path":"/a"}}`))["id"].(string)
		bare := c.createPod(gpuPod)["id"].(string)
		unchanged := map[string]any{"persistent": map[string]any{"size": 20.0, "path": "/a"}}
		require.Equal(c, unchanged, patch(c, mounted, `{"mounts":{}}`).JSON["mounts"])
		c.Refused(patch(c, mounted, `{"mounts":{"network":[]}}`), 400)
		c.Refused(patch(c, mounted, `{"mounts":{"network":[{"volumeId":"v","path":"/n"}]}}`), 400)
		c.Refused(patch(c, bare, `{"mounts":{"persistent":{"size":20,"path":"/a"}}}`), 400)
		c.Refused(patch(c, bare, `{"mounts":{"network":[{"volumeId":"v","path":"/n"}]}}`), 400)
		c.Refused(patch(c, mounted, `{"mounts":{"persistent":{"size":20}}}`), 422)
		c.Refused(patch(c, mounted, `{"mounts":{"persistent":{"size":19,"path":"/a"}}}`), 400)
		require.Equal(c, map[string]any{"size": 30.0, "path": "/b"},
			patch(c, mounted, `{"mounts":{"persistent":{"size":30,"path":"/b"}}}`).JSON["mounts"].(map[string]any)["persistent"])
	})
}

// becomes reads the pod until its status is one of those.
func (c *Check) becomes(id string, statuses ...any) map[string]any {
	var pod map[string]any
	c.Eventually(func() bool {
		pod = c.REST("GET", "/v2/pods/"+id, "").JSON
		for _, s := range statuses {
			if pod["status"] == s {
				return true
			}
		}
		return false
	}, "the pod's status")
	return pod
}

func keys(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}
