package conformance

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

// forget clears the journal, without which it may have dropped so many requests that nothing is certain of how often one came.
func (c *Check) forget() { c.set("DELETE", "journal", "") }

// verify holds the requests of the key against expectations, and gives the failures.
func (s sender) verify(inOrder bool, expectations ...string) (failures []map[string]any) {
	for i, x := range expectations {
		expectations[i] = strings.Replace(x, "{", `{"keyId":"`+s.id+`",`, 1)
	}
	a := s.control("POST", "journal/verify", fmt.Sprintf(`{"expectations":[%s],"inOrder":%t}`, strings.Join(expectations, ","), inOrder))
	require.Equal(s, 200, a.Status, "%s", a.Body)
	for _, f := range a.JSON["failures"].([]any) {
		failures = append(failures, f.(map[string]any))
	}
	require.Equal(s, len(failures) == 0, a.JSON["ok"])
	return failures
}

var _ = area(func() {
	verify := []string{"verifyJournal"}
	add("controls.journal.verify", verify, func(c *Check) {
		s := c.sender()
		c.forget()
		s.run(`{"input":{"n":7,"list":[{"a/b":null}]}}`)
		s.run(`{"input":{"n":7.0}}`)
		s.rest("GET", "/v2/pods", "", "X-Trace: on")
		for expectation, holds := range map[string]bool{
			`{"operation":"run"}`: true, `{"operation":"run","times":{"exactly":2}}`: true, `{"operation":"run","times":{"exactly":1}}`: false,
			`{"operation":"run","times":{"atLeast":2}}`: true, `{"operation":"run","times":{"atLeast":3}}`: false, `{"operation":"run","times":{"atMost":2}}`: true,
			`{"operation":"run","times":{"atMost":1}}`: false, `{"operation":"cancel"}`: false, `{"operation":"cancel","times":{"exactly":0}}`: true,
			`{"method":"POST","status":"2xx","pathPrefix":"/v2/","times":{"exactly":2}}`: true, `{"resource":"` + c.Endpoint + `","times":{"exactly":2}}`: true,
			`{"body":[{"pointer":"/input/n","equals":7}],"times":{"exactly":2}}`: true, `{"body":[{"pointer":"/input/n","equals":"7"}]}`: false,
			`{"body":[{"pointer":"/input/list/0/a~1b","equals":null}]}`: true, `{"body":[{"pointer":"/input/list/1","equals":null}]}`: false,
			`{"body":[{"pointer":"","equals":{"input":{"n":7}}}],"times":{"exactly":1}}`: true,
			`{"headers":[{"name":"x-trace","value":"on"}],"times":{"exactly":1}}`:        true, `{"headers":[{"name":"X-Trace","value":"off"}]}`: false,
			`{"afterNumber":987654321}`: false, `{"since":"2001-01-01T00:00:00Z"}`: true, `{"until":"2001-01-01T00:00:00Z"}`: false,
		} {
			require.Equal(c, holds, len(s.verify(false, expectation)) == 0, expectation)
		}

		failures := s.verify(false, `{"operation":"run"}`, `{"operation":"cancel"}`)
		require.Len(c, failures, 1)
		require.EqualValues(c, 1, failures[0]["expectation"])
		require.Equal(c, "requests with operation cancel, keyId "+s.id+": expected at least 1, found 0", failures[0]["says"])
		c.Refused(c.control("GET", "journal/verify", ""), 405) // it is no number of an entry
		c.Refused(c.control("POST", "journal/verify", `{"expectations":[]}`), 422)
		c.Refused(c.control("POST", "journal/verify", `{"expectations":[{"body":[{"pointer":"input","equals":1}]}]}`), 422)
	})

	add("controls.journal.verify.nearest", verify, func(c *Check) {
		s := c.sender()
		s.run(`{"input":{"n":1}}`)
		s.run(`{"input":{"n":2}}`)
		s.rest("GET", "/v2/pods", "")
		numbers := s.journal("operation=run")
		failures := s.verify(false, `{"operation":"run","status":"200","body":[{"pointer":"/input/n","equals":7}]}`)
		require.Equal(c, map[string]any{"number": numbers[1]["number"], "differences": []any{
			map[string]any{"member": "body /input/n", "expected": "7", "found": "2"},
		}}, failures[0]["nearest"])

		failures = s.verify(false, `{"operation":"run","status":"4xx","body":[{"pointer":"/input/n","equals":1}]}`)
		require.Equal(c, numbers[0]["number"], failures[0]["nearest"].(map[string]any)["number"])
		require.NotContains(c, s.verify(false, `{"operation":"run","times":{"exactly":1}}`)[0], "nearest", "there are too many")
	})

	add("controls.journal.verify.order", verify, func(c *Check) {
		c.forget()
		s := c.sender()
		s.run(job)
		s.rest("GET", "/v2/pods", "")
		s.run(job)
		const run, list = `{"operation":"run"}`, `{"operation":"listPods"}`
		require.Empty(c, s.verify(true, run, list, run))
		require.Empty(c, s.verify(true, list, run))
		require.Empty(c, s.verify(true, `{"operation":"run","times":{"exactly":2}}`))
		failures := s.verify(true, run, run, list)
		require.Len(c, failures, 1)
		require.EqualValues(c, 2, failures[0]["expectation"])
		require.Contains(c, failures[0]["says"], "expected after request")
		require.Empty(c, s.verify(false, run, run, list))
	})

	add("controls.journal.operations", append([]string{"listJournal"}, verify...), func(c *Check) {
		c.forget()
		never := func(operation string) Answer {
			return c.control("POST", "journal/verify", `{"expectations":[{"resource":"`+c.name+`","times":{"exactly":0}},{"operation":"`+operation+`","resource":"`+c.name+`","times":{"exactly":0}}]}`)
		}
		for _, known := range []string{"createPod", "run", "takeJob", "unknown", "receiveWebhook", "proxyPod", "proxyEndpoint", "graphql", "graphql.myself", "graphql.podTerminate", "graphql.__schema"} {
			require.Equal(c, true, never(known).JSON["ok"], known)
			require.Equal(c, 200, c.control("GET", "journal?operation="+known, "").Status, known)
		}
		for written, closest := range map[string]string{"createPodTypo": "createPod", "listpods": "listPods", "graphql.podTerminat": "graphql.podTerminate", "graphgl": "graphql", "freezeClock": "", "healthz": ""} {
			says := `there is no operation "` + written + `"; there are ` + closest
			require.Contains(c, detailOf(c, never(written), 400), "/expectations/1/operation: "+says)
			require.Equal(c, []any{}, c.control("GET", "journal?operation="+written, "").JSON["entries"])
		}
	})

	add("controls.journal.verify.times", verify, func(c *Check) {
		c.needsControls()
		for _, times := range []string{`{"exactly":1,"atLeast":1}`, `{"exactly":1,"atMost":1}`, `{"atLeast":2,"atMost":1}`} {
			c.Refused(c.control("POST", "journal/verify", `{"expectations":[{"operation":"run","times":`+times+`}]}`), 400)
		}
	})
})

// detailOf asserts that the target refuses, and gives what it says.
func detailOf(c *Check, a Answer, status int) any {
	c.Refused(a, status)
	return a.JSON["detail"]
}
