package conformance

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// talking gives the path of the log of a worker that wrote n lines, tick 1 to tick n, and writes another one each second,
// and when it came up.
func (c *Check) talking(n int) (path string, up time.Time) {
	path, up = c.logOf(`"env":{"BERTH_SIM_LOG_EVERY":"1s"}`)
	c.tickTo(up, n)
	return path, up
}

// logOf gives the path of the log of a worker whose container is up, and since when. Its endpoint has the members.
func (c *Check) logOf(members ...string) (path string, up time.Time) {
	c.needsSim()
	at := c.newEndpoint(gpuEndpoint, append(members, `"workers":{"min":1,"max":1}`)...)
	worker := c.awaitCrew(at, "INITIALIZING")[0]
	c.Eventually(func() bool {
		c.advance(time.Second / 10)
		worker = c.crew(at)[0]
		return worker["startedAt"] != nil
	}, "its container comes up")
	return at + "/workers/" + worker["id"].(string) + "/logs", c.time(worker["startedAt"])
}

// crashing is an endpoint whose workers end as soon as they are up.
const crashing = `"workers":{"min":1,"max":1},"env":{"BERTH_SIM_EXIT_AFTER":"0s","BERTH_SIM_EXIT_CODE":"3"}`

// endedWorkers gives the workers of the endpoint at the path that have ended.
func (c *Check) endedWorkers(at string) (all []map[string]any) {
	answer := c.read(at + "/workers")
	_ = answer["summary"].(map[string]any) // else it is something else
	list, _ := answer["ended"].([]any)     // absent while none has
	for _, one := range list {
		all = append(all, one.(map[string]any))
	}
	return all
}

// awaitEnded moves the clock on until so many workers of the endpoint have ended, and gives them.
func (c *Check) awaitEnded(at string, n int) (all []map[string]any) {
	c.Eventually(func() bool {
		if all = c.endedWorkers(at); len(all) < n {
			c.advance(time.Second)
		}
		return len(all) >= n
	}, "workers end")
	return all
}

var _ = area(func() {
	ops := []string{"getWorkerLogs", "createEndpoint", "listEndpointWorkers"}
	add("serverless.workers.logs", ops, func(c *Check) {
		path, _ := c.logOf(`"args":"\"<é & \\n>\""`)
		s := c.follow(path, "?source=container", "")
		defer s.hangUp()
		l := s.next()
		require.Equal(c, "container", l.source)
		require.Contains(c, l.line, `<é & \`)

		c.time(l.ts)
		require.Equal(c, l.ts, l.id)
		require.Equal(c, "sim: up", s.next().line)
		require.Equal(c, "no-cache", s.header.Get("Cache-Control"))
		require.Equal(c, "no", s.header.Get("X-Accel-Buffering"))
	})

	add("serverless.workers.logs.live", ops, func(c *Check) {
		c.frozen(func() {
			path, _ := c.talking(3)
			s := c.follow(path, "?source=container", "")
			defer s.hangUp()
			s.until("tick 3")
			c.advance(2 * time.Second)
			require.Equal(c, ticks(4, 5), s.texts(2))
		})
	})

	add("serverless.workers.logs.order", ops, func(c *Check) {
		path, _ := c.talking(3)
		s := c.follow(path, "", "")
		defer s.hangUp()
		last, sources := "", map[string]bool{}
		for _, l := range s.until("tick 3") {
			require.Greater(c, l.id, last)
			last, sources[l.source] = l.id, true
		}
		require.Len(c, sources, 2)
	})

	add("serverless.workers.logs.source", ops, func(c *Check) {
		path, _ := c.talking(3)
		for source, end := range map[string]string{"container": "tick 3", "system": "worker is up"} {
			s := c.follow(path, "?source="+source, "")
			for _, l := range s.until(end) {
				require.Equal(c, source, l.source)
			}
			s.hangUp()
		}
	})

	add("serverless.workers.logs.system", ops, func(c *Check) {
		path, _ := c.logOf()
		s := c.follow(path, "?source=system", "")
		defer s.hangUp()
		require.Equal(c, []string{"worker is INITIALIZING", "worker is up"}, s.texts(2))
	})

	add("serverless.workers.logs.tail", ops, func(c *Check) {
		c.frozen(func() {
			path, _ := c.talking(200)
			for query, from := range map[string]int{"": 101, "?tail=1": 200, "?tail=150": 51, "?tail=7&source=container": 194} {
				s := c.follow(path, query, "")
				require.Equal(c, ticks(from, 200), s.written(201-from), query)
				s.hangUp()
			}
			live := c.follow(path, "?tail=0", "")
			defer live.hangUp()
			require.Equal(c, ticks(201, 203), live.texts(3))
		})
	})

	add("serverless.workers.logs.range", ops, func(c *Check) {
		path, _ := c.logOf()
		for query, name := range map[string]string{
			"?tail=-1": "query.tail:", "?tail=5001": "query.tail:", "?source=both": "query.source:", "?since=yesterday": "query.since:",
		} {
			lines := c.Refused(c.REST("GET", path+query, ""), 422)
			require.Len(c, lines, 1)
			require.True(c, strings.HasPrefix(lines[0], name), lines[0])
		}
	})

	add("serverless.workers.logs.since", ops, func(c *Check) {
		path, up := c.talking(10)
		s := c.follow(path, "?tail=1&since="+up.Add(4*time.Second).Format(time.RFC3339Nano), "")
		defer s.hangUp()
		require.Equal(c, ticks(4, 10), s.texts(7))
	})

	add("serverless.workers.logs.last-event-id", ops, func(c *Check) {
		path, _ := c.talking(10)
		first := c.follow(path, "?source=container&since=2000-01-01T00:00:00Z", "")
		first.until("tick 6")
		last := first.next()
		first.hangUp()
		again := c.follow(path, "?tail=0&since=2000-01-01T00:00:00Z", last.id)
		defer again.hangUp()
		require.Equal(c, ticks(8, 12), again.texts(5), "none is lost, none comes twice")
	})

	add("serverless.workers.logs.heartbeat", ops, func(c *Check) {
		c.frozen(func() {
			path, _ := c.logOf()
			s := c.follow(path, "?tail=0", "")
			defer s.hangUp()
			s.beats()
		})
	})

	add("serverless.workers.logs.ended", append(ops, "deleteEndpoint"), func(c *Check) {
		path, _ := c.logOf()
		s := c.follow(path, "", "")
		defer s.hangUp()
		s.until("worker is up")
		at, _, _ := strings.Cut(path, "/workers/")
		require.Equal(c, 204, c.REST("DELETE", at, "").Status)
		s.ends()
	})

	add("serverless.workers.logs.unknown", append(ops, "updateEndpoint", "takeJob"), func(c *Check) {
		path, _ := c.logOf()
		at, rest, _ := strings.Cut(path, "/workers/")
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		c.Refused(c.Send(Request{Method: "GET", URL: c.URL + path, Key: "Bearer " + stranger}), 404)
		c.Refused(c.REST("GET", at+"/workers/nosuchworker/logs", ""), 404)
		other := c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`)
		c.Refused(c.REST("GET", other+"/workers/"+rest, ""), 404)
		q := c.on(other)
		q.takeJob("own", q.submit(job))
		require.Equal(c, "own", c.crew(other)[0]["id"])
		c.Refused(c.REST("GET", other+"/workers/own/logs", ""), 404)
	})

	add("serverless.workers.ended", append(ops, "updateEndpoint"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, crashing)
		require.Empty(c, c.endedWorkers(at), "none has ended yet")
		last := c.awaitEnded(at, 1)[0]
		require.EqualValues(c, 3, last["exitCode"])
		require.EqualValues(c, 1, last["version"])
		require.False(c, c.time(last["endedAt"]).Before(c.time(last["startedAt"])))

		why, words, _ := strings.Cut(last["reason"].(string), "\n")
		require.Equal(c, "the worker ended with exit code 3", why)
		require.Contains(c, words, "sim: ended with exit code 3", "the last that it wrote")

		all := c.awaitEnded(at, 10)
		c.Eventually(func() bool {
			c.advance(time.Minute)
			return c.endedWorkers(at)[0]["id"] != all[0]["id"]
		}, "one more ends")
		now := c.endedWorkers(at)
		require.Len(c, now, 10)
		require.Contains(c, now, all[0], "the latest come first")
		require.NotContains(c, now, all[9], "and the first one is forgotten")

		idle := c.newEndpoint(gpuEndpoint, `"workers":{"min":1,"max":1}`)
		worker := c.awaitCrew(idle, "INITIALIZING")[0]["id"]
		c.changed(idle, `{"workers":{"min":0,"max":0}}`)
		stopped := c.awaitEnded(idle, 1)[0]
		require.Equal(c, worker, stopped["id"])
		require.Nil(c, stopped["exitCode"], "it was stopped")
		require.NotContains(c, stopped["reason"], "\n")
	})

	add("serverless.workers.logs.kept", append(ops, "updateEndpoint", "deleteEndpoint"), func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"workers":{"min":1,"max":1},"env":{"BERTH_SIM_EXIT_AFTER":"300s","BERTH_SIM_EXIT_CODE":"3","BERTH_SIM_LOG_EVERY":"500ms"}`)
		c.awaitCrew(at, "INITIALIZING")
		c.advance(time.Minute)
		c.advance(5 * time.Minute)
		path := at + "/workers/" + c.awaitEnded(at, 1)[0]["id"].(string) + "/logs"
		s := c.follow(path, "?tail=5000", "")
		defer s.hangUp()
		lines := s.rest()
		require.Len(c, lines, 503, "the last 500 that it wrote, and the system's lines")
		require.Equal(c, "worker is INITIALIZING", lines[0].line)

		last := lines[len(lines)-1]
		require.Equal(c, "system", last.source)
		require.Equal(c, "the worker ended with exit code 3", last.line)
		require.Contains(c, lines[len(lines)-2].line, "sim: ended with exit code 3")

		some := c.follow(path, "?source=container&tail=2", "")
		defer some.hangUp()
		require.Len(c, some.rest(), 2)
		after := c.follow(path, "", lines[len(lines)-3].id)
		defer after.hangUp()
		require.Len(c, after.rest(), 2)

		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		c.Refused(c.Send(Request{Method: "GET", URL: c.URL + path, Key: "Bearer " + stranger}), 404)
		other := c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`)
		c.Refused(c.REST("GET", other+strings.TrimPrefix(path, at), ""), 404)
		require.Equal(c, 204, c.REST("DELETE", at, "").Status)
		c.Refused(c.REST("GET", path, ""), 404)
	})

	add("serverless.workers.logs.missing", ops, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, `"workers":{"min":1},"env":{"BERTH_SIM_START_ERROR":"as asked"}`)
		worker := c.awaitCrew(at, "UNHEALTHY")[0]
		s := c.follow(at+"/workers/"+worker["id"].(string)+"/logs", "", "")
		defer s.hangUp()
		lines := s.rest()
		require.Len(c, lines, 1)
		require.Equal(c, "system", lines[0].source)
		require.Contains(c, lines[0].line, worker["reason"])
	})
})
