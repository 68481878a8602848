package conformance

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

const volume = `{"name":"data","size":20,"dataCenter":"US-KS-2"}`

// make creates a resource at the path, to be deleted after the test.
func (c *Check) make(path, body string) map[string]any {
	a := c.REST("POST", path, body)
	require.Equal(c, 201, a.Status, "%s", a.Body)
	return a.JSON
}

// newVolume creates a network volume and gives its id.
func (c *Check) newVolume() string { return c.make("/v2/network-volumes", volume)["id"].(string) }

// read gives what is at the path.
func (c *Check) read(path string) map[string]any {
	a := c.REST("GET", path, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// changed asserts that the PATCH is answered with the resource.
func (c *Check) changed(path, body string) map[string]any {
	a := c.REST("PATCH", path, body)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// deleted asserts that DELETE of the path answers 204, and that it is 404 afterwards and unlisted.
func (c *Check) deleted(path string) {
	require.Equal(c, 204, c.REST("DELETE", path, "").Status)
	c.Refused(c.REST("GET", path, ""), 404)
	c.Refused(c.REST("DELETE", path, ""), 404)
	slash := strings.LastIndex(path, "/")
	require.NotContains(c, c.textOf(path[:slash]), path[slash+1:])
}

// newestFirst asserts that the path lists its resources under that name alone, the second one before the first.
func (c *Check) newestFirst(path, name, first, second string) {
	require.Equal(c, []string{name}, slices.DeleteFunc(keys(c.read(path)), func(member string) bool { return member == "pagination" }))
	at := map[any]int{}
	for i, one := range c.everyOne(path, name) {
		at[one.(map[string]any)["id"]] = i
	}
	require.Contains(c, at, first)
	require.Contains(c, at, second)
	require.Less(c, at[second], at[first])
}

// strange asserts that the paths are 404 for another user, whatever they ask, and that their list at the first path is empty.
func (c *Check) strange(list, name, path, patch string) {
	_, stranger := c.newKey(`,"user":"stranger"`, "all")
	send := func(method, path, body string) Answer {
		return c.Send(Request{Method: method, URL: c.URL + path, Body: body, Key: "Bearer " + stranger})
	}
	c.Refused(send("GET", path, ""), 404)
	if patch != "" {
		c.Refused(send("PATCH", path, patch), 404)
	}
	c.Refused(send("DELETE", path, ""), 404)
	require.Equal(c, []any{}, send("GET", list, "").JSON[name])
	c.read(path)
}

// invalid asserts that the method answers 422 to each value of body, in which $ stands for it, and names the place.
func (c *Check) invalid(method, path, body, place string, values ...string) {
	for _, value := range values {
		sent := strings.ReplaceAll(body, "$", value)
		errors := c.Refused(c.REST(method, path, sent), 422)
		require.Len(c, errors, 1, sent)
		require.True(c, strings.HasPrefix(errors[0], place), "%q does not begin with %q", errors[0], place)
	}
}

var _ = area(func() {
	const path = "/v2/network-volumes"
	create, update := []string{"createNetworkVolume"}, []string{"createNetworkVolume", "updateNetworkVolume", "getNetworkVolume"}
	mount := []string{"createNetworkVolume", "createPod", "getPod"}
	mounting := func(id string) string { return `"mounts":{"network":[{"volumeId":"` + id + `","path":"/n"}]}` }

	add("volumes.mount", mount, func(c *Check) {
		id := c.newVolume()
		want := map[string]any{"network": []any{map[string]any{"volumeId": id, "path": "/n"}}}
		pod := c.createPod(with(mounting(id)))
		require.Equal(c, want, pod["mounts"])
		require.Equal(c, want, c.getPod(pod["id"].(string))["mounts"])
	})

	add("volumes.mount.cpu", mount, func(c *Check) {
		id := c.newVolume()
		pod := c.createPod(cpuWith(`"mounts":{"network":[{"volumeId":"` + id + `","path":"/any/path"}]}`))
		require.Equal(c, map[string]any{"network": []any{map[string]any{"volumeId": id, "path": "/any/path"}}}, pod["mounts"])
	})

	add("volumes.mount.shared", mount, func(c *Check) {
		id := c.newVolume()
		c.createPod(with(mounting(id)))
		c.createPod(cpuWith(mounting(id)))
	})

	add("volumes.placement", mount, func(c *Check) {
		id := c.newVolume()
		require.Equal(c, "US-KS-2", c.createPod(with(mounting(id)))["dataCenterId"])
		require.Equal(c, "US-KS-2", c.createPod(cpuWith(mounting(id) + `,"dataCenterIds":["EU-RO-1","US-KS-2"]`))["dataCenterId"])
	})

	add("volumes.data-center", mount, func(c *Check) {
		c.detailHas(with(mounting(c.newVolume())+`,"dataCenterIds":["EU-RO-1","US-TX-3"]`), 400, "US-KS-2")
	})
	add("volumes.data-center.known", mount, func(c *Check) {
		c.detailHas(with(mounting(c.newVolume())+`,"dataCenterIds":["US-KS-2","XX-YY-1"]`), 400, "XX-YY-1")
	})
	add("volumes.data-center.global-networking", mount, func(c *Check) {
		id := c.make(path, `{"name":"a","size":10,"dataCenter":"AP-JP-1"}`)["id"].(string)
		c.detailHas(with(mounting(id)+`,"globalNetworking":true`), 400, "globalNetworking")
	})

	add("volumes.ownership", []string{"getNetworkVolume", "updateNetworkVolume", "deleteNetworkVolume", "listNetworkVolumes", "createPod"}, func(c *Check) {
		id := c.newVolume()
		c.strange(path, "networkVolumes", path+"/"+id, `{"size":10}`)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: with(mounting(id)), Key: "Bearer " + stranger}), 404)
	})

	add("volumes.list", []string{"listNetworkVolumes"}, func(c *Check) {
		c.newestFirst(path, "networkVolumes", c.newVolume(), c.newVolume())
	})
	add("volumes.fields", create, func(c *Check) {
		require.ElementsMatch(c, []string{"id", "name", "size", "dataCenter", "type"}, keys(c.make(path, volume)))
	})

	add("volumes.create", create, func(c *Check) {
		made := c.make(path, `{"name":"a b","size":4096,"dataCenter":"EU-RO-1","type":"HIGH_PERFORMANCE"}`)
		require.NotEmpty(c, made["id"])
		delete(made, "id")
		require.Equal(c, map[string]any{"name": "a b", "size": 4096.0, "dataCenter": "EU-RO-1", "type": "HIGH_PERFORMANCE"}, made)
	})

	add("volumes.create.required", create, func(c *Check) {
		errors := c.Refused(c.REST("POST", path, `{}`), 422)
		require.Len(c, errors, 3)
		for i, place := range []string{"/name:", "/size:", "/dataCenter:"} {
			require.True(c, strings.HasPrefix(errors[i], place), errors[i])
		}
	})

	add("volumes.create.closed", create, func(c *Check) {
		c.invalid("POST", path, `{"name":"a","size":20,"dataCenter":"US-KS-2",$:1}`, "/", `"id"`, `"dataCenterId"`, `"tier"`)
	})
	add("volumes.create.name", create, func(c *Check) {
		c.invalid("POST", path, `{"name":$,"size":20,"dataCenter":"US-KS-2"}`, "/name:", `""`, `7`, `null`)
	})

	add("volumes.create.size", create, func(c *Check) {
		c.invalid("POST", path, `{"name":"a","size":$,"dataCenter":"US-KS-2"}`, "/size:", `9`, `4097`, `10.5`, `"20"`, `null`)
		for _, size := range []int{10, 4096} {
			require.EqualValues(c, size, c.make(path, `{"name":"a","size":`+strconv.Itoa(size)+`,"dataCenter":"US-KS-2"}`)["size"])
		}
	})

	add("volumes.create.type", create, func(c *Check) {
		c.invalid("POST", path, `{"name":"a","size":20,"dataCenter":"US-KS-2","type":$}`, "/type:", `"standard"`, `""`, `7`, `null`)
		require.Equal(c, "STANDARD", c.make(path, `{"name":"a","size":20,"dataCenter":"US-KS-2","type":"STANDARD"}`)["type"])
	})
	add("volumes.create.type.default", create, func(c *Check) {
		require.Equal(c, "STANDARD", c.make(path, volume)["type"])
	})

	add("volumes.create.data-center", create, func(c *Check) {
		c.invalid("POST", path, `{"name":"a","size":20,"dataCenter":$}`, "/dataCenter:", `""`, `7`, `null`)
		a := c.REST("POST", path, `{"name":"a","size":20,"dataCenter":"XX-YY-1"}`)
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], "XX-YY-1")
	})

	add("volumes.get", []string{"createNetworkVolume", "getNetworkVolume"}, func(c *Check) {
		made := c.make(path, volume)
		require.Equal(c, made, c.read(path+"/"+made["id"].(string)))
	})

	add("volumes.unknown", []string{"getNetworkVolume", "updateNetworkVolume", "deleteNetworkVolume"}, func(c *Check) {
		c.Refused(c.REST("GET", path+"/nosuchvolume", ""), 404)
		c.Refused(c.REST("PATCH", path+"/nosuchvolume", `{"name":"b"}`), 404)
		c.Refused(c.REST("DELETE", path+"/nosuchvolume", ""), 404)
	})

	add("volumes.update.name", update, func(c *Check) {
		want := c.make(path, volume)
		at := path + "/" + want["id"].(string)
		want["name"] = "b"
		require.Equal(c, want, c.changed(at, `{"name":"b"}`))
		require.Equal(c, want, c.read(at))
	})

	add("volumes.update.size", update, func(c *Check) {
		want := c.make(path, volume)
		at := path + "/" + want["id"].(string)
		require.Equal(c, want, c.changed(at, `{"size":20}`))
		want["size"] = 4096.0
		require.Equal(c, want, c.changed(at, `{"size":4096}`))
		require.Equal(c, want, c.read(at))
	})

	add("volumes.update.shrink", update, func(c *Check) {
		want := c.make(path, volume)
		at := path + "/" + want["id"].(string)
		c.Refused(c.REST("PATCH", at, `{"name":"b","size":19}`), 400)
		require.Equal(c, want, c.read(at))
	})

	add("volumes.update.closed", update, func(c *Check) {
		at := path + "/" + c.newVolume()
		c.invalid("PATCH", at, `{"type":"$"}`, "/type:", "STANDARD", "HIGH_PERFORMANCE")
		c.invalid("PATCH", at, `{"dataCenter":"$"}`, "/dataCenter:", "US-KS-2")
	})

	add("volumes.update.empty", update, func(c *Check) {
		require.Len(c, c.Refused(c.REST("PATCH", path+"/"+c.newVolume(), `{}`), 422), 1)
	})
	add("volumes.update.values", update, func(c *Check) {
		at := path + "/" + c.newVolume()
		c.invalid("PATCH", at, `{"name":$}`, "/name:", `""`, `7`, `null`)
		c.invalid("PATCH", at, `{"size":$}`, "/size:", `9`, `4097`, `20.5`, `"30"`, `null`)
	})

	add("volumes.delete", []string{"deleteNetworkVolume", "getNetworkVolume", "listNetworkVolumes"}, func(c *Check) {
		c.deleted(path + "/" + c.newVolume())
	})
	add("volumes.delete.used", []string{"deleteNetworkVolume", "createPod", "podAction"}, func(c *Check) {
		id := c.newVolume()
		pod := c.newPod(with(mounting(id)))
		a := c.REST("DELETE", path+"/"+id, "")
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], pod)
		c.acted(pod, "stop", "EXITED")
		c.Refused(c.REST("DELETE", path+"/"+id, ""), 400)
		c.read(path + "/" + id)
	})

	add("volumes.delete.detached", []string{"deleteNetworkVolume", "deletePod"}, func(c *Check) {
		id := c.newVolume()
		pod := c.newPod(with(mounting(id)))
		require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+pod, "").Status)
		c.read(path + "/" + id)
		c.deleted(path + "/" + id)
	})

	patch := []string{"createNetworkVolume", "createPod", "updatePod"}
	add("pods.patch.mounts.introduce.persistent", patch, func(c *Check) {
		pod := c.newPod(with(mounting(c.newVolume())))
		c.Refused(c.patch(pod, `{"mounts":{"persistent":{"size":20,"path":"/a"}}}`), 400)
		require.NotContains(c, c.getPod(pod)["mounts"], "persistent")
	})

	add("pods.patch.mounts.volume", patch, func(c *Check) {
		first, second := c.newVolume(), c.newVolume()
		pod := c.newPod(with(mounting(first)))
		for _, other := range []string{second, "nosuchvolume"} {
			c.Refused(c.patch(pod, `{"mounts":{"network":[{"volumeId":"`+other+`","path":"/n"}]}}`), 400)
		}
		require.Equal(c, map[string]any{"network": []any{map[string]any{"volumeId": first, "path": "/n"}}}, c.getPod(pod)["mounts"])
	})

	add("pods.patch.mounts.network-path", patch, func(c *Check) {
		id := c.newVolume()
		pod := c.newPod(with(mounting(id)))
		want := map[string]any{"network": []any{map[string]any{"volumeId": id, "path": "/other"}}}
		require.Equal(c, want, c.patched(pod, `{"mounts":{"network":[{"volumeId":"`+id+`","path":"/other"}]}}`)["mounts"])
		require.Equal(c, want, c.patched(pod, `{"mounts":{}}`)["mounts"])
		c.Refused(c.patch(pod, `{"mounts":{"network":[]}}`), 400)
		require.Equal(c, want, c.getPod(pod)["mounts"])
	})
})
