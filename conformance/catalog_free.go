package conformance

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

// capacity makes the fleet have of the named types and flavors nothing but these hosts, until the returned function is called.
func (c *Check) capacity(hosts ...string) (restore func()) {
	c.set("PUT", "fleet", `{"capacity":[`+strings.Join(hosts, ",")+`]}`)
	return func() { c.set("PUT", "fleet", `{"capacity":[]}`) }
}

// capacityWhereItCanBeSet is capacity for rules that show a part of what they say without it.
func (c *Check) capacityWhereItCanBeSet(hosts ...string) (restore func()) {
	if c.ControlsKey == "" {
		return func() {}
	}
	return c.capacity(hosts...)
}

// l4s and cpu3gs describe a host with so many of them; more are further members.
func l4s(dataCenter string, count int, more string) string {
	return fmt.Sprintf(`{"gpu":"%s","dataCenterId":"%s","count":%d%s}`, l4, dataCenter, count, more)
}

func cpu3gs(dataCenter string, count int) string {
	return fmt.Sprintf(`{"cpu":"cpu3g","dataCenterId":"%s","count":%d}`, dataCenter, count)
}

// l4Free gives what is free of the L4 for a query after the one for pods.
func (c *Check) l4Free(more string) map[string]any { return c.row("gpus", l4, free+more) }

// level is the availability of the L4.
func (c *Check) level(more string) any { return c.l4Free(more)["availability"] }

var _ = area(func() {
	one := []string{"getGpuType", "setFleet"}
	add("controls.fleet.capacity", []string{"setFleet"}, func(c *Check) {
		restore := c.capacity(l4s("EU-RO-1", 0, ""))
		require.Equal(c, "NONE", c.level(""))
		restore()
		require.Equal(c, "HIGH", c.level(""))
		c.Refused(c.control("PUT", "fleet", `{"capacity":[{"dataCenterId":"EU-RO-1","count":1}]}`), 400)
		c.Refused(c.control("PUT", "fleet", `{"capacity":[`+l4s("XX-YY-1", 1, "")+`]}`), 400)
		c.Refused(c.control("PUT", "fleet", `{"capacity":[{"gpu":"No Such GPU","dataCenterId":"EU-RO-1","count":1}]}`), 400)
		c.Refused(c.control("PUT", "fleet", `{}`), 422)
	})

	add("catalog.availability.levels", one, func(c *Check) {
		for count, level := range map[int]string{0: "NONE", 1: "LOW", 4: "LOW", 5: "MEDIUM", 15: "MEDIUM", 16: "HIGH"} {
			restore := c.capacity(l4s("EU-RO-1", count, ""))
			require.Equal(c, level, c.level(""), "%d free", count)
			restore()
		}
	})

	add("catalog.availability.now", []string{"getGpuType", "getCpuType", "createPod", "deletePod"}, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""), cpu3gs("EU-RO-1", 4))()
		cpu := func() any { return c.row("cpus", "cpu3g", free+"&vcpuCount=4")["availability"] }
		require.Equal(c, []any{"LOW", "LOW"}, []any{c.level(""), cpu()})
		gpu := c.newPod(withGPU(`{"id":"NVIDIA L4"}`))
		c.newPod(cpuPod)
		require.Equal(c, []any{"NONE", "NONE"}, []any{c.level(""), cpu()})
		require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+gpu, "").Status)
		require.Equal(c, []any{"LOW", "NONE"}, []any{c.level(""), cpu()})
	})

	add("catalog.availability.count", one, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 3, ""), l4s("EU-RO-1", 2, ""))()
		for count, level := range map[int]string{1: "MEDIUM", 2: "LOW", 3: "LOW", 4: "NONE", 1_000_000: "NONE"} {
			require.Equal(c, level, c.level(fmt.Sprint("&count=", count)), count)
		}
	})

	add("catalog.availability.vcpu", []string{"getCpuType", "setFleet"}, func(c *Check) {
		defer c.capacity(cpu3gs("EU-RO-1", 16))()
		for count, level := range map[int]string{2: "MEDIUM", 4: "LOW", 16: "LOW", 32: "NONE", 3: "NONE", 1 << 40: "NONE"} {
			require.Equal(c, level, c.row("cpus", "cpu3g", fmt.Sprint(free, "&vcpuCount=", count))["availability"], count)
		}
	})

	add("catalog.availability.cloud", one, func(c *Check) {
		rtx := func(cloud string, count int) string {
			return fmt.Sprintf(`{"gpu":"NVIDIA GeForce RTX 4090","dataCenterId":"EU-RO-1","count":%d,"cloud":"%s"}`, count, cloud)
		}
		defer c.capacity(rtx("SECURE", 1), rtx("COMMUNITY", 16))()
		for query, level := range map[string]string{"": "HIGH", "&cloud=SECURE": "LOW", "&cloud=COMMUNITY": "HIGH"} {
			require.Equal(c, level, c.row("gpus", "NVIDIA GeForce RTX 4090", free+query)["availability"], query)
		}
	})

	add("catalog.availability.countries", one, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""), l4s("AP-JP-1", 5, ""))()
		for query, level := range map[string]string{"RO": "LOW", "JP": "MEDIUM", "RO,JP": "MEDIUM", "US": "NONE"} {
			require.Equal(c, level, c.level("&countryCodes="+query), query)
		}
	})

	add("catalog.availability.data-centers", one, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 0, ""), l4s("AP-JP-1", 5, ""), l4s("US-KS-2", 16, ""))()
		require.Equal(c, map[string]any{"EU-RO-1": "NONE", "AP-JP-1": "MEDIUM", "US-KS-2": "HIGH"}, levels(c.l4Free("")["dataCenters"]))
		require.Equal(c, map[string]any{"AP-JP-1": "MEDIUM"}, levels(c.l4Free("&countryCodes=JP")["dataCenters"]))
		require.Equal(c, "MEDIUM", levels(c.row("datacenters", "AP-JP-1", "include=GPU_AVAILABILITY")["gpuAvailability"])[l4])
		require.Equal(c, "NONE", levels(c.row("datacenters", "EU-FR-1", "include=GPU_AVAILABILITY")["gpuAvailability"])[l4])
	})

	cuda := func(c *Check) (restore func()) {
		return c.capacity(l4s("EU-RO-1", 1, `,"cudaVersion":"12.2"`), l4s("EU-RO-1", 5, `,"cudaVersion":"12.11"`), l4s("EU-RO-1", 0, `,"cudaVersion":"13.0"`))
	}
	add("catalog.availability.cuda", one, func(c *Check) {
		defer cuda(c)()
		for query, level := range map[string]string{"12.2": "LOW", "12.11": "MEDIUM", "12.2,12.11": "MEDIUM", "13.0": "NONE", "12.4": "NONE"} {
			require.Equal(c, level, c.level("&cudaVersions="+query), query)
		}
	})

	add("catalog.availability.cuda.minimum", one, func(c *Check) {
		defer cuda(c)()
		for query, level := range map[string]string{"12": "MEDIUM", "12.1": "MEDIUM", "12.11": "MEDIUM", "12.12": "NONE", "13": "NONE"} {
			require.Equal(c, level, c.level("&minCudaVersion="+query), query)
		}
	})

	add("catalog.availability.cuda.numbers", one, func(c *Check) {
		defer cuda(c)()
		require.Equal(c, map[string]any{"EU-RO-1": "MEDIUM"}, levels(c.l4Free("&minCudaVersion=12.3")["dataCenters"]))
		require.Equal(c, "NONE", c.row("gpus", l4, free+"&minCudaVersion=12.3&count=6")["availability"])
		require.Len(c, c.l4Free("&minCudaVersion=12.3")["cudaVersions"], 2)
	})

	add("catalog.availability.cuda.versions", one, func(c *Check) {
		defer cuda(c)()
		row := func(version string, available bool) any {
			return map[string]any{"version": version, "available": available}
		}
		require.Equal(c, []any{row("13.0", false), row("12.11", true), row("12.2", true)}, c.l4Free("")["cudaVersions"])
		require.Equal(c, []any{row("13.0", false), row("12.11", true), row("12.2", false)}, c.l4Free("&count=2")["cudaVersions"])
	})

	add("catalog.availability.products", one, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 5, ""))()
		level := func(products string) any {
			return c.row("gpus", l4, "include=AVAILABILITY&product="+products)["availability"]
		}
		require.Equal(c, "MEDIUM", level("POD"))
		require.Equal(c, "LOW", level("CLUSTER"))
		require.Equal(c, "MEDIUM", level("CLUSTER,POD"))
	})

	add("catalog.availability.clusters", one, func(c *Check) {
		query := "include=AVAILABILITY&product=CLUSTER"
		versions := func() (available []any) {
			for _, v := range c.row("gpus", l4, query)["cudaVersions"].([]any) {
				if v := v.(map[string]any); v["available"] == true {
					available = append(available, v["version"])
				}
			}
			return available
		}
		restore := c.capacity(l4s("EU-RO-1", 1, `,"cudaVersion":"12.8"`), l4s("AP-JP-1", 1, `,"cudaVersion":"12.8"`))
		require.Equal(c, "NONE", c.row("gpus", l4, query)["availability"])
		require.Empty(c, versions())
		restore()
		restore = c.capacity(l4s("EU-RO-1", 1, `,"cudaVersion":"12.8"`), l4s("EU-RO-1", 1, `,"cudaVersion":"12.8"`))
		require.Equal(c, "LOW", c.row("gpus", l4, query)["availability"])
		require.NotEmpty(c, versions())
		require.Equal(c, "NONE", c.row("gpus", l4, query+"&cloud=COMMUNITY")["availability"])
		restore()
	})

	add("catalog.availability.serverless", []string{"listGpuTypes"}, func(c *Check) {
		pools := 0
		for _, t := range c.catalog("gpus", "include=AVAILABILITY&product=SERVERLESS") {
			if t["pool"] == nil {
				require.Equal(c, "NONE", t["availability"], "%s", t["id"])
			} else {
				pools++
			}
		}
		require.Positive(c, pools)
	})
})
