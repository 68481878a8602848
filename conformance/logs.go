package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// logsOf asks for the log of a pod or a worker, with the key of the account.
func (c *Check) logsOf(id, query string) Answer {
	return c.Send(Request{Method: "GET", URL: c.URL + hostLogs(id) + query, Key: "Bearer " + c.Key})
}

// hostLogs is the path at which clients of the host API ask for the log of a pod or a worker.
func hostLogs(id string) string { return controlsPath + "v1/pod/" + id + "/logs" }

// texts gives the lines of a source of an answer, without their times, which are in order.
func (c *Check) texts(a Answer, source string) []string {
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.Len(c, a.JSON, 2, "%s", a.Body)
	all, last := []string{}, time.Time{}
	for _, one := range a.JSON[source].([]any) {
		at, text, _ := strings.Cut(one.(string), " ")
		when := c.time(at)
		require.True(c, when.After(last), "%s", a.Body)
		last, all = when, append(all, strings.TrimPrefix(text, "sim: "))
	}
	return all
}

// Logs at the address of the host API, where other clients ask for them.
var _ = area(func() {
	ops, ofWorkers := []string{"getLogs", "createPod", "podAction"}, []string{"getLogs", "createEndpoint", "listEndpointWorkers"}
	add("logs.at-once", append(ops, ofWorkers...), func(c *Check) {
		c.frozen(func() {
			pod := c.logsOf(c.ticking(5), "")
			require.Equal(c, append([]string{"up"}, ticks(1, 5)...), c.texts(pod, "container")[1:], "after how it was started")
			require.Contains(c, c.texts(pod, "system"), "pod is RUNNING")

			path, _ := c.talking(5)
			worker := c.logsOf(strings.Split(path, "/")[5], "")
			require.Equal(c, append([]string{"up"}, ticks(1, 5)...), c.texts(worker, "container")[1:])
			require.Equal(c, []string{"worker is INITIALIZING", "worker is up"}, c.texts(worker, "system"))
		})
	})

	add("logs.so-far", append(append(ops, ofWorkers...), "getPodLogs", "getWorkerLogs", "getBuildLogs"), func(c *Check) {
		c.frozen(func() {
			pod := c.ticking(5)
			worker, _ := c.talking(5)
			build := c.newBuild(c.newEndpoint(cpuEndpoint), "FROM scratch")
			c.awaitBuild(build, "COMPLETED")
			for path, text := range map[string]string{
				"/v2/pods/" + pod + "/logs?": "tick ", worker + "?": "tick ", build + "/logs?": "build is COMPLETED", hostLogs(pod) + "?stream=true&": "tick ",
			} {
				none := c.follow(path, "tail=0", "")
				defer none.hangUp()
				require.Empty(c, none.soFar())
				s := c.follow(path, "tail=2", "")
				defer s.hangUp()
				lines := s.soFar()
				require.Len(c, lines, 2)
				require.Contains(c, lines[1], text)
			}
		})
	})

	add("logs.type", ops, func(c *Check) {
		id := c.ticking(2)
		for query, want := range map[string][2]bool{"": {true, true}, "?type=all": {true, true}, "?type=container": {true, false}, "?type=system": {false, true}} {
			a := c.logsOf(id, query)
			require.Equal(c, want, [2]bool{len(c.texts(a, "container")) > 0, len(c.texts(a, "system")) > 0}, query)
		}
	})

	add("logs.tail", ops, func(c *Check) {
		c.frozen(func() {
			id := c.ticking(1200)
			up := c.time(c.getPod(id)["startedAt"])
			since := "&since=" + up.Add(100*time.Second).Format(time.RFC3339Nano)
			for query, from := range map[string]int{"": 201, "&tail=0": 1201, "&tail=7": 1194, "&tail=1100": 101, since: 100, since + "&tail=1": 100} {
				require.Equal(c, append([]string{}, ticks(from, 1200)...), c.texts(c.logsOf(id, "?type=container"+query), "container"), query)
			}
		})
	})

	add("logs.range", ops, func(c *Check) {
		id := c.running(gpuPod)
		for query, name := range map[string]string{"?tail=-1": "query.tail:", "?tail=5001": "query.tail:", "?type=both": "query.type:", "?since=yesterday": "query.since:", "?stream=perhaps": "query.stream:"} {
			lines := c.Refused(c.logsOf(id, query), 422)
			require.Len(c, lines, 1)
			require.True(c, strings.HasPrefix(lines[0], name), lines[0])
		}
	})

	add("logs.stream", append(ops, "getPodLogs"), func(c *Check) {
		c.frozen(func() {
			id := c.ticking(150)
			s := c.follow(hostLogs(id), "?stream=true&type=container&tail=3", "")
			defer s.hangUp()
			lines := s.until("tick 150")
			require.Len(c, lines, 3)
			require.Equal(c, "no-cache", s.header.Get("Cache-Control"))

			all := c.follow(hostLogs(id), "?stream=true", "")
			defer all.hangUp()
			require.Equal(c, ticks(51, 150), all.written(100))
			after := c.follow(hostLogs(id), "?stream=true&tail=0", lines[0].id)
			defer after.hangUp()
			require.Equal(c, ticks(149, 150), after.written(2))
			require.Equal(c, ticks(151, 152), s.texts(2), "what comes")
		})
	})

	add("logs.kept", ofWorkers, func(c *Check) {
		at := c.newEndpoint(gpuEndpoint, crashing)
		worker := c.awaitEnded(at, 1)[0]["id"].(string)
		a := c.logsOf(worker, "")
		require.Contains(c, strings.Join(c.texts(a, "system"), "\n"), "3")
		require.NotEmpty(c, c.texts(a, "container"))
	})

	add("logs.bytes", ops, func(c *Check) {
		c.needsSim()
		c.frozen(func() {
			const long = 50_000 // bytes of a line, which each start writes
			id := c.running(with(`"env":{"BERTH_SIM_LOG_EVERY":"1ms"},"args":"` + strings.Repeat("x", long) + `"`))
			for range 20 {
				c.act(id, "restart")
				c.becomes(id, "RUNNING")
			}
			c.advance(time.Second)
			a := c.logsOf(id, "?type=container&since=2000-01-01T00:00:00Z")
			lines, bytes := c.texts(a, "container"), 0
			for _, line := range a.JSON["container"].([]any) {
				bytes += len(line.(string))
			}
			require.LessOrEqual(c, bytes, 1<<20)
			require.Greater(c, bytes, 1<<20-2*long)
			last := c.texts(c.logsOf(id, "?type=container&tail=1"), "container")
			require.Equal(c, last[0], lines[len(lines)-1])
		})
	})

	add("logs.unknown", append(ops, "deletePod"), func(c *Check) {
		id := c.newPod(gpuPod)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		logs := func(id, key string) Answer {
			return c.Send(Request{Method: "GET", URL: c.URL + hostLogs(id), Key: "Bearer " + key})
		}
		c.Refused(logs("nosuchpod", c.Key), 404)
		c.Refused(logs(id, stranger), 404)
		c.delete(id)
		c.Refused(logs(id, c.Key), 404)
	})

	add("logs.scopes", append(ops, ofWorkers...), func(c *Check) {
		id, other := c.newPod(gpuPod), c.newPod(gpuPod)
		for scope, statuses := range map[string][2]int{"rest:read": {200, 200}, "pod:" + id: {200, 404}, "queue:*:invoke": {403, 403}} {
			_, token := c.newKey("", scope)
			for i, one := range []string{id, other} {
				a := c.Send(Request{Method: "GET", URL: c.URL + hostLogs(one), Key: "Bearer " + token})
				require.Equal(c, statuses[i], a.Status, fmt.Sprintf("%s: %s", scope, a.Body))
			}
		}
	})
})
