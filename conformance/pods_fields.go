package conformance

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// common are the fields that every pod has.
var common = []string{
	"id", "name", "image", "args", "disk", "ports", "env", "registry", "status", "actions", "mounts", "cloud",
	"dataCenterId", "template", "cost", "locked", "globalNetworking", "runtime", "createdAt", "startedAt",
}

var _ = area(func() {
	create, read := []string{"createPod"}, []string{"createPod", "getPod"}
	add("pods.fields", read, func(c *Check) {
		id := c.newPod(gpuPod)
		for _, pod := range []map[string]any{c.getPod(id), c.createPod(cpuPod)} {
			delete(pod, "gpu")
			delete(pod, "cpu")
			require.ElementsMatch(c, common, keys(pod))
		}
	})

	add("pods.fields.kind", create, func(c *Check) {
		gpu, cpu := c.createPod(gpuPod), c.createPod(cpuPod)
		require.Contains(c, gpu, "gpu")
		require.NotContains(c, gpu, "cpu")
		require.Contains(c, cpu, "cpu")
		require.NotContains(c, cpu, "gpu")
	})

	add("pods.fields.cpu", create, func(c *Check) {
		cpu := c.createPod(cpuPod)["cpu"].(map[string]any)
		require.ElementsMatch(c, []string{"id", "vcpuCount", "memory"}, keys(cpu))
		require.GreaterOrEqual(c, cpu["memory"], 1.0)
	})

	add("pods.fields.mounts", create, func(c *Check) {
		require.Equal(c, map[string]any{}, c.createPod(gpuPod)["mounts"])
	})
	add("pods.fields.data-center", read, func(c *Check) {
		known := ids(c.catalog("datacenters", ""))
		for _, body := range []string{cpuPod, gpuPod, with(`"dataCenterIds":["US-KS-2","EU-RO-1"]`)} {
			made := c.createPod(body)
			at := made["dataCenterId"]
			require.Contains(c, known, at)
			if asked := c.parsed(body).(map[string]any)["dataCenterIds"]; asked != nil {
				require.Contains(c, asked, at)
			}
			require.Equal(c, at, c.becomes(made["id"].(string), "STARTING", "RUNNING")["dataCenterId"], "where it is")
		}
	})

	add("pods.fields.template", create, func(c *Check) {
		require.Nil(c, c.createPod(gpuPod)["template"])
	})
	add("pods.fields.locked", create, func(c *Check) {
		require.Equal(c, false, c.createPod(gpuPod)["locked"])
	})

	add("pods.fields.created-at", []string{"createPod", "updatePod", "getPod"}, func(c *Check) {
		first := c.createPod(gpuPod)
		id := first["id"].(string)
		created := c.time(first["createdAt"])
		require.False(c, c.time(c.createPod(gpuPod)["createdAt"]).Before(created))
		c.patched(id, `{"name":"b"}`)
		require.True(c, created.Equal(c.time(c.getPod(id)["createdAt"])))
	})

	add("pods.fields.started-at", read, func(c *Check) {
		pod := c.getPod(c.running(gpuPod))
		require.False(c, c.time(pod["startedAt"]).Before(c.time(pod["createdAt"])))
	})
	add("pods.global-networking.off", create, func(c *Check) {
		require.Equal(c, map[string]any{"enabled": false}, c.createPod(gpuPod)["globalNetworking"])
	})

	add("pods.global-networking.dns", create, func(c *Check) {
		pod := c.createPod(with(`"globalNetworking":true`))
		network := pod["globalNetworking"].(map[string]any)
		require.Equal(c, true, network["enabled"])
		host, domain, _ := strings.Cut(network["internalDns"].(string), ".")
		require.Equal(c, pod["id"], host)
		require.Regexp(c, `^[a-z0-9-]+(\.[a-z0-9-]+)*$`, domain)
	})

	add("pods.runtime.null", read, func(c *Check) {
		require.Nil(c, c.createPod(gpuPod)["runtime"])
		require.Nil(c, c.getPod(c.exited())["runtime"])
	})

	add("pods.runtime.uptime", read, func(c *Check) {
		uptime := func(id string) float64 { return c.getPod(id)["runtime"].(map[string]any)["uptime"].(float64) }
		if c.ControlsKey == "" {
			asked := time.Now()
			id := c.running(gpuPod)
			first := uptime(id)
			c.Eventually(func() bool { return uptime(id) > first }, "uptime grows")
			require.LessOrEqual(c, uptime(id), time.Since(asked).Seconds(), "seconds since it started, which was not before it was asked for")
			return
		}

		c.frozen(func() {
			id := c.running(gpuPod)
			for _, seconds := range []float64{0, 59, 60, 3600} {
				started := c.time(c.getPod(id)["startedAt"])
				c.advance(started.Add(time.Duration(seconds)*time.Second + 999*time.Millisecond).Sub(c.now()))
				require.Equal(c, seconds, uptime(id), "whole seconds since startedAt")
			}
		})
	})

	add("pods.cost", create, func(c *Check) {
		one := c.createPod(withGPU(`{"id":"NVIDIA GeForce RTX 4090"}`))["cost"]
		require.InDelta(c, 0.69, one, 1e-9)
		require.InDelta(c, 2*0.69, c.createPod(withGPU(`{"id":"NVIDIA GeForce RTX 4090","count":2}`))["cost"], 1e-9)
	})

	add("pods.cost.cpu", create, func(c *Check) {
		two := c.createPod(withCPU(`{"id":"cpu3g","vcpuCount":2}`))["cost"].(float64)
		require.Positive(c, two)
		require.InDelta(c, 4*two, c.createPod(withCPU(`{"id":"cpu3g","vcpuCount":8}`))["cost"], 1e-9)
	})

	add("pods.cost.cloud", create, func(c *Check) {
		require.InDelta(c, 0.34, c.createPod(with(`"cloud":"COMMUNITY"`))["cost"], 1e-9)
	})
	add("pods.cost.exited", []string{"getPod", "podAction"}, func(c *Check) {
		require.Zero(c, c.getPod(c.exited())["cost"])
	})
	add("pods.cost.error", read, func(c *Check) {
		require.Zero(c, c.getPod(c.failed())["cost"])
	})
})

// time reads a date-time.
func (c *Check) time(value any) time.Time {
	t, err := time.Parse(time.RFC3339, value.(string))
	require.NoError(c, err)
	return t
}
