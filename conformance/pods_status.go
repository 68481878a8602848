package conformance

import "github.com/stretchr/testify/require"

var _ = area(func() {
	read := []string{"createPod", "getPod"}
	add("pods.status.provisioned", read, func(c *Check) {
		pod, _ := c.starting() // which fails unless a pod is seen STARTING
		require.Nil(c, pod["runtime"])
	})

	add("pods.status.healthy", read, func(c *Check) {
		require.NotNil(c, c.becomes(c.newPod(gpuPod), "RUNNING")["runtime"])
	})
	add("pods.status.finished", read, func(c *Check) {
		c.needsSim()
		c.becomes(c.newPod(with(`"env":{"BERTH_SIM_EXIT_AFTER":"0s"}`)), "EXITED")
	})
	add("pods.status.failed", read, func(c *Check) {
		c.needsSim()
		c.becomes(c.newPod(with(`"env":{"BERTH_SIM_EXIT_AFTER":"0s","BERTH_SIM_EXIT_CODE":"3"}`)), "ERROR")
	})
	add("pods.status.error", read, func(c *Check) { c.failed() })

	add("pods.actions", read, func(c *Check) {
		pod := c.createPod(gpuPod)
		require.Equal(c, "PROVISIONING", pod["status"])
		require.Equal(c, []any{"stop", "terminate"}, pod["actions"])
	})

	add("pods.actions.starting", read, func(c *Check) {
		pod, _ := c.starting()
		require.Equal(c, []any{"stop", "terminate"}, pod["actions"])
	})

	add("pods.actions.running", read, func(c *Check) {
		require.Equal(c, []any{"stop", "restart", "terminate"}, c.getPod(c.running(gpuPod))["actions"])
	})
	add("pods.actions.exited", read, func(c *Check) {
		require.Equal(c, []any{"start", "terminate"}, c.getPod(c.exited())["actions"])
	})
	add("pods.actions.error", read, func(c *Check) {
		require.Equal(c, []any{"start", "terminate"}, c.getPod(c.failed())["actions"])
	})
})

var _ = area(func() {
	ops := []string{"podAction", "getPod", "createPod"}
	add("pods.action", ops, func(c *Check) {
		id := c.newPod(gpuPod)
		a := c.act(id, "stop")
		require.Equal(c, 200, a.Status, "%s", a.Body)
		require.Equal(c, id, a.JSON["id"])
		for _, body := range []string{`{"action":"explode"}`, `{"action":7}`, `{}`, `{"action":"start","force":true}`} {
			require.Len(c, c.Refused(c.REST("POST", "/v2/pods/"+id+"/action", body), 422), 1)
		}
	})

	add("pods.action.unknown", ops, func(c *Check) {
		c.Refused(c.act("nosuchpod", "stop"), 404)
		c.Refused(c.act("nosuchpod", "terminate"), 404)
	})
	add("pods.action.provisioning.stop", ops, func(c *Check) { c.acted(c.newPod(gpuPod), "stop", "EXITED") })
	add("pods.action.provisioning.terminate", ops, func(c *Check) { c.terminated(c.newPod(gpuPod)) })

	add("pods.action.starting.stop", ops, func(c *Check) {
		c.whileStarting(func(pod map[string]any) func() {
			a := c.act(pod["id"].(string), "stop")
			return func() {
				require.Equal(c, 200, a.Status, "%s", a.Body)
				require.Equal(c, "EXITED", a.JSON["status"])
			}
		})
	})

	add("pods.action.starting.terminate", ops, func(c *Check) {
		c.whileStarting(func(pod map[string]any) func() {
			a := c.act(pod["id"].(string), "terminate")
			return func() { require.Equal(c, 204, a.Status, "%s", a.Body) }
		})
	})

	add("pods.action.running.stop", ops, func(c *Check) { c.acted(c.running(gpuPod), "stop", "EXITED") })
	add("pods.action.running.restart", ops, func(c *Check) {
		id := c.running(gpuPod)
		before := c.time(c.getPod(id)["startedAt"])
		c.acted(id, "restart", "STARTING")
		require.True(c, c.time(c.becomes(id, "RUNNING")["startedAt"]).After(before))
	})

	add("pods.action.running.terminate", ops, func(c *Check) { c.terminated(c.running(gpuPod)) })
	add("pods.action.exited.start", ops, func(c *Check) {
		id := c.exited()
		c.acted(id, "start", "PROVISIONING")
		c.becomes(id, "RUNNING")
	})

	add("pods.action.exited.terminate", ops, func(c *Check) { c.terminated(c.exited()) })
	add("pods.action.error.start", ops, func(c *Check) { c.acted(c.failed(), "start", "PROVISIONING") })
	add("pods.action.error.terminate", ops, func(c *Check) { c.terminated(c.failed()) })

	refused := func(c *Check, id string, actions ...string) {
		for _, action := range actions {
			c.Refused(c.act(id, action), 409)
		}
	}

	add("pods.action.conflict", ops, func(c *Check) { refused(c, c.newPod(gpuPod), "start", "restart") })
	add("pods.action.conflict.starting", ops, func(c *Check) {
		c.whileStarting(func(pod map[string]any) func() {
			start, restart := c.act(pod["id"].(string), "start"), c.act(pod["id"].(string), "restart")
			return func() {
				c.Refused(start, 409)
				c.Refused(restart, 409)
			}
		})
	})

	add("pods.action.conflict.running", ops, func(c *Check) { refused(c, c.running(gpuPod), "start") })
	add("pods.action.conflict.exited", ops, func(c *Check) { refused(c, c.exited(), "stop", "restart") })
	add("pods.action.conflict.error", ops, func(c *Check) { refused(c, c.failed(), "stop", "restart") })
	add("pods.terminate", append(ops, "listPods"), func(c *Check) {
		id := c.newPod(gpuPod)
		a := c.act(id, "terminate")
		require.Equal(c, 204, a.Status)
		require.Empty(c, a.Body)
		c.gone(id)
		c.Refused(c.act(id, "terminate"), 404)
	})

	lock := []string{"updatePod", "podAction", "createPod"}
	add("pods.locked", lock, func(c *Check) {
		id := c.newPod(gpuPod)
		require.Equal(c, true, c.patched(id, `{"locked":true}`)["locked"])
		refused(c, id, "stop")
	})

	add("pods.locked.restart", lock, func(c *Check) {
		id := c.running(gpuPod)
		c.patched(id, `{"locked":true}`)
		refused(c, id, "restart")
	})

	add("pods.locked.patch", lock, func(c *Check) {
		id := c.running(with(`"disk":30`))
		started := c.patched(id, `{"locked":true}`)["startedAt"]
		for _, change := range []string{`{"image":"j"}`, `{"args":"x"}`, `{"env":{"A":"1"}}`, `{"ports":["80/http"]}`, `{"disk":33}`, `{"name":"b","image":"j"}`, `{"locked":true,"image":"j"}`} {
			c.Refused(c.patch(id, change), 409)
		}
		c.wrongly(c.graphQL(`mutation{podEditJob(input:{podId:"`+id+`",imageName:"j"}){id}}`), 200, "CONFLICT")
		pod := c.getPod(id)
		require.Equal(c, []any{"a", "i", 30.0, "RUNNING", started}, []any{pod["name"], pod["image"], pod["disk"], pod["status"], pod["startedAt"]})
		require.Equal(c, "b", c.patched(id, `{"name":"b"}`)["name"])
		require.Equal(c, "STARTING", c.patched(id, `{"locked":false,"image":"j"}`)["status"])

		c.becomes(id, "RUNNING")
		require.Equal(c, "STARTING", c.patched(id, `{"locked":true,"image":"k"}`)["status"], "it was not locked before")
		c.becomes(id, "RUNNING")
		c.patched(id, `{"locked":false}`)
		c.acted(id, "stop", "EXITED")
		c.patched(id, `{"locked":true}`)
		require.Equal(c, "l", c.patched(id, `{"image":"l"}`)["image"], "a stopped pod is not restarted")
	})

	add("pods.locked.off", lock, func(c *Check) {
		id := c.newPod(gpuPod)
		c.patched(id, `{"locked":true}`)
		require.Equal(c, false, c.patched(id, `{"locked":false}`)["locked"])
		c.acted(id, "stop", "EXITED")
	})
})
