package conformance

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	gpuPod = `{"name":"a","image":"i","gpu":{"id":"NVIDIA GeForce RTX 4090"}}`
	cpuPod = `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":4}}`
)

// with gives the body of a GPU pod with more members.
func with(members string) string {
	return strings.TrimSuffix(gpuPod, "}") + "," + members + "}"
}

// cpuWith gives the body of a CPU pod with more members.
func cpuWith(members string) string {
	return strings.TrimSuffix(cpuPod, "}") + "," + members + "}"
}

// withGPU and withCPU give the body of a pod with that gpu or cpu.
func withGPU(gpu string) string { return `{"name":"a","image":"i","gpu":` + gpu + `}` }
func withCPU(cpu string) string { return `{"name":"a","image":"i","cpu":` + cpu + `}` }

func (c *Check) createPod(body string) map[string]any {
	a := c.REST("POST", "/v2/pods", body)
	require.Equal(c, 201, a.Status, "%s", a.Body)
	return a.JSON
}

// newPod creates a pod and gives its id.
//
//go:noinline
func (c *Check) newPod(body string) string { return c.createPod(body)["id"].(string) }

func (c *Check) getPod(id string) map[string]any {
	a := c.REST("GET", "/v2/pods/"+id, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// gone asserts that the pod is 404 and unlisted.
func (c *Check) gone(id string) {
	c.Refused(c.REST("GET", "/v2/pods/"+id, ""), 404)
	require.NotContains(c, c.textOf("/v2/pods"), id)
}

// createRefused asserts that createPod answers the body with the status, and each of the lines begins an error.
func (c *Check) createRefused(body string, status int, lines ...string) {
	errors := c.Refused(c.REST("POST", "/v2/pods", body), status)
	require.Len(c, errors, len(lines), "%v", errors)
	for i, line := range lines {
		require.True(c, strings.HasPrefix(errors[i], line), "%q does not begin with %q", errors[i], line)
	}
}

// valuesRefused asserts that createPod answers 422 to each value of body, in which $ stands for it, and names the place.
func (c *Check) valuesRefused(body, place string, values ...string) {
	for _, value := range values {
		c.createRefused(strings.ReplaceAll(body, "$", value), 422, place)
	}
}

// detailHas asserts that createPod answers the body with the status and a detail with the words.
func (c *Check) detailHas(body string, status int, words string) {
	a := c.REST("POST", "/v2/pods", body)
	c.Refused(a, status)
	require.Contains(c, a.JSON["detail"], words)
}

func (c *Check) act(id, action string) Answer {
	return c.REST("POST", "/v2/pods/"+id+"/action", `{"action":"`+action+`"}`)
}

// acted asserts that the action is answered with the pod in that status.
func (c *Check) acted(id, action, status string) {
	a := c.act(id, action)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.Equal(c, status, a.JSON["status"])
}

// terminated asserts that terminate deletes the pod.
func (c *Check) terminated(id string) {
	require.Equal(c, 204, c.act(id, "terminate").Status)
	c.Refused(c.REST("GET", "/v2/pods/"+id, ""), 404)
}

func (c *Check) patch(id, body string) Answer { return c.REST("PATCH", "/v2/pods/"+id, body) }

// patched asserts that the PATCH is answered with the pod.
func (c *Check) patched(id, body string) map[string]any {
	a := c.patch(id, body)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// becomes reads the pod until its status is one of those.
func (c *Check) becomes(id string, statuses ...any) map[string]any {
	var pod map[string]any
	c.Eventually(func() bool {
		pod = c.REST("GET", "/v2/pods/"+id, "").JSON
		for _, s := range statuses {
			if pod["status"] == s {
				return true
			}
		}
		return false
	}, "the pod's status")
	return pod
}

// running gives the id of a RUNNING pod.
func (c *Check) running(body string) string {
	id := c.newPod(body)
	c.becomes(id, "RUNNING")
	return id
}

// exited gives the id of an EXITED pod.
func (c *Check) exited() string {
	id := c.newPod(gpuPod)
	c.acted(id, "stop", "EXITED")
	return id
}

// failed gives the id of a pod that could not be started.
func (c *Check) failed() string {
	c.needsSim()
	id := c.newPod(with(`"env":{"BERTH_SIM_START_ERROR":"as asked"}`))
	c.becomes(id, "ERROR")
	return id
}

func (c *Check) needsSim() {
	if c.ControlsKey == "" {
		c.Skip("no pod can be made to fail: it takes the simulated fleet of a server with test controls")
	}
}

// starting gives a pod as it was read while it was STARTING, and when it was asked for.
func (c *Check) starting() (pod map[string]any, asked time.Time) {
	c.untilSoon("no pod was seen STARTING", func() bool {
		asked = time.Now()
		pod = c.becomes(c.newPod(gpuPod), "STARTING", "RUNNING")
		return pod["status"] == "STARTING"
	})
	return pod, asked
}

// whileStarting calls f with a STARTING pod, again if it took so long that the pod may have come up meanwhile.
func (c *Check) whileStarting(f func(pod map[string]any) (judge func())) {
	c.untilSoon("no pod was still STARTING", func() bool {
		pod, asked := c.starting()
		judge := f(pod)
		if time.Since(asked) >= soon {
			return false
		}
		judge()
		return true
	})
}

// soon is how long a pod takes at least to come up.
const soon = time.Second

// untilSoon calls f until it is true: ten times, and where that took longer than a pod may take to come up, for as long as there is patience.
func (c *Check) untilSoon(otherwise string, f func() bool) {
	deadline := time.Now().Add(c.suite.patience())
	for tries := 1; ; tries++ {
		done := false
		held := took(func() { done = f() })
		if done {
			return
		}
		require.False(c, tries >= 10 && (held < soon || time.Now().After(deadline)), otherwise)
	}
}

func keys(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}

var _ = area(func() {
	add("pods.get", []string{"createPod", "getPod"}, func(c *Check) {
		made := c.createPod(with(`"env":{"A":"1"},"ports":["80/http"],"args":"x","mounts":{"persistent":{"size":20,"path":"/a"}}`))
		pod := c.getPod(made["id"].(string))
		for _, moving := range []string{"status", "actions", "runtime", "startedAt"} {
			delete(made, moving)
			delete(pod, moving)
		}
		require.Equal(c, made, pod)
	})

	add("pods.get.unknown", []string{"getPod"}, func(c *Check) {
		c.Refused(c.REST("GET", "/v2/pods/nosuchpod", ""), 404)
	})
	add("pods.create.size", []string{"createPod"}, func(c *Check) {
		sized := func(bytes int) string {
			body := with(`"env":{"A":"$"}`)
			return strings.Replace(body, "$", strings.Repeat("x", bytes-len(body)+1), 1)
		}
		c.createPod(sized(102_400))
		c.Refused(c.REST("POST", "/v2/pods", sized(102_401)), 413)
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: sized(102_401), Key: "Bearer nobody"}), 401)
	})

	add("pods.list", []string{"listPods"}, func(c *Check) {
		id := c.newPod(gpuPod)
		list := c.REST("GET", "/v2/pods", "").JSON
		require.ElementsMatch(c, []string{"pods", "pagination"}, keys(list))
		require.Contains(c, c.listed(), id)
	})

	add("pods.list.order", []string{"listPods"}, func(c *Check) {
		first, second := c.newPod(gpuPod), c.newPod(cpuPod)
		at := c.listed()
		require.Less(c, at[second], at[first])
	})

	add("pods.list.query", []string{"listPods"}, func(c *Check) {
		errors := c.Refused(c.REST("GET", "/v2/pods?includeClusterPods=maybe&other=1", ""), 422)
		require.Len(c, errors, 2)
		require.Contains(c, strings.Join(errors, "\n"), "query.includeClusterPods:")
		require.Contains(c, strings.Join(errors, "\n"), "query.other:")
	})

	add("pods.delete", []string{"deletePod", "getPod", "listPods"}, func(c *Check) {
		id := c.newPod(gpuPod)
		require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+id, "").Status)
		c.gone(id)
	})

	add("pods.delete.unknown", []string{"deletePod"}, func(c *Check) {
		c.Refused(c.REST("DELETE", "/v2/pods/nosuchpod", ""), 404)
	})
	add("rest.ids", []string{"createPod"}, func(c *Check) {
		require.Regexp(c, `^[a-z0-9]{14}$`, c.newPod(gpuPod))
	})
	add("rest.ids.endpoint", nil, func(c *Check) {
		require.Regexp(c, `^[a-z0-9]{14}$`, c.Endpoint)
	})

	add("rest.ids.reserved", []string{"createPod"}, func(c *Check) {
		pod := c.newPod(gpuPod)
		for _, op := range c.Operations() {
			if op.Document == "rest" {
				require.NotContains(c, []string{pod, c.Endpoint}, strings.Split(op.Path, "/")[2])
			}
		}
	})
})

// listed gives the places of the pods in the list.
func (c *Check) listed() map[string]int {
	at := map[string]int{}
	for i, pod := range c.everyOne("/v2/pods", "pods") {
		at[pod.(map[string]any)["id"].(string)] = i
	}
	return at
}
