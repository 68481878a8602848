package conformance

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
)

// costsOf gives what a user of this rule alone would have paid; more are further parameters.
func (c *Check) costsOf(user, more string) map[string]any {
	a := c.control("GET", "costs?user="+c.name+"-"+user+more, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// costs gives the single costs of a report, in their order.
func costs(report map[string]any) (all []map[string]any) {
	for _, one := range report["costs"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

// sumOf adds up single costs, in billionths.
func sumOf(all []map[string]any) (sum int64) {
	for _, one := range all {
		sum += nano(one["amount"])
	}
	return sum
}

// spender has f make requests, while the clock stands still, with a key of a user who has nothing.
func (c *Check) spender(f func(c *Check)) {
	c.frozen(func() {
		_, key := c.newKey(`,"user":"spender"`, "all")
		was := c.Key
		c.Key = key
		defer func() { c.Key = was }()
		f(c)
	})
}

var _ = area(func() {
	ops := []string{"getCosts"}
	add("controls.costs", ops, func(c *Check) {
		c.spender(func(c *Check) {
			require.Empty(c, costs(c.costsOf("spender", "")))
			endpoint := c.newEndpoint(gpuEndpoint, `"workers":{"min":1}`)
			c.awaitCrew(endpoint, "INITIALIZING")
			c.newVolume()
			c.newCluster(cluster)
			gpu, cpu := c.runs(gpuPod, 2*time.Hour), c.runs(cpuPod, time.Hour)

			report := c.costsOf("spender", "")
			all := costs(report)
			require.Len(c, all, 5)
			require.EqualValues(c, 5, report["count"])
			require.Equal(c, nano(report["total"]), sumOf(all))

			byKind := map[any]int64{}
			for i, one := range all {
				require.Equal(c, c.name+"-spender", one["user"])
				require.True(c, i == 0 || nano(all[i-1]["amount"]) >= nano(one["amount"]), "the highest first")
				byKind[one["kind"]] += nano(one["amount"])
				if one["id"] == gpu["id"] {
					require.EqualValues(c, c.now().Sub(c.time(gpu["startedAt"])).Milliseconds(), one["milliseconds"])
				}
				if one["id"] == cpu["id"] {
					require.Equal(c, nano(cpu["cost"]), nano(one["amount"]))
				}
			}

			for kind, of := range map[string]string{"pod": "/pods", "cluster": "/clusters", "endpoint": "/serverless", "volume": "/network-volumes"} {
				require.NotZero(c, byKind[kind], kind)
				require.Equal(c, amount(c.bill(of), "totalAmount"), byKind[kind], "what is billed")
			}
		})
	})

	add("controls.costs.clock", ops, func(c *Check) {
		c.spender(func(c *Check) {
			pod := c.runs(gpuPod, 24*time.Hour)
			report := c.costsOf("spender", "")
			require.Equal(c, 24*nano(pod["cost"]), nano(report["total"]))
			require.Equal(c, c.now(), c.time(report["until"]))
		})
	})

	add("controls.costs.deleted", ops, func(c *Check) {
		c.spender(func(c *Check) {
			pod := c.runs(gpuPod, time.Hour)
			require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+pod["id"].(string), "").Status)
			c.advance(time.Hour)
			all := costs(c.costsOf("spender", ""))
			require.Len(c, all, 1)
			require.Equal(c, pod["id"], all[0]["id"])
			require.Equal(c, nano(pod["cost"]), nano(all[0]["amount"]))
			require.EqualValues(c, time.Hour.Milliseconds(), all[0]["milliseconds"])
		})
	})

	add("controls.costs.by", ops, func(c *Check) {
		c.spender(func(c *Check) {
			_, other := c.newKey(`,"user":"other"`, "all")
			c.newVolume()
			c.runs(gpuPod, time.Hour)
			c.runs(cpuPod, time.Hour)
			require.Empty(c, costs(c.costsOf("other", "")))
			c.Key = other
			c.runs(cpuPod, time.Hour)

			whole := c.costsOf("spender", "")
			require.Equal(c, whole, c.costsOf("spender", "&by=resource"))
			kinds := c.costsOf("spender", "&by=kind")
			require.Equal(c, whole["total"], kinds["total"])
			require.EqualValues(c, 2, kinds["count"])
			require.Len(c, kinds["costs"], 2)
			require.Equal(c, nano(kinds["total"]), sumOf(costs(kinds)))
			for _, one := range costs(kinds) {
				require.Contains(c, []any{"pod", "volume"}, one["kind"])
				require.NotContains(c, one, "id")
				require.NotContains(c, one, "user")
			}

			users := map[any]int64{}
			report := c.control("GET", "costs?by=user&limit=1000", "")
			require.Equal(c, 200, report.Status)
			for _, one := range costs(report.JSON) {
				require.NotContains(c, one, "id")
				require.NotContains(c, one, "kind")
				users[one["user"]] = nano(one["amount"])
			}
			require.Equal(c, nano(whole["total"]), users[c.name+"-spender"])
			require.Equal(c, nano(c.costsOf("other", "")["total"]), users[c.name+"-other"])
		})
	})

	add("controls.costs.span", ops, func(c *Check) {
		c.spender(func(c *Check) {
			id := c.runs(with(`"cloud":"COMMUNITY"`), 7*time.Minute+123*time.Millisecond)["id"].(string)
			first := c.costsOf("spender", "")
			border := isoTime(c.time(first["until"]))
			require.Zero(c, c.costsOf("spender", "&since="+border)["count"], "nothing yet")

			c.advance(11*time.Minute + 457*time.Millisecond)
			c.acted(id, "stop", "EXITED")
			second, whole := c.costsOf("spender", "&since="+border), c.costsOf("spender", "")
			require.Equal(c, first["total"], c.costsOf("spender", "&until="+border)["total"])
			require.Equal(c, c.time(first["until"]), c.time(c.costsOf("spender", "&until="+border)["until"]))
			require.Equal(c, nano(whole["total"]), nano(first["total"])+nano(second["total"]))
			require.EqualValues(c, (11*time.Minute + 457*time.Millisecond).Milliseconds(), costs(second)[0]["milliseconds"])

			later := isoTime(c.now().Add(time.Hour))
			require.Equal(c, whole["total"], c.costsOf("spender", "&until="+later)["total"], "nothing is billed before its time")
			require.Zero(c, c.costsOf("spender", "&since="+later)["count"])
			require.Zero(c, c.costsOf("spender", "&since="+border+"&until="+border)["count"])
			require.Zero(c, c.costsOf("spender", "&until=0000-01-01T00:00:00%2B23:59")["count"])
			require.Equal(c, whole["total"], c.costsOf("spender", "&since=0000-01-01T00:00:00%2B23:59&until=9999-12-31T23:59:59-23:59")["total"])
		})
	})

	add("controls.costs.limit", ops, func(c *Check) {
		c.spender(func(c *Check) {
			for range 5 {
				c.runs(cpuPod, time.Minute)
			}
			all := c.costsOf("spender", "")
			for _, limit := range []int{1, 2, 3, 5, 1000} {
				some := c.costsOf("spender", fmt.Sprintf("&limit=%d", limit))
				require.Equal(c, costs(all)[:min(limit, 5)], costs(some), "the highest")
				require.EqualValues(c, 5, some["count"])
				require.Equal(c, all["total"], some["total"])
			}
		})
	})

	add("controls.costs.reset", []string{"getCosts", "resetState"}, func(c *Check) {
		c.spender(func(c *Check) {
			c.runs(gpuPod, time.Hour)
			require.NotZero(c, c.costsOf("spender", "")["total"])
			c.set("POST", "reset", "")
			require.Zero(c, c.costsOf("spender", "")["total"])
			pod := c.runs(gpuPod, time.Hour)
			require.Equal(c, pod["cost"], c.costsOf("spender", "")["total"])
		})
	})

	add("controls.costs.parameters", ops, func(c *Check) {
		for query, place := range map[string]string{
			"by=test": "query.by:", "user=": "query.user:", "since=yesterday": "query.since:", "until=2026-03-04": "query.until:",
			"limit=0": "query.limit:", "limit=1001": "query.limit:",
		} {
			errors := c.Refused(c.control("GET", "costs?"+query, ""), 422)
			require.Len(c, errors, 1, query)
			require.Contains(c, errors[0], place)
		}
	})
})
