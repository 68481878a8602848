package conformance

import (
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// bills are the operations of billing by the last segment of their paths.
var bills = map[string]string{
	"": "listBilling", "/pods": "listPodBilling", "/serverless": "listServerlessBilling", "/endpoints": "listEndpointBilling",
	"/network-volumes": "listNetworkVolumeBilling", "/clusters": "listClusterBilling",
}

// bill reads a bill, such as "/pods?podId=x".
func (c *Check) bill(of string) map[string]any { return c.read("/v2/billing" + of) }

// window gives the window that a bill of that query is for.
func (c *Check) window(query string) (from, to time.Time) {
	asked := c.bill("?" + query)["metadata"].(map[string]any)["query"].(map[string]any)
	return c.time(asked["startTime"]), c.time(asked["endTime"])
}

// amount gives an amount of a bill's totals in billionths of a USD.
func amount(bill map[string]any, name string) int64 {
	return nano(bill["metadata"].(map[string]any)["totals"].(map[string]any)[name])
}

// nano gives an amount in billionths, which are what amounts are counted in.
func nano(usd any) int64 { return int64(math.Round(usd.(float64) * 1e9)) }

// records gives the records of a bill.
func records(bill map[string]any) []map[string]any {
	all := []map[string]any{}
	for _, r := range bill["records"].([]any) {
		all = append(all, r.(map[string]any))
	}
	return all
}

// now gives what the clock of the target shows, in whole milliseconds, which is what is stored.
func (c *Check) now() time.Time {
	return c.time(c.control("GET", "clock", "").JSON["now"]).Truncate(time.Millisecond)
}

// runs makes a pod and lets it run for so long; the clock is frozen. It gives the pod as it was when it ran.
func (c *Check) runs(body string, d time.Duration) map[string]any {
	pod := c.becomes(c.newPod(body), "RUNNING")
	c.advance(d - c.now().Sub(c.time(pod["startedAt"])))
	return pod
}

// isoTime writes a time for a query.
func isoTime(t time.Time) string { return url.QueryEscape(t.Format(time.RFC3339Nano)) }

// The windows of bills.
var _ = area(func() {
	every := []string{"listBilling", "listPodBilling", "listServerlessBilling", "listEndpointBilling", "listNetworkVolumeBilling", "listClusterBilling"}
	list := every[:1]
	midnight := func(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

	add("billing.fields", every, func(c *Check) {
		for of := range bills {
			bill := c.bill(of)
			require.ElementsMatch(c, []string{"records", "metadata"}, keys(bill))
			meta := bill["metadata"].(map[string]any)
			require.EqualValues(c, len(records(bill)), meta["recordCount"])
			require.Equal(c, "day", meta["query"].(map[string]any)["bucketSize"])
			require.Contains(c, meta["totals"], "totalAmount")
		}
	})

	add("billing.window.default", list, func(c *Check) {
		c.frozen(func() {
			from, to := c.window("")
			require.Equal(c, midnight(c.now().Add(-30*24*time.Hour)), from)
			require.Equal(c, midnight(c.now().Add(24*time.Hour-time.Nanosecond)), to)
		})
	})

	add("billing.window.end", list, func(c *Check) {
		from, to := c.window("endTime=2026-03-31T00:00:00Z")
		require.Equal(c, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), from)
		require.Equal(c, time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC), to)
	})

	add("billing.window.snapped", list, func(c *Check) {
		for query, want := range map[string][2]string{
			"startTime=2026-03-04T05:06:07Z&endTime=2026-03-05T06:07:08Z&bucketSize=hour":              {"2026-03-04T05:00:00Z", "2026-03-05T07:00:00Z"},
			"startTime=2026-03-04T05:06:07Z&endTime=2026-03-05T06:07:08Z":                              {"2026-03-04T00:00:00Z", "2026-03-06T00:00:00Z"},
			"startTime=2026-03-04T05:06:07Z&endTime=2026-03-05T06:07:08Z&bucketSize=week":              {"2026-03-02T00:00:00Z", "2026-03-09T00:00:00Z"},
			"startTime=2026-03-04T05:06:07Z&endTime=2026-03-05T06:07:08Z&bucketSize=month":             {"2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"},
			"startTime=2026-03-04T05:06:07Z&endTime=2026-03-05T06:07:08Z&bucketSize=year":              {"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
			"startTime=2026-03-01T23:59:59.999Z&endTime=2026-03-02T00:00:00.001Z&bucketSize=week":      {"2026-02-23T00:00:00Z", "2026-03-09T00:00:00Z"},
			"startTime=2026-03-04T00:00:00Z&endTime=2026-03-05T00:00:00Z&bucketSize=day":               {"2026-03-04T00:00:00Z", "2026-03-05T00:00:00Z"},
			"startTime=2026-03-04T00:30:00%2B01:00&endTime=2026-03-04T01:00:00%2B01:00&bucketSize=day": {"2026-03-03T00:00:00Z", "2026-03-04T00:00:00Z"},
		} {
			from, to := c.window(query)
			require.Equal(c, want[0], from.Format(time.RFC3339), query)
			require.Equal(c, want[1], to.Format(time.RFC3339), query)
		}
	})

	add("billing.window.order", every, func(c *Check) {
		for of := range bills {
			for _, query := range []string{"startTime=2026-03-04T00:00:00Z&endTime=2026-03-04T00:00:00Z", "startTime=9000-01-01T00:00:00Z"} {
				a := c.REST("GET", "/v2/billing"+of+"?"+query, "")
				c.Refused(a, 400)
				require.Contains(c, a.JSON["detail"], "startTime")
			}
		}
	})

	add("billing.window.years", list, func(c *Check) {
		for _, query := range []string{"startTime=1969-12-31T23:59:59Z", "endTime=9999-01-01T00:00:00Z", "startTime=0000-01-01T00:00:00Z",
			"startTime=0001-01-01T00:00:00Z", "endTime=0001-01-01T00:00:00Z"} {
			c.Refused(c.REST("GET", "/v2/billing?"+query, ""), 400)
		}
		c.window("startTime=1970-01-01T00:00:00Z&endTime=9998-12-31T23:59:59Z&bucketSize=week")
	})

	add("billing.last-n", list, func(c *Check) {
		c.frozen(func() {
			for size, length := range map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour} {
				from, to := c.window("lastN=3&bucketSize=" + size)
				require.Equal(c, 3*length, to.Sub(from), size)
				require.True(c, to.After(c.now()) && !to.Add(-length).After(c.now()), size)
			}

			from, to := c.window("lastN=14&bucketSize=month")
			require.Equal(c, from.AddDate(0, 14, 0), to)
			require.Equal(c, 1, from.Day())
			from, to = c.window("lastN=2&bucketSize=year")
			require.Equal(c, []int{c.now().Year() - 1, c.now().Year() + 1}, []int{from.Year(), to.Year()})
		})
	})

	add("billing.last-n.most", list, func(c *Check) {
		for _, size := range []string{"hour", "day", "month", "year"} {
			from, _ := c.window("lastN=9223372036854775807&bucketSize=" + size)
			require.Equal(c, time.Unix(0, 0).UTC(), from, size)
		}
	})

	add("billing.last-n.alone", every, func(c *Check) {
		for of := range bills {
			for _, query := range []string{"startTime=2026-03-04T00:00:00Z", "endTime=2026-03-04T00:00:00Z"} {
				a := c.REST("GET", "/v2/billing"+of+"?lastN=1&"+query, "")
				c.Refused(a, 400)
				require.Contains(c, a.JSON["detail"], "lastN")
			}
		}
	})

	add("billing.parameters", every, func(c *Check) {
		for of := range bills {
			for query, place := range map[string]string{
				"startTime=yesterday": "query.startTime:", "endTime=2026-03-04": "query.endTime:", "bucketSize=minute": "query.bucketSize:",
				"lastN=0": "query.lastN:", "lastN=1.5": "query.lastN:",
			} {
				errors := c.Refused(c.REST("GET", "/v2/billing"+of+"?"+query, ""), 422)
				require.Len(c, errors, 1, query)
				require.True(c, strings.HasPrefix(errors[0], place), errors[0])
			}
		}
	})
})

// What is billed.
var _ = area(func() {
	pods := []string{"listPodBilling"}
	add("billing.pods.hour", pods, func(c *Check) {
		c.frozen(func() {
			for body, kind := range map[string]string{
				`{"name":"a","image":"i","gpu":{"id":"NVIDIA GeForce RTX 4090","count":3}}`: "gpuAmount", cpuPod: "cpuAmount",
			} {
				pod := c.runs(body, time.Hour)
				id := pod["id"].(string)
				c.acted(id, "stop", "EXITED")
				c.advance(time.Hour)
				totals := c.bill("/pods?podId=" + id)["metadata"].(map[string]any)["totals"].(map[string]any)
				require.Equal(c, pod["cost"], totals["totalAmount"])
				require.Equal(c, pod["cost"], totals[kind])
			}
		})
	})

	add("billing.pods.running", pods, func(c *Check) {
		c.frozen(func() {
			pod := c.createPod(gpuPod)
			id := pod["id"].(string)
			billed := func() int64 { return amount(c.bill("/pods?podId="+id), "totalAmount") }
			c.acted(id, "stop", "EXITED")
			c.advance(time.Hour)
			require.Zero(c, billed(), "it never ran")

			c.acted(id, "start", "PROVISIONING")
			for range 2 {
				before, started := billed(), c.time(c.becomes(id, "RUNNING")["startedAt"])
				c.advance(time.Hour - c.now().Sub(started))
				require.Equal(c, nano(pod["cost"]), billed()-before, "up to now, and not while it starts")
				c.acted(id, "restart", "STARTING")
			}
		})
	})

	add("billing.pods.disk", pods, func(c *Check) {
		c.frozen(func() {
			pod := c.runs(with(`"disk":100,"mounts":{"persistent":{"size":500,"path":"/d"}}`), time.Hour)
			id := pod["id"].(string)
			c.acted(id, "stop", "EXITED")
			c.advance(24 * time.Hour)
			bill := c.bill("/pods?podId=" + id)
			require.Zero(c, amount(bill, "diskAmount"))
			require.Equal(c, nano(pod["cost"]), amount(bill, "totalAmount"))
		})
	})

	add("billing.pods.deleted", pods, func(c *Check) {
		c.frozen(func() {
			pod := c.runs(gpuPod, 30*time.Minute)
			require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+pod["id"].(string), "").Status)
			c.advance(time.Hour)
			require.Equal(c, nano(pod["cost"]), 2*amount(c.bill("/pods?podId="+pod["id"].(string)), "totalAmount"))
		})
	})

	add("billing.records", pods, func(c *Check) {
		c.frozen(func() {
			first := c.runs(gpuPod, 150*time.Minute)
			second := c.runs(cpuPod, 150*time.Minute)
			for _, pod := range []map[string]any{first, second} {
				c.acted(pod["id"].(string), "stop", "EXITED")
			}
			bill := c.bill("/pods?bucketSize=hour&lastN=7")
			from, to := c.window("bucketSize=hour&lastN=7")
			sum, seen := int64(0), map[any]int{}

			var last time.Time
			for _, r := range records(bill) {
				at := c.time(r["startTime"])
				require.Equal(c, at.Truncate(time.Hour), at)
				require.Equal(c, at.Add(time.Hour), c.time(r["endTime"]))
				require.False(c, at.Before(from) || at.Add(time.Hour).After(to))
				require.True(c, last.IsZero() || !at.After(last), "newest first")
				last = at
				require.NotZero(c, r["totalAmount"])
				sum += nano(r["totalAmount"])
				seen[r["podId"]]++
			}

			require.Equal(c, amount(bill, "totalAmount"), sum)
			require.GreaterOrEqual(c, seen[first["id"]], 5)
			require.LessOrEqual(c, seen[second["id"]], 4)
			require.EqualValues(c, len(seen), bill["metadata"].(map[string]any)["uniquePodCount"])
		})
	})

	add("billing.records.none", pods, func(c *Check) {
		c.frozen(func() {
			id := c.exited()
			c.advance(time.Hour)
			bill := c.bill("/pods?podId=" + id)
			require.Empty(c, records(bill))
			require.Zero(c, amount(bill, "totalAmount"))
		})
	})

	add("billing.records.exact", pods, func(c *Check) {
		c.frozen(func() {
			pod := c.runs(with(`"cloud":"COMMUNITY"`), 7*time.Hour+1234567*time.Millisecond)
			id := pod["id"].(string)
			c.acted(id, "stop", "EXITED")

			want := nano(pod["cost"]) * (7*3600*1000 + 1234567) / (3600 * 1000)
			for _, size := range []string{"hour", "day", "week", "month", "year"} {
				sum := int64(0)
				for _, r := range records(c.bill("/pods?podId=" + id + "&bucketSize=" + size)) {
					sum += nano(r["totalAmount"])
				}
				require.Equal(c, want, sum, size)
			}
		})
	})

	add("billing.records.most", []string{"listNetworkVolumeBilling", "createNetworkVolume"}, func(c *Check) {
		c.frozen(func() {
			for range 50 {
				c.newVolume()
			}
			c.advance(625 * time.Hour) // 31,250 records
			const path = "/v2/billing/network-volumes?bucketSize="
			for _, size := range []string{"hour&lastN=630", "hour"} {
				a := c.REST("GET", path+size, "")
				c.Refused(a, 400)
				require.Contains(c, a.JSON["detail"], "bucketSize")
			}
			require.Equal(c, 200, c.REST("GET", path+"day", "").Status)
			require.Equal(c, 200, c.REST("GET", path+"hour&lastN=500", "").Status)
			require.Equal(c, 200, c.REST("GET", "/v2/billing?bucketSize=hour", "").Status)
		})
	})

	add("billing.window.exclusive", pods, func(c *Check) {
		c.frozen(func() {
			c.advance(time.Hour - c.now().Sub(c.now().Truncate(time.Hour)))
			pod := c.runs(gpuPod, 3*time.Hour)
			hour := c.now().Truncate(time.Hour).Add(-time.Hour)
			bill := c.bill("/pods?bucketSize=hour&podId=" + pod["id"].(string) + "&startTime=" + isoTime(hour) + "&endTime=" + isoTime(hour.Add(time.Hour)))
			require.Len(c, records(bill), 1)
			require.Equal(c, nano(pod["cost"]), amount(bill, "totalAmount"))
		})
	})

	add("billing.filter", []string{"listPodBilling", "listServerlessBilling", "listNetworkVolumeBilling", "listClusterBilling"}, func(c *Check) {
		c.needsControls()
		for of, name := range map[string]string{"/pods": "podId", "/serverless": "serverlessId", "/network-volumes": "networkVolumeId", "/clusters": "clusterId"} {
			asked := func(query string) map[string]any {
				return c.bill(of + query)["metadata"].(map[string]any)["query"].(map[string]any)
			}
			require.Equal(c, "nosuch", asked("?" + name + "=nosuch")[name])
			require.Nil(c, asked("")[name])
			require.Empty(c, records(c.bill(of+"?"+name+"=nosuch")))
		}

		c.frozen(func() {
			one, other := c.runs(gpuPod, time.Minute)["id"], c.runs(gpuPod, time.Minute)["id"]
			for _, r := range records(c.bill("/pods?podId=" + one.(string))) {
				require.NotEqual(c, other, r["podId"])
			}
		})
	})

	add("billing.volumes", []string{"listNetworkVolumeBilling", "createNetworkVolume", "updateNetworkVolume"}, func(c *Check) {
		c.frozen(func() {
			id := c.newVolume()
			total := func() int64 { return amount(c.bill("/network-volumes?networkVolumeId="+id), "totalAmount") }
			c.advance(time.Hour)
			hour := total()
			require.NotZero(c, hour)
			require.Equal(c, 200, c.REST("PATCH", "/v2/network-volumes/"+id, `{"size":60}`).Status)

			c.advance(time.Hour)
			require.Equal(c, 4*hour, total(), "an hour of 20 GB and one of 60")
			require.Equal(c, 200, c.REST("PATCH", "/v2/network-volumes/"+id, `{"name":"b"}`).Status)
			require.Equal(c, 204, c.REST("DELETE", "/v2/network-volumes/"+id, "").Status)

			c.advance(time.Hour)
			require.Equal(c, 4*hour, total(), "and none after its end")
		})
	})

	add("billing.volumes.type", []string{"listNetworkVolumeBilling", "createNetworkVolume"}, func(c *Check) {
		c.frozen(func() {
			for kind, name := range map[string]string{"STANDARD": "standardAmount", "HIGH_PERFORMANCE": "highPerformanceAmount"} {
				id := c.make("/v2/network-volumes", strings.TrimSuffix(volume, "}")+`,"type":"`+kind+`"}`)["id"].(string)
				c.advance(time.Hour)
				bill := c.bill("/network-volumes?networkVolumeId=" + id)
				require.NotZero(c, amount(bill, name))
				require.Equal(c, amount(bill, "totalAmount"), amount(bill, name))
			}
		})
	})

	add("billing.clusters", []string{"listClusterBilling", "listPodBilling", "createCluster"}, func(c *Check) {
		c.frozen(func() {
			at := c.newCluster(cluster)
			id := at[strings.LastIndex(at, "/")+1:]
			cost := int64(0)
			members := c.members(at)
			for _, pod := range members {
				c.becomes(pod["id"].(string), "RUNNING")
				cost += nano(pod["cost"])
			}
			before := amount(c.bill("/clusters?clusterId="+id), "gpuAmount")
			c.advance(time.Hour)

			bill := c.bill("/clusters?clusterId=" + id)
			require.Equal(c, cost, amount(bill, "gpuAmount")-before)
			require.Equal(c, amount(bill, "totalAmount"), amount(bill, "gpuAmount"))
			require.EqualValues(c, 1, bill["metadata"].(map[string]any)["uniqueClusterCount"])

			for _, pod := range members {
				require.Empty(c, records(c.bill("/pods?podId="+pod["id"].(string))))
			}
			require.Equal(c, 204, c.REST("DELETE", at, "").Status)

			c.advance(time.Hour)
			require.Equal(c, amount(bill, "totalAmount"), amount(c.bill("/clusters?clusterId="+id), "totalAmount"))
		})
	})

	add("billing.serverless", []string{"listServerlessBilling", "run", "listEndpointWorkers"}, func(c *Check) {
		managed, at := c.managed()
		settings := c.read(at)
		if settings["disk"] != nil {
			c.Skip("the endpoint whose workers the target starts is not of its settings: it says what hardware it has")
		}

		// A worker that is idle all the while does not end meanwhile.
		while := time.Duration(settings["workers"].(map[string]any)["idleTimeout"].(float64)) * time.Second / 2
		cheapest := c.catalog("cpus", "")[0]
		price := nano(cheapest["price"].(map[string]any)["serverlessPerVcpu"]) * int64(cheapest["vcpu"].(map[string]any)["min"].(float64))

		billed := func() int64 { return amount(c.bill("/serverless?serverlessId="+c.Managed), "cpuAmount") }
		c.frozen(func() {
			c.resting(at)
			managed.submit(job)
			c.Eventually(func() bool { return len(c.crew(at)) > 0 }, "a worker is started")
			workers, before := int64(len(c.crew(at))), billed()
			c.advance(while)
			require.InDelta(c, workers*price*while.Milliseconds()/time.Hour.Milliseconds(), billed()-before, float64(workers), "what is less than a billionth is cut off of each worker")

			bill := c.bill("/serverless?serverlessId=" + c.Managed)
			require.Equal(c, amount(bill, "totalAmount"), amount(bill, "cpuAmount"))
			require.EqualValues(c, 1, bill["metadata"].(map[string]any)["uniqueServerlessCount"])
			c.resting(at)
			before = billed()
			c.advance(time.Hour)
			require.Equal(c, before, billed(), "no worker, no bill")
		})
	})

	add("billing.endpoints", []string{"listEndpointBilling"}, func(c *Check) {
		bill := c.bill("/endpoints?lastN=400")
		require.Empty(c, records(bill))
		require.Zero(c, amount(bill, "totalAmount"))
	})

	add("billing.all", []string{"listBilling"}, func(c *Check) {
		c.frozen(func() {
			c.newVolume()
			c.runs(gpuPod, time.Hour)
			c.runs(cpuPod, time.Hour)

			all, sum := c.bill("?lastN=2"), int64(0)
			for name, part := range map[string][2]string{
				"podGpuAmount": {"/pods", "gpuAmount"}, "podCpuAmount": {"/pods", "cpuAmount"}, "storageStandardAmount": {"/network-volumes", "standardAmount"},
				"storageHighPerformanceAmount": {"/network-volumes", "highPerformanceAmount"}, "serverlessCpuAmount": {"/serverless", "cpuAmount"},
				"serverlessGpuAmount": {"/serverless", "gpuAmount"}, "clusterGpuAmount": {"/clusters", "gpuAmount"}, "endpointAmount": {"/endpoints", "totalAmount"},
			} {
				require.Equal(c, amount(c.bill(part[0]+"?lastN=2"), part[1]), amount(all, name), name)
				sum += amount(all, name)
			}

			require.Equal(c, sum, amount(all, "totalAmount"))
			require.NotZero(c, amount(all, "podGpuAmount"))
			require.LessOrEqual(c, len(records(all)), 2, "one for each bucket")
		})
	})

	add("billing.ownership", []string{"listBilling", "listPodBilling"}, func(c *Check) {
		c.frozen(func() {
			id := c.runs(gpuPod, time.Minute)["id"].(string)
			_, stranger := c.newKey(`,"user":"stranger"`, "all")
			for _, of := range []string{"", "/pods", "/pods?podId=" + id} {
				a := c.Send(Request{Method: "GET", URL: c.URL + "/v2/billing" + of, Key: "Bearer " + stranger})
				require.Equal(c, []any{}, a.JSON["records"], of)
			}
		})
	})
})
