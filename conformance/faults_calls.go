package conformance

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"
)

var _ = area(func() {
	set := []string{"setFaults", "getFaults"}
	add("controls.faults.match", set, func(c *Check) {
		s := c.sender()
		s.fault(`"operation":"getPod","resource":"one","status":503`)
		require.Equal(c, []int{503}, s.statuses(1, "GET", "/v2/pods/one", ""))
		require.Equal(c, []int{404}, s.statuses(1, "GET", "/v2/pods/two", ""))

		s.fault(`"operation":"listPods","status":503`)
		require.Equal(c, 200, c.listPods(c.Key).Status, "another key")
		require.Equal(c, []int{503}, s.statuses(1, "GET", "/v2/pods", ""))

		for _, when := range []string{"before", "after"} {
			s.fault(`"operation":"createTemplate","when":"` + when + `","status":503,"body":[{"pointer":"/disk","equals":30.0},{"pointer":"/env/A","equals":"1"}]`)
			for body, status := range map[string]int{`"disk":30,"env":{"A":"1"}`: 503, `"disk":31,"env":{"A":"1"}`: 201, `"disk":30,"env":{"A":"2"}`: 201, `"disk":30`: 201} {
				require.Equal(c, []int{status}, s.statuses(1, "POST", templates, strings.Replace(s.template(), "}", ","+body+"}", 1)), body)
			}
			require.Equal(c, [][2]int{{1, 1}}, c.met())
			s.made()
		}
		c.Refused(s.rest("POST", templates, `{"name":`), 400)
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.turns", set, func(c *Check) {
		s := c.sender()
		for members, want := range map[string][]int{
			`"nth":2`: {200, 503, 200, 200, 200, 200}, `"every":3`: {200, 200, 503, 200, 200, 503}, `"times":2`: {503, 503, 200, 200, 200, 200},
			`"after":1,"every":2,"times":1`: {200, 200, 503, 200, 200, 200}, `"after":4`: {200, 200, 200, 200, 503, 503},
			`"probability":0`: {200, 200, 200, 200, 200, 200}, `"probability":1`: {503, 503, 503, 503, 503, 503},
		} {
			for _, when := range []string{"before", "after"} {
				s.fault(`"operation":"listPods","status":503,"when":"` + when + `",` + members)
				require.Equal(c, want, s.statuses(6, "GET", "/v2/pods", ""), "%s %s", when, members)
			}
		}
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.probability", set, func(c *Check) {
		s := c.sender()
		run := func(seed int) []int {
			s.fault(fmt.Sprintf(`"operation":"listPods","status":503,"probability":0.5,"seed":%d`, seed))
			return s.statuses(40, "GET", "/v2/pods", "")
		}
		first := run(3)
		require.Contains(c, first, 200)
		require.Contains(c, first, 503)
		require.Equal(c, first, run(3))
		require.NotEqual(c, first, run(4))
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.one", set, func(c *Check) {
		s := c.sender()
		s.fault(`"operation":"listPods","status":503,"nth":2`, `"operation":"*","status":500`, `"operation":"listPods","status":418`)
		require.Equal(c, []int{500, 503, 500}, s.statuses(3, "GET", "/v2/pods", ""))
		require.Equal(c, [][2]int{{3, 1}, {3, 2}, {3, 0}}, c.met())
		s.fault(`"operation":"listPods","when":"after","status":503`, `"operation":"listPods","latency":1,"times":1`)
		require.Equal(c, []int{200, 503}, s.statuses(2, "GET", "/v2/pods", ""))
		require.Equal(c, [][2]int{{2, 1}, {2, 1}}, c.met())
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.ids", []string{"addFault", "deleteFault", "clearFaults", "getFaults", "setFaults"}, func(c *Check) {
		c.set("DELETE", "faults", "")
		const lost = `{"id":"lost","operation":"getPod","when":"after","drop":true}`
		a := c.control("POST", "faults", `{"operation":"listPods","status":503,"after":2}`)
		require.Equal(c, 201, a.Status)
		first := a.JSON["id"].(string)
		require.NotEmpty(c, first)
		require.Equal(c, 201, c.control("POST", "faults", lost).Status)
		c.Refused(c.control("POST", "faults", lost), 409)
		c.Refused(c.control("PUT", "faults", `{"faults":[`+lost+`,`+lost+`]}`), 400)

		require.Equal(c, 200, c.listPods(c.Key).Status)
		list := c.scripted()
		require.Len(c, list, 2)
		require.Equal(c, []any{first, 1.0, 0.0}, []any{list[0]["id"], list[0]["calls"], list[0]["shown"]})
		require.Equal(c, map[string]any{"id": "lost", "operation": "getPod", "when": "after", "after": 0.0, "drop": true, "garbage": false, "calls": 0.0, "shown": 0.0}, list[1])
		c.set("DELETE", "faults/"+first, "")
		require.Equal(c, list[1:], c.scripted())
		c.Refused(c.control("DELETE", "faults/"+first, ""), 404)
		c.set("DELETE", "faults", "")
		require.Empty(c, c.scripted())

		for range 100 {
			require.Equal(c, 201, c.control("POST", "faults", `{"operation":"getPod","status":500}`).Status)
		}
		c.Refused(c.control("POST", "faults", `{"operation":"getPod","status":500}`), 400)
		c.set("POST", "reset", "")
		require.Empty(c, c.scripted())
	})

	add("controls.faults.unknown", []string{"setFaults", "addFault"}, func(c *Check) {
		for written, closest := range map[string]string{"createPods": "createPod, ", "runsync": "runSync, ", "graphql.podstop": "graphql.podStop, "} {
			a := c.control("PUT", "faults", `{"faults":[{"operation":"listPods","drop":true},{"operation":"`+written+`","status":500}]}`)
			c.Refused(a, 400)
			require.Contains(c, a.JSON["detail"], `/faults/1/operation: there is no operation "`+written+`"; there are `+closest)
			for _, name := range []string{"*", "listPods", "takeJob", "graphql.myself"} {
				require.Contains(c, a.JSON["detail"], ", "+name)
			}
		}
		a := c.control("POST", "faults", `{"operation":"setFaults","status":500}`)
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], "/operation: there is no operation")
		require.Len(c, c.Refused(c.control("POST", "faults", `{"operation":"run","status":500,"nosuch":1}`), 422), 1)
		require.Empty(c, c.scripted())
	})

	add("controls.faults.senseless", []string{"setFaults", "addFault"}, func(c *Check) {
		for members, field := range map[string]string{
			`"drop":true,"status":503`: "drop", `"when":"after","drop":true,"half":50`: "drop", `"when":"after","status":503,"half":50`: "status", `"when":"after","status":500,"garbage":true`: "status",
			`"half":50`: "half", `"garbage":true`: "garbage", `"bytesPerSecond":9,"when":"before"`: "bytesPerSecond",
			`"status":500,"nth":1,"every":2`: "nth", `"status":500,"nth":1,"times":1`: "nth", `"status":500,"nth":1,"after":1`: "nth", `"status":500,"nth":1,"probability":1`: "nth",
			`"latency":2,"latencyMax":1`: "latencyMax", `"latencyMax":2,"drop":true`: "latencyMax", `"retryAfter":1,"drop":true`: "retryAfter", `"status":500,"seed":1`: "seed",
		} {
			a := c.control("POST", "faults", `{"operation":"listPods",`+members+`}`)
			c.Refused(a, 400)
			require.True(c, strings.HasPrefix(a.JSON["detail"].(string), "/"+field+": "), "%s: %s", members, a.Body)
			a = c.control("PUT", "faults", `{"faults":[{"operation":"listPods",`+members+`}]}`)
			c.Refused(a, 400)
			require.True(c, strings.HasPrefix(a.JSON["detail"].(string), "/faults/0/"+field+": "), "%s: %s", members, a.Body)
		}
		c.Refused(c.control("POST", "faults", `{"operation":"graphql.pod","resource":"a","status":500}`), 400)
		for _, members := range []string{`"status":399`, `"half":100`, `"probability":1.1`, `"when":"during"`, `"body":[]`} {
			require.NotEmpty(c, c.Refused(c.control("POST", "faults", `{"operation":"listPods",`+members+`}`), 422), members)
		}
		require.Empty(c, c.scripted())
	})

	add("controls.faults.streams", set, func(c *Check) {
		for _, operation := range []string{"getPodLogs", "getWorkerLogs", "getBuildLogs"} {
			a := c.control("PUT", "faults", `{"faults":[{"operation":"`+operation+`","when":"after","drop":true}]}`)
			c.Refused(a, 400)
			require.Contains(c, a.JSON["detail"], "/faults/0/when: "+operation+" answers with a stream of events")
		}
		s, pod := c.sender(), c.newPod(gpuPod)
		s.fault(`"operation":"getPodLogs","status":503,"times":1`)
		c.Refused(s.rest("GET", "/v2/pods/"+pod+"/logs", ""), 503)

		s.fault(`"operation":"*","when":"after","drop":true`)
		req, err := http.NewRequestWithContext(c.context(), "GET", c.URL+"/v2/pods/"+pod+"/logs", nil)
		require.NoError(c, err)
		req.Header.Set("Authorization", "Bearer "+s.key)
		res, err := client.Do(req)
		require.NoError(c, err)
		line := make([]byte, 4)
		_, err = res.Body.Read(line)
		require.NoError(c, err)
		require.NoError(c, res.Body.Close())
		require.Equal(c, [][2]int{{0, 0}}, c.met())
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.openai", set, func(c *Check) {
		c.set("PUT", "faults", `{"faults":[{"operation":"openAIChatCompletions","when":"after","status":503}]}`)
		e := c.asStream(chat, streaming)
		id := c.takeAny().id
		c.streamsChunk(id, `"data: 1\n\n"`)
		require.Equal(c, "data: 1\n\n", e.next(9), "while the job runs")
		c.done(openAIWorker, id, `{}`)
		require.Equal(c, doneEvent, e.rest())
		require.Equal(c, [][2]int{{0, 0}}, c.met())

		a := c.openAI(openAIRoute{"POST", chat, `{"model":"m"}`}, func(id string) { c.done(openAIWorker, id, `{"output":{"n":1}}`) })
		c.openAIFails(a, 503)
		require.Equal(c, [][2]int{{1, 1}}, c.met())
		c.set("PUT", "faults", `{"faults":[{"operation":"openAIChatCompletions","status":429}]}`)
		c.openAIFails(c.call(openAIRoute{"POST", chat, streaming}, "Bearer "+c.Key).answer(), 429)
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.held", set, func(c *Check) {
		s := c.sender()
		s.fault(`"operation":"runSync","when":"after","status":503`)
		answers := c.later(func() Answer {
			return s.Send(Request{Method: "POST", URL: s.QueueURL + "/v2/" + s.endpointID() + "/runsync", Body: job, Key: "Bearer " + s.key})
		})
		var taken Answer
		c.Eventually(func() bool {
			taken = c.Queue("GET", "job-take/"+c.worker("w")+"?job_in_progress=0", "")
			return taken.Status == 200
		}, "the job can be taken")
		require.Empty(c, answers)
		id := taken.JSON["id"].(string)
		c.done(c.worker("w"), id, `{"output":7}`)
		c.Refused(<-answers, 503)
		require.Equal(c, "COMPLETED", c.status(id)["status"])

		id = c.submit(job)
		s.fault(`"operation":"takeJob","when":"after","drop":true,"times":1`)
		a, err := s.rawAt(c.QueueURL, "GET", "/v2/"+c.Endpoint+"/job-take/"+c.worker("lost")+"?job_in_progress=0", "")
		require.Error(c, err, "%d %s", a.Status, a.Body)
		require.Equal(c, "IN_PROGRESS", c.status(id)["status"], "the worker has it, and does not know")

		s.fault(`"operation":"finishJob","when":"after","status":503,"times":1`)
		report, err := s.rawAt(c.QueueURL, "POST", "/v2/"+c.Endpoint+"/job-done/"+c.worker("lost")+"/"+id+"?isStream=false", `{"output":7}`)
		require.NoError(c, err)
		require.Equal(c, 503, report.Status)
		require.Contains(c, string(report.Body), "a scripted fault of finishJob")
		require.Equal(c, "COMPLETED", c.status(id)["status"])
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.graphql.after", set, func(c *Check) {
		s := c.sender()
		auth := func() Answer {
			return c.graphQLAs("Bearer "+s.key, `mutation($n:String!){saveRegistryAuth(input:{name:$n,username:"u",password:"p"}){id}}`, map[string]any{"n": c.name})
		}
		made := func() (n int) {
			for _, r := range c.read(registries)["registries"].([]any) {
				if one := r.(map[string]any); one["name"] == c.name {
					require.Equal(c, 204, c.REST("DELETE", registries+"/"+one["id"].(string), "").Status)
					n++
				}
			}
			return n
		}

		s.fault(`"operation":"graphql.saveRegistryAuth","when":"after","status":503,"retryAfter":3,"body":[{"pointer":"/variables/n","equals":"` + c.name + `"}]`)
		a := auth()
		require.Contains(c, c.wrongly(a, 503, "UNAVAILABLE"), "graphql.saveRegistryAuth")
		require.Equal(c, "3", a.Header.Get("Retry-After"))
		require.Nil(c, a.JSON["data"])
		require.Equal(c, 1, made())
		require.Equal(c, "after", s.sole()["fault"].(map[string]any)["when"])

		s.fault(`"operation":"graphql.podStop","when":"after","status":503`)
		c.wrongly(c.graphQLAs("Bearer "+s.key, stopPod, nil), 200, "NOT_FOUND")
		require.Equal(c, [][2]int{{0, 0}}, c.met())
		s.fault(`"operation":"graphql.saveRegistryAuth","when":"after","half":50`)
		cut, err := s.raw("POST", graphqlPath, `{"query":"mutation{saveRegistryAuth(input:{name:\"`+c.name+`\",username:\"u\",password:\"p\"}){id}}"}`)
		require.Error(c, err)
		require.Equal(c, 200, cut.Status)
		require.Equal(c, 1, made())
		c.set("DELETE", "faults", "")
	})
})
