package conformance

import (
	"encoding/json"

	"github.com/stretchr/testify/require"
)

var _ = area(func() {
	create := []string{"createPod"}
	add("pods.create", create, func(c *Check) {
		pod := c.createPod(gpuPod)
		require.Equal(c, "PROVISIONING", pod["status"])
		require.Nil(c, pod["startedAt"])
	})

	add("pods.create.required", create, func(c *Check) {
		c.createRefused(`{"image":"i","gpu":{"id":"NVIDIA L4"}}`, 422, "/name:")
		c.createRefused(`{"name":"a","gpu":{"id":"NVIDIA L4"}}`, 422, "/image:")
	})

	add("pods.create.closed", create, func(c *Check) {
		for _, member := range []string{"templateId", "startSsh", "startJupyter", "id", "Name"} {
			c.createRefused(with(`"`+member+`":"t"`), 422, "/"+member+":")
		}
	})

	add("pods.create.ranges", create, func(c *Check) {
		pod := c.createPod(`{"name":"a","image":"i","disk":1,"gpu":{"id":"NVIDIA L4","count":1},"mounts":{"persistent":{"size":10,"path":"/d"}}}`)
		require.EqualValues(c, 1, pod["disk"])
		c.createPod(withCPU(`{"id":"cpu3g","vcpuCount":2}`))
	})

	add("pods.create.as-sent", create, func(c *Check) {
		answered := c.Spec.plain("Pod")
		for name, kind := range c.Spec.plain("CreatePodRequest") {
			value, known := map[string]any{"string": "as sent", "boolean": true, "integer": 37.0}[kind]
			if !known || answered[name] != kind {
				continue
			}
			var body map[string]any
			require.NoError(c, json.Unmarshal([]byte(gpuPod), &body))

			body[name] = value
			text, err := json.Marshal(body)
			require.NoError(c, err)
			require.Equal(c, value, c.getPod(c.createPod(string(text))["id"].(string))[name], name)
		}
	})

	add("pods.create.name", create, func(c *Check) {
		c.valuesRefused(`{"name":$,"image":"i","gpu":{"id":"NVIDIA L4"}}`, "/name:", `""`, `7`, `null`, `["a"]`)
		require.Equal(c, "x", c.createPod(`{"name":"x","image":"i","gpu":{"id":"NVIDIA L4"}}`)["name"])
		require.Equal(c, "<ü & \"𝄞\">", c.createPod(`{"name":"<ü & \"\ud834\udd1e\">","image":"i","gpu":{"id":"NVIDIA L4"}}`)["name"])
	})

	add("pods.create.image", create, func(c *Check) {
		c.valuesRefused(`{"name":"a","image":$,"gpu":{"id":"NVIDIA L4"}}`, "/image:", `7`, `null`, `{}`)
		image := "registry.example.com:5000/team/app:1.2"
		require.Equal(c, image, c.createPod(`{"name":"a","image":"` + image + `","gpu":{"id":"NVIDIA L4"}}`)["image"])
	})

	add("pods.create.args", create, func(c *Check) {
		c.valuesRefused(with(`"args":$`), "/args:", `7`, `null`, `["a"]`)
		require.Equal(c, `python -c "1 < 2"`, c.createPod(with(`"args":"python -c \"1 < 2\""`))["args"])
	})
	add("pods.create.disk", create, func(c *Check) {
		c.valuesRefused(with(`"disk":$`), "/disk:", `0`, `-1`, `1.5`, `"20"`, `null`)
		require.EqualValues(c, 37, c.createPod(with(`"disk":37`))["disk"])
	})

	add("pods.create.ports.list", create, func(c *Check) {
		c.valuesRefused(with(`"ports":$`), "/ports:", `"80/http"`, `null`, `{}`)
		c.createRefused(with(`"ports":["1/tcp",80]`), 422, "/ports/1:")
		require.Equal(c, []any{"90/tcp", "80/http"}, c.createPod(with(`"ports":["90/tcp","80/http"]`))["ports"])
	})

	add("pods.create.ports", create, func(c *Check) {
		c.createPod(with(`"ports":["1/http","65535/tcp","53/udp"]`))
		c.valuesRefused(with(`"ports":["$"]`), "/ports/0:", "0/tcp", "65536/tcp", "80/ftp", "80", "080/tcp", "80/tcp ", "80/TCP", "/tcp", "-1/tcp")
	})
	add("pods.ports.twice", create, func(c *Check) {
		c.detailHas(with(`"ports":["80/http","80/tcp"]`), 400, "ports")
	})

	add("pods.create.env", create, func(c *Check) {
		c.valuesRefused(with(`"env":$`), "/env:", `[]`, `"A=1"`, `null`)
		c.valuesRefused(with(`"env":{"A":$}`), "/env/A:", `1`, `null`, `{}`)
		require.Equal(c, map[string]any{"A": "1", "b": ""}, c.createPod(with(`"env":{"A":"1","b":""}`))["env"])
	})

	add("pods.create.registry", create, func(c *Check) {
		c.valuesRefused(with(`"registry":$`), "/registry:", `7`, `{}`)
		require.Nil(c, c.createPod(with(`"registry":null`))["registry"])
		require.Nil(c, c.createPod(gpuPod)["registry"])
	})

	add("pods.create.mounts", create, func(c *Check) {
		c.valuesRefused(with(`"mounts":$`), "/mounts:", `[]`, `"/a"`, `null`)
		require.Equal(c, map[string]any{}, c.createPod(with(`"mounts":{}`))["mounts"])
	})
	add("pods.create.mounts.closed", create, func(c *Check) {
		c.createRefused(with(`"mounts":{"other":1}`), 422, "/mounts/other:")
	})

	add("pods.create.mount-kinds", create, func(c *Check) {
		for _, network := range []string{`[{"volumeId":"v","path":"/n"}]`, `[]`} {
			c.detailHas(with(`"mounts":{"persistent":{"size":20,"path":"/d"},"network":`+network+`}`), 400, "mounts")
		}
		require.Empty(c, c.createPod(with(`"mounts":{"network":[]}`))["mounts"])
	})

	add("pods.create.mount-complete", create, func(c *Check) {
		c.createRefused(with(`"mounts":{"persistent":{"size":20}}`), 422, "/mounts/persistent/path:")
		c.createRefused(with(`"mounts":{"persistent":{"path":"/d"}}`), 422, "/mounts/persistent/size:")
		c.createRefused(with(`"mounts":{"network":[{"path":"/n"}]}`), 422, "/mounts/network/0/volumeId:")
		c.createRefused(with(`"mounts":{"network":[{"volumeId":"v"}]}`), 422, "/mounts/network/0/path:")
	})

	add("pods.create.persistent", create, func(c *Check) {
		pod := c.createPod(with(`"mounts":{"persistent":{"size":11,"path":"/data"}}`))
		require.Equal(c, map[string]any{"persistent": map[string]any{"size": 11.0, "path": "/data"}}, pod["mounts"])
	})
	add("pods.create.persistent.size", create, func(c *Check) {
		c.valuesRefused(with(`"mounts":{"persistent":{"size":$,"path":"/d"}}`), "/mounts/persistent/size:", `9`, `10.5`, `"10"`, `null`)
	})
	add("pods.create.persistent.path", create, func(c *Check) {
		c.valuesRefused(with(`"mounts":{"persistent":{"size":20,"path":$}}`), "/mounts/persistent/path:", `7`, `null`)
	})
	add("pods.create.persistent.closed", create, func(c *Check) {
		c.createRefused(with(`"mounts":{"persistent":{"size":20,"path":"/d","volumeId":"v"}}`), 422, "/mounts/persistent/volumeId:")
	})
	add("pods.create.cpu-persistent", create, func(c *Check) {
		c.detailHas(cpuWith(`"mounts":{"persistent":{"size":20,"path":"/d"}}`), 400, "mounts.persistent")
	})
	add("pods.create.network.one", create, func(c *Check) {
		c.createRefused(with(`"mounts":{"network":[{"volumeId":"a","path":"/a"},{"volumeId":"b","path":"/b"}]}`), 422, "/mounts/network:")
	})

	add("pods.create.network.types", create, func(c *Check) {
		c.valuesRefused(with(`"mounts":{"network":$}`), "/mounts/network:", `{"volumeId":"v","path":"/n"}`, `null`)
		c.valuesRefused(with(`"mounts":{"network":[{"volumeId":$,"path":"/n"}]}`), "/mounts/network/0/volumeId:", `7`, `null`)
		c.valuesRefused(with(`"mounts":{"network":[{"volumeId":"v","path":$}]}`), "/mounts/network/0/path:", `7`, `null`)
	})

	add("pods.create.network.closed", create, func(c *Check) {
		c.createRefused(with(`"mounts":{"network":[{"volumeId":"v","path":"/n","size":20}]}`), 422, "/mounts/network/0/size:")
	})
	add("pods.create.cloud", create, func(c *Check) {
		c.valuesRefused(with(`"cloud":$`), "/cloud:", `"ALL"`, `"secure"`, `7`, `null`)
		require.Equal(c, "SECURE", c.createPod(with(`"cloud":"SECURE"`))["cloud"])
		require.Equal(c, "COMMUNITY", c.createPod(with(`"cloud":"COMMUNITY"`))["cloud"])
	})

	add("pods.create.data-centers", create, func(c *Check) {
		require.Equal(c, "US-KS-2", c.createPod(with(`"dataCenterIds":["US-KS-2"]`))["dataCenterId"])
		require.Contains(c, []any{"US-TX-3", "AP-JP-1"}, c.createPod(cpuWith(`"dataCenterIds":["US-TX-3","AP-JP-1"]`))["dataCenterId"])
	})
	add("pods.create.data-centers.any", create, func(c *Check) {
		require.NotEmpty(c, c.createPod(gpuPod)["dataCenterId"])
		require.NotEmpty(c, c.createPod(with(`"dataCenterIds":[]`))["dataCenterId"])
	})
	add("pods.create.data-centers.type", create, func(c *Check) {
		c.valuesRefused(with(`"dataCenterIds":$`), "/dataCenterIds:", `"US-KS-2"`, `null`, `{}`)
		c.createRefused(with(`"dataCenterIds":[7]`), 422, "/dataCenterIds/0:")
	})
})

var _ = area(func() {
	create := []string{"createPod"}
	add("pods.create.one-of-gpu-cpu", create, func(c *Check) {
		c.detailHas(`{"name":"a","image":"i"}`, 400, "gpu and cpu")
		c.detailHas(with(`"cpu":{"id":"cpu3g","vcpuCount":2}`), 400, "gpu and cpu")
	})
	add("pods.create.gpu", create, func(c *Check) {
		pod := c.createPod(withGPU(`{"id":"NVIDIA L4","count":3}`))
		require.Equal(c, map[string]any{"id": "NVIDIA L4", "count": 3.0}, gpuOf(pod))
	})

	add("pods.create.gpu.id", create, func(c *Check) {
		c.valuesRefused(withGPU(`$`), "/gpu:", `"NVIDIA L4"`, `null`, `[]`)
		c.createRefused(withGPU(`{"count":1}`), 422, "/gpu/id:")
		c.valuesRefused(withGPU(`{"id":$}`), "/gpu/id:", `7`, `null`)
	})

	add("pods.create.gpu.count", create, func(c *Check) {
		c.valuesRefused(withGPU(`{"id":"NVIDIA L4","count":$}`), "/gpu/count:", `0`, `-1`, `1.5`, `"1"`, `null`)
	})
	add("pods.create.gpu.closed", create, func(c *Check) {
		c.createRefused(withGPU(`{"id":"NVIDIA L4","cudaVersions":[]}`), 422, "/gpu/cudaVersions:")
	})

	add("pods.create.cpu", create, func(c *Check) {
		cpu := c.createPod(withCPU(`{"id":"cpu5c","vcpuCount":8}`))["cpu"].(map[string]any)
		require.Equal(c, "cpu5c", cpu["id"])
		require.EqualValues(c, 8, cpu["vcpuCount"])
	})

	add("pods.create.cpu.id", create, func(c *Check) {
		c.valuesRefused(withCPU(`$`), "/cpu:", `"cpu3g"`, `null`, `[]`)
		c.createRefused(withCPU(`{"vcpuCount":2}`), 422, "/cpu/id:")
		c.valuesRefused(withCPU(`{"id":$,"vcpuCount":2}`), "/cpu/id:", `""`, `7`, `null`)
	})

	add("pods.create.cpu.vcpu", create, func(c *Check) {
		c.createRefused(withCPU(`{"id":"cpu3g"}`), 422, "/cpu/vcpuCount:")
		c.valuesRefused(withCPU(`{"id":"cpu3g","vcpuCount":$}`), "/cpu/vcpuCount:", `1`, `0`, `2.5`, `"2"`, `null`)
	})
	add("pods.create.vcpu-power", create, func(c *Check) {
		c.valuesRefused(withCPU(`{"id":"cpu3g","vcpuCount":$}`), "/cpu/vcpuCount:", `3`, `6`, `12`, `31`, `511`, `513`, `1000`)
	})

	add("pods.create.vcpu-offered", create, func(c *Check) {
		for _, n := range []string{"64", "256", "512", "1024", "1048576", "4503599627370496"} {
			c.detailHas(withCPU(`{"id":"cpu3g","vcpuCount":`+n+`}`), 400, "cpu.vcpuCount")
		}
	})

	add("pods.create.cpu.closed", create, func(c *Check) {
		c.createRefused(withCPU(`{"id":"cpu3g","vcpuCount":4,"memory":8}`), 422, "/cpu/memory:")
	})
	add("pods.cpu.memory", create, func(c *Check) {
		for _, row := range []struct {
			cpu    string
			memory float64
		}{{`{"id":"cpu3c","vcpuCount":2}`, 4}, {`{"id":"cpu3g","vcpuCount":4}`, 16}, {`{"id":"cpu5m","vcpuCount":16}`, 128}} {
			require.Equal(c, row.memory, c.createPod(withCPU(row.cpu))["cpu"].(map[string]any)["memory"], row.cpu)
		}
	})

	add("pods.create.global-networking", create, func(c *Check) {
		c.detailHas(cpuWith(`"globalNetworking":true`), 400, "globalNetworking")
	})
	add("pods.create.global-networking.gpu", create, func(c *Check) {
		c.detailHas(`{"name":"a","image":"i","gpu":{"id":"AMD Instinct MI300X OAM"},"globalNetworking":true}`, 400, "globalNetworking")
	})
	add("pods.create.global-networking.data-center", create, func(c *Check) {
		require.Equal(c, "EU-RO-1", c.createPod(with(`"globalNetworking":true,"dataCenterIds":["AP-JP-1","EU-RO-1"]`))["dataCenterId"])
		c.detailHas(with(`"globalNetworking":true,"dataCenterIds":["AP-JP-1"]`), 400, "globalNetworking")
	})
	add("pods.create.global-networking.type", create, func(c *Check) {
		c.valuesRefused(with(`"globalNetworking":$`), "/globalNetworking:", `"true"`, `1`, `null`)
	})
	add("pods.create.unknown-names", create, func(c *Check) {
		c.detailHas(withGPU(`{"id":"No Such GPU"}`), 400, "No Such GPU")
	})
	add("pods.create.unknown-names.flavor", create, func(c *Check) {
		c.detailHas(withCPU(`{"id":"cpu9z","vcpuCount":2}`), 400, "cpu9z")
	})
	add("pods.create.unknown-names.data-center", create, func(c *Check) {
		c.detailHas(with(`"dataCenterIds":["EU-RO-1","XX-YY-1"]`), 400, "XX-YY-1")
	})
	add("pods.create.unknown-names.volume", create, func(c *Check) {
		c.detailHas(with(`"mounts":{"network":[{"volumeId":"novolume","path":"/n"}]}`), 404, "novolume")
	})
	add("pods.create.unknown-names.credential", create, func(c *Check) {
		c.detailHas(with(`"registry":"nocredential"`), 404, "nocredential")
	})

	for id, row := range map[string]struct {
		member string
		value  any
	}{
		"pods.defaults": {"disk", 20.0}, "pods.defaults.args": {"args", ""}, "pods.defaults.ports": {"ports", []any{}},
		"pods.defaults.env": {"env", map[string]any{}}, "pods.defaults.cloud": {"cloud", "SECURE"},
	} {
		add(id, create, func(c *Check) { require.Equal(c, row.value, c.createPod(gpuPod)[row.member]) })
	}

	add("pods.defaults.gpu-count", create, func(c *Check) {
		require.EqualValues(c, 1, c.createPod(gpuPod)["gpu"].(map[string]any)["count"])
	})
	add("pods.defaults.global-networking", create, func(c *Check) {
		require.Equal(c, false, c.createPod(gpuPod)["globalNetworking"].(map[string]any)["enabled"])
	})
})
