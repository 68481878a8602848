package conformance

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// whyOf gives the reason of what is at the path below the controls.
func (c *Check) whyOf(path string) map[string]any {
	a := c.about(path + "/why")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// hasReason asserts the reason of what is at the path, whether it waits, and words of what it says, and gives it.
func (c *Check) hasReason(path, reason string, waits bool, words ...string) map[string]any {
	why := c.whyOf(path)
	require.Equal(c, reason, why["reason"], "%v", why)
	require.Equal(c, waits, why["waits"], "%v", why)
	for _, text := range words {
		require.Contains(c, why["because"], text)
	}
	return why
}

// comesToReason waits until what is at the path has the reason, and gives it.
func (c *Check) comesToReason(path, reason string) (why map[string]any) {
	c.Eventually(func() bool {
		why = c.whyOf(path)
		return why["reason"] == reason
	}, "the reason "+reason)
	return why
}

// simPod is a pod whose simulated container does as the variable says.
func simPod(variables string) string {
	return `{"name":"a","image":"i","gpu":{"id":"NVIDIA L4"},"env":{` + variables + `}}`
}

var _ = area(func() {
	ofJob := []string{"whyJob", "run"}
	add("why.job", ofJob, func(c *Check) {
		q, _ := c.ownQueue()
		id := q.submit(job)
		q.takeJob("w", id)
		running := c.hasReason("jobs/"+id, "in_progress", false, "worker w has the job since")
		c.time(running["since"])
		require.Equal(c, map[string]any{"lines": []any{}, "attempts": 1.0, "workerId": "w"}, running["details"])
		q.done("w", id, `{"error":"it broke"}`)
		require.Contains(c, c.hasReason("jobs/"+id, "finished", false, "FAILED", "it broke")["helps"], "berth jobs retry")

		c.frozen(func() {
			id := q.submit(`{"input":{},"policy":{"ttl":10000}}`)
			c.advance(10 * time.Second)
			c.hasReason("jobs/"+id, "expired", false, "its time to live is over")

			id = q.submit(job)
			q.takeJob("w", id)
			c.advance(15 * time.Second)
			c.hasReason("jobs/"+id, "silent", true, "was last heard of at")
			q.done("w", id, `{}`)
		})
		c.Refused(c.about("jobs/nosuchjob/why"), 404)
	})

	add("why.job.no-workers", ofJob, func(c *Check) {
		q, _ := c.ownQueue()
		id := q.submit(job)
		require.Equal(c, "berth endpoints update "+q.Endpoint+" --workers-max 1", c.hasReason("jobs/"+id, "no_workers", true, "may have 0 workers")["helps"])
		q.cancel(id)
	})

	add("why.job.low-priority", ofJob, func(c *Check) {
		c.needsSim()
		q := c.on(c.newEndpoint(gpuEndpoint))
		id := q.submit(`{"input":{},"policy":{"lowPriority":true}}`)
		require.Contains(c, c.hasReason("jobs/"+id, "low_priority", true)["helps"], "--workers-min 1")
	})

	add("why.job.starting", ofJob, func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			at := c.newEndpoint(gpuEndpoint)
			id := c.on(at).submit(job)
			worker := c.awaitCrew(at, "INITIALIZING")[0]["id"]
			why := c.hasReason("jobs/"+id, "starting", true, worker.(string))
			require.Equal(c, worker, why["details"].(map[string]any)["workerId"])
			c.time(why["since"])
		})
	})

	add("why.job.not-asking", ofJob, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, patient)
		id := c.on(at).submit(job)
		worker := c.awaitCrew(at, "IDLE")[0]["id"].(string)
		c.hasReason("jobs/"+id, "not_asking", true, worker, "has never asked for a job")
	})

	add("why.job.busy", append(ofJob, "takeJob"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"workers":{"max":1,"idleTimeout":3600}`)
		q := c.on(at)
		first := q.submit(job)
		q.takeJob(c.awaitCrew(at, "INITIALIZING")[0]["id"].(string), first)
		for n := range 2 {
			why := c.hasReason("jobs/"+q.submit(job), "busy", true, "no worker is free (1 of at most 1, with 1 job)")
			require.EqualValues(c, n, why["details"].(map[string]any)["ahead"])
			require.Contains(c, why["helps"], "--workers-max 2")
		}
	})

	add("why.job.no-room", append(ofJob, "createPod"), func(c *Check) {
		c.needsSim()
		defer c.capacity(the4090("1"))()
		pod := c.newPod(`{"name":"p","image":"i","gpu":{"id":"NVIDIA GeForce RTX 4090"}}`)
		small, large := c.on(c.newEndpoint(gpuEndpoint)), c.on(c.newEndpoint(gpuEndpoint, `"gpu":{"pools":["ADA_24"],"count":2}`))
		now, never := small.submit(job), large.submit(job)
		require.Contains(c, c.comesToReason("jobs/"+now, "no_room")["because"], "free there: 0 in all")
		require.Contains(c, c.comesToReason("jobs/"+never, "never_room")["because"], "no host could hold it with nothing else on it")
		c.delete(pod)
		c.Eventually(func() bool { return c.whyOf("jobs/" + now)["reason"] != "no_room" }, "there is room")
	})

	add("why.job.crash-loop", ofJob, func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			at := c.newEndpoint(gpuEndpoint, `"env":{"BERTH_SIM_EXIT_AFTER":"1s","BERTH_SIM_EXIT_CODE":"7"}`)
			id := c.on(at).submit(job)
			why := c.comesToReason("jobs/"+id, "crash_loop")
			require.Contains(c, why["because"], "the worker ended with exit code 7")
			c.time(why["since"])
			details := why["details"].(map[string]any)
			require.EqualValues(c, 7, details["exitCode"])
			c.Eventually(func() bool { return c.whyOf("jobs/" + id)["details"].(map[string]any)["nextAt"] != nil }, "a pause before the next worker")
			c.hasReason("endpoints/"+strings.TrimPrefix(at, serverless+"/"), "crash_loop", true, "1 job waits", "exit code 7", "the next one is started at")
		})
	})

	add("why.endpoint", []string{"whyEndpoint", "run"}, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, patient)
		q := c.on(at)
		path := "endpoints/" + q.Endpoint
		c.hasReason(path, "resting", false, "no job waits")
		id := q.submit(job)
		worker := c.awaitCrew(at, "IDLE")[0]["id"].(string)
		c.hasReason(path, "not_asking", true, "1 job waits; worker "+worker)
		q.takeJob(worker, id)
		c.hasReason(path, "ready", false, "1 worker is up of at most 3, 1 of them with jobs")
		q.done(worker, id, `{}`)
		c.Refused(c.about("endpoints/nosuchendpoint/why"), 404)
	})

	add("why.pod", []string{"whyPod", "createPod", "podAction"}, func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			pod := c.newPod(gpuPod)
			c.hasReason("pods/"+pod, "starting", true)
			c.becomes(pod, "RUNNING")
			running := c.hasReason("pods/"+pod, "running", false, "RUNNING since")
			require.NotContains(c, running, "helps")
			c.time(running["since"])
			require.NotEmpty(c, running["details"].(map[string]any)["lines"])

			c.acted(pod, "stop", "EXITED")
			require.Equal(c, "start it again: berth pods start "+pod, c.hasReason("pods/"+pod, "stopped", true, "a user stopped it")["helps"])
			c.acted(pod, "start", "PROVISIONING")
			c.becomes(pod, "RUNNING")
			c.hasReason("pods/"+pod, "running", false)
		})

		for variables, want := range map[string]struct{ status, reason, says string }{
			`"BERTH_SIM_EXIT_AFTER":"1s"`:                           {"EXITED", "exited", "exit code 0"},
			`"BERTH_SIM_EXIT_AFTER":"1s","BERTH_SIM_EXIT_CODE":"9"`: {"ERROR", "failed", "exit code 9"},
			`"BERTH_SIM_START_ERROR":"the image cannot be pulled"`:  {"ERROR", "not_started", "the image cannot be pulled"},
		} {
			pod := c.newPod(simPod(variables))
			c.becomes(pod, want.status)
			c.hasReason("pods/"+pod, want.reason, true, want.status, want.says)
		}

		rented := c.rented()
		c.becomes(rented, "RUNNING")
		c.interrupt(podOf(rented))
		c.becomes(rented, "EXITED")
		c.hasReason("pods/"+rented, "interrupted", true, "0.4 USD")
		c.Refused(c.about("pods/nosuchpod/why"), 404)
	})

	add("why.pod.host", []string{"whyPod", "removeHost"}, func(c *Check) {
		defer c.addBox()()
		pod := c.newPod(inBox)
		c.set("DELETE", "hosts/box", "")
		c.becomes(pod, "ERROR")
		c.hasReason("pods/"+pod, "host_lost", true, "its host box left the fleet")
	})

	add("why.scope", []string{"whyJob", "whyPod", "whyEndpoint"}, func(c *Check) {
		q, _ := c.ownQueue()
		id, pod := q.submit(job), c.newPod(gpuPod)
		paths := []string{"jobs/" + id, "pods/" + pod, "endpoints/" + q.Endpoint}
		for scopes, want := range map[string][]int{
			"rest:read": {403, 200, 200}, "queue:" + q.Endpoint + ":invoke": {200, 403, 403}, "queue:otherendpoint1:invoke": {404, 403, 403},
			"all": {200, 200, 200}, "pod:" + pod: {403, 200, 403}, "pod:otherpod000000": {403, 404, 403}, "admin": {403, 403, 403}, "rest:write": {403, 403, 403},
		} {
			_, key := c.newKey("", scopes)
			for i, path := range paths {
				a := c.Send(Request{Method: "GET", URL: c.URL + controlsPath + path + "/why", Key: "Bearer " + key})
				require.Equal(c, want[i], a.Status, "%s %s: %s", scopes, path, a.Body)
			}
		}

		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		for _, path := range paths {
			c.Refused(c.Send(Request{Method: "GET", URL: c.URL + controlsPath + path + "/why", Key: "Bearer " + stranger}), 404)
			require.Equal(c, 200, c.control("GET", path+"/why", "").Status)
		}
		q.cancel(id)
	})
})
