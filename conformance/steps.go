package conformance

import (
	"fmt"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"
)

// stepped runs f while the clock of the target stands still and its time of day has stepped, forward and then back.
func (c *Check) stepped(by time.Duration, prepare, f func()) {
	for _, d := range []time.Duration{by, -by} {
		c.frozen(func() {
			prepare()
			c.step(d)
			defer c.step(-d)
			f()
		})
	}
}

func (c *Check) step(d time.Duration) {
	a := c.control("POST", "clock/step", fmt.Sprintf(`{"milliseconds":%d}`, d.Milliseconds()))
	require.Equal(c, 200, a.Status, "%s", a.Body)
}

// The rules about steps of the time of day.
var _ = area(func() {
	add("controls.step", []string{"stepClock", "getClock"}, func(c *Check) {
		c.frozen(func() {
			begin := c.now()
			lag := func() float64 { return c.control("GET", "clock", "").JSON["lag"].(float64) }
			before := lag()
			c.step(time.Hour)
			stepped, behind := c.now(), lag()-before
			c.step(-time.Hour)
			require.WithinDuration(c, begin.Add(time.Hour), stepped, time.Second)
			require.InDelta(c, time.Hour.Milliseconds(), behind, 1000)
			require.WithinDuration(c, begin, c.now(), time.Second)
			require.InDelta(c, before, lag(), 1000)
			require.Len(c, c.Refused(c.control("POST", "clock/step", `{"milliseconds":31536000001}`), 422), 1)
		})
	})

	add("clock.step.read", []string{"createPod", "getPod"}, func(c *Check) {
		c.stepped(time.Hour, func() {}, func() {
			created := c.time(c.becomes(c.newPod(gpuPod), "RUNNING")["createdAt"])
			require.WithinDuration(c, c.now(), created, time.Minute)
			s := c.logs(c.ticking(200), "?tail=1", "")
			defer s.hangUp()
			require.Equal(c, ticks(200, 200), s.written(1))
		})
	})

	add("clock.date", []string{"listPods", "health", "runSync"}, func(c *Check) {
		c.stepped(time.Hour, func() {}, func() {
			for _, a := range []Answer{c.REST("GET", "/v2/pods", ""), c.REST("GET", "/v2/nothing", ""), c.Queue("GET", "health", ""), c.graphQL(anyPod)} {
				date, err := http.ParseTime(a.Header.Get("Date"))
				require.NoError(c, err)
				require.WithinDuration(c, c.now(), date, time.Minute)
			}
		})

		c.frozen(func() {
			began := c.shown(c.control("GET", "clock", ""))
			answers := c.hold(func() Answer { return c.Queue("POST", "runsync?wait=60000", `{"input":{},"policy":{"ttl":30000}}`) })
			c.advance(time.Minute)
			date, err := http.ParseTime((<-answers).Header.Get("Date"))
			require.NoError(c, err)
			require.False(c, date.Before(began.Add(29*time.Second)), "an answer that was held has the time at which it is given")
		})
	})

	add("queue.lease.afresh", []string{"takeJob", "ping"}, func(c *Check) {
		var id string
		c.stepped(time.Hour, func() {
			id = c.submit(job)
			c.takeJob("w", id)
			require.Equal(c, 200, c.Queue("GET", "ping/w?job_id="+id, "").Status)
			c.advance(29 * time.Second)
		}, func() {
			c.advance(30*time.Second - time.Millisecond)
			require.Equal(c, "IN_PROGRESS", c.status(id)["status"])
			c.advance(time.Millisecond)
			require.Equal(c, "IN_QUEUE", c.status(id)["status"])
			c.takeJob("other", id)
			c.done("other", id, `{}`)
		})
	})

	add("clock.step.jobs", []string{"run", "takeJob", "status"}, func(c *Check) {
		var running, waiting, ended string
		c.stepped(30*24*time.Hour, func() {
			ended, running = c.submit(job), c.submit(job)
			c.takeJob("w", ended)
			c.done("w", ended, `{"output":1}`)
			c.takeJob("w", running)
			waiting = c.submit(`{"input":{},"policy":{"ttl":10000}}`)
		}, func() {
			c.advance(9999 * time.Millisecond)
			require.Equal(c, "IN_PROGRESS", c.status(running)["status"])
			require.Equal(c, "IN_QUEUE", c.status(waiting)["status"])
			c.advance(time.Millisecond)
			require.Equal(c, "TIMED_OUT", c.status(waiting)["status"])
			c.done("w", running, `{}`)
			require.EqualValues(c, 10_000, c.status(running)["executionTime"])
			c.keptFor(ended, 30*time.Minute-10*time.Second)
		})
	})

	add("clock.step.bill", []string{"listPodBilling"}, func(c *Check) {
		var pod map[string]any
		c.stepped(24*time.Hour, func() {
			c.set("POST", "reset", "")
			if now := c.now().UTC(); now.Add(10*time.Minute).Day() != now.Day() {
				c.advance(10 * time.Minute) // each of its minutes is of one day
			}
			pod = c.runs(gpuPod, time.Minute)
		}, func() {
			c.advance(time.Minute)
			query := "&startTime=" + isoTime(c.now().Add(-72*time.Hour)) + "&endTime=" + isoTime(c.now().Add(72*time.Hour))
			bill := c.bill("/pods?podId=" + pod["id"].(string) + query)
			require.InDelta(c, nano(pod["cost"])/30, amount(bill, "gpuAmount"), float64(nano(pod["cost"])/3600), "two minutes")
			require.Len(c, records(bill), 2, "a day lies between them")
		})
	})

	add("clock.step.key", []string{"listPods"}, func(c *Check) {
		c.frozen(func() {
			_, key := c.newKey(`,"expiresIn":3600000`, "all")
			require.Equal(c, 200, c.listPods(key).Status)
			c.step(time.Hour)
			defer c.step(-time.Hour)
			c.Refused(c.listPods(key), 401)
		})
	})
})
