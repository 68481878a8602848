package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

var _ = area(func() {
	ops := []string{"updatePod", "getPod", "createPod"}
	mounted := with(`"mounts":{"persistent":{"size":20,"path":"/a"}}`)

	// refused asserts that PATCH of a new pod answers the body with the status, and each of the lines begins an error.
	refused := func(c *Check, id, body string, status int, lines ...string) {
		errors := c.Refused(c.patch(id, body), status)
		require.Len(c, errors, len(lines), "%v", errors)
		for i, line := range lines {
			require.True(c, strings.HasPrefix(errors[i], line), "%q does not begin with %q", errors[i], line)
		}
	}

	steady := func(pod map[string]any) map[string]any {
		for _, moving := range []string{"status", "actions", "runtime", "startedAt"} {
			delete(pod, moving)
		}
		return pod
	}

	add("pods.patch", ops, func(c *Check) {
		before := steady(c.createPod(with(`"env":{"A":"1"},"ports":["80/http"],"args":"x","disk":30,"mounts":{"persistent":{"size":20,"path":"/a"}}`)))
		id := before["id"].(string)
		require.Equal(c, before, steady(c.patched(id, `{}`)))
		before["name"] = "b"
		require.Equal(c, before, steady(c.patched(id, `{"name":"b"}`)))
		require.Equal(c, before, steady(c.getPod(id)))
	})

	add("pods.patch.members", ops, func(c *Check) {
		id, whole := c.newPod(with(`"env":{"A":"1"},"ports":["80/http"]`)), map[string]any{}
		for member, values := range map[string][]string{
			"name": {`"b"`}, "image": {`"j"`}, "args": {`"x y"`, `""`}, "disk": {`21`}, "ports": {`["90/tcp"]`, `[]`},
			"env": {`{"B":"2"}`, `{}`}, "registry": {`null`}, "locked": {`true`, `false`},
		} {
			for _, value := range values {
				var want any
				require.NoError(c, json.Unmarshal([]byte(value), &want))
				require.Equal(c, want, c.patched(id, `{"`+member+`":`+value+`}`)[member], member)
				whole[member] = want
			}
		}

		pod := c.getPod(id)
		for member, want := range whole {
			require.Equal(c, want, pod[member], member)
		}
	})

	add("pods.patch.closed", ops, func(c *Check) {
		id := c.newPod(gpuPod)
		for member, value := range map[string]string{"gpu": `{"id":"NVIDIA L4"}`, "cpu": `{}`, "cloud": `"SECURE"`, "dataCenterIds": `[]`, "other": `1`} {
			refused(c, id, `{"`+member+`":`+value+`}`, 422, "/"+member+":")
		}
	})

	add("pods.patch.values", ops, func(c *Check) {
		id := c.newPod(mounted)
		for body, line := range map[string]string{
			`{"name":""}`: "/name:", `{"name":null}`: "/name:", `{"image":7}`: "/image:", `{"args":null}`: "/args:", `{"disk":0}`: "/disk:",
			`{"ports":["0/tcp"]}`: "/ports/0:", `{"env":{"A":1}}`: "/env/A:", `{"env":null}`: "/env:", `{"registry":7}`: "/registry:",
			`{"locked":"yes"}`: "/locked:", `{"globalNetworking":1}`: "/globalNetworking:", `{"mounts":{"other":1}}`: "/mounts/other:",
			`{"mounts":{"persistent":{"size":9,"path":"/a"}}}`: "/mounts/persistent/size:",
		} {
			refused(c, id, body, 422, line)
		}
	})

	add("pods.patch.ports", ops, func(c *Check) {
		refused(c, c.newPod(gpuPod), `{"ports":["1/tcp","1/udp"]}`, 400)
	})
	add("pods.patch.credential", ops, func(c *Check) {
		refused(c, c.newPod(gpuPod), `{"registry":"nocredential"}`, 404)
	})
	add("pods.patch.unknown", ops, func(c *Check) {
		refused(c, "nosuchpod", `{}`, 404)
	})

	add("pods.patch.restart", ops, func(c *Check) {
		changes := []string{`{"image":"j"}`, `{"args":"x"}`, `{"env":{"A":"1"}}`, `{"ports":["80/http"]}`, `{"disk":33}`}
		ids := make([]string, len(changes))
		for i := range changes {
			ids[i] = c.newPod(gpuPod)
		}

		for i, change := range changes {
			c.becomes(ids[i], "RUNNING")
			pod := c.patched(ids[i], change)
			require.Equal(c, "STARTING", pod["status"], change)
			require.Nil(c, pod["startedAt"], change)
		}

		c.becomes(ids[0], "RUNNING")
	})

	add("pods.patch.restart.starting", append(ops, "getPodLogs"), func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			for _, status := range []string{"PROVISIONING", "STARTING"} {
				id := c.newPod(gpuPod)
				if status == "STARTING" {
					c.Eventually(func() bool { return c.getPod(id)["status"] == status }, "it is placed")
				}
				pod := c.patched(id, `{"args":"later","env":{"BERTH_SIM_LOG_EVERY":"1s"}}`)
				require.Contains(c, []string{"PROVISIONING", "STARTING"}, pod["status"])
				c.patched(id, `{"args":"latest"}`)
				c.Eventually(func() bool {
					c.advance(time.Second)
					return c.getPod(id)["status"] == "RUNNING"
				}, "it comes up")

				c.advance(2 * time.Second)
				s := c.logs(id, "?source=container", "")
				lines := s.until("tick 1")
				s.hangUp()
				lines = slices.DeleteFunc(lines, func(l logLine) bool { return !strings.HasPrefix(l.line, "sim: starting") })
				require.Contains(c, lines[len(lines)-1].line, "latest")
			}
		})
	})

	add("pods.patch.restart.not", ops, func(c *Check) {
		id := c.running(with(`"disk":30,"args":"x","env":{"A":"1"},"ports":["80/http"],"mounts":{"persistent":{"size":20,"path":"/a"}}`))
		started := c.getPod(id)["startedAt"]
		for _, change := range []string{
			`{}`, `{"name":"b"}`, `{"locked":true}`, `{"registry":null}`, `{"image":"i"}`, `{"args":"x"}`, `{"env":{"A":"1"}}`,
			`{"ports":["80/http"]}`, `{"disk":30}`, `{"mounts":{}}`,
		} {
			require.Equal(c, "RUNNING", c.patched(id, change)["status"], change)
		}
		require.Equal(c, started, c.getPod(id)["startedAt"])
	})

	add("pods.patch.restart.stopped", ops, func(c *Check) {
		require.Equal(c, "EXITED", c.patched(c.exited(), `{"image":"j"}`)["status"])
	})

	add("pods.patch.mounts", ops, func(c *Check) {
		id := c.newPod(mounted)
		unchanged := map[string]any{"persistent": map[string]any{"size": 20.0, "path": "/a"}}
		require.Equal(c, unchanged, c.patched(id, `{"mounts":{}}`)["mounts"])
		require.Equal(c, unchanged, c.patched(id, `{"name":"b"}`)["mounts"])
		require.Equal(c, map[string]any{}, c.patched(c.newPod(gpuPod), `{"mounts":{}}`)["mounts"])
	})

	add("pods.patch.mounts.path", ops, func(c *Check) {
		id := c.newPod(mounted)
		want := map[string]any{"persistent": map[string]any{"size": 20.0, "path": "/b"}}
		require.Equal(c, want, c.patched(id, `{"mounts":{"persistent":{"size":20,"path":"/b"}}}`)["mounts"])
		require.Equal(c, want, c.getPod(id)["mounts"])
	})

	add("pods.patch.mounts.size", ops, func(c *Check) {
		id := c.newPod(mounted)
		refused(c, id, `{"mounts":{"persistent":{"size":19,"path":"/a"}}}`, 400)
		want := map[string]any{"persistent": map[string]any{"size": 30.0, "path": "/a"}}
		require.Equal(c, want, c.patched(id, `{"mounts":{"persistent":{"size":30,"path":"/a"}}}`)["mounts"])
	})

	add("pods.patch.mounts.clear", ops, func(c *Check) {
		refused(c, c.newPod(mounted), `{"mounts":{"network":[]}}`, 400)
		refused(c, c.newPod(gpuPod), `{"mounts":{"network":[]}}`, 400)
	})
	add("pods.patch.mounts.kinds", ops, func(c *Check) {
		refused(c, c.newPod(mounted), `{"mounts":{"persistent":{"size":20,"path":"/a"},"network":[{"volumeId":"v","path":"/n"}]}}`, 400)
	})

	add("pods.patch.mounts.introduce", ops, func(c *Check) {
		refused(c, c.newPod(mounted), `{"mounts":{"network":[{"volumeId":"v","path":"/n"}]}}`, 400)
		bare := c.newPod(gpuPod)
		refused(c, bare, `{"mounts":{"network":[{"volumeId":"v","path":"/n"}]}}`, 400)
		refused(c, bare, `{"mounts":{"persistent":{"size":20,"path":"/a"}}}`, 400)
	})

	add("pods.patch.mounts.complete", ops, func(c *Check) {
		id := c.newPod(mounted)
		refused(c, id, `{"mounts":{"persistent":{"size":20}}}`, 422, "/mounts/persistent/path:")
		refused(c, id, `{"mounts":{"persistent":{"path":"/a"}}}`, 422, "/mounts/persistent/size:")
		refused(c, id, `{"mounts":{"network":[{"path":"/n"}]}}`, 422, "/mounts/network/0/volumeId:")
		refused(c, id, `{"mounts":{"network":[{"volumeId":"v"}]}}`, 422, "/mounts/network/0/path:")
	})
})
