package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// withKey sends the header to one operation of REST and one of the queue.
func (c *Check) withKey(header string) []Answer {
	return []Answer{
		c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: header}),
		c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/health", Key: header}),
	}
}

// forbidden asserts 403 of every operation but the permitted ones, which get past the scope to a query that no operation can
// read: nothing is done or held.
func (c *Check) forbidden(key string, permitted func(Operation) bool) {
	for _, op := range c.Keyed() {
		path := op.Path
		if op.Document != "rest" {
			path = strings.Replace(path, "endpointId", c.Endpoint, 1)
		}
		a := c.Send(Request{Method: op.Method, URL: c.base(op.Document) + path + "?a=%zz", Body: "{}", Key: key, Header: asJSON})
		if permitted(op) || isSession(op) {
			require.Equal(c, 422, a.Status, "%s %s", op.Method, op.Path)
		} else {
			require.Equal(c, 403, a.Status, "%s %s", op.Method, op.Path)
		}
	}
}

var _ = area(func() {
	one := []string{"listPods", "health"}
	add("auth.required", one, func(c *Check) {
		for _, op := range c.Keyed() {
			c.Refused(c.Send(Request{Method: op.Method, URL: c.address(op), Key: "-"}), 401)
		}
	})

	add("auth.malformed", one, func(c *Check) {
		for _, header := range []string{"Bearer nonsense", "Bearer ", "Bearer", "Basic abc", "nonsense", "Bearer " + c.Key + " x"} {
			for _, a := range c.withKey(header) {
				c.Refused(a, 401)
			}
		}
	})

	add("auth.invalid", one, func(c *Check) {
		for _, a := range c.withKey("Bearer " + wrong(c.Key)) {
			c.Refused(a, 401)
		}
	})

	add("auth.expired", one, func(c *Check) {
		for _, a := range c.withKey(c.key("expired")) {
			c.Refused(a, 401)
		}
	})

	add("auth.bearer", one, func(c *Check) {
		c.Refused(c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: c.Key}), 401)
		require.Equal(c, 200, c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: "bearer " + c.Key}).Status)
	})

	add("auth.detail", one, func(c *Check) {
		key := c.Key
		if !strings.HasPrefix(key, "brt_") { // somebody chose it: nothing tells another one of its form from what is none
			key = "brt_" + strings.Repeat("c", 10) + "_" + strings.Repeat("c", 52)
		}
		kinds := map[any]string{} // by what is written about them
		for _, alike := range []struct {
			kind    string
			headers []string
		}{
			{"missing", []string{"-"}}, {"malformed", []string{"Bearer nonsense", "Bearer gibberish"}}, {"malformed", []string{"Basic abc", "Basic xyz"}},
			{"invalid", []string{"Bearer " + wrong(key), "Bearer " + changed(key, 4, 14)}}, {"expired", []string{c.key("expired"), c.key("expired")}},
		} {
			details := map[any]bool{}
			for _, header := range alike.headers {
				for _, a := range c.withKey(header) {
					c.Refused(a, 401)
					details[a.JSON["detail"]] = true
				}
			}

			require.Len(c, details, 1, "%s: the words are the same, whatever key was sent and to which interface", alike.kind)
			for detail := range details {
				require.Contains(c, []string{"", alike.kind}, kinds[detail], "%s", detail)
				kinds[detail] = alike.kind
			}
		}
	})

	add("auth.detail.silent", one, func(c *Check) {
		known := c.withKey("Bearer " + wrong(c.Key))[0]
		unknown := c.withKey("Bearer " + changed(c.Key, 4, 14))[0]
		require.Equal(c, known.JSON["detail"], unknown.JSON["detail"])
	})

	add("auth.scopes", []string{"listPods", "createPod", "deletePod", "run", "takeJob"}, func(c *Check) {
		c.forbidden(c.key("read"), func(op Operation) bool {
			return op.Document == "rest" && op.Method == "GET" || isWhy(op) || isLogs(op) || isEvents(op) || isAudit(op)
		})
	})
	add("auth.scopes.write", []string{"listPods", "createPod", "run", "takeJob"}, func(c *Check) {
		c.forbidden(c.key("write"), func(op Operation) bool { return op.Document == "rest" && op.Method != "GET" || isExec(op) })
	})
	add("auth.scopes.invoke", []string{"listPods", "createPod", "run", "takeJob"}, func(c *Check) {
		c.forbidden(c.key("invoke"), func(op Operation) bool { return op.Document == "queue" || isJobs(op) || isEvents(op) })
	})
	add("auth.scopes.invoke.other", []string{"run", "health"}, func(c *Check) {
		c.forbidden(c.key("other"), func(op Operation) bool { return isJobs(op) || isEvents(op) }) // whose endpoint is another one
	})
	add("auth.scopes.invoke.any", []string{"health"}, func(c *Check) {
		require.Equal(c, 200, c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/health", Key: c.key("any")}).Status)
		c.Refused(c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/otherendpoint1/health", Key: c.key("any")}), 404)
	})
	add("auth.scopes.graphql", []string{"listPods", "createPod", "run"}, func(c *Check) {
		c.forbidden(c.key("graphql"), func(Operation) bool { return false })
	})
	add("auth.scopes.admin", []string{"listPods", "createPod", "run"}, func(c *Check) {
		c.forbidden(c.key("admin"), func(op Operation) bool {
			return isHosts(op) || isUsers(op) || isEvents(op) || isKeyList(op) || isFleetHistory(op) || isAudit(op) || isRefusals(op)
		})
	})

	add("auth.scopes.all", []string{"listPods", "createPod", "health", "ping"}, func(c *Check) {
		require.Equal(c, 200, c.REST("GET", "/v2/pods", "").Status)
		c.newPod(gpuPod)
		require.Equal(c, 200, c.Queue("GET", "health", "").Status)
		require.Equal(c, 200, c.Queue("GET", "ping/w?gpu=x", "").Status)
	})
})

// wrong gives a key of the right form that does not exist: its secret is another one.
func wrong(key string) string { return changed(key, len(key)-4, len(key)) }

// changed gives a key whose characters from one place to another are other ones.
func changed(key string, from, to int) string {
	return key[:from] + strings.Map(func(r rune) rune {
		if r == 'a' {
			return 'b'
		}
		return 'a'
	}, key[from:to]) + key[to:]
}
