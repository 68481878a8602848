package conformance

import "github.com/stretchr/testify/require"

// How functions and routes of apps of flash call each other.
var _ = area(func() {
	add("flash.calls", []string{"run", "status", "health"}, func(c *Check) {
		app := c.flashApp("app")
		environment := c.flashEnvironment(*app.Id, "production")
		made := c.flashEndpoint(*environment.Id, "double")
		ask := func(method, operation, endpoint, key string) Answer {
			return c.Send(Request{
				Method: method, URL: c.QueueURL + "/v2/flash/" + operation, Body: map[string]string{"POST": `{"input":{"n":1}}`}[method], Key: key,
				Header: map[string]string{"X-Flash-App": *app.Name, "X-Flash-Environment": "production", "X-Flash-Endpoint": endpoint},
			})
		}

		sent := ask("POST", "run", "double", "")
		require.Equal(c, 200, sent.Status, "%s", sent.Body)
		id := sent.JSON["id"].(string)
		require.Equal(c, id, ask("GET", "status/"+id, "double", "").JSON["id"])
		require.Equal(c, id, c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + *made.Id + "/status/" + id}).JSON["id"], "it is a job of the endpoint")
		require.Equal(c, id, ask("GET", "status/"+id, *made.Id, "").JSON["id"], "an id does as much")
		c.Refused(ask("POST", "run", "none", ""), 404)
		elsewhere := c.flashEndpoint(*c.flashEnvironment(*app.Id, "staging").Id, "triple")
		c.Refused(ask("POST", "run", *elsewhere.Id, ""), 404)
		_, other := c.newKey(`,"user":"somebody"`, "all")
		c.Refused(ask("POST", "run", "double", "Bearer "+other), 404)
		_, narrow := c.newKey("", "queue:"+*made.Id+":invoke")
		require.Equal(c, 200, ask("GET", "health", "double", "Bearer "+narrow).Status)
		_, narrow = c.newKey("", "queue:otherendpoint0:invoke")
		_, pod := c.newKey("", "pod:"+c.newPod(gpuPod))
		for _, key := range []string{narrow, pod} {
			there, none := ask("GET", "health", "double", "Bearer "+key), ask("GET", "health", "none", "Bearer "+key)
			c.Refused(there, 403)
			c.Refused(none, 403)
			require.Equal(c, there.JSON["detail"], none.JSON["detail"], "what there is is not for such a key")
		}
	})

	add("flash.balanced", nil, func(c *Check) {
		c.needsProxy()
		app := c.flashApp("app")
		environment := c.flashEnvironment(*app.Id, "production")
		queue := c.flashEndpoint(*environment.Id, "double")
		made := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.FlashEnvironmentId, in.TemplateId, in.InstanceIds = to("greeter"), environment.Id, queue.TemplateId, []*string{to("cpu3g-2-8")}
			in.Type, in.WorkersMax = to("LB"), to(0)
		})
		l := &lb{Check: c}
		ask := func(environment, endpoint, key string) Answer {
			named := map[string]string{"X-Flash-App": *app.Name, "X-Flash-Environment": environment, "X-Flash-Endpoint": endpoint}
			return l.send(asked{url: c.URL + "/v2/pods", host: "flash.localhost", key: key, header: named})
		}

		l.refused(ask("production", "greeter", ""), 400, "no workers available")
		l.refused(ask("production", *made.Id, ""), 400, "no workers available")
		for _, unknown := range []string{"none", "double", *queue.Id} {
			l.refused(ask("production", unknown, ""), 404, "")
		}
		l.refused(ask("staging", "greeter", ""), 404, "")
		_, stranger := c.newKey(`,"user":"somebody"`, "all")
		l.refused(ask("production", "greeter", "Bearer "+stranger), 404, "")
		l.refused(ask("production", "greeter", "-"), 401, "")
		_, narrow := c.newKey("", "queue:otherendpoint0:invoke")
		l.refused(ask("production", "greeter", "Bearer "+narrow), 403, "")
		l.refused(ask("production", "none", "Bearer "+narrow), 403, "")
		l.refused(ask("staging", "greeter", "Bearer "+narrow), 403, "")
		require.Equal(c, 200, l.send(asked{url: c.URL + "/v2/pods", host: "flash.localhost"}).Status, "without the headers, the API answers")
	})
})
