package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// scriptOf is where the script of the endpoint at the path is, below the controls.
func scriptOf(at string) string {
	return "endpoints/" + strings.TrimPrefix(at, serverless+"/") + "/script"
}

// byScript gives a Check whose queue is that of a new endpoint with the members and with a script of the answers and further members, and
// the path of the endpoint.
func (c *Check) byScript(answers, more string, members ...string) (q *Check, at string) {
	c.needsControls()
	at = c.newEndpoint(cpuEndpoint, members...)
	c.script(at, answers, more)
	return c.on(at), at
}

// script sets the script of the endpoint at the path.
func (c *Check) script(at, answers, more string) {
	c.set("PUT", scriptOf(at), `{"answers":[`+answers+`]`+more+`}`)
}

// input submits a job with the input, and gives its id.
func (c *Check) input(input string) string { return c.submit(`{"input":` + input + `}`) }

// endsAs asserts the status of a job, what it was for so many milliseconds, and its output.
func (c *Check) endsAs(id, status string, ran int, output any) map[string]any {
	job := c.status(id)
	require.Equal(c, status, job["status"], "%v", job)
	require.EqualValues(c, ran, job["executionTime"], "%v", job)
	require.Equal(c, output, job["output"], "%v", job)
	return job
}

// after asserts that the job has that status from so long on, to the millisecond, and not before.
func (c *Check) after(d time.Duration, q *Check, id, status string) map[string]any {
	c.advance(d - time.Millisecond)
	require.NotEqual(c, status, q.status(id)["status"])
	c.advance(time.Millisecond)
	job := q.status(id)
	require.Equal(c, status, job["status"], "%v", job)
	return job
}

// played gives what was done by the script of the endpoint at the path.
func (c *Check) played(at string) (jobs, workers float64, used []any) {
	a := c.control("GET", scriptOf(at), "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON["jobs"].(float64), a.JSON["workers"].(float64), a.JSON["used"].([]any)
}

// boot is a cold start that is over at once.
const boot = `,"coldStart":{}`

var _ = area(func() {
	script := []string{"setScript", "run", "status"}
	add("controls.scripts", []string{"setScript", "getScript", "deleteScript", "run", "status"}, func(c *Check) {
		c.frozen(func() {
			q, at := c.byScript(`{"output":{"a":[1.50,null,"<x>"]}}`, `,"seed":7`)
			id := q.input(`{}`)
			c.advance(10 * time.Second)
			q.endsAs(id, "COMPLETED", 0, c.parsed(`{"a":[1.5,null,"<x>"]}`))
			shown := c.control("GET", scriptOf(at), "").JSON
			require.Equal(c, c.parsed(`{"script":{"answers":[{"output":{"a":[1.5,null,"<x>"]}}],"seed":7},"jobs":1,"workers":1,"used":[1]}`), any(shown))

			c.script(at, `{"output":"another"}`, "")
			jobs, workers, used := c.played(at)
			require.Equal(c, []any{0.0, 0.0, []any{0.0}}, []any{jobs, workers, used})
			again := q.input(`{}`)
			c.advance(0)
			q.endsAs(again, "COMPLETED", 0, "another")

			for range 2 {
				c.set("DELETE", scriptOf(at), "")
			}
			c.Refused(c.control("GET", scriptOf(at), ""), 404)
			waits := q.input(`{}`)
			c.advance(time.Second)
			require.Equal(c, "IN_QUEUE", q.status(waits)["status"])
		})
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			c.Refused(c.control(method, "endpoints/nosuch/script", `{"answers":[{"output":1}]}`), 404)
		}
	})

	add("controls.scripts.match", script, func(c *Check) {
		c.frozen(func() {
			q, at := c.byScript(`{"match":[{"pointer":"/n","equals":1},{"pointer":"/deep/0/a~1b","equals":{"x":[1e1]}}],"output":"both"},
				{"match":[{"pointer":"/n","equals":1}],"output":"first","times":2},{"match":[{"pointer":"/n","equals":1}],"output":"second"},{"output":"any"}`, boot)
			want := map[string]any{}
			for _, job := range [][2]string{
				{`{"n":1.0,"deep":[{"a/b":{"x":[10]}}]}`, "both"}, {`{"n":1}`, "first"}, {`{"n":1,"m":2}`, "first"}, {`{"n":1}`, "second"}, {`{"n":"1"}`, "any"}, {`{"N":1}`, "any"},
			} {
				want[q.input(job[0])] = job[1]
			}
			c.advance(time.Second)
			for id, output := range want {
				q.endsAs(id, "COMPLETED", 0, output)
			}
			jobs, _, used := c.played(at)
			require.Equal(c, []any{6.0, []any{1.0, 2.0, 1.0, 2.0}}, []any{jobs, used})
		})
	})

	add("controls.scripts.unmatched", script, func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"match":[{"pointer":"/a","equals":1},{"pointer":"/b","equals":1}],"output":1},
				{"match":[{"pointer":"/a","equals":2},{"pointer":"/b","equals":"x"}],"output":1},{"match":[{"pointer":"/only","equals":true}],"output":1,"times":1}`, boot)
			near, done, spent := q.input(`{"a":2,"b":"y"}`), q.input(`{"only":true}`), q.input(`{"only":true}`)
			c.advance(time.Second)
			require.Contains(c, q.endsAs(near, "FAILED", 0, nil)["error"], `no answer of the script matches the job: the closest, /answers/1, expects "x" at "/b" of the input, found "y"`)
			q.endsAs(done, "COMPLETED", 0, 1.0)
			require.Contains(c, q.endsAs(spent, "FAILED", 0, nil)["error"], `/answers/2, was used 1 times`)
		})
	})

	add("controls.scripts.templates", script, func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"match":[{"pointer":"/text","equals":"x"}],"output":{"text":"{{/text}}","whole":"{{input}}","list":["{{/n}}","{{ /o/a }}"],"mixed":"{{/text}}-{{/n}}-{{/o}} {{ no","attempt":"{{attempt}}",
				"job":"{{job.id}}","worker":"{{worker.id}}"}},{"match":[{"pointer":"/fails","equals":true}],"error":"failed: {{/why}}"},{"output":"{{/missing}}"}`, boot)
			id, fails, missing := q.input(`{"text":"x","n":1.5,"o":{"a":[true]}}`), q.input(`{"fails":true,"why":{"code":7}}`), q.input(`{}`)
			c.advance(time.Second)
			worker := q.status(id)["workerId"].(string)
			q.endsAs(id, "COMPLETED", 0, c.parsed(`{"text":"x","whole":{"text":"x","n":1.5,"o":{"a":[true]}},"list":[1.5,[true]],"mixed":"x-1.5-{\"a\":[true]} {{ no","attempt":1,
				"job":"`+id+`","worker":"`+worker+`"}`))
			require.Equal(c, `failed: {"code":7}`, q.status(fails)["error"])
			require.Contains(c, q.endsAs(missing, "FAILED", 0, nil)["error"], "{{/missing}}")
		})
		at := c.newEndpoint(cpuEndpoint)
		for template, pointer := range map[string]string{
			`"output":{"a":["{{jobid}}"]}`: "/answers/0/output/a/0: ", `"error":"{{ attempts }}"`: "/answers/0/error: ", `"chunks":[{"value":1},{"value":"{{x}}"}]`: "/answers/0/chunks/1/value: ",
			`"output":1,"progress":[{"value":"{{}}"}]`: "/answers/0/progress/0/value: ", `"refreshWorker":{"output":"{{n}}"}`: "/answers/0/refreshWorker/output: ",
		} {
			a := c.control("PUT", scriptOf(at), `{"answers":[{`+template+`}]}`)
			c.Refused(a, 400)
			require.Contains(c, a.JSON["detail"], pointer+"there is no template {{")
		}
		require.Contains(c, c.control("PUT", scriptOf(at), `{"answers":[{"output":"{{jobid}}"}]}`).JSON["detail"], "there are job.id, ")
	})

	add("controls.scripts.delay", script, func(c *Check) {
		delays := func(delay string, seed int) (all []float64) {
			q, _ := c.byScript(`{"delay":`+delay+`,"output":1}`, fmt.Sprintf(`,"concurrency":20,"seed":%d`, seed)+boot)
			var ids []string
			for range 20 {
				ids = append(ids, q.submit(`{"input":{},"policy":{"executionTimeout":7200000}}`))
			}
			c.advance(20 * time.Minute)
			for _, id := range ids {
				all = append(all, q.status(id)["executionTime"].(float64))
			}
			return all
		}
		c.frozen(func() {
			for _, delay := range []string{`{"fixed":1234}`, `{"uniform":{"least":100,"most":103}}`, `{"normal":{"mean":2000,"deviation":300}}`, `{"exponential":{"mean":500}}`} {
				first := delays(delay, 1)
				require.Equal(c, first, delays(delay, 1), "the same seed")
				different := map[float64]bool{}
				sum := 0.0
				for _, d := range first {
					different[d] = true
					sum += d
				}
				switch {
				case strings.Contains(delay, "fixed"):
					require.Equal(c, map[float64]bool{1234: true}, different)
					continue
				case strings.Contains(delay, "uniform"):
					require.Subset(c, []float64{100, 101, 102, 103}, first)
				case strings.Contains(delay, "normal"):
					require.InDelta(c, 2000, sum/20, 300)
				default:
					require.InDelta(c, 500, sum/20, 400)
				}
				require.Greater(c, len(different), 2)
				require.NotEqual(c, first, delays(delay, 2), "another seed")
			}
		})
	})

	add("controls.scripts.order", []string{"setScript", "run", "status", "advanceClock"}, func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"match":[{"pointer":"/n","equals":1}],"delay":{"fixed":1003},"output":1},{"match":[{"pointer":"/n","equals":2}],"delay":{"fixed":1001},"output":2},
				{"match":[{"pointer":"/n","equals":3}],"delay":{"fixed":3},"output":3}`, `,"concurrency":2`+boot)
			first, second, third := q.input(`{"n":1}`), q.input(`{"n":2}`), q.input(`{"n":3}`)
			c.advance(time.Minute)
			q.endsAs(first, "COMPLETED", 1003, 1.0)
			q.endsAs(second, "COMPLETED", 1001, 2.0)
			q.endsAs(third, "COMPLETED", 3, 3.0)
			require.EqualValues(c, 1001, q.status(third)["delayTime"], "it was taken when the second had ended")
		})
	})

	add("controls.scripts.progress", script, func(c *Check) {
		c.frozen(func() {
			q, _ := c.byScript(`{"delay":{"fixed":2001},"progress":[{"after":1500,"value":{"done":"{{/n}}"}},{"after":500,"value":"more"}],"output":"all"}`, boot)
			id := q.input(`{"n":7}`)
			c.advance(1499 * time.Millisecond)
			require.Nil(c, q.status(id)["output"])
			for _, next := range []struct {
				after time.Duration
				want  any
			}{{1, map[string]any{"done": 7.0}}, {499, map[string]any{"done": 7.0}}, {1, "more"}} {
				c.advance(next.after * time.Millisecond)
				require.Equal(c, []any{"IN_PROGRESS", next.want}, []any{q.status(id)["status"], q.status(id)["output"]})
			}
			c.advance(time.Millisecond)
			q.endsAs(id, "COMPLETED", 2001, "all")
		})
	})
})
