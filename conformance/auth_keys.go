package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// ofOnePod reports whether the operation is about one pod.
func ofOnePod(op Operation) bool {
	return strings.HasPrefix(op.Path, "/v2/pods/id") || strings.HasPrefix(op.Path, controlsPath+"pods/podId/") || isLogs(op)
}

// podPaths are the operations that are about one pod, each with a body that changes nothing where it is permitted.
var podPaths = []struct{ method, path, body string }{
	{"GET", "", ""}, {"GET", "/logs", ""}, {"PATCH", "", `{}`}, {"POST", "/action", `{"action":"start"}`}, {"DELETE", "", ""},
}

var _ = area(func() {
	add("auth.scopes.work", []string{"listPods", "run", "takeJob", "ping"}, func(c *Check) {
		_, key := c.newKey("", "queue:"+c.Endpoint+":work")
		c.forbidden("Bearer "+key, func(op Operation) bool { return op.Document == "worker" })
	})
	add("auth.scopes.work.other", []string{"takeJob", "ping"}, func(c *Check) {
		_, key := c.newKey("", "queue:otherendpoint1:work")
		c.forbidden("Bearer "+key, func(Operation) bool { return false })
	})

	add("auth.scopes.work.any", []string{"ping"}, func(c *Check) {
		_, key := c.newKey("", "queue:*:work")
		ping := func(endpoint string) Answer {
			return c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + endpoint + "/ping/w?gpu=x", Key: "Bearer " + key})
		}
		require.Equal(c, 200, ping(c.Endpoint).Status)
		c.Refused(ping("otherendpoint1"), 404)
		c.forbidden("Bearer "+key, func(op Operation) bool { return op.Document == "worker" })
	})

	add("auth.scopes.work.job", []string{"takeJob", "ping", "streamJob", "finishJob"}, func(c *Check) {
		_, key := c.newKey("", "queue:"+c.Endpoint+":work")
		work := func(method, operation, body string) Answer { // as an SDK does: the key without Bearer
			a := c.Send(Request{Method: method, URL: c.QueueURL + "/v2/" + c.Endpoint + "/" + operation, Body: body, Key: key})
			require.Equal(c, 200, a.Status, "%s", a.Body)
			return a
		}

		id := c.submit(job)
		require.Equal(c, id, work("GET", "job-take/own?gpu=none", "").JSON["id"])
		work("GET", "ping/own?gpu=none&job_id="+id, "")
		work("POST", "job-stream/own/"+id+"?gpu=none", `{"output":1}`)
		work("POST", "job-done/own/"+id+"?gpu=none", `{"output":"done"}`)
		require.Equal(c, "done", c.status(id)["output"])
	})

	add("auth.scopes.pod", []string{"getPod", "updatePod", "podAction", "deletePod", "getPodLogs", "listPods", "createPod", "run", "takeJob"}, func(c *Check) {
		id := c.newPod(gpuPod)
		_, token := c.newKey("", "pod:"+id)
		key := "Bearer " + token
		c.forbidden(key, ofOnePod)
		as := func(method, path, body string) Answer {
			return c.Send(Request{Method: method, URL: c.URL + "/v2/pods/" + id + path, Body: body, Key: key})
		}
		require.Equal(c, id, as("GET", "", "").JSON["id"])
		require.Equal(c, "b", as("PATCH", "", `{"name":"b"}`).JSON["name"])
		require.Equal(c, "EXITED", as("POST", "/action", `{"action":"stop"}`).JSON["status"])
		require.Equal(c, 204, as("DELETE", "", "").Status)
		c.Refused(as("GET", "/logs", ""), 404)
	})

	add("auth.scopes.pod.secrets", []string{"updatePod", "getPod"}, func(c *Check) {
		had, other := c.own("had"), c.own("other")
		c.newSecret(had)
		c.newSecret(other)
		reference := func(name string) string { return "{{ RUNPOD_SECRET_" + name + " }}" }
		id := c.newPod(`{"name":"a","image":"i","gpu":{"id":"NVIDIA L4"},"env":{"A":"` + reference(had) + `"}}`)
		_, token := c.newKey("", "pod:"+id)
		as := func(body string) Answer {
			return c.Send(Request{Method: "PATCH", URL: c.URL + "/v2/pods/" + id, Body: body, Key: "Bearer " + token})
		}

		for body, named := range map[string]string{
			`{"env":{"A":"` + reference(other) + `"}}`: "env", `{"env":{"A":"` + reference(had) + `","B":"x` + reference(other) + `"}}`: "env",
			`{"registry":"` + c.newRegistry() + `"}`: "registry", `{"name":"b","templateId":"` + c.bareTemplateOf("") + `"}`: "templateId",
		} {
			a := as(body)
			c.Refused(a, 403)
			require.Contains(c, a.JSON["detail"], named)
		}
		require.Equal(c, map[string]any{"A": reference(had)}, c.getPod(id)["env"])

		c.patched(id, `{"registry":"`+c.newRegistry()+`"}`)
		a := as(`{"image":"registry.elsewhere.example/i"}`)
		c.Refused(a, 403)
		require.Contains(c, a.JSON["detail"], "image")
		require.Equal(c, "i", c.getPod(id)["image"])
		require.Equal(c, 200, as(`{"image":"i","name":"b"}`).Status)
		require.Equal(c, 200, as(`{"image":"registry.elsewhere.example/i","registry":null}`).Status)

		require.Equal(c, 200, as(`{"env":{"B":"`+reference(had)+`","C":"d"}}`).Status)
		c.patched(id, `{"env":{"A":"`+reference(other)+`"}}`)
	})

	add("auth.scopes.pod.start", []string{"podAction"}, func(c *Check) {
		id := c.newPod(gpuPod)
		_, token := c.newKey("", "pod:"+id)
		act := func(action string) Answer {
			return c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods/" + id + "/action", Body: `{"action":"` + action + `"}`, Key: "Bearer " + token})
		}
		require.Equal(c, 200, act("stop").Status)
		c.Refused(act("start"), 403)
		require.Equal(c, "EXITED", c.getPod(id)["status"])
		require.Equal(c, 200, c.act(id, "start").Status)
	})

	add("auth.scopes.pod.other", []string{"getPod", "updatePod", "podAction", "deletePod", "getPodLogs"}, func(c *Check) {
		id := c.exited()
		_, token := c.newKey("", "pod:"+c.newPod(gpuPod), "queue:*:invoke")
		for _, of := range podPaths {
			c.Refused(c.Send(Request{Method: of.method, URL: c.URL + "/v2/pods/" + id + of.path, Body: of.body, Key: "Bearer " + token}), 404)
		}
		c.Refused(c.Send(Request{Method: "PATCH", URL: c.URL + "/v2/pods/" + id, Body: `{"disk":0}`, Key: "Bearer " + token}), 422)
		require.Equal(c, "EXITED", c.getPod(id)["status"])
	})

	add("auth.scopes.malformed", []string{"createKey"}, func(c *Check) {
		for _, scope := range []string{"", "everything", "queue:*:read", "queue::work", "queue:short:work", "pod:*", "pod:", "pod:short", "rest:work", "controls"} {
			require.Len(c, c.Refused(c.control("POST", "keys", `{"scopes":["`+scope+`"]}`), 422), 1, scope)
		}
	})

	add("graphql.scopes.pod", nil, func(c *Check) {
		id, other := c.newPod(gpuPod), c.newPod(gpuPod)
		_, token := c.newKey("", "pod:"+id)
		as := func(document string) Answer { return c.graphQLAs("Bearer "+token, document, nil) }

		pod := func(id string) string { return `{pod(input:{podId:"` + id + `"}){id env} __typename}` }
		for _, document := range []string{
			`{myself{id}}`, `{myself{pods{id}}}`, `{gpuTypes{id}}`, `{pod(input:{podId:"` + id + `"}){id} myself{id}}`,
			`{pod(input:{podId:"` + id + `"}){id} ...more} fragment more on Query{myself{id}}`,
			`mutation{podResume(input:{podId:"` + id + `"}){id}}`, `mutation{podEditJob(input:{podId:"` + id + `"}){id}}`,
			`mutation{podStop(input:{podId:"` + id + `"}){id} podRestart(input:{podId:"` + id + `"}){id}}`,
			`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"i"}){id}}`,
		} {
			c.wrongly(as(document), 200, "FORBIDDEN")
		}

		require.Equal(c, id, c.data(as(pod(id)))["pod"].(map[string]any)["id"])
		require.Nil(c, c.data(as(pod(other)))["pod"])
		c.wrongly(as(`mutation{podStop(input:{podId:"`+other+`"}){id}}`), 200, "NOT_FOUND")
		c.wrongly(as(`mutation{podTerminate(input:{podId:"`+other+`"})}`), 200, "NOT_FOUND")
		require.NotEqual(c, "EXITED", c.getPod(other)["status"])

		c.data(as(`mutation{podStop(input:{podId:"` + id + `"}){id}}`))
		require.Equal(c, "EXITED", c.getPod(id)["status"])
		c.data(as(`mutation{podTerminate(input:{podId:"` + id + `"})}`))
		require.Nil(c, c.data(as(pod(id)))["pod"])
	})
})
