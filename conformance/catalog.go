package conformance

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
)

const (
	free = "include=AVAILABILITY&product=POD" // the query for what is free for pods
	l4   = "NVIDIA L4"
)

// catalog reads a list of the catalog.
func (c *Check) catalog(list, query string) []map[string]any {
	member := strings.Replace(list, "datacenters", "dataCenters", 1)
	a := c.REST("GET", "/v2/catalog/"+list+"?"+query, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.Equal(c, []string{member}, keys(a.JSON))
	var rows []map[string]any
	for _, row := range a.JSON[member].([]any) {
		rows = append(rows, row.(map[string]any))
	}
	return rows
}

// row reads one row of the catalog.
func (c *Check) row(list, id, query string) map[string]any {
	a := c.REST("GET", "/v2/catalog/"+list+"/"+url.PathEscape(id)+"?"+query, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// catalogRefused asserts that the list, and one of its rows, answer the query with the status, and gives the texts of the refusal.
func (c *Check) catalogRefused(list, query string, status int) string {
	a := c.REST("GET", "/v2/catalog/"+list+"?"+query, "")
	lines := c.Refused(a, status)
	if id, ok := map[string]string{"gpus": l4, "cpus": "cpu3g"}[list]; ok {
		c.Refused(c.REST("GET", "/v2/catalog/"+list+"/"+url.PathEscape(id)+"?"+query, ""), status)
	}
	return a.JSON["detail"].(string) + strings.Join(lines, "\n")
}

func ids(rows []map[string]any) []string {
	list := []string{}
	for _, row := range rows {
		list = append(list, row["id"].(string))
	}
	return list
}

// strs gives a list of texts.
func strs(list any) []string {
	texts := []string{}
	for _, v := range list.([]any) {
		texts = append(texts, v.(string))
	}
	return texts
}

// levels gives the availability of each of a list by id.
func levels(list any) map[string]any {
	by := map[string]any{}
	for _, v := range list.([]any) {
		row := v.(map[string]any)
		by[row["id"].(string)] = row["availability"]
	}
	return by
}

// readBack asserts that each row of the list can be read alone, and that an unknown one is 404.
func (c *Check) readBack(list string) {
	rows := c.catalog(list, "")
	require.NotEmpty(c, rows)
	for _, row := range rows {
		require.Equal(c, row, c.row(list, row["id"].(string), ""))
	}
}

var _ = area(func() {
	gpus, cpus := []string{"listGpuTypes"}, []string{"listCpuTypes"}
	for list, op := range map[string]string{"gpus": "getGpuType", "cpus": "getCpuType", "datacenters": "getDataCenter"} {
		add("catalog."+list+".get", []string{op}, func(c *Check) { c.readBack(list) })
		add("catalog."+list+".unknown", []string{op}, func(c *Check) {
			c.Refused(c.REST("GET", "/v2/catalog/"+list+"/No%20Such%20One", ""), 404)
		})
	}

	add("catalog.gpus", []string{"listGpuTypes", "createPod"}, func(c *Check) {
		for _, t := range c.catalog("gpus", "") {
			for member, cloud := range map[string]string{"secure": "SECURE", "community": "COMMUNITY"} {
				body := fmt.Sprintf(`{"name":"a","image":"i","cloud":"%s","gpu":{"id":"%s"}}`, cloud, t["id"])
				if t[member] == true {
					require.Equal(c, t["id"], c.createPod(body)["gpu"].(map[string]any)["id"])
				} else {
					c.createRefused(body, 400)
				}
			}
		}
	})

	add("catalog.gpus.offered", gpus, func(c *Check) {
		for _, t := range c.catalog("gpus", "") {
			price, most := t["price"].(map[string]any), t["maxCount"].(map[string]any)
			for _, cloud := range []string{"secure", "community"} {
				require.Equal(c, t[cloud] == true, most[cloud].(float64) > 0, "%s", t["id"])
				require.Equal(c, t[cloud] == true, price[cloud].(float64) > 0, "%s", t["id"])
			}
		}
	})

	add("catalog.gpus.max-count", []string{"listGpuTypes", "createPod"}, func(c *Check) {
		most := int(c.row("gpus", l4, "")["maxCount"].(map[string]any)["secure"].(float64))
		c.createPod(withGPU(fmt.Sprintf(`{"id":"%s","count":%d}`, l4, most)))
		c.detailHas(withGPU(fmt.Sprintf(`{"id":"%s","count":%d}`, l4, most+1)), 400, "gpu.count")
	})

	add("catalog.cpus", []string{"listCpuTypes", "createPod"}, func(c *Check) {
		for _, f := range c.catalog("cpus", "") {
			size := f["vcpu"].(map[string]any)["min"]
			require.Equal(c, f["id"], c.createPod(withCPU(fmt.Sprintf(`{"id":"%s","vcpuCount":%v}`, f["id"], size)))["cpu"].(map[string]any)["id"])
		}
	})

	add("catalog.cpus.sizes", []string{"listCpuTypes", "createPod"}, func(c *Check) {
		vcpu := c.catalog("cpus", "")[0]["vcpu"].(map[string]any)
		id := c.catalog("cpus", "")[0]["id"]
		for n := 2; n <= 256; n *= 2 {
			body := withCPU(fmt.Sprintf(`{"id":"%s","vcpuCount":%d}`, id, n))
			if float64(n) >= vcpu["min"].(float64) && float64(n) <= vcpu["max"].(float64) {
				c.createPod(body)
			} else {
				c.createRefused(body, 400)
			}
		}
	})

	add("catalog.cpus.memory", []string{"listCpuTypes", "createPod"}, func(c *Check) {
		for _, f := range c.catalog("cpus", "") {
			cpu := c.createPod(withCPU(fmt.Sprintf(`{"id":"%s","vcpuCount":4}`, f["id"])))["cpu"].(map[string]any)
			require.InDelta(c, 4*f["ramGbPerVcpu"].(float64), cpu["memory"], 1e-9)
		}
	})

	add("catalog.price", []string{"listGpuTypes", "createPod"}, func(c *Check) {
		price := c.row("gpus", "NVIDIA GeForce RTX 4090", "")["price"].(map[string]any)
		require.InDelta(c, price["secure"], c.createPod(gpuPod)["cost"], 1e-9)
		require.InDelta(c, price["community"], c.createPod(with(`"cloud":"COMMUNITY"`))["cost"], 1e-9)
	})

	add("catalog.price.cpu", []string{"listCpuTypes", "createPod"}, func(c *Check) {
		price := c.row("cpus", "cpu3g", "")["price"].(map[string]any)["securePerVcpu"].(float64)
		require.InDelta(c, 4*price, c.createPod(cpuPod)["cost"], 1e-9)
	})

	add("catalog.availability.absent", append(gpus, cpus...), func(c *Check) {
		for _, row := range append(c.catalog("gpus", ""), c.catalog("cpus", "")...) {
			for _, member := range []string{"availability", "dataCenters", "cudaVersions"} {
				require.NotContains(c, row, member)
			}
		}
	})

	add("catalog.availability", append(gpus, cpus...), func(c *Check) {
		for _, t := range c.catalog("gpus", free) {
			require.Contains(c, t, "availability")
			require.Contains(c, t, "dataCenters")
			require.Contains(c, t, "cudaVersions")
		}

		for _, f := range c.catalog("cpus", free) {
			require.Contains(c, f, "availability")
			require.Contains(c, f, "dataCenters")
			require.NotContains(c, f, "cudaVersions")
		}
	})

	add("catalog.availability.product", append(gpus, cpus...), func(c *Check) {
		for _, list := range []string{"gpus", "cpus"} {
			require.Contains(c, c.catalogRefused(list, "include=AVAILABILITY", 400), "product")
			require.Contains(c, c.catalogRefused(list, "product=POD", 400), "product")
		}
	})

	add("catalog.availability.filters", append(gpus, cpus...), func(c *Check) {
		for _, filter := range []string{"count=2", "cloud=SECURE", "countryCodes=US", "cudaVersions=12.4", "minCudaVersion=12"} {
			name, _, _ := strings.Cut(filter, "=")
			require.Contains(c, c.catalogRefused("gpus", filter, 400), name)
			c.catalog("gpus", free+"&"+filter)
		}
		require.Contains(c, c.catalogRefused("cpus", "vcpuCount=4", 400), "vcpuCount")
		c.catalog("cpus", free+"&vcpuCount=4")
	})

	add("catalog.availability.cuda.one", gpus, func(c *Check) {
		require.Contains(c, c.catalogRefused("gpus", free+"&cudaVersions=12.4&minCudaVersion=12.4", 400), "cudaVersions")
	})
	add("catalog.availability.malformed", append(gpus, cpus...), func(c *Check) {
		for _, query := range []string{
			"include=availability", "include=", "product=pod", "count=0", "count=x", "cloud=ALL", "countryCodes=usa", "cudaVersions=12", "minCudaVersion=12.4.1",
			"include=AVAILABILITY,AVAILABILITY",
		} {
			name, _, _ := strings.Cut(query, "=")
			require.Contains(c, c.catalogRefused("gpus", query, 422), "query."+name+":")
		}

		for _, query := range []string{"include=X", "product=CLUSTER", "vcpuCount=1"} {
			name, _, _ := strings.Cut(query, "=")
			require.Contains(c, c.catalogRefused("cpus", query, 422), "query."+name+":")
		}
	})

	add("catalog.availability.lists", gpus, func(c *Check) {
		c.catalog("gpus", "include=AVAILABILITY&product=POD,SERVERLESS&cudaVersions=12.4,12.8&countryCodes=US%2CRO")
		require.Contains(c, c.catalogRefused("gpus", free+"&cudaVersions=12.4&cudaVersions=12.8", 422), "query.cudaVersions:")
	})

	add("catalog.templates", []string{"listPublicTemplates"}, func(c *Check) {
		rows := c.catalog("templates", "")
		require.NotEmpty(c, rows)
		require.LessOrEqual(c, len(rows), 100)
		require.Equal(c, ids(rows), ids(c.catalog("templates", "source=official")))
		for _, t := range rows {
			require.Equal(c, true, t["public"])
		}
	})

	add("catalog.templates.source", []string{"listPublicTemplates"}, func(c *Check) {
		seen := map[string]string{}
		for _, source := range []string{"official", "verified", "community"} {
			for _, id := range ids(c.catalog("templates", "source="+source)) {
				require.Empty(c, seen[id], "%s is %s too", id, source)
				seen[id] = source
			}
		}
		require.Contains(c, c.catalogRefused("templates", "source=mine", 422), "query.source:")
	})
})

var _ = area(func() {
	centers := []string{"listDataCenters"}
	add("catalog.datacenters", []string{"listDataCenters", "createPod"}, func(c *Check) {
		for _, id := range ids(c.catalog("datacenters", "")) {
			require.Equal(c, id, c.createPod(cpuWith(`"dataCenterIds":["` + id + `"]`))["dataCenterId"])
		}
	})

	add("catalog.datacenters.global-network", []string{"listDataCenters", "createPod"}, func(c *Check) {
		for _, d := range c.catalog("datacenters", "") {
			body := with(fmt.Sprintf(`"globalNetworking":true,"dataCenterIds":["%s"]`, d["id"]))
			if d["globalNetwork"] == true {
				c.createPod(body)
			} else {
				c.createRefused(body, 400)
			}
		}
	})

	// matches asserts that the query gives just the data centers that satisfy is, which are some and not all.
	matches := func(c *Check, query string, is func(map[string]any) bool) {
		var want []string
		all := c.catalog("datacenters", "")
		for _, d := range all {
			if is(d) {
				want = append(want, d["id"].(string))
			}
		}

		require.NotEmpty(c, want, query)
		require.Less(c, len(want), len(all), query)
		require.Equal(c, want, ids(c.catalog("datacenters", query)), query)
	}

	has := func(d map[string]any, member string, all ...string) bool {
		for _, one := range all {
			if !strings.Contains(fmt.Sprint(strs(d[member]), " "), one) {
				return false
			}
		}
		return true
	}

	add("catalog.datacenters.regions", centers, func(c *Check) {
		matches(c, "regions=EUROPE", func(d map[string]any) bool { return d["region"] == "EUROPE" })
		matches(c, "regions=EUROPE,ASIA", func(d map[string]any) bool { return d["region"] == "EUROPE" || d["region"] == "ASIA" })
		require.Empty(c, c.catalog("datacenters", "regions=ANTARCTICA"))
	})

	add("catalog.datacenters.volume-types", centers, func(c *Check) {
		matches(c, "networkVolumeTypes=STANDARD", func(d map[string]any) bool { return has(d, "networkVolumeTypes", "STANDARD") })
		matches(c, "networkVolumeTypes=STANDARD,HIGH_PERFORMANCE", func(d map[string]any) bool {
			return has(d, "networkVolumeTypes", "STANDARD", "HIGH_PERFORMANCE")
		})
	})

	add("catalog.datacenters.compliance", centers, func(c *Check) {
		matches(c, "compliance=GDPR", func(d map[string]any) bool { return has(d, "compliance", "GDPR") })
		matches(c, "compliance=GDPR,RENEWABLE", func(d map[string]any) bool { return has(d, "compliance", "GDPR", "RENEWABLE") })
	})

	add("catalog.datacenters.global-network.filter", centers, func(c *Check) {
		for _, value := range []bool{true, false} {
			matches(c, fmt.Sprint("globalNetwork=", value), func(d map[string]any) bool { return d["globalNetwork"] == value })
		}
	})

	add("catalog.datacenters.all-filters", centers, func(c *Check) {
		matches(c, "regions=EUROPE,ASIA&compliance=GDPR&networkVolumeTypes=STANDARD&globalNetwork=true", func(d map[string]any) bool {
			return d["region"] == "EUROPE" && d["globalNetwork"] == true && has(d, "compliance", "GDPR") && has(d, "networkVolumeTypes", "STANDARD")
		})
	})

	add("catalog.datacenters.malformed", centers, func(c *Check) {
		for _, query := range []string{"include=AVAILABILITY", "regions=europe", "networkVolumeTypes=FAST", "compliance=GDPR,", "globalNetwork=1"} {
			name, _, _ := strings.Cut(query, "=")
			require.Contains(c, c.catalogRefused("datacenters", query, 422), "query."+name+":")
		}
		c.Refused(c.REST("GET", "/v2/catalog/datacenters/EU-RO-1?regions=EUROPE", ""), 422)
	})

	add("catalog.datacenters.include", []string{"listDataCenters", "getDataCenter"}, func(c *Check) {
		types, flavors := ids(c.catalog("gpus", "")), ids(c.catalog("cpus", ""))
		listed := func(list any) []string {
			text, err := json.Marshal(list)
			require.NoError(c, err)
			var rows []map[string]any
			require.NoError(c, json.Unmarshal(text, &rows))
			return ids(rows)
		}

		for include, want := range map[string][]bool{
			"": {false, false}, "include=GPU_AVAILABILITY": {true, false}, "include=CPU_AVAILABILITY": {false, true},
			"include=CPU_AVAILABILITY,GPU_AVAILABILITY": {true, true},
		} {
			for _, d := range append(c.catalog("datacenters", include), c.row("datacenters", "EU-RO-1", include)) {
				for i, member := range []string{"gpuAvailability", "cpuAvailability"} {
					if !want[i] {
						require.NotContains(c, d, member)
						continue
					}
					require.Equal(c, [][]string{types, flavors}[i], listed(d[member]))
				}
			}
		}
	})
})
