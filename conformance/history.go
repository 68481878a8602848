package conformance

import (
	"time"

	"github.com/stretchr/testify/require"
)

// isFleetHistory reports whether the operation tells how everything stood, which is for the scope admin.
func isFleetHistory(op Operation) bool { return op.Path == controlsPath+"history" }

// historyOf gives the samples at a path, oldest first.
func (c *Check) historyOf(path string) (samples []map[string]any) {
	a := c.about(path)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.EqualValues(c, 10_000, a.JSON["interval"])
	for _, one := range a.JSON["samples"].([]any) {
		samples = append(samples, one.(map[string]any))
	}
	for i := range samples {
		require.True(c, i == 0 || c.time(samples[i-1]["at"]).Before(c.time(samples[i]["at"])), "the oldest first")
	}
	return samples
}

// lastOf gives the last sample at a path.
func (c *Check) lastOf(path string) map[string]any {
	samples := c.historyOf(path)
	require.NotEmpty(c, samples)
	return samples[len(samples)-1]
}

var _ = area(func() {
	add("controls.history.endpoint", []string{"getEndpointHistory", "run", "takeJob", "finishJob"}, func(c *Check) {
		c.frozen(func() {
			q, _ := c.ownQueue()
			path := "endpoints/" + q.Endpoint + "/history"
			c.advance(10 * time.Second)
			require.EqualValues(c, 0, c.lastOf(path)["waiting"])

			id := q.submit(job)
			second := q.submit(job)
			c.advance(10 * time.Second)
			stood := c.lastOf(path)
			require.EqualValues(c, 2, stood["waiting"])
			require.Equal(c, c.now(), c.time(stood["at"]))
			q.takeJob("w", id)
			c.advance(10 * time.Second)
			stood = c.lastOf(path)
			for name, n := range map[string]int{"waiting": 1, "inProgress": 1, "running": 1, "idle": 0, "completed": 0} {
				require.EqualValues(c, n, stood[name], name)
			}

			q.done("w", id, `{}`)
			c.advance(10 * time.Second)
			stood = c.lastOf(path)
			for name, n := range map[string]int{"waiting": 1, "inProgress": 0, "running": 0, "idle": 1, "completed": 1, "failed": 0} {
				require.EqualValues(c, n, stood[name], name)
			}
			q.takeJob("w", second)
			q.done("w", second, `{"error":"x"}`)
			c.advance(10 * time.Second)
			require.EqualValues(c, 1, c.lastOf(path)["failed"])
			was := c.historyOf(path)
			c.advance(10 * time.Second)
			c.advance(10 * time.Second)
			require.Equal(c, was, c.historyOf(path), "nothing has changed")
			c.Refused(c.about("endpoints/otherendpoint1/history"), 404)
		})
	})

	add("controls.history.pod", []string{"getPodHistory"}, func(c *Check) {
		c.frozen(func() {
			pod := c.runs(gpuPod, time.Minute)
			stood, now := c.lastOf("pods/"+pod["id"].(string)+"/history"), c.getPod(pod["id"].(string))["runtime"].(map[string]any)
			require.NotEmpty(c, now)
			require.Len(c, stood["gpus"], 1)
			for name, of := range map[string]string{"cpuPercent": "cpu", "memoryPercent": "memory"} {
				require.InDelta(c, now[of].(map[string]any)["util"], stood[name], 1, name)
			}
			gpu, its := stood["gpus"].([]any)[0].(map[string]any), now["gpus"].([]any)[0].(map[string]any)
			require.InDelta(c, its["util"], gpu["percent"], 1)
			require.InDelta(c, its["memoryUtil"], gpu["memoryPercent"], 1)
			c.Refused(c.about("pods/otherpodother1/history"), 404)
		})
	})

	add("controls.history.fleet", []string{"getHistory"}, func(c *Check) {
		c.frozen(func() {
			c.advance(10 * time.Second)
			before := c.lastOf("history")
			q, _ := c.ownQueue()
			done, failed, taken := q.submit(job), q.submit(job), q.submit(job)
			q.submit(job)
			c.runs(gpuPod, time.Minute)
			for _, id := range []string{done, failed, taken} {
				q.takeJob("w", id)
			}
			q.done("w", done, `{}`)
			q.done("w", failed, `{"error":"x"}`)
			c.advance(10 * time.Second)
			after := c.lastOf("history")
			for _, name := range []string{"pods", "endpoints", "waiting", "inProgress", "completed", "failed"} {
				require.Equal(c, before[name].(float64)+1, after[name], name)
			}
			require.Positive(c, after["workers"])
		})
	})

	add("controls.history.scope", []string{"getHistory", "getEndpointHistory", "getPodHistory"}, func(c *Check) {
		q, _ := c.ownQueue()
		pod := c.newPod(gpuPod)
		_, reader := c.newKey("", "rest:read")
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		_, admin := c.newKey("", "admin")
		_, ofPod := c.newKey("", "pod:"+pod)
		for _, path := range []string{"endpoints/" + q.Endpoint + "/history", "pods/" + pod + "/history"} {
			require.Equal(c, 200, c.told(reader, path).Status, path)
			require.Equal(c, 200, c.told(c.ControlsKey, path).Status, path)
			c.Refused(c.told(stranger, path), 404)
			c.Refused(c.told(admin, path), 403)
		}
		require.Equal(c, 200, c.told(ofPod, "pods/"+pod+"/history").Status)
		require.Equal(c, 200, c.told(admin, "history").Status)
		c.Refused(c.told(reader, "history"), 403)
	})
})
