package conformance

import (
	"fmt"
	"path"
	"time"

	"github.com/stretchr/testify/require"
)

// The rules of a clock that goes to what is due by itself.

// auto runs f while the clock of the target goes by itself, by so much at most. A machine that is busy has some time for the next request.
func (c *Check) auto(most time.Duration, f func()) {
	a := c.control("POST", "clock/auto", fmt.Sprintf(`{"milliseconds":%d,"settle":3000}`, most.Milliseconds()))
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.Equal(c, "auto", a.JSON["mode"])
	require.Equal(c, false, a.JSON["frozen"])
	f()
}

// sleeps waits on the clock of the target, and gives what the clock shows then.
func (c *Check) sleeps(d time.Duration) time.Time {
	a := c.control("POST", "clock/sleep", fmt.Sprintf(`{"milliseconds":%d}`, d.Milliseconds()))
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return c.shown(a)
}

// shown gives the time that an answer of the clock shows.
func (c *Check) shown(a Answer) time.Time {
	t, err := time.Parse(time.RFC3339Nano, a.JSON["now"].(string))
	require.NoError(c, err)
	return t
}

// eventuallyShows waits until the clock has the mode, and gives its answer.
func (c *Check) eventuallyShows(mode string) (a Answer) {
	require.Eventually(c, func() bool {
		a = c.control("GET", "clock", "")
		return a.JSON["mode"] == mode
	}, c.suite.patience(), 5*time.Millisecond)
	return a
}

var _ = area(func() {
	add("controls.clock.sleep", []string{"sleepClock"}, func(c *Check) {
		c.frozen(func() {
			before := c.shown(c.control("GET", "clock", ""))
			woken := c.later(func() Answer { return c.control("POST", "clock/sleep", `{"milliseconds":60000}`) })
			c.advance(time.Minute - time.Millisecond)
			select {
			case a := <-woken:
				require.Fail(c, "woken too early", "%s", a.Body)
			case <-time.After(20 * time.Millisecond):
			}

			c.advance(time.Minute) // it may have begun to sleep only now
			a := <-woken
			require.Equal(c, 200, a.Status, "%s", a.Body)
			require.False(c, c.shown(a).Before(before.Add(time.Minute)))
			require.Equal(c, 200, c.control("POST", "clock/sleep", `{"milliseconds":0}`).Status, "nothing to wait for")
		})
	})

	add("controls.clock.auto", []string{"autoClock", "sleepClock", "getClock"}, func(c *Check) {
		c.frozen(func() {
			id := c.submit(`{"input":{},"policy":{"ttl":3600000}}`)
			began := c.shown(c.control("GET", "clock", ""))
			c.auto(2*time.Hour, func() {
				require.Equal(c, began.Add(59*time.Minute), c.sleeps(59*time.Minute))
				require.Equal(c, "IN_QUEUE", c.status(id)["status"])
				require.Equal(c, began.Add(61*time.Minute), c.sleeps(2*time.Minute))
				require.Equal(c, "TIMED_OUT", c.status(id)["status"])
			})

			a := c.eventuallyShows("frozen")
			require.Equal(c, began.Add(2*time.Hour), c.shown(a), "it goes as far as it may, and stands still")
			require.NotContains(c, a.JSON, "until")
			c.Refused(c.Queue("GET", "status/"+id, ""), 404)
		})
	})

	add("controls.clock.auto.held", []string{"autoClock", "runSync"}, func(c *Check) {
		c.frozen(func() {
			answers := c.hold(func() Answer { return c.Queue("POST", "runsync", `{"input":{},"policy":{"ttl":30000}}`) })
			c.auto(time.Minute, func() {
				require.Equal(c, "TIMED_OUT", (<-answers).JSON["status"], "a held request waits as the clock goes on, and is answered at its time")
			})
		})
	})

	add("controls.clock.waits", []string{"advanceClock", "autoClock", "setScript", "runSync"}, func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"delay":{"fixed":30000},"output":1}`, boot, `"workers":{"min":1}`)
			q.submit(job)
			c.advance(time.Minute) // now its worker is up
			ends := func(wait string) any {
				answers := c.hold(func() Answer { return q.Queue("POST", "runsync?wait="+wait, `{"input":{}}`) })
				c.advance(time.Minute)
				return (<-answers).JSON["status"]
			}
			require.Equal(c, "COMPLETED", ends("30000"), "what is due at that time has been done")
			require.Equal(c, "IN_PROGRESS", ends("29999"), "and what is due later has not")
			require.Equal(c, "COMPLETED", ends("30001"))

			c.auto(time.Hour, func() {
				require.Equal(c, "COMPLETED", q.Queue("POST", "runsync?wait=30000", `{"input":{}}`).JSON["status"])
				require.Equal(c, "IN_PROGRESS", q.Queue("POST", "runsync?wait=29999", `{"input":{}}`).JSON["status"])
			})
		})
	})

	add("controls.clock.delayed", []string{"advanceClock", "setScript", "setFaults", "run", "health"}, func(c *Check) {
		c.frozen(func() {
			q, at := c.byScript(`{"delay":{"fixed":1000},"output":1}`, boot, `"workers":{"min":1}`)
			c.advance(time.Minute) // now its worker is up
			completed := func() any { return q.Queue("GET", "health", "").JSON["jobs"].(map[string]any)["completed"] }
			c.Eventually(func() bool {
				c.set("PUT", "faults", `{"faults":[{"operation":"run","when":"before","latency":29417,"resource":"`+path.Base(at)+`"}]}`)
				answers := c.later(func() Answer { return q.Queue("POST", "run", `{"input":{}}`) })
				for c.met()[0][1] == 0 {
					c.sleep(time.Millisecond)
				}
				before := completed()
				c.advance(30417 * time.Millisecond) // nothing else is due just then
				after := completed()
				c.set("DELETE", "faults", "")
				c.advance(time.Minute)
				<-answers
				c.advance(time.Minute) // the next one begins with nothing to do
				return after != before // or the request did not yet sleep as the clock went on
			}, "a job that was submitted late ends a second later")
		})
	})

	add("controls.clock.auto.working", []string{"autoClock", "takeJob", "finishJob"}, func(c *Check) {
		c.frozen(func() {
			id := c.submit(`{"input":{},"policy":{"executionTimeout":3600000}}`)
			c.takeJob("w", id)
			began := c.shown(c.control("GET", "clock", ""))
			c.auto(24*time.Hour, func() {
				c.sleep(100 * time.Millisecond)
				a := c.control("GET", "clock", "")
				require.True(c, c.shown(a).After(began), "the clock runs while a worker has a job")
				require.Less(c, c.shown(a).Sub(began), time.Minute, "and does not go to what is due")
				c.done("w", id, `{"output":1}`)
				require.Equal(c, "COMPLETED", c.status(id)["status"])
				c.sleeps(31 * time.Minute)
				c.Refused(c.Queue("GET", "status/"+id, ""), 404)
			})
		})
	})

	add("controls.clock.auto.end", []string{"autoClock", "freezeClock", "resumeClock", "advanceClock"}, func(c *Check) {
		c.frozen(func() {
			for _, mode := range []string{"frozen", "running"} {
				a := c.control("POST", "clock/auto", `{"settle":1}`)
				require.Equal(c, "auto", a.JSON["mode"])
				require.NotContains(c, a.JSON, "until")
				c.advance(time.Second)
				require.Equal(c, "auto", c.control("GET", "clock", "").JSON["mode"])

				end := map[string]string{"frozen": "freeze", "running": "resume"}[mode]
				a = c.control("POST", "clock/"+end, "")
				require.Equal(c, mode, a.JSON["mode"])
				require.Equal(c, mode == "frozen", a.JSON["frozen"])
			}
		})
		c.Refused(c.control("POST", "clock/auto", `{"milliseconds":0}`), 422)
		c.Refused(c.control("POST", "clock/auto", `{"settle":10001}`), 422)
	})
})
