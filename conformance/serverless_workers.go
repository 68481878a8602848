package conformance

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// the4090 is the only type of its pool: a fleet with so many holds as many workers with one.
func the4090(count string) string {
	return `{"gpu":"NVIDIA GeForce RTX 4090","dataCenterId":"EU-RO-1","cudaVersion":"12.8","count":` + count + `}`
}

// crew gives the workers of the endpoint at the path, after a look that the summary counts them.
func (c *Check) crew(at string) (workers []map[string]any) {
	answer := c.read(at + "/workers")
	count := map[string]float64{}
	for _, one := range answer["workers"].([]any) {
		worker := one.(map[string]any)
		workers = append(workers, worker)
		count[strings.ToLower(worker["status"].(string))]++
	}

	for status, n := range answer["summary"].(map[string]any) {
		if status == "total" {
			require.EqualValues(c, len(workers), n)
		} else {
			require.InDelta(c, count[status], n, 0, status)
		}
	}

	return workers
}

// awaitCrew waits until the workers have these statuses, in their order, and gives them.
func (c *Check) awaitCrew(at string, statuses ...string) (workers []map[string]any) {
	var got []string
	c.Eventually(func() bool {
		workers, got = c.crew(at), nil
		for _, w := range workers {
			got = append(got, w["status"].(string))
		}
		return strings.Join(got, " ") == strings.Join(statuses, " ")
	}, "workers that are "+strings.Join(statuses, " "))
	return workers
}

// managed gives a Check whose queue is that of an endpoint whose workers the target starts, and the path of the endpoint.
func (c *Check) managed() (managed *Check, at string) {
	if c.Managed == "" {
		c.Skip("there is no endpoint whose workers the target starts")
	}
	c.needsControls()
	return c.at(c.Managed), serverless + "/" + c.Managed
}

// resting moves the clock on until the endpoint at the path has no work and no workers: they end when they are idle, or never
// say anything.
func (c *Check) resting(at string) {
	c.on(at).Queue("POST", "purge-queue", "")
	c.Eventually(func() bool {
		c.advance(5 * time.Second)
		return len(c.crew(at)) == 0
	}, "the workers end")
}

// polls has a worker ask for a job and get none: a sign of life.
func (c *Check) polls(at string, worker map[string]any) {
	c.frozen(func() {
		held := c.hold(func() Answer { return c.on(at).Queue("GET", "job-take/"+worker["id"].(string)+"?x=1", "") })
		c.advance(25 * time.Second)
		require.Equal(c, 204, (<-held).Status)
	})
}

// patient is an endpoint whose idle workers stay for an hour.
const patient = `"workers":{"max":3,"idleTimeout":3600}`

var _ = area(func() {
	queue, workers := []string{"createEndpoint", "run"}, []string{"createEndpoint", "listEndpointWorkers"}
	add("serverless.urls", []string{"createEndpoint", "run", "health"}, func(c *Check) {
		made := c.make(serverless, gpuEndpoint)
		urls := made["requestUrls"].(map[string]any)
		a := c.Send(Request{Method: "POST", URL: urls["run"].(string), Body: job})
		require.Equal(c, 200, a.Status, "%s", a.Body)

		id := a.JSON["id"].(string)
		require.Equal(c, "IN_QUEUE", c.Send(Request{Method: "GET", URL: urls["status"].(string) + "/" + id}).JSON["status"])
		require.Equal(c, "CANCELLED", c.Send(Request{Method: "POST", URL: urls["cancel"].(string) + "/" + id}).JSON["status"])
		require.Equal(c, 200, c.Send(Request{Method: "GET", URL: urls["health"].(string)}).Status)
		for member, operation := range map[string]string{"runSync": "/runsync", "stream": "/stream", "retry": "/retry", "purgeQueue": "/purge-queue"} {
			require.Equal(c, c.QueueURL+"/v2/"+made["id"].(string)+operation, urls[member])
		}
	})

	add("serverless.queue", []string{"createEndpoint", "run", "takeJob", "status"}, func(c *Check) {
		q := c.on(c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`))
		id := q.submit(job)
		q.takeJob("w", id)
		q.done("w", id, `{"output":"right"}`)
		require.Equal(c, "right", q.status(id)["output"])
	})

	waited("serverless.timeout", queue, 7*time.Second, func(c *Check) {
		q := c.on(c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`, `"timeout":7000`))
		short, own := q.submit(job), q.submit(`{"input":{},"policy":{"executionTimeout":60000}}`)
		q.takeJob("w", short)
		q.takeJob("w", own)
		c.almost(7 * time.Second)
		require.Equal(c, "IN_PROGRESS", q.status(short)["status"])
		c.rest()
		require.Equal(c, "TIMED_OUT", q.status(short)["status"])
		require.Equal(c, "IN_PROGRESS", q.status(own)["status"])
	})

	add("serverless.delete", []string{"createEndpoint", "deleteEndpoint", "listEndpoints", "run"}, func(c *Check) {
		at := c.newEndpoint(gpuEndpoint)
		c.deleted(at)
		for _, path := range []string{"/workers", "/releases"} {
			c.Refused(c.REST("GET", at+path, ""), 404)
		}
		c.Refused(c.on(at).Queue("POST", "run", job), 404)
	})

	add("serverless.delete.jobs", []string{"createEndpoint", "deleteEndpoint", "run", "takeJob"}, func(c *Check) {
		c.receive(func(r *receiver) {
			at := c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`)
			q := c.on(at)
			running := q.submit(`{"input":{},"webhook":"` + r.URL + `"}`)
			q.takeJob("w", running)
			waiting := q.submit(`{"input":{},"webhook":"` + r.URL + `"}`)
			require.Equal(c, 204, c.REST("DELETE", at, "").Status)

			ended := map[any]any{}
			for _, post := range c.awaits(r, 2) {
				ended[post["id"]] = post["status"]
			}
			require.Equal(c, map[any]any{running: "CANCELLED", waiting: "CANCELLED"}, ended)
			c.Refused(q.Queue("GET", "status/"+running, ""), 404)
		}, 200)
	})

	add("serverless.delete.workers", append(workers, "deleteEndpoint", "createPod"), func(c *Check) {
		defer c.capacity(the4090("1"))()
		at := c.newEndpoint(gpuEndpoint)
		c.on(at).submit(job)
		c.awaitCrew(at, "INITIALIZING")
		require.Equal(c, 204, c.REST("DELETE", at, "").Status)
		c.Eventually(func() bool {
			return c.REST("POST", "/v2/pods", `{"name":"p","image":"i","gpu":{"id":"NVIDIA GeForce RTX 4090"}}`).Status == 201
		}, "the worker gives its host back")
	})

	add("serverless.workers", append(workers, "run"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"gpu":{"pools":["AMPERE_24"],"excludedTypes":["NVIDIA L4","NVIDIA GeForce RTX 3090"],"count":2},"dataCenterIds":["US-KS-2"]`)
		require.Empty(c, c.crew(at))
		c.on(at).submit(job)
		worker := c.awaitCrew(at, "INITIALIZING")[0]
		require.ElementsMatch(c, []string{
			"id", "status", "isStale", "version", "gpuCount", "image", "uptimeSeconds", "gpuTypeId", "dataCenterId", "startedAt", "reason",
		}, keys(worker))

		for member, want := range map[string]any{
			"isStale": false, "version": 1.0, "gpuCount": 2.0, "image": "i", "gpuTypeId": "NVIDIA RTX A5000", "dataCenterId": "US-KS-2",
		} {
			require.Equal(c, want, worker[member], member)
		}

		c.Eventually(func() bool { return c.crew(at)[0]["startedAt"] != nil }, "its container comes up")
		c.time(c.crew(at)[0]["startedAt"])
		before := c.crew(at)[0]["uptimeSeconds"].(float64)
		c.advance(5 * time.Second)
		require.GreaterOrEqual(c, c.crew(at)[0]["uptimeSeconds"].(float64), before+5)
	})

	add("serverless.workers.status", append(workers, "run", "takeJob"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, patient)
		q := c.on(at)
		id := q.submit(job)
		worker := c.awaitCrew(at, "INITIALIZING")[0]["id"].(string)
		q.takeJob(worker, id)
		c.awaitCrew(at, "RUNNING")
		q.done(worker, id, `{"output":1}`)
		require.Equal(c, worker, c.awaitCrew(at, "IDLE")[0]["id"])
		require.EqualValues(c, 1, q.Queue("GET", "health", "").JSON["workers"].(map[string]any)["idle"])
	})

	add("serverless.workers.simulated", append(workers, "run", "health"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"workers":{"min":1}`)
		q := c.on(at)
		id := q.submit(job)
		up := c.awaitCrew(at, "INITIALIZING")[0]
		require.Nil(c, up["startedAt"])

		ready := c.awaitCrew(at, "IDLE")[0]
		require.Equal(c, up["id"], ready["id"])
		c.time(ready["startedAt"])
		for _, count := range []string{"idle", "ready"} {
			require.EqualValues(c, 1, q.counts("workers")[count])
		}
		c.advance(time.Hour)
		require.Equal(c, up["id"], c.awaitCrew(at, "IDLE")[0]["id"], "it is replaced by no other one")
		require.Equal(c, "IN_QUEUE", q.status(id)["status"], "it takes no job")

		q.takeJob(up["id"].(string), id)
		c.awaitCrew(at, "RUNNING")
		q.done(up["id"].(string), id, `{}`)
	})

	add("serverless.workers.idle", append(workers, "run", "takeJob"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint)
		q := c.on(at)
		id := q.submit(job)
		worker := c.awaitCrew(at, "INITIALIZING")[0]["id"].(string)
		q.takeJob(worker, id)
		q.done(worker, id, `{"output":1}`)
		c.advance(9 * time.Second)
		c.awaitCrew(at, "IDLE")
		c.awaitCrew(at)
	})

	add("serverless.workers.min", workers, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"workers":{"min":2}`)
		c.awaitCrew(at, "INITIALIZING", "INITIALIZING")
	})

	add("serverless.workers.order", append(workers, "updateEndpoint"), func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			at := c.newEndpoint(gpuEndpoint, `"workers":{"min":1,"max":3,"idleTimeout":10}`)
			first := c.awaitCrew(at, "INITIALIZING")[0]["id"]
			c.advance(5 * time.Second)
			require.Equal(c, first, c.awaitCrew(at, "IDLE")[0]["id"])
			stays := func(after string, change func()) {
				c.changed(at, `{"workers":{"min":2}}`)
				c.awaitCrew(at, "INITIALIZING", "IDLE")
				change()
				require.Equal(c, first, c.awaitCrew(at, "IDLE")[0]["id"], after)
			}

			stays("the maximum is lower", func() { c.changed(at, `{"workers":{"min":1,"max":1}}`) })
			c.changed(at, `{"workers":{"max":3}}`)
			c.advance(10 * time.Second)
			stays("nobody needs two, and the one that is ready has idled for long enough", func() { c.changed(at, `{"workers":{"min":1}}`) })
		})
	})

	add("serverless.scaling.delay", append(workers, "run"), func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			at := c.newEndpoint(gpuEndpoint, patient, `"scaling":{"type":"QUEUE_DELAY","queueDelay":60}`)
			q, begun := c.on(at), c.now()
			for range 3 {
				q.submit(job)
			}
			c.awaitCrew(at, "INITIALIZING")
			c.advance(begun.Add(60*time.Second - time.Millisecond).Sub(c.now()))
			require.Len(c, c.crew(at), 1, "the first job starts a worker at once, and others none while they wait for no longer than the delay")

			c.advance(time.Millisecond)
			c.awaitCrew(at, "INITIALIZING", "INITIALIZING", "IDLE")
			endless := c.newEndpoint(gpuEndpoint, patient, `"scaling":{"type":"QUEUE_DELAY","queueDelay":1e30}`)
			for range 3 {
				c.on(endless).submit(job)
			}
			c.awaitCrew(endless, "INITIALIZING")
			c.advance(6 * time.Minute) // less than a worker may take to say its first word
			require.Len(c, c.crew(endless), 1)
		})
	})

	add("serverless.scaling.count", append(workers, "run", "takeJob"), func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			at := c.newEndpoint(byCount, `"workers":{"max":3}`) // a worker for each two jobs
			q := c.on(at)
			started := func() (n int) {
				for _, worker := range c.crew(at) {
					if worker["image"] != nil { // not one that somebody else started
						n++
					}
				}
				return n
			}

			first := q.submit(job)
			c.Eventually(func() bool { return started() == 1 }, "a worker is started")
			q.takeJob("own", first) // what is in progress counts, too
			for i, want := range []int{1, 2, 2, 3, 3, 3} {
				q.submit(job)
				c.Eventually(func() bool { return started() == want }, "workers are started")
				c.advance(10 * time.Second)
				require.Equal(c, want, started(), "%d jobs", i+2)
			}
		})
	})

	add("serverless.workers.external", append(workers, "takeJob"), func(c *Check) {
		at := c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`)
		q := c.on(at)
		id := q.submit(job)
		q.takeJob("own", id)
		require.Equal(c, c.parsed(`{"id":"own","status":"RUNNING","isStale":false,"version":null,"gpuCount":0,"image":null,"uptimeSeconds":null,
			"gpuTypeId":null,"dataCenterId":null,"startedAt":null,"reason":null}`), any(c.crew(at)[0]))
	})

	add("serverless.workers.capacity", append(workers, "createPod"), func(c *Check) {
		defer c.capacity(the4090("1"))()
		first := c.newEndpoint(gpuEndpoint, `"workers":{"min":1}`)
		c.awaitCrew(first, "INITIALIZING")
		require.Contains(c, c.full(`{"name":"p","image":"i","gpu":{"id":"NVIDIA GeForce RTX 4090"}}`), "0 in all")

		second := c.newEndpoint(gpuEndpoint, `"workers":{"min":2}`)
		missing := c.awaitCrew(second, "THROTTLED", "THROTTLED")[0]
		for member, want := range map[string]any{"isStale": false, "gpuCount": 1.0, "image": "i", "gpuTypeId": nil, "startedAt": nil} {
			require.Equal(c, want, missing[member], member)
		}
		require.EqualValues(c, 2, c.on(second).Queue("GET", "health", "").JSON["workers"].(map[string]any)["throttled"])
		require.Equal(c, 204, c.REST("DELETE", first, "").Status)
		c.awaitCrew(second, "INITIALIZING", "THROTTLED")
	})

	add("serverless.workers.cuda", workers, func(c *Check) {
		defer c.capacity(the4090("5"))()
		at := c.newEndpoint(gpuEndpoint, `"gpu":{"pools":["ADA_24"],"minCudaVersion":"12.9"},"workers":{"min":1}`)
		c.awaitCrew(at, "THROTTLED")
		c.changed(at, `{"gpu":{"minCudaVersion":"12.8"}}`)
		c.awaitCrew(at, "INITIALIZING")
		at = c.newEndpoint(gpuEndpoint, `"gpu":{"pools":["ADA_24"],"allowedCudaVersions":["12.4"]},"workers":{"min":1}`)
		c.awaitCrew(at, "THROTTLED")
	})

	add("serverless.workers.volume", workers, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"networkVolumes":["`+c.newVolume()+`"],"workers":{"min":1}`)
		require.Equal(c, "US-KS-2", c.awaitCrew(at, "INITIALIZING")[0]["dataCenterId"])
	})

	add("serverless.workers.reason", append(workers, "createPod"), func(c *Check) {
		c.needsSim()
		crashes := c.newEndpoint(gpuEndpoint, crashing)
		worker := c.awaitCrew(crashes, "UNHEALTHY")[0]
		last := c.endedWorkers(crashes)[0]
		require.NotEqual(c, worker["id"], last["id"])
		require.Equal(c, "worker "+last["id"].(string)+": "+last["reason"].(string), worker["reason"])
		require.Contains(c, worker["reason"], "the worker ended with exit code 3\n")

		defer c.capacity(the4090("1"))()
		at := c.newEndpoint(gpuEndpoint, `"workers":{"min":2}`)
		crew := c.awaitCrew(at, "INITIALIZING", "THROTTLED")
		require.Nil(c, crew[0]["reason"])
		require.Contains(c, crew[1]["reason"], "nothing can hold the worker now")
	})

	add("serverless.workers.unhealthy", workers, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"workers":{"min":1},"env":{"BERTH_SIM_START_ERROR":"as asked"}`)
		c.awaitCrew(at, "UNHEALTHY")
		crashes := c.newEndpoint(gpuEndpoint, `"workers":{"min":1},"env":{"BERTH_SIM_EXIT_AFTER":"0s","BERTH_SIM_EXIT_CODE":"3"}`)
		c.awaitCrew(crashes, "UNHEALTHY")
		c.awaitCrew(crashes, "INITIALIZING")
		c.changed(at, `{"env":{}}`)
		c.awaitCrew(at, "INITIALIZING")
	})

	releases := []string{"createEndpoint", "updateEndpoint", "listEndpointReleases"}
	add("serverless.update.at-once", append(releases, "listEndpointWorkers"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint)
		c.changed(at, `{"workers":{"min":2}}`)
		c.awaitCrew(at, "INITIALIZING", "INITIALIZING")
		c.changed(at, `{"workers":{"min":0,"max":1},"name":"b","scaling":{"type":"QUEUE_DELAY","queueDelay":9},"timeout":9000,"flashboot":"FLASHBOOT"}`)
		c.awaitCrew(at, "INITIALIZING")
		require.Len(c, c.read(at + "/releases")["releases"], 1)
	})

	add("serverless.releases", releases, func(c *Check) {
		at := c.newEndpoint(gpuEndpoint, `"env":{"A":"1"}`)
		answer := c.read(at + "/releases")
		first := answer["releases"].([]any)[0].(map[string]any)
		require.ElementsMatch(c, []string{"id", "version", "source", "buildId", "createdByUserId", "workerCount", "createdAt", "diff"}, keys(first))

		for member, want := range map[string]any{"version": 1.0, "source": "MANUAL", "buildId": nil, "workerCount": 0.0, "diff": []any{}} {
			require.Equal(c, want, first[member], member)
		}
		require.EqualValues(c, 1, answer["endpointVersion"])

		c.changed(at, `{"image":"j","env":{"B":"2"},"gpu":{"count":2}}`)
		c.changed(at, `{"image":"j"}`)
		c.changed(at, `{"image":"k"}`)
		answer = c.read(at + "/releases")
		require.EqualValues(c, 3, answer["endpointVersion"])

		list := answer["releases"].([]any)
		require.Len(c, list, 3)
		require.Equal(c, c.parsed(`[{"field":"image","old":"j","new":"k"}]`), list[0].(map[string]any)["diff"])
		require.Equal(c, c.parsed(`[{"field":"image","old":"i","new":"j"},{"field":"env","old":{"A":"1"},"new":{"B":"2"}},
			{"field":"gpu.count","old":1,"new":2}]`), list[1].(map[string]any)["diff"])
		require.Equal(c, any(first), list[2])
	})

	add("serverless.releases.members", releases, func(c *Check) {
		at := c.newEndpoint(gpuEndpoint)
		for i, member := range []string{
			`"image":"j"`, `"args":"-x"`, `"disk":5`, `"ports":["80/http"]`, `"env":{"A":"1"}`, `"registry":"` + c.newRegistry() + `"`,
			`"gpu":{"pools":["AMPERE_24"]}`, `"gpu":{"allowedCudaVersions":["12.4"]}`, `"gpu":{"minCudaVersion":"12.4"}`,
			`"dataCenterIds":["US-KS-2"]`, `"networkVolumes":["` + c.newVolume() + `"]`, mountsOf(nil, c.newGlobalVolume()),
		} {
			c.changed(at, "{"+member+"}")
			require.Len(c, c.read(at + "/releases")["releases"], i+2, member)
		}

		at = c.newEndpoint(cpuEndpoint)
		c.changed(at, `{"cpu":[{"id":"cpu3g","vcpuCount":4}]}`)
		require.Len(c, c.read(at + "/releases")["releases"], 2)
	})

	add("serverless.releases.rollout", append(releases, "listEndpointWorkers"), func(c *Check) {
		c.needsSim()
		rollout := func(at string) any { return c.read(at + "/releases")["rollout"] }
		at := c.newEndpoint(gpuEndpoint)
		require.Equal(c, c.parsed(`{"inProgress":false,"workersOnLatest":0,"workersTotal":0,"percentOnLatest":100}`), rollout(at))

		c.changed(at, `{"workers":{"min":1}}`)
		c.awaitCrew(at, "INITIALIZING")
		require.Equal(c, c.parsed(`{"inProgress":false,"workersOnLatest":1,"workersTotal":1,"percentOnLatest":100}`), rollout(at))
		c.changed(at, `{"image":"j"}`)
		old := c.crew(at)[0]
		require.Equal(c, true, old["isStale"])
		require.EqualValues(c, 1, old["version"])
		require.Equal(c, c.parsed(`{"inProgress":true,"workersOnLatest":0,"workersTotal":1,"percentOnLatest":0}`), rollout(at))

		c.changed(at, `{"workers":{"min":2}}`)
		fresh := c.awaitCrew(at, "INITIALIZING", "INITIALIZING")[0]
		require.Equal(c, false, fresh["isStale"])
		require.Equal(c, "j", fresh["image"])
		require.Equal(c, c.parsed(`{"inProgress":true,"workersOnLatest":1,"workersTotal":2,"percentOnLatest":50}`), rollout(at))
		require.EqualValues(c, 1, c.read(at + "/releases")["releases"].([]any)[0].(map[string]any)["workerCount"])
	})

	add("serverless.releases.cycle", append(releases, "listEndpointWorkers", "takeJob"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"workers":{"min":1,"idleTimeout":60}`)
		old := c.awaitCrew(at, "INITIALIZING")[0]
		c.polls(at, old)
		c.changed(at, `{"image":"j"}`)
		require.Equal(c, old["id"], c.awaitCrew(at, "IDLE")[0]["id"])

		c.advance(time.Minute)
		fresh := c.awaitCrew(at, "IDLE")[0]
		require.NotEqual(c, old["id"], fresh["id"])
		require.Equal(c, "j", fresh["image"])
	})

	add("serverless.releases.load", append(releases, "listEndpointWorkers", "run", "takeJob", "finishJob"), func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			at := c.newEndpoint(gpuEndpoint, `"workers":{"min":1,"max":2,"idleTimeout":3600}`)
			q, old := c.on(at), c.awaitCrew(at, "INITIALIZING")[0]["id"].(string)
			before, meanwhile := q.submit(job), q.submit(job)
			q.takeJob(old, before)
			c.changed(at, `{"image":"j"}`)
			fresh := c.awaitCrew(at, "INITIALIZING", "RUNNING")[0]
			require.Equal(c, "j", fresh["image"])
			q.done(old, before, `{"output":1}`)
			q.takeJob(old, meanwhile)

			c.advance(5 * time.Second)
			c.awaitCrew(at, "IDLE", "RUNNING")
			after := q.submit(job)
			q.done(old, meanwhile, `{"output":1}`)
			require.Equal(c, fresh["id"], c.awaitCrew(at, "IDLE")[0]["id"])
			q.takeJob(fresh["id"].(string), after)

			at = c.newEndpoint(gpuEndpoint, `"workers":{"min":1,"max":1,"idleTimeout":3600}`)
			q, old = c.on(at), c.awaitCrew(at, "INITIALIZING")[0]["id"].(string)
			before = q.submit(job)
			q.takeJob(old, before)
			c.changed(at, `{"image":"j"}`)
			q.submit(job)
			q.done(old, before, `{"output":1}`)
			require.Equal(c, "j", c.awaitCrew(at, "INITIALIZING")[0]["image"])
		})
	})
})
