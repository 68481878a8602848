package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

const controlsPath = "/_berth/"

// isHosts reports whether the operation is about the hosts, which are for the scope admin.
func isHosts(op Operation) bool { return strings.HasPrefix(op.Path, controlsPath+"hosts") }

// isJobs reports whether the operation tells of jobs, for keys that may read them at their endpoints.
func isJobs(op Operation) bool { return strings.HasPrefix(op.Path, controlsPath+"jobs") }

// isWhy reports whether the operation tells why a pod or an endpoint does not go on, how it stood, or how its workers are, for keys with
// rest:read.
func isWhy(op Operation) bool {
	return strings.HasPrefix(op.Path, controlsPath) && (strings.HasSuffix(op.Path, "/why") || strings.HasSuffix(op.Path, "/workers") || strings.HasSuffix(op.Path, "/history") && !isFleetHistory(op)) && !isJobs(op)
}

// isExec reports whether the operation runs commands, for keys with rest:write.
func isExec(op Operation) bool {
	return strings.HasPrefix(op.Path, controlsPath) && strings.HasSuffix(op.Path, "/exec")
}

// isLogs reports whether the operation shows the log of a pod or a worker, for keys with rest:read.
func isLogs(op Operation) bool { return strings.HasPrefix(op.Path, controlsPath+"v1/pod/") }

// isEvents reports whether the operation follows what changes, for all who may read some of it.
func isEvents(op Operation) bool { return op.Path == controlsPath+"events" }

// isAudit reports whether the operation tells who changed what, for keys with rest:read and the scope admin.
func isAudit(op Operation) bool { return op.Path == controlsPath+"audit" }

// isRefusals reports whether the operation tells who was refused, for the scope admin.
func isRefusals(op Operation) bool { return op.Path == controlsPath+"audit/refusals" }

// isServed reports whether the operation is served without test controls, too.
func isServed(op Operation) bool {
	return isHosts(op) || isUsers(op) || isJobs(op) || isWhy(op) || isEvents(op) || isSession(op) || isKeyList(op) || isFleetHistory(op) || isExec(op) || isLogs(op) || isAudit(op) || isRefusals(op)
}

// needsControls skips the rule where the target has no test controls.
func (c *Check) needsControls() {
	if c.ControlsKey == "" {
		c.Skip("the target has no test controls")
	}
}

// control sends a request to the test controls; without them the rule is skipped.
func (c *Check) control(method, path, body string) Answer {
	c.needsControls()
	return c.Send(Request{Method: method, URL: c.URL + controlsPath + path, Body: body})
}

// set is control for what answers without a body.
func (c *Check) set(method, path, body string) {
	a := c.control(method, path, body)
	require.Equal(c, 204, a.Status, "%s", a.Body)
}

// frozen runs f while the clock of the target stands still.
func (c *Check) frozen(f func()) {
	require.Equal(c, 200, c.control("POST", "clock/freeze", "").Status)
	defer func() { c.control("POST", "clock/resume", "") }()
	f()
}

// advance sets the clock of the target forward.
func (c *Check) advance(d time.Duration) {
	c.waitsFor(d)
	c.forward(d)
}

// forward is advance that is not counted. In a rule that waits in real time, d is over for what happened first.
func (c *Check) forward(d time.Duration) {
	if c.inRealTime() {
		c.until(d, promptly)
		return
	}
	a := c.control("POST", "clock/advance", fmt.Sprintf(`{"milliseconds":%d}`, d.Milliseconds()))
	require.Equal(c, 200, a.Status, "%s", a.Body)
}

// heldNow gives how many requests the target holds; 0 if it has no test controls to ask.
func (c *Check) heldNow() float64 {
	if c.ControlsKey == "" {
		return 0
	}
	return c.control("GET", "clock", "").JSON["held"].(float64)
}

// untilHeld waits until the target holds no more requests than before: it has noticed who has gone. Workers of its own may ask
// meanwhile, so that it waits no longer than its patience, and lets the rule judge.
func (c *Check) untilHeld(before float64) {
	for deadline := time.Now().Add(c.suite.patience()); c.heldNow() > before && time.Now().Before(deadline); {
		c.sleep(time.Millisecond)
	}
}

// hold sends the request in the background and gives once the target holds it: only then its wait has begun.
func (c *Check) hold(send func() Answer) chan Answer {
	if c.inRealTime() {
		return c.heldAWhile(send)
	}
	c.needsControls()
	before := c.heldNow()
	answers := c.later(send)
	deadline := time.Now().Add(c.suite.patience())
	for c.heldNow() <= before {
		require.True(c, time.Now().Before(deadline), "not held within %s", c.suite.patience())
		c.sleep(time.Millisecond)
	}
	return answers
}

// newKey makes a key; more are further members of the request. A user whom they name is another one in each rule.
func (c *Check) newKey(more string, scopes ...string) (id, key string) {
	more = strings.Replace(more, `"user":"`, `"user":"`+c.name+"-", 1)
	list, err := json.Marshal(scopes)
	require.NoError(c, err)
	body := `{"scopes":` + string(list) + more + `}`
	c.madeUser(body)
	a := c.control("POST", "keys", body)
	require.Equal(c, 201, a.Status, "%s", a.Body)
	id = a.JSON["id"].(string)
	c.keys = append(c.keys, id)
	return id, a.JSON["key"].(string)
}

// listPods lists the pods with a key.
func (c *Check) listPods(key string) Answer {
	return c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: "Bearer " + key})
}

var _ = area(func() {
	add("controls.key", []string{"getClock"}, func(c *Check) {
		require.Equal(c, 200, c.control("GET", "clock", "").Status)
		for _, op := range c.Keyed() {
			if op.Document == "controls" && !isServed(op) {
				r := Request{Method: op.Method, URL: c.URL + op.Path, Body: "{}", Key: "Bearer " + c.Key}
				c.Refused(c.Send(r), 403)
			}
		}
		c.Refused(c.listPods(c.ControlsKey), 403)
	})

	add("controls.unlimited", []string{"getClock"}, func(c *Check) {
		c.quotas(1, 1, 1, func(key string) {
			require.Equal(c, 200, c.listPods(key).Status)
			c.Refused(c.listPods(key), 429)
			for range 3 {
				a := c.control("GET", "clock", "")
				require.Equal(c, 200, a.Status)
				require.Empty(c, a.Header.Get("RateLimit"))
			}
		})
	})

	add("controls.clock", []string{"getClock", "freezeClock", "resumeClock", "advanceClock"}, func(c *Check) {
		now := func(a Answer) time.Time {
			t, err := time.Parse(time.RFC3339Nano, a.JSON["now"].(string))
			require.NoError(c, err)
			return t
		}

		c.frozen(func() {
			a := c.control("GET", "clock", "")
			require.Equal(c, true, a.JSON["frozen"])
			require.Equal(c, now(a), now(c.control("GET", "clock", "")))
			require.Equal(c, now(a).Add(time.Minute), now(c.control("POST", "clock/advance", `{"milliseconds":60000}`)))
		})

		require.Equal(c, false, c.control("GET", "clock", "").JSON["frozen"])
		require.Len(c, c.Refused(c.control("POST", "clock/advance", `{"milliseconds":-1}`), 422), 1)
	})

	add("controls.advance.order", []string{"advanceClock"}, func(c *Check) {
		c.frozen(func() {
			pod := c.newPod(gpuPod)
			first := c.submit(`{"input":{},"policy":{"ttl":10000}}`)
			c.advance(15 * time.Minute)
			require.Equal(c, "RUNNING", c.REST("GET", "/v2/pods/"+pod, "").JSON["status"])
			require.Equal(c, "TIMED_OUT", c.status(first)["status"])
			c.advance(15*time.Minute + 9*time.Second)
			c.status(first)
			c.advance(time.Second)
			c.Refused(c.Queue("GET", "status/"+first, ""), 404)
		})
	})

	add("controls.reset", []string{"resetState"}, func(c *Check) {
		c.needsControls()
		c.keepSSHKeys()
		pod, id := c.newPod(gpuPod), c.submit(job)
		lists := map[string]string{clusters: "clusters", templates: "templates", registries: "registries", delegations: "delegations", sshKeyPath: "keys"}
		lists[volumePath], lists[globalVolumes] = "networkVolumes", "globalVolumes"
		c.newVolume()
		c.newGlobalVolume()
		c.newCluster(cluster)
		c.newTemplate(plainTemplate)
		c.newRegistry()
		c.make(delegations, repository)
		require.Equal(c, 200, c.putKeys("", ed25519Key).Status)

		endpoint := c.newEndpoint(gpuEndpoint, `"workers":{"min":1}`)
		c.awaitCrew(endpoint, "INITIALIZING")
		c.set("POST", "reset", "")
		c.Refused(c.REST("GET", endpoint, ""), 404)
		for path, name := range lists {
			require.Equal(c, []any{}, c.read(path)[name], path)
		}
		c.Refused(c.REST("GET", "/v2/pods/"+pod, ""), 404)
		c.Refused(c.Queue("GET", "status/"+id, ""), 404)
		require.Equal(c, []any{}, c.REST("GET", "/v2/pods?includeClusterPods=true", "").JSON["pods"])
		require.EqualValues(c, 0, c.Queue("GET", "health", "").JSON["jobs"].(map[string]any)["inQueue"])

		again := c.submit(job)
		c.takeJob("w", again)
		c.done("w", again, "{}")
	})

	add("controls.keys", []string{"createKey", "revokeKey"}, func(c *Check) {
		id, key := c.newKey(`,"name":"mine"`, "rest:read")
		require.Equal(c, 200, c.listPods(key).Status)
		c.set("DELETE", "keys/"+id, "")
		c.Refused(c.listPods(key), 401)
		c.Refused(c.control("DELETE", "keys/nosuchkey", ""), 404)
		c.Refused(c.control("POST", "keys", `{"scopes":["controls"]}`), 422)
	})

	add("controls.fleet", []string{"setFleet"}, func(c *Check) {
		defer c.set("PUT", "fleet", `{"boot":2000}`)
		c.set("PUT", "fleet", `{"boot":3600000}`)
		c.frozen(func() {
			pod := c.newPod(gpuPod)
			c.advance(time.Hour - time.Second)
			require.Equal(c, "STARTING", c.REST("GET", "/v2/pods/"+pod, "").JSON["status"])
			c.advance(time.Second)
			require.Equal(c, "RUNNING", c.REST("GET", "/v2/pods/"+pod, "").JSON["status"])
		})
	})
})
