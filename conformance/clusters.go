package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

const (
	clusters = "/v2/clusters"
	cluster  = `{"name":"c","type":"TRAINING","image":"i","compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":2,"podCount":3}}`
)

// clusterWith gives the body of a cluster with more members.
func clusterWith(members string) string {
	return strings.TrimSuffix(cluster, "}") + "," + members + "}"
}

// newCluster creates a cluster and gives its path.
func (c *Check) newCluster(body string) string {
	return clusters + "/" + c.make(clusters, body)["id"].(string)
}

// members gives the pods of the cluster at the path.
func (c *Check) members(path string) []map[string]any {
	var pods []map[string]any
	for _, pod := range c.read(path + "/pods")["pods"].([]any) {
		pods = append(pods, pod.(map[string]any))
	}
	return pods
}

// everyPod gives the text of the list of all pods, those of clusters too.
func (c *Check) everyPod() string { return c.textOf("/v2/pods?includeClusterPods=true") }

var _ = area(func() {
	create, pods := []string{"createCluster"}, []string{"createCluster", "listClusterPods"}
	add("clusters.create", create, func(c *Check) {
		made := c.make(clusters, cluster)
		require.NotEmpty(c, made["id"])
		c.time(made["createdAt"])
		for member, want := range c.parsed(`{"name":"c","type":"TRAINING","compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":2,"podCount":3},
			"pods":{"total":3,"byStatus":{"PROVISIONING":3}}}`).(map[string]any) {
			require.Equal(c, want, made[member], member)
		}
	})

	add("clusters.fields", create, func(c *Check) {
		require.ElementsMatch(c, []string{"id", "name", "type", "compute", "dataCenterId", "pods", "primary", "createdAt"}, keys(c.make(clusters, cluster)))
	})
	add("clusters.create.required", create, func(c *Check) {
		errors := c.Refused(c.REST("POST", clusters, `{}`), 422)
		require.Len(c, errors, 3)
		for i, place := range []string{"/name:", "/type:", "/compute:"} {
			require.True(c, strings.HasPrefix(errors[i], place), errors[i])
		}
	})
	add("clusters.create.image", create, func(c *Check) {
		errors := c.Refused(c.REST("POST", clusters, strings.Replace(cluster, `"image":"i",`, "", 1)), 422)
		require.Len(c, errors, 1)
		require.True(c, strings.HasPrefix(errors[0], "/image:"), errors[0])
	})

	add("clusters.create.closed", create, func(c *Check) {
		c.invalid("POST", clusters, clusterWith(`$:1`), "/", `"id"`, `"gpu"`, `"cpu"`, `"registry"`)
	})
	add("clusters.create.type", create, func(c *Check) {
		c.invalid("POST", clusters, strings.Replace(cluster, `"TRAINING"`, "$", 1), "/type:", `"training"`, `""`, `7`, `null`)
		for _, kind := range []string{"APPLICATION", "TRAINING", "SLURM", "RAY"} {
			require.Equal(c, kind, c.make(clusters, strings.Replace(cluster, "TRAINING", kind, 1))["type"])
		}
	})

	add("clusters.create.compute", create, func(c *Check) {
		c.invalid("POST", clusters, strings.Replace(cluster, `"NVIDIA L4"`, "$", 1), "/compute/gpuTypeId:", `""`, `7`, `null`)
		c.invalid("POST", clusters, strings.Replace(cluster, `"gpuCountPerPod":2`, `"gpuCountPerPod":$`, 1), "/compute/gpuCountPerPod:", `0`, `1.5`, `"1"`)
		c.invalid("POST", clusters, strings.Replace(cluster, `"podCount":3`, `"podCount":$`, 1), "/compute/podCount:", `1`, `251`, `2.5`, `"2"`)
		c.invalid("POST", clusters, strings.Replace(cluster, `"podCount":3`, `"podCount":3,$:1`, 1), "/compute/", `"vcpuCount"`)
	})

	add("clusters.create.most", create, func(c *Check) {
		at := c.newCluster(strings.Replace(strings.Replace(cluster, `"podCount":3`, `"podCount":250`, 1), `Pod":2`, `Pod":1`, 1))
		require.Len(c, c.members(at), 250)
	})

	add("clusters.create.rules", create, func(c *Check) {
		refused := func(body string, status int, words string) {
			a := c.REST("POST", clusters, body)
			c.Refused(a, status)
			require.Contains(c, a.JSON["detail"], words)
		}

		refused(strings.Replace(cluster, "NVIDIA L4", "No Such GPU", 1), 400, "No Such GPU")
		refused(strings.Replace(cluster, `Pod":2`, `Pod":999`, 1), 400, "999")
		refused(clusterWith(`"ports":["80/http","80/tcp"]`), 400, "80")
		refused(clusterWith(`"dataCenterIds":["XX-YY-1"]`), 400, "XX-YY-1")
		refused(clusterWith(`"mounts":{"network":[{"volumeId":"novolume","path":"/n"}]}`), 404, "novolume")
		refused(clusterWith(`"mounts":{"network":[{"volumeId":"`+c.newVolume()+`","path":"/n"}]},"dataCenterIds":["EU-RO-1"]`), 400, "US-KS-2")
	})

	add("clusters.create.ssh", []string{"createCluster", "listClusterPods", "updateSshKeys"}, func(c *Check) {
		c.keepSSHKeys()
		require.Equal(c, 200, c.putKeys("", ed25519Key).Status)
		env := func(members string) any { return c.members(c.newCluster(clusterWith(members)))[1]["env"] }
		require.Equal(c, map[string]any{"PUBLIC_KEY": ed25519Key}, env(`"startSsh":true`))
		require.Equal(c, map[string]any{"PUBLIC_KEY": "own"}, env(`"startSsh":true,"env":{"PUBLIC_KEY":"own"}`))
		require.Equal(c, map[string]any{}, env(`"startSsh":false`))
	})

	add("clusters.create.jupyter", []string{"createCluster", "listClusterPods"}, func(c *Check) {
		password := func(members string) any {
			return c.members(c.newCluster(clusterWith(members)))[1]["env"].(map[string]any)["JUPYTER_PASSWORD"]
		}
		first := password(`"startJupyter":true`)
		require.Greater(c, len(first.(string)), 16)
		require.NotEqual(c, first, password(`"startJupyter":true`))
		require.Equal(c, "own", password(`"startJupyter":true,"env":{"JUPYTER_PASSWORD":"own"}`))
		require.Nil(c, password(`"startJupyter":false`))
	})

	add("clusters.create.nothing", create, func(c *Check) {
		before := c.everyPod()
		c.Refused(c.REST("POST", clusters, clusterWith(`"mounts":{"network":[{"volumeId":"novolume","path":"/n"}]}`)), 404)
		require.Equal(c, strings.Count(before, `"id"`), strings.Count(c.everyPod(), `"id"`))
	})

	add("clusters.together", pods, func(c *Check) {
		at := c.newCluster(clusterWith(`"dataCenterIds":["US-TX-3"]`))
		require.Equal(c, "US-TX-3", c.read(at)["dataCenterId"])
		for _, pod := range c.members(at) {
			require.Equal(c, "US-TX-3", pod["dataCenterId"])
		}
		at = c.newCluster(clusterWith(`"mounts":{"network":[{"volumeId":"` + c.newVolume() + `","path":"/n"}]}`))
		require.Equal(c, "US-KS-2", c.read(at)["dataCenterId"])
	})

	add("clusters.get", []string{"createCluster", "getCluster"}, func(c *Check) {
		made := c.make(clusters, cluster)
		got := c.read(clusters + "/" + made["id"].(string))
		require.Equal(c, made["primary"].(map[string]any)["podId"], got["primary"].(map[string]any)["podId"])
		for _, moving := range []string{"pods", "primary"} {
			delete(made, moving)
			delete(got, moving)
		}
		require.Equal(c, made, got)
	})

	add("clusters.unknown", []string{"getCluster", "updateCluster", "deleteCluster", "listClusterPods"}, func(c *Check) {
		c.Refused(c.REST("GET", clusters+"/nosuchcluster", ""), 404)
		c.Refused(c.REST("PATCH", clusters+"/nosuchcluster", `{"name":"b"}`), 404)
		c.Refused(c.REST("DELETE", clusters+"/nosuchcluster", ""), 404)
		c.Refused(c.REST("GET", clusters+"/nosuchcluster/pods", ""), 404)
	})

	add("clusters.list", []string{"listClusters"}, func(c *Check) {
		first, second := c.make(clusters, cluster), c.make(clusters, cluster)
		c.newestFirst(clusters, "clusters", first["id"].(string), second["id"].(string))
	})

	add("clusters.ownership", []string{"getCluster", "updateCluster", "deleteCluster", "listClusters", "listClusterPods"}, func(c *Check) {
		at := c.newCluster(cluster)
		c.strange(clusters, "clusters", at, `{"name":"b"}`)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		c.Refused(c.Send(Request{Method: "GET", URL: c.URL + at + "/pods", Key: "Bearer " + stranger}), 404)
	})

	add("clusters.update", []string{"updateCluster", "getCluster"}, func(c *Check) {
		at := c.newCluster(cluster)
		got := c.changed(at, `{"name":"b"}`)
		require.Equal(c, "b", got["name"])
		require.Equal(c, "TRAINING", got["type"])
		require.Equal(c, "b", c.read(at)["name"])
	})

	add("clusters.update.closed", []string{"updateCluster"}, func(c *Check) {
		at := c.newCluster(cluster)
		c.invalid("PATCH", at, `{"name":$}`, "/name:", `""`, `7`, `null`)
		c.invalid("PATCH", at, `{"name":"b",$:"RAY"}`, "/", `"type"`, `"compute"`, `"image"`)
		require.Len(c, c.Refused(c.REST("PATCH", at, `{}`), 422), 1)
	})

	add("clusters.delete", []string{"deleteCluster", "getCluster", "listClusters"}, func(c *Check) {
		c.deleted(c.newCluster(cluster))
	})
	add("clusters.delete.pods", []string{"deleteCluster", "getPod"}, func(c *Check) {
		at := c.newCluster(cluster)
		members := c.members(at)
		require.Equal(c, 204, c.REST("DELETE", at, "").Status)
		c.Refused(c.REST("GET", at+"/pods", ""), 404)
		list := c.everyPod()
		for _, pod := range members {
			c.Refused(c.REST("GET", "/v2/pods/"+pod["id"].(string), ""), 404)
			require.NotContains(c, list, pod["id"])
		}
	})
})

// The pods of clusters.
var _ = area(func() {
	add("clusters.pods", []string{"createCluster", "listClusterPods"}, func(c *Check) {
		want := `"args":"-x","disk":30,"ports":["80/http"],"env":{"A":"1"},"mounts":{"persistent":{"size":20,"path":"/d"}}`
		members := c.members(c.newCluster(clusterWith(want)))
		require.Len(c, members, 3)
		for _, pod := range members {
			require.Equal(c, map[string]any{"id": "NVIDIA L4", "count": 2.0}, gpuOf(pod))
			require.Equal(c, "i", pod["image"])
			for member, value := range c.parsed("{" + want + "}").(map[string]any) {
				require.Equal(c, value, pod[member], member)
			}
		}
	})

	add("clusters.pods.bytes", []string{"createCluster", "listClusterPods"}, func(c *Check) {
		path := c.newCluster(`{"name":"c","type":"TRAINING","image":"i","env":{"A":"` + strings.Repeat("x", 900_000) +
			`"},"compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":1,"podCount":10}}`)
		c.Refused(c.REST("GET", path+"/pods", ""), 400)
		require.EqualValues(c, 10, c.read(path)["pods"].(map[string]any)["total"])
		require.Contains(c, c.everyPod(), `"hasNextPage":true`)
	})

	add("clusters.pods.hidden", []string{"listPods", "listClusterPods"}, func(c *Check) {
		at, alone := c.newCluster(cluster), c.newPod(gpuPod)
		hidden, off, shown := c.textOf("/v2/pods"), c.textOf("/v2/pods?includeClusterPods=false"), c.everyPod()
		for _, list := range []string{hidden, off, shown} {
			require.Contains(c, list, alone)
		}

		for _, pod := range c.members(at) {
			require.NotContains(c, hidden, pod["id"])
			require.NotContains(c, off, pod["id"])
			require.Contains(c, shown, pod["id"])
		}
	})

	add("clusters.pods.get", []string{"getPod", "listClusterPods"}, func(c *Check) {
		for _, pod := range c.members(c.newCluster(cluster)) {
			require.Equal(c, pod["createdAt"], c.getPod(pod["id"].(string))["createdAt"])
		}
	})

	add("clusters.pods.patch", []string{"updatePod", "listClusterPods"}, func(c *Check) {
		pod := c.members(c.newCluster(cluster))[0]
		for _, body := range []string{`{"name":"b"}`, `{}`} {
			c.Refused(c.patch(pod["id"].(string), body), 409)
		}
		require.Equal(c, pod["name"], c.getPod(pod["id"].(string))["name"])
	})

	add("clusters.pods.delete", []string{"deletePod", "podAction", "listClusterPods"}, func(c *Check) {
		at := c.newCluster(cluster)
		id := c.members(at)[1]["id"].(string)
		c.Refused(c.REST("DELETE", "/v2/pods/"+id, ""), 409)
		c.Refused(c.act(id, "terminate"), 409)
		require.Len(c, c.members(at), 3)
	})

	add("clusters.summary", []string{"getCluster", "podAction", "listClusterPods"}, func(c *Check) {
		at := c.newCluster(cluster)
		first := c.members(at)[0]["id"].(string)
		require.Equal(c, first, c.read(at)["primary"].(map[string]any)["podId"])
		counts := func() any { return c.read(at)["pods"] }
		c.Eventually(func() bool { return c.read(at)["primary"].(map[string]any)["status"] == "RUNNING" }, "the primary pod runs")
		running := map[string]any{"total": 3.0, "byStatus": map[string]any{"RUNNING": 3.0}}
		c.Eventually(func() bool { return len(counts().(map[string]any)["byStatus"].(map[string]any)) == 1 }, "all pods run")
		require.Equal(c, running, counts())

		c.acted(first, "stop", "EXITED")
		require.Equal(c, map[string]any{"total": 3.0, "byStatus": map[string]any{"RUNNING": 2.0, "EXITED": 1.0}}, counts())
		require.Equal(c, map[string]any{"podId": first, "status": "EXITED"}, c.read(at)["primary"])
	})
})
