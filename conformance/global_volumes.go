package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

const (
	globalVolumes = "/v2/global-volumes"
	globalVolume  = `{"name":"models"}`
)

// newGlobalVolume creates a global volume and gives its id.
func (c *Check) newGlobalVolume() string { return c.make(globalVolumes, globalVolume)["id"].(string) }

// mountsOf is the member of an endpoint that mounts the volumes.
func mountsOf(network []string, global ...string) string {
	list := func(ids []string) string {
		var all []string
		for _, id := range ids {
			all = append(all, `{"volumeId":"`+id+`"}`)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	return `"mounts":{"network":` + list(network) + `,"global":` + list(global) + `}`
}

var _ = area(func() {
	const path = globalVolumes
	create, update := []string{"createGlobalVolume"}, []string{"createGlobalVolume", "updateGlobalVolume", "getGlobalVolume"}
	bad := []string{`""`, `7`, `null`, `" "`, `"\t\n\u00a0\u2003\u3000"`, `"` + strings.Repeat("n", 192) + `"`}

	add("global-volumes.create", []string{"createGlobalVolume", "getGlobalVolume"}, func(c *Check) {
		made := c.make(path, `{"name":"a b"}`)
		require.ElementsMatch(c, []string{"id", "name", "createdAt", "createdByUserId"}, keys(made))
		require.NotEmpty(c, made["id"])
		require.Equal(c, "a b", made["name"])
		require.NotEmpty(c, made["createdByUserId"])
		c.time(made["createdAt"])
		require.Equal(c, made, c.read(path+"/"+made["id"].(string)))
	})

	add("global-volumes.name", update, func(c *Check) {
		c.invalid("POST", path, `{"name":$}`, "/name:", bad...)
		require.Len(c, c.Refused(c.REST("POST", path, `{}`), 422), 1)
		longest := strings.Repeat("ü", 191)
		require.Equal(c, longest, c.make(path, `{"name":"`+longest+`"}`)["name"])
	})
	add("global-volumes.name.trimmed", update, func(c *Check) {
		made := c.make(path, `{"name":" \tmy models\u00a0\n"}`)
		require.Equal(c, "my models", made["name"])
		require.Equal(c, "b", c.changed(path+"/"+made["id"].(string), `{"name":"\u2003b "}`)["name"])
	})
	add("global-volumes.name.shared", create, func(c *Check) {
		require.NotEqual(c, c.newGlobalVolume(), c.newGlobalVolume())
	})
	add("global-volumes.create.closed", create, func(c *Check) {
		c.invalid("POST", path, `{"name":"a",$:1}`, "/", `"id"`, `"size"`, `"dataCenter"`, `"type"`)
	})

	add("global-volumes.list", []string{"listGlobalVolumes"}, func(c *Check) {
		c.newestFirst(path, "globalVolumes", c.newGlobalVolume(), c.newGlobalVolume())
	})

	add("global-volumes.update", update, func(c *Check) {
		want := c.make(path, globalVolume)
		at := path + "/" + want["id"].(string)
		want["name"] = "weights"
		require.Equal(c, want, c.changed(at, `{"name":"weights"}`))
		require.Equal(c, want, c.read(at))
	})
	add("global-volumes.update.values", update, func(c *Check) {
		at := path + "/" + c.newGlobalVolume()
		c.invalid("PATCH", at, `{"name":$}`, "/name:", bad...)
		c.invalid("PATCH", at, `{"name":"a",$:1}`, "/", `"id"`, `"size"`, `"dataCenter"`)
		require.Len(c, c.Refused(c.REST("PATCH", at, `{}`), 422), 1)
	})

	add("global-volumes.unknown", []string{"getGlobalVolume", "updateGlobalVolume", "deleteGlobalVolume"}, func(c *Check) {
		for _, id := range []string{"nosuchvolume", c.newVolume()} {
			c.Refused(c.REST("GET", path+"/"+id, ""), 404)
			c.Refused(c.REST("PATCH", path+"/"+id, globalVolume), 404)
			c.Refused(c.REST("DELETE", path+"/"+id, ""), 404)
		}
		c.Refused(c.REST("GET", volumePath+"/"+c.newGlobalVolume(), ""), 404)
	})
	add("global-volumes.ownership", []string{"getGlobalVolume", "updateGlobalVolume", "deleteGlobalVolume", "listGlobalVolumes"}, func(c *Check) {
		c.strange(path, "globalVolumes", path+"/"+c.newGlobalVolume(), globalVolume)
	})

	add("global-volumes.delete", []string{"deleteGlobalVolume", "getGlobalVolume", "listGlobalVolumes"}, func(c *Check) {
		c.deleted(path + "/" + c.newGlobalVolume())
	})
	add("global-volumes.delete.used", []string{"deleteGlobalVolume", "createEndpoint", "deleteEndpoint"}, func(c *Check) {
		id := c.newGlobalVolume()
		at := c.newEndpoint(gpuEndpoint, mountsOf(nil, id))
		a := c.REST("DELETE", path+"/"+id, "")
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], strings.TrimPrefix(at, serverless+"/"))
		c.deleted(at)
		c.deleted(path + "/" + id)
	})
})

var _ = area(func() {
	both := []string{"createEndpoint", "updateEndpoint", "getEndpoint"}
	add("serverless.mounts", both, func(c *Check) {
		id, global := c.newVolume(), c.newGlobalVolume()
		elsewhere := c.make(volumePath, `{"name":"b","size":10,"dataCenter":"EU-RO-1"}`)["id"].(string)
		shows := func(e map[string]any, network []string, global ...string) {
			require.Equal(c, c.parsed("{" + mountsOf(network, global...) + "}").(map[string]any)["mounts"], e["mounts"])
			list := []any{}
			for _, one := range network {
				list = append(list, one)
			}
			require.Equal(c, list, e["networkVolumes"])
		}

		shows(c.make(serverless, gpuEndpoint), nil)
		shows(c.make(serverless, c.edited(cpuEndpoint, mountsOf([]string{elsewhere, id}))), []string{elsewhere, id})
		at := c.newEndpoint(gpuEndpoint, `"networkVolumes":["`+id+`"]`)
		shows(c.read(at), []string{id})
		shows(c.changed(at, "{"+mountsOf(nil, global)+"}"), nil, global)
		shows(c.read(at), nil, global)
		shows(c.changed(at, "{"+mountsOf([]string{id, elsewhere})+"}"), []string{id, elsewhere})
	})
	add("serverless.mounts.absent", both, func(c *Check) {
		id, global := c.newVolume(), c.newGlobalVolume()
		for _, members := range []string{mountsOf([]string{id}), mountsOf(nil, global)} {
			at := c.newEndpoint(gpuEndpoint, members)
			want := c.read(at)["mounts"]
			require.Equal(c, want, c.changed(at, `{"mounts":{}}`)["mounts"])
			require.Equal(c, want, c.changed(at, `{"name":"b"}`)["mounts"])
			require.Equal(c, c.parsed(`{"network":[],"global":[]}`), c.changed(at, "{"+mountsOf(nil)+"}")["mounts"])
		}
	})

	add("serverless.mounts.beside", both, func(c *Check) {
		id, other := c.newVolume(), c.newVolume()
		says := `"networkVolumes":["` + id + `"],`
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, says+mountsOf([]string{other})), "mounts.network")
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, says+mountsOf(nil)), "mounts.network")
		at := c.newEndpoint(gpuEndpoint, says+mountsOf([]string{id}))
		c.Refused(c.REST("PATCH", at, `{"networkVolumes":[],`+mountsOf([]string{id})+`}`), 400)
		require.Equal(c, []any{id}, c.read(at)["networkVolumes"])
	})

	add("serverless.mounts.kinds", both, func(c *Check) {
		id, global := c.newVolume(), c.newGlobalVolume()
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, mountsOf([]string{id}, global)), "mounts")
		c.endpointRefused(400, gpuEndpoint, `"networkVolumes":["`+id+`"],"mounts":{"global":[{"volumeId":"`+global+`"}]}`)
		at := c.newEndpoint(gpuEndpoint, mountsOf([]string{id}))
		c.Refused(c.REST("PATCH", at, `{"mounts":{"global":[{"volumeId":"`+global+`"}]}}`), 400)
		require.Equal(c, []any{id}, c.read(at)["networkVolumes"])
		at = c.newEndpoint(gpuEndpoint, mountsOf(nil, global))
		c.Refused(c.REST("PATCH", at, `{"networkVolumes":["`+id+`"]}`), 400)
	})
	add("serverless.mounts.gpu", both, func(c *Check) {
		global := c.newGlobalVolume()
		require.Contains(c, c.endpointRefused(400, cpuEndpoint, mountsOf(nil, global)), "mounts.global")
		c.Refused(c.REST("PATCH", c.newEndpoint(cpuEndpoint), "{"+mountsOf(nil, global)+"}"), 400)
	})

	add("serverless.mounts.values", both, func(c *Check) {
		first, second := c.newGlobalVolume(), c.newGlobalVolume()
		at := c.newEndpoint(gpuEndpoint)
		for place, member := range map[string]string{
			"/mounts/global:": mountsOf(nil, first, second), "/mounts/network/0/volumeId:": `"mounts":{"network":[{}]}`, "/mounts/global/0/volumeId:": `"mounts":{"global":[{"volumeId":7}]}`,
			"/mounts/network/0/path:": `"mounts":{"network":[{"volumeId":"v","path":"/a"}]}`, "/mounts/persistent:": `"mounts":{"persistent":{"size":10,"path":"/a"}}`,
			"/mounts:": `"mounts":null`, "/mounts/network:": `"mounts":{"network":null}`,
		} {
			c.invalid("POST", serverless, c.edited(gpuEndpoint, member), place, "")
			c.invalid("PATCH", at, "{"+member+"}", place, "")
		}
	})
	add("serverless.mounts.twice", both, func(c *Check) {
		id := c.newVolume()
		require.Contains(c, c.endpointRefused(400, gpuEndpoint, mountsOf([]string{id, id})), "twice")
		c.Refused(c.REST("PATCH", c.newEndpoint(gpuEndpoint), `{"networkVolumes":["`+id+`","`+id+`"]}`), 400)
	})

	add("serverless.mounts.unknown", both, func(c *Check) {
		c.needsControls()
		id, global := c.newVolume(), c.newGlobalVolume()
		at := c.newEndpoint(gpuEndpoint)
		for _, member := range []string{mountsOf([]string{"nosuchvolume"}), mountsOf(nil, "nosuchvolume"), mountsOf([]string{global}), mountsOf(nil, id)} {
			c.endpointRefused(404, gpuEndpoint, member)
			c.Refused(c.REST("PATCH", at, "{"+member+"}"), 404)
		}
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		body := c.edited(gpuEndpoint, mountsOf(nil, global))
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + serverless, Body: body, Key: "Bearer " + stranger}), 404)
	})

	add("serverless.mounts.release", []string{"updateEndpoint", "listEndpointReleases"}, func(c *Check) {
		global := c.newGlobalVolume()
		at := c.newEndpoint(gpuEndpoint)
		c.changed(at, "{"+mountsOf(nil, global)+"}")
		c.changed(at, "{"+mountsOf(nil, global)+"}")
		releases := c.read(at + "/releases")["releases"].([]any)
		require.Len(c, releases, 2)
		require.Equal(c, c.parsed(`[{"field":"mounts.global","old":null,"new":"`+global+`"}]`), releases[0].(map[string]any)["diff"])
	})

	add("serverless.workers.global-volume", []string{"createEndpoint", "listEndpointWorkers", "getWorkerLogs"}, func(c *Check) {
		global := c.newGlobalVolume()
		found := func(center string) string {
			path, _ := c.logOf(mountsOf(nil, global), `"env":{"BERTH_SIM_MARK":"`+center+`"},"dataCenterIds":["`+center+`"]`)
			s := c.follow(path, "?source=container", "")
			defer s.hangUp()
			for {
				if _, says, ok := strings.Cut(s.next().line, "sim: network volume has "); ok {
					return says
				}
			}
		}
		require.Equal(c, "nothing", found("US-KS-2"))
		require.Equal(c, `"US-KS-2"`, found("EU-RO-1"))
	})
})
