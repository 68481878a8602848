package conformance

import (
	"time"

	"github.com/stretchr/testify/require"
)

// states lists the names of the saved states.
func (c *Check) states() (names []string) {
	a := c.control("GET", "states", "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	for _, one := range a.JSON["states"].([]any) {
		state := one.(map[string]any)
		require.Positive(c, state["bytes"])
		names = append(names, state["name"].(string))
	}
	return names
}

// saved saves a state for as long as f takes.
func (c *Check) saved(name string, f func()) {
	c.set("PUT", "states/"+name, "")
	defer c.set("DELETE", "states/"+name, "")
	f()
}

var _ = area(func() {
	add("controls.states", []string{"listStates", "saveState", "deleteState"}, func(c *Check) {
		c.saved("rules-1", func() {
			require.Contains(c, c.states(), "rules-1")
			c.set("PUT", "states/rules-1", "") // again
		})
		require.NotContains(c, c.states(), "rules-1")
		c.Refused(c.control("DELETE", "states/rules-1", ""), 404)
		c.Refused(c.control("POST", "states/rules-1/load", ""), 404)
	})

	add("controls.states.name", []string{"saveState", "loadState", "deleteState"}, func(c *Check) {
		for _, name := range []string{"A", "a.db", "-a", "..%2Fa", "%2e%2e"} {
			c.Refused(c.control("PUT", "states/"+name, ""), 422)
			c.Refused(c.control("POST", "states/"+name+"/load", ""), 422)
			c.Refused(c.control("DELETE", "states/"+name, ""), 422)
		}
	})

	add("controls.states.load", []string{"loadState"}, func(c *Check) {
		c.needsControls()
		pod, id := c.newPod(gpuPod), c.submit(job)
		c.saved("rules-2", func() {
			require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+pod, "").Status)
			require.Equal(c, 200, c.Queue("POST", "cancel/"+id, "").Status)
			more := c.newPod(gpuPod)
			_, key := c.newKey("", "all")

			for range 2 {
				c.set("POST", "states/rules-2/load", "")
				require.Equal(c, 200, c.REST("GET", "/v2/pods/"+pod, "").Status)
				c.Refused(c.REST("GET", "/v2/pods/"+more, ""), 404)
				require.Equal(c, "IN_QUEUE", c.status(id)["status"])
				c.Refused(c.listPods(key), 401)
			}
		})
	})

	add("controls.states.costs", []string{"loadState", "getCosts"}, func(c *Check) {
		c.needsControls()
		c.spender(func(c *Check) {
			pod := c.runs(gpuPod, 24*time.Hour)
			total := func() int64 { return nano(c.costsOf("spender", "")["total"]) }
			before := total()
			require.Equal(c, 24*nano(pod["cost"]), before)

			c.saved("rules-3", func() {
				c.advance(10 * time.Hour)
				for range 2 {
					c.set("POST", "states/rules-3/load", "")
					minute := float64(nano(pod["cost"])) / 60
					require.InDelta(c, before, total(), minute, "the load takes a moment")
					c.advance(time.Hour)
					require.InDelta(c, before+nano(pod["cost"]), total(), 2*minute)
				}
			})
		})
	})
})
