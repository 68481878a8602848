package conformance

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// refused lists who was refused, with the key of the test controls, by a query.
func (c *Check) refused(query string) (all []map[string]any) {
	a := c.told(c.ControlsKey, "audit/refusals?limit=1000&"+query)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	for _, one := range a.JSON["refusals"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

// refusedBy gives the interface, the reason and the count of the refusals of a key.
func (c *Check) refusedBy(key string) (all []string) {
	for _, r := range c.refused("key=" + key) {
		all = append(all, fmt.Sprint(r["interface"], " ", r["reason"], " ", r["count"]))
	}
	return all
}

// nextMinute has the frozen clock of the target begin a minute in which nobody has been refused yet.
func (c *Check) nextMinute() (since string) {
	a := c.control("GET", "clock", "")
	now, err := time.Parse(time.RFC3339Nano, a.JSON["now"].(string))
	require.NoError(c, err)
	next := now.Truncate(time.Minute).Add(time.Minute)
	c.forward(next.Sub(now) + time.Millisecond) // which it is told in whole ones
	return "since=" + url.QueryEscape(next.Format(time.RFC3339Nano))
}

var _ = area(func() {
	list := []string{"listRefusals"}

	add("audit.refusals", []string{"listRefusals", "listPods", "health", "getClock", "podAction", "updatePod"}, func(c *Check) {
		c.needsControls()
		c.frozen(func() {
			since := c.nextMinute()
			nobody := "00" + c.name // that no other rule sends
			unknown := "Bearer brt_" + nobody + "_" + strings.Repeat("0", 40)
			id, key := c.newKey("", "queue:*:work")
			revoked, gone := c.newKey("", "all")
			c.set("DELETE", "keys/"+revoked, "")
			expired, late := c.newKey(`,"expiresIn":1`, "all")
			c.forward(time.Second)

			for range 3 {
				c.Refused(c.listPods(key), 403)
			}
			c.Refused(c.told(key, "clock"), 403)
			c.graphQLAs("Bearer "+key, `{myself{id}}`, nil)
			c.withKey("Bearer " + gone)
			c.withKey("Bearer " + late)
			c.withKey(unknown)
			c.withKey("Bearer nonsense")
			c.withKey("-")
			require.ElementsMatch(c, []string{"rest scope 3", "controls scope 1", "graphql scope 1"}, c.refusedBy(id))
			require.ElementsMatch(c, []string{"rest revoked 1", "queue revoked 1"}, c.refusedBy(revoked))
			require.ElementsMatch(c, []string{"rest expired 1", "queue expired 1"}, c.refusedBy(expired))
			require.ElementsMatch(c, []string{"rest unknown 1", "queue unknown 1"}, c.refusedBy(nobody))

			var keyless []string
			for _, r := range c.refused(since) {
				if r["key"] == nil {
					keyless = append(keyless, fmt.Sprint(r["interface"], " ", r["reason"]))
				}
				require.NotEmpty(c, r["client"])
			}
			require.ElementsMatch(c, []string{"rest missing", "queue missing", "rest malformed", "queue malformed"}, keyless)

			c.listPods(key)
			require.Contains(c, c.refusedBy(id), "rest scope 4", "it is one entry still")
			c.nextMinute()
			c.listPods(key)
			require.Equal(c, "rest scope 1", c.refusedBy(id)[0], "the next minute has one of its own")

			pod, other := c.newPod(gpuPod), c.own("other")
			c.newSecret(other)
			id, key = c.newKey("", "pod:"+pod)
			inPod := func(method, path, body string) Answer {
				return c.Send(Request{Method: method, URL: c.URL + "/v2/pods/" + pod + path, Body: body, Key: "Bearer " + key})
			}
			c.Refused(inPod("POST", "/action", `{"action":"start"}`), 403)
			c.Refused(inPod("PATCH", "", `{"env":{"A":"{{ RUNPOD_SECRET_`+other+` }}"}}`), 403)
			require.Equal(c, 200, inPod("PATCH", "", `{"name":"b"}`).Status)
			require.Equal(c, []string{"rest scope 2"}, c.refusedBy(id), "each once, though it depends on more than the path")
		})
	})

	add("audit.refusals.key", list, func(c *Check) {
		c.needsControls()
		c.frozen(func() {
			c.nextMinute()
			id, key := c.newKey(`,"user":"refused"`, "queue:*:work")
			c.Refused(c.listPods(key), 403)
			c.told(c.ControlsKey, "audit/refusals") // they come into the store in this order
			c.Refused(c.listPods(wrong(key)), 401)
			found := c.refused("key=" + id)
			require.Len(c, found, 2)
			require.Equal(c, "unknown", found[0]["reason"])
			require.Nil(c, found[0]["user"], "who has another's key id is nobody")
			require.Equal(c, c.name+"-refused", found[1]["user"])
			all := c.told(c.ControlsKey, "audit/refusals?limit=1000")
			require.NotContains(c, string(all.Body), key[len(key)-40:])
			require.NotContains(c, string(all.Body), wrong(key)[len(key)-40:])
		})
	})

	add("audit.refusals.bound", list, func(c *Check) {
		c.needsControls()
		c.frozen(func() {
			since := c.nextMinute()
			const most, sent = 256, 300
			for n := range sent {
				c.listPods(fmt.Sprintf("brt_%010d_%s", n, strings.Repeat("0", 40)))
			}
			found := c.refused(since)
			require.Len(c, found, most+1)
			var named int
			for _, r := range found {
				if r["client"] == nil {
					require.EqualValues(c, sent-most, r["count"])
					require.Nil(c, r["key"])
					require.Equal(c, "rest", r["interface"])
					require.Equal(c, "unknown", r["reason"])
				} else {
					named++
				}
			}
			require.Equal(c, most, named)
		})
	})

	add("audit.refusals.pages", list, func(c *Check) {
		c.needsControls()
		c.frozen(func() {
			since := c.nextMinute()
			id, key := c.newKey(`,"user":"paged"`, "queue:*:work")
			c.listPods(key)
			second := c.nextMinute()
			c.listPods(key)
			c.told(key, "clock")
			for query, want := range map[string]int{
				"": 3, "&" + since: 3, "&" + second: 2, "&until=" + strings.TrimPrefix(second, "since="): 1, "&user=" + c.name + "-paged": 3, "&user=nobody": 0, "&client=nobody": 0,
			} {
				require.Len(c, c.refused("key="+id+query), want, query)
			}

			var reasons []any
			for cursor := ""; ; {
				page := c.told(c.ControlsKey, "audit/refusals?key="+id+"&limit=2"+cursor)
				require.Equal(c, 200, page.Status, "%s", page.Body)
				for _, r := range page.JSON["refusals"].([]any) {
					reasons = append(reasons, r.(map[string]any)["number"])
				}
				pagination := page.JSON["pagination"].(map[string]any)
				if pagination["hasNextPage"] == false {
					break
				}
				cursor = "&cursor=" + url.QueryEscape(pagination["nextCursor"].(string))
				c.Refused(c.told(c.ControlsKey, "audit/refusals?key=other"+cursor), 422)
			}
			require.Len(c, reasons, 3)
			require.IsDecreasing(c, []float64{reasons[0].(float64), reasons[1].(float64), reasons[2].(float64)})
		})
		for _, wrong := range []string{"since=yesterday", "until=1", "user=", "client=", "key=", "page=2", "limit=0", "cursor=x"} {
			c.Refused(c.told(c.ControlsKey, "audit/refusals?"+wrong), 422)
		}
	})

	add("audit.refusals.scope", list, func(c *Check) {
		_, admin := c.newKey("", "admin")
		for _, permitted := range []string{admin, c.ControlsKey, c.Key} {
			require.Equal(c, 200, c.told(permitted, "audit/refusals?limit=1").Status)
		}
		_, narrow := c.newKey("", "rest:read", "rest:write", "graphql:write")
		c.Refused(c.told(narrow, "audit/refusals"), 403)
	})
})
