package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// fault scripts what happens to the calls of the key alone: the members of each fault.
func (s sender) fault(members ...string) {
	var list []string
	for _, m := range members {
		list = append(list, `{"keyId":"`+s.id+`",`+m+`}`)
	}
	s.set("PUT", "faults", `{"faults":[`+strings.Join(list, ",")+`]}`)
}

// met gives calls and shown of each fault.
func (c *Check) met() (all [][2]int) {
	for _, f := range c.scripted() {
		all = append(all, [2]int{int(f["calls"].(float64)), int(f["shown"].(float64))})
	}
	return all
}

// scripted gives the faults in force.
func (c *Check) scripted() (all []map[string]any) {
	for _, f := range c.control("GET", "faults", "").JSON["faults"].([]any) {
		all = append(all, f.(map[string]any))
	}
	return all
}

// once has a connection for each request: on one that was used before, a GET is sent again when it is cut.
var once = &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}

// raw sends a request whose answer may be cut, and gives what came of it.
func (s sender) raw(method, path, body string) (Answer, error) {
	return s.rawAt(s.URL, method, path, body)
}

func (s sender) rawAt(base, method, path, body string) (Answer, error) {
	req, err := http.NewRequestWithContext(s.context(), method, base+path, strings.NewReader(body))
	require.NoError(s, err)
	req.Header.Set("Authorization", "Bearer "+s.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return doBy(once, req)
}

// statuses sends the request so many times, and gives the statuses.
func (s sender) statuses(n int, method, path, body string) (all []int) {
	for range n {
		all = append(all, s.rest(method, path, body).Status)
	}
	return all
}

// template is the body of a template of the rule; made gives those that there are, and takes them back.
func (s sender) template() string { return `{"name":"` + s.name + `","image":"i"}` }

func (s sender) made() (n int) {
	for _, t := range s.everyOne(templates, "templates") {
		if one := t.(map[string]any); one["name"] == s.name {
			require.Equal(s, 204, s.REST("DELETE", templates+"/"+one["id"].(string), "").Status)
			n++
		}
	}
	return n
}

var _ = area(func() {
	add("controls.faults", []string{"setFaults", "getFaults"}, func(c *Check) {
		c.set("PUT", "faults", `{"faults":[{"operation":"listPods","after":1,"times":1,"status":503},{"operation":"deletePod","drop":true,"times":1}]}`)
		require.Equal(c, 200, c.listPods(c.Key).Status)
		c.Refused(c.listPods(c.Key), 503)
		require.Equal(c, 200, c.listPods(c.Key).Status)

		req, err := http.NewRequest("DELETE", c.URL+"/v2/pods/nosuchpod", nil)
		require.NoError(c, err)
		req.Header.Set("Authorization", "Bearer "+c.Key)
		_, err = client.Do(req)
		require.Error(c, err)

		shown := c.control("GET", "faults", "").JSON["faults"].([]any)
		require.EqualValues(c, 1, shown[0].(map[string]any)["shown"])
		require.EqualValues(c, 3, shown[0].(map[string]any)["calls"])
		c.frozen(func() {
			c.set("PUT", "faults", `{"faults":[{"operation":"*","latency":60000}]}`)
			answers := c.later(func() Answer { return c.listPods(c.Key) })
			c.Eventually(func() bool {
				first := c.control("GET", "faults", "").JSON["faults"].([]any)[0].(map[string]any)
				return first["shown"].(float64) == 1
			}, "the call is held")
			require.Empty(c, answers)
			c.advance(time.Minute)
			require.Equal(c, 200, (<-answers).Status)
		})

		c.Refused(c.control("PUT", "faults", `{"faults":[{"operation":"nosuch","status":500}]}`), 400)
		c.Refused(c.control("PUT", "faults", `{"faults":[{"operation":"listPods"}]}`), 400)
		c.set("PUT", "faults", `{"faults":[]}`)
	})

	add("controls.faults.graphql", []string{"setFaults", "getFaults"}, func(c *Check) {
		const mine, both = `{myself{id}}`, `{gpuTypes(input:{id:"a"}){id} myself{id}}`
		c.set("PUT", "faults", `{"faults":[{"operation":"graphql.myself","after":1,"times":2,"status":503},{"operation":"graphql.podStop","drop":true},
			{"operation":"graphql.gpuTypes","after":1,"status":418}]}`)
		c.data(c.graphQL(mine))
		a := c.graphQL(mine)
		require.Contains(c, c.wrongly(a, 503, "UNAVAILABLE"), "graphql.myself")
		require.Equal(c, "1", a.Header.Get("Retry-After"))
		require.Nil(c, a.JSON["data"])

		c.wrongly(c.graphQL(both), 503, "UNAVAILABLE")
		c.wrongly(c.graphQL(both), 418, "INTERNAL")
		c.wrongly(c.graphQLAs("-", stopPod, nil), 401, "UNAUTHENTICATED")
		body := strings.NewReader(`{"query":` + quoted(stopPod) + `}`)
		req, err := http.NewRequest("POST", c.URL+graphqlPath, body)
		require.NoError(c, err)

		req.Header.Set("Authorization", "Bearer "+c.Key)
		req.Header.Set("Content-Type", "application/json")
		_, err = client.Do(req)
		require.Error(c, err)

		shown := c.control("GET", "faults", "").JSON["faults"].([]any)
		require.EqualValues(c, 3, shown[0].(map[string]any)["calls"])
		require.EqualValues(c, 2, shown[0].(map[string]any)["shown"])
		c.set("PUT", "faults", `{"faults":[{"operation":"*","times":1,"status":500}]}`)
		c.wrongly(c.graphQL(mine), 500, "INTERNAL")
		c.set("PUT", "faults", `{"faults":[{"operation":"deleteTemplate","status":500}]}`)
		c.wrongly(c.graphQL(`mutation{deleteTemplate(templateName:"nosuch")}`), 200, "NOT_FOUND")
		for _, operation := range []string{"graphql.nosuch", "podStop", "graphql."} {
			c.Refused(c.control("PUT", "faults", `{"faults":[{"operation":"`+operation+`","status":500}]}`), 400)
		}
		c.set("PUT", "faults", `{"faults":[]}`)
	})
})

var _ = area(func() {
	set := []string{"setFaults", "getFaults"}
	add("controls.faults.after", set, func(c *Check) {
		s := c.sender()
		s.fault(`"operation":"createTemplate","when":"after","status":503,"times":1`)
		a := s.rest("POST", templates, s.template())
		c.Refused(a, 503)
		require.Empty(c, a.Header.Get("Location"))
		require.Equal(c, 1, s.made())
		require.Equal(c, 201, s.rest("POST", templates, s.template()).Status)
		require.Equal(c, 1, s.made())

		s.fault(`"operation":"createTemplate","when":"after","drop":true`)
		_, err := s.raw("POST", templates, s.template())
		require.Error(c, err)
		require.Equal(c, 1, s.made())

		c.frozen(func() {
			s.fault(`"operation":"createTemplate","when":"after","latency":60000`)
			answers := c.later(func() Answer { return s.rest("POST", templates, s.template()) })
			c.Eventually(func() bool { return c.met()[0] == [2]int{1, 1} }, "the answer is held")
			require.Equal(c, 1, s.made())
			require.Empty(c, answers)
			c.advance(time.Minute)
			require.Equal(c, 201, (<-answers).Status)
		})
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.after.refused", set, func(c *Check) {
		s := c.sender()
		s.fault(`"operation":"createTemplate","when":"after","status":503,"nth":1`)
		require.Equal(c, []int{422}, s.statuses(1, "POST", templates, `{}`))
		require.Equal(c, [][2]int{{0, 0}}, c.met())
		require.Equal(c, []int{503, 201}, s.statuses(2, "POST", templates, s.template()))
		require.Equal(c, [][2]int{{2, 1}}, c.met())
		require.Equal(c, 2, s.made())

		s.fault(`"operation":"*","when":"after","status":503`)
		c.Refused(s.rest("GET", "/v2/pods/nosuchpod", ""), 404)
		c.Refused(s.rest("GET", "/v2/pods", ""), 503)
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.half", set, func(c *Check) {
		s := c.sender()
		whole, err := s.raw("GET", "/v2/catalog/gpus", "")
		require.NoError(c, err)
		for _, percent := range []int{50, 0} {
			s.fault(fmt.Sprintf(`"operation":"listGpuTypes","when":"after","half":%d`, percent))
			a, err := s.raw("GET", "/v2/catalog/gpus", "")
			require.Error(c, err)
			require.Equal(c, 200, a.Status)
			require.Equal(c, fmt.Sprint(len(whole.Body)), a.Header.Get("Content-Length"))
			require.Equal(c, string(whole.Body[:len(whole.Body)*percent/100]), string(a.Body))
		}

		s.fault(`"operation":"createTemplate","when":"after","half":10`)
		a, err := s.raw("POST", templates, s.template())
		require.Error(c, err)
		require.Equal(c, 201, a.Status)
		require.Equal(c, 1, s.made())
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.garbage", set, func(c *Check) {
		s := c.sender()
		whole, err := s.raw("GET", "/v2/catalog/gpus", "")
		require.NoError(c, err)
		var bodies [][]byte
		for _, seed := range []int{1, 1, 2} {
			s.fault(fmt.Sprintf(`"operation":"listGpuTypes","when":"after","garbage":true,"seed":%d`, seed))
			a, err := s.raw("GET", "/v2/catalog/gpus", "")
			require.NoError(c, err)
			require.Equal(c, []any{200, "application/json", len(whole.Body)}, []any{a.Status, a.Header.Get("Content-Type"), len(a.Body)})
			require.False(c, json.Valid(a.Body))
			bodies = append(bodies, a.Body)
		}
		require.True(c, bytes.Equal(bodies[0], bodies[1]), "the same seed")
		require.False(c, bytes.Equal(bodies[0], bodies[2]), "another seed")
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.slow", set, func(c *Check) {
		s := c.sender()
		whole, err := s.raw("GET", "/v2/catalog/datacenters", "")
		require.NoError(c, err)
		c.frozen(func() {
			s.fault(fmt.Sprintf(`"operation":"listDataCenters","when":"after","bytesPerSecond":%d`, len(whole.Body)/60))
			answers := c.later(func() Answer { return s.rest("GET", "/v2/catalog/datacenters", "") })
			c.Eventually(func() bool { return c.met()[0] == [2]int{1, 1} }, "the answer has begun")
			before := c.control("GET", "clock", "").JSON["now"]
			require.Empty(c, answers)
			var a Answer
			for came := false; !came; {
				select {
				case a = <-answers:
					came = true
				default:
					c.advance(10 * time.Second)
				}
			}
			require.Equal(c, string(whole.Body), string(a.Body))
			began, err := time.Parse(time.RFC3339Nano, before.(string))
			require.NoError(c, err)
			ended, err := time.Parse(time.RFC3339Nano, c.control("GET", "clock", "").JSON["now"].(string))
			require.NoError(c, err)
			require.GreaterOrEqual(c, ended.Sub(began), time.Minute)
		})
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.latency", set, func(c *Check) {
		s := c.sender()
		latencies := func(seed int) (all []float64) {
			c.forget()
			s.fault(fmt.Sprintf(`"operation":"listPods","latency":1,"latencyMax":20,"seed":%d`, seed))
			require.Equal(c, []int{200, 200, 200, 200, 200, 200}, s.statuses(6, "GET", "/v2/pods", ""))
			for _, e := range s.journal() {
				ms := e["fault"].(map[string]any)["latency"].(float64)
				require.GreaterOrEqual(c, ms, 1.0)
				require.LessOrEqual(c, ms, 20.0)
				require.GreaterOrEqual(c, e["duration"], ms)
				all = append(all, ms)
			}
			return all
		}
		first := latencies(7)
		require.Len(c, first, 6)
		require.Equal(c, first, latencies(7))
		require.NotEqual(c, first, latencies(8))
		c.set("DELETE", "faults", "")
	})

	add("controls.faults.retry-after", set, func(c *Check) {
		s := c.sender()
		for members, want := range map[string]string{`"status":503`: "1", `"status":429`: "1", `"status":503,"retryAfter":0`: "0", `"status":500,"retryAfter":7`: "7", `"status":500`: ""} {
			for _, when := range []string{"before", "after"} {
				s.fault(`"operation":"listTemplates","when":"` + when + `",` + members)
				a, err := s.raw("GET", templates, "")
				require.NoError(c, err)
				require.Equal(c, want, a.Header.Get("Retry-After"), members)
			}
		}
		c.set("DELETE", "faults", "")
	})
})
