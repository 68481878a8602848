package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// healthOf gives a count of the endpoint's health.
func (c *Check) healthOf(of, name string) any {
	return c.Queue("GET", "health", "").JSON[of].(map[string]any)[name]
}

var _ = area(func() {
	script := []string{"setScript", "run", "status"}
	with := func(more ...string) []string { return append([]string{"setScript", "run", "status"}, more...) }
	workers := with("listEndpointWorkers")
	add("controls.scripts.chunks", with("stream"), func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"match":[{"pointer":"/n","equals":1}],"delay":{"fixed":100},"chunks":[{"value":"Hello "},{"after":50,"value":{"to":"{{/name}}"}}]},
				{"chunks":[{"value":"a"},{"value":"b"}],"output":[]}`, boot)
			id, plain := q.input(`{"n":1,"name":"x"}`), q.input(`{}`)
			c.advance(100 * time.Millisecond)
			status, chunks := q.stream(id)
			require.Equal(c, []any{"IN_PROGRESS", []string{`{"output":"Hello "}`}}, []any{status, chunks})
			c.after(50*time.Millisecond, q, id, "COMPLETED")
			status, chunks = q.stream(id)
			require.Equal(c, []any{"COMPLETED", []string{`{"output":{"to":"x"}}`}}, []any{status, chunks})
			q.endsAs(id, "COMPLETED", 150, c.parsed(`["Hello ",{"to":"x"}]`))

			c.advance(0)
			_, chunks = q.stream(plain)
			require.Equal(c, []string{`{"output":"a"}`, `{"output":"b"}`}, chunks)
			q.endsAs(plain, "COMPLETED", 0, []any{})
		})
	})

	add("controls.scripts.error", script, func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"delay":{"fixed":20},"chunks":[{"value":1}],"error":"out of ideas"}`, boot)
			id := q.input(`{}`)
			c.advance(time.Second)
			require.Equal(c, "out of ideas", q.endsAs(id, "FAILED", 20, nil)["error"])
			_, chunks := q.stream(id)
			require.Equal(c, []string{`{"output":1}`}, chunks)
		})
	})

	add("controls.scripts.crash", workers, func(c *Check) {
		c.frozen(func() {
			q, at := c.byScript(`{"match":[{"pointer":"/once","equals":true}],"delay":{"fixed":100},"crash":{"exitCode":137,"after":23},"times":1},
				{"match":[{"pointer":"/always","equals":true}],"crash":{}},{"delay":{"fixed":10},"output":"{{attempt}}"}`, boot+`,"concurrency":2`)
			first, beside := q.input(`{"once":true}`), q.input(`{}`)
			c.advance(122 * time.Millisecond)
			require.Equal(c, "IN_PROGRESS", q.status(first)["status"])
			died := q.status(first)["workerId"]
			require.Equal(c, died, q.endsAs(beside, "COMPLETED", 10, 1.0)["workerId"], "the other job was done by then")

			c.advance(time.Millisecond)
			require.Contains(c, []any{"IN_QUEUE", "IN_PROGRESS"}, q.status(first)["status"])
			c.advance(time.Second)
			again := q.endsAs(first, "COMPLETED", 10, 2.0)
			require.EqualValues(c, 1, again["retries"])
			require.NotEqual(c, died, again["workerId"])
			for _, w := range c.crew(at) {
				require.NotEqual(c, died, w["id"])
			}

			always := q.input(`{"always":true}`)
			c.advance(5 * time.Minute)
			require.Contains(c, q.endsAs(always, "FAILED", 0, nil)["error"], "gave up after 3 attempts: the worker ended with exit code 1")
			_, _, used := c.played(at)
			require.Equal(c, []any{1.0, 3.0, 2.0}, used)
		})
	})

	add("controls.scripts.refresh", workers, func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"refreshWorker":{"output":{"n":"{{/n}}"}},"delay":{"fixed":10}}`, boot)
			first, second := q.input(`{"n":1}`), q.input(`{"n":2}`)
			c.advance(10 * time.Second)
			a := q.endsAs(first, "COMPLETED", 10, map[string]any{"n": 1.0})
			b := q.endsAs(second, "COMPLETED", 10, map[string]any{"n": 2.0})
			require.NotEqual(c, a["workerId"], b["workerId"])
		})
	})

	add("controls.scripts.cold-start", workers, func(c *Check) {
		const phases = `,"coldStart":{"pull":20000,"init":1000,"load":8003,"warm":500`
		c.frozen(func() {
			q, at := c.byScript(`{"delay":{"fixed":7},"output":1}`, phases+`}`)
			id := q.input(`{}`)
			c.advance(19999 * time.Millisecond)
			require.Nil(c, c.crew(at)[0]["startedAt"])
			c.advance(time.Millisecond)
			worker := c.crew(at)[0]
			require.NotNil(c, worker["startedAt"])
			require.Equal(c, "INITIALIZING", worker["status"])

			c.advance(9502 * time.Millisecond)
			require.Equal(c, []any{"IN_QUEUE", "INITIALIZING"}, []any{q.status(id)["status"], c.crew(at)[0]["status"]})
			c.advance(time.Millisecond)
			require.Equal(c, []any{"IN_PROGRESS", "RUNNING"}, []any{q.status(id)["status"], c.crew(at)[0]["status"]})
			require.EqualValues(c, 29503, c.after(7*time.Millisecond, q, id, "COMPLETED")["delayTime"])
			warm := q.input(`{}`)
			c.advance(7 * time.Millisecond)
			require.EqualValues(c, 0, q.endsAs(warm, "COMPLETED", 7, 1.0)["delayTime"], "the worker is there")
		})

		starts := func(chance float64, seed int) (all []float64) {
			q, _ := c.byScript(`{"refreshWorker":{}}`, phases+fmt.Sprintf(`,"flashBoot":{"chance":%g,"warm":402}},"seed":%d`, chance, seed), `"workers":{"max":1}`)
			for range 8 {
				id := q.input(`{}`)
				c.advance(time.Minute)
				all = append(all, q.endsAs(id, "COMPLETED", 0, nil)["delayTime"].(float64))
			}
			return all
		}
		c.frozen(func() {
			never, always, some := starts(0, 1), starts(1, 1), starts(0.5, 1)
			for i := range never {
				require.GreaterOrEqual(c, never[i], 29503.0)
				require.Less(c, always[i], 2000.0)
			}
			require.EqualValues(c, []float64{29503, 402}, []float64{never[0], always[0]})
			require.Equal(c, some, starts(0.5, 1), "the same seed")
			require.NotEqual(c, some, starts(0.5, 2), "another seed")
		})
	})

	add("controls.scripts.concurrency", script, func(c *Check) {
		c.frozen(func() {
			for concurrency, want := range map[int][]float64{1: {0, 100, 200}, 2: {0, 0, 100}, 3: {0, 0, 0}} {
				q, _ := c.byScript(`{"delay":{"fixed":100},"output":1}`, boot+fmt.Sprintf(`,"concurrency":%d`, concurrency), `"workers":{"max":1}`)
				var ids []string
				for range 3 {
					ids = append(ids, q.input(`{}`))
				}
				c.advance(time.Second)
				for i, id := range ids {
					require.EqualValues(c, want[i], q.status(id)["delayTime"], "concurrency %d", concurrency)
				}
			}
		})
	})

	add("controls.scripts.lease", script, func(c *Check) {
		c.frozen(func() {
			q, at := c.byScript(`{"delay":{"fixed":500000},"output":1}`, boot)
			id := q.submit(`{"input":{},"policy":{"executionTimeout":600000}}`)
			c.advance(10 * time.Minute)
			require.Nil(c, q.endsAs(id, "COMPLETED", 500000, 1.0)["retries"])
			_, _, used := c.played(at)
			require.Equal(c, []any{1.0}, used)
		})
	})

	add("controls.scripts.stopped", with("listEndpointWorkers", "cancel"), func(c *Check) {
		c.frozen(func() {
			q, at := c.byScript(`{"match":[{"pointer":"/long","equals":true}],"delay":{"fixed":300000},"crash":{}},{"output":"next"}`, boot, `"workers":{"max":1}`)
			cancelled, next := q.input(`{"long":true}`), q.input(`{}`)
			c.advance(time.Second)
			require.Equal(c, "IN_PROGRESS", q.status(cancelled)["status"])
			worker := c.crew(at)[0]["id"]
			require.Equal(c, 200, q.Queue("POST", "cancel/"+cancelled, "").Status)
			c.advance(0)
			require.Equal(c, worker, q.endsAs(next, "COMPLETED", 0, "next")["workerId"])

			late := q.submit(`{"input":{"long":true},"policy":{"executionTimeout":5000}}`)
			next = q.input(`{}`)
			c.after(5*time.Second, q, late, "TIMED_OUT")
			c.advance(0)
			require.Equal(c, worker, q.endsAs(next, "COMPLETED", 0, "next")["workerId"])
			require.EqualValues(c, 5000, q.status(next)["delayTime"])
			q.input(`{}`)
			c.advance(5 * time.Minute)
			require.Equal(c, "CANCELLED", q.status(cancelled)["status"])
		})
	})

	add("controls.scripts.workers", with("listEndpointWorkers", "health"), func(c *Check) {
		c.frozen(func() {
			q, at := c.byScript(`{"delay":{"fixed":60000},"output":1}`, boot, `"workers":{"max":2,"idleTimeout":5}`)
			for range 3 {
				q.input(`{}`)
			}
			c.advance(10 * time.Second)
			require.Equal(c, []any{2.0, 0.0}, []any{q.healthOf("workers", "running"), q.healthOf("workers", "idle")})
			require.Equal(c, []any{2.0, 1.0}, []any{q.healthOf("jobs", "inProgress"), q.healthOf("jobs", "inQueue")})
			c.advance(3 * time.Minute)
			require.Equal(c, 3.0, q.healthOf("jobs", "completed"))
			require.Empty(c, c.crew(at), "they idled for long enough")
		})
	})

	add("controls.scripts.beside", with("takeJob", "finishJob"), func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"output":"by script"}`, "", `"workers":{"max":0}`)
			id := q.input(`{}`)
			c.advance(time.Minute)
			q.takeJob("w", id)
			q.done("w", id, `{"output":"by a worker"}`)
			require.Equal(c, "by a worker", q.status(id)["output"])
		})
	})

	add("controls.scripts.replaced", with("deleteScript"), func(c *Check) {
		c.frozen(func() {
			q, at := c.byScript(`{"delay":{"fixed":1000},"output":"old"}`, boot)
			old := q.input(`{}`)
			c.advance(500 * time.Millisecond)
			c.script(at, `{"output":"new"}`, "")
			next := q.input(`{}`)
			c.advance(500 * time.Millisecond)
			q.endsAs(old, "COMPLETED", 1000, "old")
			c.advance(0)
			q.endsAs(next, "COMPLETED", 0, "new")

			c.script(at, `{"delay":{"fixed":1000},"output":"last"}`, "")
			last := q.input(`{}`)
			c.advance(500 * time.Millisecond)
			c.set("DELETE", scriptOf(at), "")
			c.advance(500 * time.Millisecond)
			q.endsAs(last, "COMPLETED", 1000, "last")
		})
	})

	add("controls.scripts.reset", []string{"setScript", "resetState", "deleteEndpoint", "getScript"}, func(c *Check) {
		at := c.newEndpoint(cpuEndpoint)
		c.script(at, `{"output":1}`, "")
		require.Equal(c, 204, c.REST("DELETE", at, "").Status)
		c.Refused(c.control("GET", scriptOf(at), ""), 404)
		c.Refused(c.control("PUT", scriptOf(at), `{"answers":[{"output":1}]}`), 404)
	})

	add("controls.scripts.refused", []string{"setScript"}, func(c *Check) {
		c.needsControls()
		for at, why := range map[string]string{serverless + "/" + c.endpointID(): "declare", c.newEndpoint(balancer): "has no queue"} {
			a := c.control("PUT", scriptOf(at), `{"answers":[{"output":1}]}`)
			c.Refused(a, 400)
			require.Contains(c, a.JSON["detail"], why)
			c.Refused(c.control("GET", scriptOf(at), ""), 404)
		}
	})

	add("controls.scripts.senseless", []string{"setScript"}, func(c *Check) {
		c.needsControls()
		at := c.newEndpoint(cpuEndpoint)
		put := func(answer string) Answer {
			return c.control("PUT", scriptOf(at), `{"answers":[{"output":1},`+answer+`]}`)
		}
		for answer, detail := range map[string]string{
			`{}`:                          "/answers/1: it needs output, error, crash, refreshWorker or chunks",
			`{"delay":{"fixed":1}}`:       "/answers/1: it needs output",
			`{"output":null,"error":"x"}`: "/answers/1: it has more than one of",
			`{"output":1,"delay":{}}`:     "/answers/1/delay: it needs one of",
			`{"output":1,"delay":{"fixed":1,"exponential":{"mean":1}}}`: "/answers/1/delay: it needs one of",
			`{"output":1,"delay":{"uniform":{"least":2,"most":1}}}`:     "/answers/1/delay: uniform: most is less than least",
		} {
			a := put(answer)
			c.Refused(a, 400)
			require.Contains(c, a.JSON["detail"], detail)
		}

		for answer, lines := range map[string][]string{
			`{"outptu":1}`:                        {"/answers/1/outptu: is not a known member; the closest is output"},
			`{"chunks":[{"value":1,"aftr":1}]}`:   {"/answers/1/chunks/0/aftr: is not a known member; the closest is after"},
			`{"crash":{"exitcode":1}}`:            {"/answers/1/crash/exitcode: is not a known member; the closest is exitCode"},
			`{"error":""}`:                        {"/answers/1/error: must have at least 1 character"},
			`{"output":1,"times":0}`:              {"/answers/1/times: must be >= 1"},
			`{"output":1,"match":[{"equals":1}]}`: {"/answers/1/match/0/pointer: is required"},
		} {
			require.Equal(c, lines, c.Refused(put(answer), 422))
		}
		require.Equal(c, []string{"/answer: is not a known member; the closest is answers", "/answers: is required"}, c.Refused(c.control("PUT", scriptOf(at), `{"answer":[]}`), 422))
		c.Refused(c.control("GET", scriptOf(at), ""), 404)
	})

	add("controls.scripts.bounds", script, func(c *Check) {
		c.needsControls()
		at := c.newEndpoint(cpuEndpoint)
		many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
		for _, bound := range []struct {
			answers func(n int) string
			most    int
			more    string
		}{
			{func(n int) string { return many(n, `{"output":1}`) }, 100, ""},
			{func(n int) string { return `{"chunks":[` + many(n, `{"value":1}`) + `]}` }, 1000, ""},
			{func(n int) string { return `{"output":1,"progress":[` + many(n, `{"value":1}`) + `]}` }, 100, ""},
			{func(n int) string { return `{"output":1,"match":[` + many(n, `{"pointer":"/a","equals":1}`) + `]}` }, 10, ""},
			{func(n int) string { return `{"error":"` + strings.Repeat("x", n) + `"}` }, 10000, ""},
			{func(n int) string { return fmt.Sprintf(`{"output":1,"delay":{"fixed":%d}}`, n) }, 86400000, ""},
		} {
			require.Equal(c, 204, c.control("PUT", scriptOf(at), `{"answers":[`+bound.answers(bound.most)+`]}`).Status)
			c.Refused(c.control("PUT", scriptOf(at), `{"answers":[`+bound.answers(bound.most+1)+`]}`), 422)
		}
		for _, more := range []string{`,"concurrency":101`, `,"concurrency":0`, `,"coldStart":{"pull":600001}`, `,"coldStart":{"flashBoot":{"chance":1.1,"warm":1}}`} {
			c.Refused(c.control("PUT", scriptOf(at), `{"answers":[{"output":1}]`+more+`}`), 422)
		}
		c.Refused(c.control("PUT", scriptOf(at), `{"answers":[{"output":"`+strings.Repeat("x", 1<<20)+`"}]}`), 413)

		c.frozen(func() {
			q, _ := c.byScript(`{"match":[{"pointer":"/a","equals":1}],"output":1},{"match":[{"pointer":"/b","equals":1}],"output":["`+strings.Repeat("{{input}}", 2000)+`"]},
				{"match":[{"pointer":"/c","equals":1}],"progress":[{"value":["`+strings.Repeat("{{input}}", 600)+`"]}],"output":"done"},{"output":"any"}`, boot)
			fits, long, grown := q.input(`{"a":1,"x":"`+strings.Repeat("x", 1<<20-20)+`"}`), q.input(`{"a":1,"x":"`+strings.Repeat("x", 1<<20)+`"}`), q.input(`{"b":1,"x":"`+strings.Repeat("x", 20000)+`"}`)
			shown := q.input(`{"c":1,"x":"` + strings.Repeat("x", 20000) + `"}`) // as progress it is over 10 MB
			c.advance(time.Second)
			q.endsAs(fits, "COMPLETED", 0, 1.0)
			q.endsAs(long, "COMPLETED", 0, "any")
			require.Contains(c, q.endsAs(grown, "FAILED", 0, nil)["error"], "longer than 20000000 bytes")
			q.endsAs(shown, "COMPLETED", 0, "done")
		})
	})
})
