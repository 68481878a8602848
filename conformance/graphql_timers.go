package conformance

import (
	"time"

	"github.com/stretchr/testify/require"
)

// timedPod deploys a pod with a timer that is due after so long.
func (c *Check) timedPod(timer string, after time.Duration) (id, at string) {
	now, err := time.Parse(time.RFC3339Nano, c.control("GET", "clock", "").JSON["now"].(string))
	require.NoError(c, err)
	at = now.Add(after).Truncate(time.Millisecond).Format(time.RFC3339Nano)
	return c.idOf(c.onL4(timer + `:"` + at + `"`)), at
}

// timers gives what GraphQL shows of a pod's timers, and of its status.
func (c *Check) timers(id string) map[string]any {
	pod := c.data(c.graphQL(`{pod(input:{podId:"` + id + `"}){stopAfter terminateAfter desiredStatus lastStatusChange}}`))["pod"]
	require.NotNil(c, pod)
	return pod.(map[string]any)
}

var _ = area(func() {
	add("graphql.timers.stop", []string{"getPod"}, func(c *Check) {
		c.frozen(func() {
			id, at := c.timedPod("stopAfter", time.Hour)
			shown, err := time.Parse(time.RFC3339Nano, c.timers(id)["stopAfter"].(string))
			require.NoError(c, err)
			require.Equal(c, at, shown.Format(time.RFC3339Nano))

			c.advance(time.Hour - time.Second)
			require.Equal(c, "RUNNING", c.getPod(id)["status"])
			c.advance(2 * time.Second)
			require.Equal(c, "EXITED", c.getPod(id)["status"])
			pod := c.timers(id)
			require.Nil(c, pod["stopAfter"])
			require.Contains(c, pod["lastStatusChange"], "it was to stop after")

			c.data(c.graphQL(`mutation{podResume(input:{podId:"` + id + `"}){id}}`))
			c.advance(time.Hour)
			require.Equal(c, "RUNNING", c.getPod(id)["status"])
		})
	})

	add("graphql.timers.terminate", []string{"getPod"}, func(c *Check) {
		c.frozen(func() {
			running, _ := c.timedPod("terminateAfter", time.Hour)
			stopped, _ := c.timedPod("terminateAfter", time.Hour)
			cpu := c.timers(stopped)["terminateAfter"].(string)
			onCPUs := c.idOf(c.onCPUs(`instanceId:"cpu3g-2-8",terminateAfter:"` + cpu + `"`))
			c.stop(stopped)
			c.advance(time.Hour - time.Second)
			for _, id := range []string{running, stopped, onCPUs} {
				c.getPod(id)
			}
			c.advance(2 * time.Second)
			for _, id := range []string{running, stopped, onCPUs} {
				c.Refused(c.REST("GET", "/v2/pods/"+id, ""), 404)
			}
		})
	})

	add("graphql.timers.past", nil, func(c *Check) {
		for _, timer := range []string{"stopAfter", "terminateAfter"} {
			require.Contains(c, c.wrongly(c.onL4(timer+`:"2020-01-01T00:00:00Z"`), 200, "REJECTED"), timer)
			require.Contains(c, c.wrongly(c.onCPUs(timer+`:"2020-01-01T00:00:00Z"`), 200, "REJECTED"), timer)
			c.wrongly(c.onL4(timer+`:"1h"`), 400, "INVALID")
		}
	})

	add("graphql.timers.start", []string{"getPod", "podAction"}, func(c *Check) {
		c.frozen(func() {
			early, _ := c.timedPod("stopAfter", time.Hour)
			late, _ := c.timedPod("stopAfter", time.Hour)
			c.stop(early)
			c.stop(late)
			require.NotNil(c, c.timers(early)["stopAfter"], "a stop by hand keeps it")
			require.Equal(c, 200, c.act(early, "start").Status)
			c.advance(time.Hour + time.Second)
			require.Equal(c, "EXITED", c.getPod(early)["status"])

			require.Equal(c, 200, c.act(late, "start").Status)
			require.Nil(c, c.timers(late)["stopAfter"])
			c.advance(time.Minute)
			require.Equal(c, "RUNNING", c.getPod(late)["status"])
		})
	})

	add("graphql.timers.locked", []string{"getPod", "updatePod"}, func(c *Check) {
		c.frozen(func() {
			id, _ := c.timedPod("stopAfter", time.Hour)
			lock := func(locked string) {
				require.Equal(c, 200, c.REST("PATCH", "/v2/pods/"+id, `{"locked":`+locked+`}`).Status)
			}
			lock("true")
			c.advance(2 * time.Hour)
			require.Equal(c, "RUNNING", c.getPod(id)["status"])
			lock("false")
			c.advance(time.Second)
			require.Equal(c, "EXITED", c.getPod(id)["status"])
		})
	})
})
