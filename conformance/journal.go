package conformance

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
)

// sender is a key whose requests are told apart from all others in the journal.
type sender struct {
	*Check
	id, key string
}

// sender makes one; without test controls the rule is skipped.
func (c *Check) sender() sender {
	c.needsControls()
	id, key := c.newKey("", "all")
	return sender{c, id, key}
}

// rest sends a request to REST, with further headers.
func (s sender) rest(method, path, body string, headers ...string) Answer {
	r := Request{Method: method, URL: s.URL + path, Body: body, Key: "Bearer " + s.key, Header: map[string]string{}}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header[name] = value
	}
	return s.Send(r)
}

// run submits a job, which is deleted at the end of the rule.
func (s sender) run(body string) Answer {
	a := s.Send(Request{Method: "POST", URL: s.QueueURL + "/v2/" + s.endpointID() + "/run", Body: body, Key: "Bearer " + s.key})
	if id, ok := a.JSON["id"].(string); ok {
		s.Queue("POST", "cancel/"+id, "")
	}
	return a
}

// endpointID gives the endpoint of the rules; without one the rule is skipped.
func (c *Check) endpointID() string {
	if c.Endpoint == "" {
		c.Skip("there is no endpoint: " + c.suite.noEndpoint)
	}
	return c.Endpoint
}

// journaled gives the entries of a query.
func (c *Check) journaled(query string) (entries []map[string]any) {
	a := c.control("GET", "journal?"+query, "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	for _, e := range a.JSON["entries"].([]any) {
		entries = append(entries, e.(map[string]any))
	}
	return entries
}

// journal gives the entries of the key.
func (s sender) journal(more ...string) []map[string]any {
	return s.journaled(strings.Join(append(more, "keyId="+s.id), "&"))
}

// sole gives the one entry of the key.
func (s sender) sole(more ...string) map[string]any {
	entries := s.journal(more...)
	require.Len(s, entries, 1)
	return entries[0]
}

// textOf gives the body that is kept of a request or a response.
func textOf(e map[string]any, of string) string {
	return e[of].(map[string]any)["body"].(map[string]any)["text"].(string)
}

// headerOf gives a header that is kept of a request or a response.
func headerOf(e map[string]any, of, name string) (value any) {
	for _, h := range e[of].(map[string]any)["headers"].([]any) {
		if header := h.(map[string]any); header["name"] == name {
			value = header["value"]
		}
	}
	return value
}

// hidden is a secret of the rules.
const hidden = "hunter22-of-the-rules"

var _ = area(func() {
	journal := []string{"listJournal"}
	add("controls.journal", journal, func(c *Check) {
		s := c.sender()
		a := s.rest("GET", "/v2/pods/nosuchpod?x=1", "", "X-Trace: on")
		e := s.sole()
		require.Equal(c, []any{"GET", "/v2/pods/nosuchpod", "x=1", "getPod"}, []any{e["method"], e["path"], e["query"], e["operation"]})
		require.Equal(c, map[string]any{"pod": "nosuchpod"}, e["resources"])
		require.EqualValues(c, a.Status, e["status"])
		require.Equal(c, "on", headerOf(e, "request", "X-Trace"))
		require.Equal(c, a.Header.Get("X-Request-Id"), headerOf(e, "response", "X-Request-Id"))
		require.Equal(c, string(a.Body), textOf(e, "response"))
		require.NotEmpty(c, e["user"])

		a = s.run(job)
		e = s.sole("operation=run")
		require.Equal(c, job, textOf(e, "request"))
		require.Equal(c, string(a.Body), textOf(e, "response"))
		require.Equal(c, map[string]any{"endpoint": c.Endpoint}, e["resources"])
		c.Send(Request{Method: "GET", URL: c.QueueURL + "/v2/" + c.Endpoint + "/ping/w7?x=1", Key: "Bearer " + s.key})
		require.Equal(c, map[string]any{"endpoint": c.Endpoint, "worker": "w7"}, s.sole("operation=ping")["resources"])
		s.rest("GET", "/v2/no/such/path", "")
		require.EqualValues(c, 404, s.sole("operation=unknown")["status"])

		for _, path := range []string{"/_berth/clock", "/healthz", "/readyz", "/v2/openapi.json"} {
			c.Send(Request{Method: "GET", URL: c.URL + path, Key: map[bool]string{true: "Bearer " + s.key}[path != "/_berth/clock"]})
			require.Empty(c, c.journaled("pathPrefix="+path), path)
		}
	})

	add("controls.journal.entry", []string{"getJournalEntry"}, func(c *Check) {
		s := c.sender()
		s.rest("GET", "/v2/pods", "")
		e := s.sole()
		a := c.control("GET", fmt.Sprintf("journal/%.0f", e["number"]), "")
		require.Equal(c, 200, a.Status)
		require.Equal(c, e, a.JSON)
		c.Refused(c.control("GET", "journal/987654321", ""), 404)
		c.Refused(c.control("GET", "journal/0", ""), 422)
	})

	add("controls.journal.filters", journal, func(c *Check) {
		s := c.sender()
		s.rest("GET", "/v2/pods", "")
		s.rest("GET", "/v2/pods/nosuchpod", "")
		s.rest("POST", "/v2/templates", "{}")
		all := s.journal()
		require.Len(c, all, 3)
		for query, want := range map[string][]int{
			"operation=listPods": {0}, "method=GET": {0, 1}, "pathPrefix=/v2/pods/": {1}, "resource=nosuchpod": {1}, "status=404": {1}, "status=4xx": {1, 2}, "status=2xx": {0}, "method=GET&status=4xx": {1},
			"limit=2": {1, 2}, "limit=2&afterNumber=0": {0, 1}, fmt.Sprintf("afterNumber=%.0f", all[0]["number"]): {1, 2}, "operation=cancel": nil,
			"since=2001-01-01T00:00:00Z": {0, 1, 2}, "until=2001-01-01T00:00:00Z": nil, "since=" + url.QueryEscape(all[0]["time"].(string)): {0, 1, 2},
		} {
			var expected []map[string]any
			for _, i := range want {
				expected = append(expected, all[i])
			}
			require.Equal(c, expected, s.journal(query), query)
		}

		require.Empty(c, c.journaled("keyId=nobody"))
		require.Len(c, c.Refused(c.control("GET", "journal?status=5x&limit=0", ""), 422), 2)
	})

	add("controls.journal.unread", journal, func(c *Check) {
		s := c.sender()
		_, reader := c.newKey("", "rest:read")
		body := `{"name":"` + c.name + `","image":"i"}`
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: body, Key: "Bearer " + reader}), 403)
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: body, Key: "Bearer " + wrong(s.key), Header: map[string]string{"X-Rule": c.name}}), 401)
		c.set("PUT", "faults", `{"faults":[{"operation":"createPod","status":503,"times":1}]}`)
		c.Refused(s.rest("POST", "/v2/pods", body), 503)
		require.Equal(c, body, textOf(s.sole(), "request"))

		found := 0
		for _, e := range c.journaled("operation=createPod&status=4xx") {
			if textOf(e, "request") == body {
				found++
			}
		}
		require.Equal(c, 2, found)
	})

	add("controls.journal.graphql", journal, func(c *Check) {
		s := c.sender()
		c.graphQLAs("Bearer "+s.key, `query Mine { myself { id } gpuTypes { id } }`, nil)
		c.graphQLAs("Bearer "+s.key, `{ nosuch }`, nil)
		e := s.sole("operation=graphql.myself")
		require.Equal(c, "graphql", e["operation"])
		require.Equal(c, map[string]any{"name": "Mine", "fields": []any{"myself", "gpuTypes"}}, e["graphql"])
		require.Contains(c, textOf(e, "request"), "query Mine")
		require.Contains(c, textOf(e, "response"), "gpuTypes")
		require.Equal(c, e, s.sole("operation=graphql.gpuTypes"))
		require.Len(c, s.journal("operation=graphql"), 2)
	})

	add("controls.journal.faults", journal, func(c *Check) {
		s := c.sender()
		c.set("PUT", "faults", `{"faults":[{"id":"first","operation":"listPods","after":1,"status":503,"times":1},{"id":"second","operation":"deletePod","drop":true,"times":1}]}`)
		s.rest("GET", "/v2/pods", "")
		s.rest("GET", "/v2/pods", "")
		req, err := http.NewRequestWithContext(c.context(), "DELETE", c.URL+"/v2/pods/nosuchpod", nil)
		require.NoError(c, err)
		req.Header.Set("Authorization", "Bearer "+s.key)
		_, err = client.Do(req)
		require.Error(c, err)

		require.NotContains(c, s.sole("status=200"), "fault")
		require.Equal(c, map[string]any{"id": "first", "operation": "listPods", "when": "before", "status": 503.0, "drop": false}, s.sole("status=503")["fault"])
		require.Equal(c, map[string]any{"id": "second", "operation": "deletePod", "when": "before", "drop": true}, s.sole("status=0")["fault"])
		c.set("PUT", "faults", `{"faults":[{"id":"third","operation":"getPod","when":"before","latency":1},{"id":"fourth","operation":"listTemplates","when":"after","half":50,"bytesPerSecond":1000000}]}`)
		_, err = s.raw("GET", templates, "")
		require.Error(c, err)
		require.Equal(c, map[string]any{"id": "fourth", "operation": "listTemplates", "when": "after", "half": 50.0, "bytesPerSecond": 1000000.0, "drop": false}, s.sole("operation=listTemplates")["fault"])
		c.set("DELETE", "faults", "")
	})

	add("controls.journal.streams", journal, func(c *Check) {
		s, pod := c.sender(), c.newPod(gpuPod)
		req, err := http.NewRequestWithContext(c.context(), "GET", c.URL+"/v2/pods/"+pod+"/logs", nil)
		require.NoError(c, err)
		req.Header.Set("Authorization", "Bearer "+s.key)
		res, err := client.Do(req)
		require.NoError(c, err)
		line, err := bufio.NewReader(res.Body).ReadString('\n')
		require.NoError(c, err)
		require.Empty(c, s.journal())

		require.NoError(c, res.Body.Close())
		c.Eventually(func() bool { return len(s.journal()) == 1 }, "the stream has ended")
		require.Contains(c, textOf(s.sole(), "response"), strings.TrimSpace(line))
		require.Equal(c, map[string]any{"pod": pod}, s.sole()["resources"])
	})

	add("controls.journal.bodies", journal, func(c *Check) {
		s := c.sender()
		for _, n := range []int{65536, 65537} {
			s.run(strings.Replace(job, "{", "{"+strings.Repeat(" ", n-len(job)), 1))
		}
		s.run("\xff\xfe")
		var kept []any
		for _, e := range s.journal("operation=run") {
			b := e["request"].(map[string]any)["body"].(map[string]any)
			kept = append(kept, []any{len(b["text"].(string)), b["length"], b["truncated"], b["base64"]})
		}
		require.Equal(c, []any{[]any{65536, 65536.0, false, false}, []any{65536, 65537.0, true, false}, []any{4, 2.0, false, true}}, kept)
		require.Equal(c, base64.StdEncoding.EncodeToString([]byte("\xff\xfe")), textOf(s.journal("status=400")[0], "request"))
	})

	add("controls.journal.bounds", journal, func(c *Check) {
		c.forget()
		s := c.sender()
		s.rest("GET", "/v2/pods/first", "")
		for range 2000 {
			_, err := c.direct("GET", c.URL+"/v2/pods/another", s.key)
			require.NoError(c, err)
		}
		a := c.control("GET", "journal?limit=1", "")
		require.GreaterOrEqual(c, a.JSON["dropped"], 1.0)
		require.Empty(c, s.journal("resource=first"))
		for times, ok := range map[string]bool{`{"exactly":0}`: false, `{"atMost":5}`: false, `{"atLeast":0}`: true} {
			a := c.control("POST", "journal/verify", `{"expectations":[{"operation":"createPod","times":`+times+`}]}`)
			require.Equal(c, ok, a.JSON["ok"], "%s %s", times, a.Body)
		}
		last := a.JSON["entries"].([]any)[0].(map[string]any)["number"].(float64)
		for later, ok := range map[string]bool{
			fmt.Sprintf(`"afterNumber":%.0f`, last): true, `"afterNumber":0`: false, `"since":"2999-01-01T00:00:00Z"`: true, `"since":"2001-01-01T00:00:00Z"`: false,
		} {
			a := c.control("POST", "journal/verify", `{"expectations":[{"operation":"createPod","times":{"exactly":0},`+later+`}]}`)
			require.Equal(c, ok, a.JSON["ok"], "%s %s", later, a.Body)
		}
		require.LessOrEqual(c, len(c.journaled("")), 2000)
		require.GreaterOrEqual(c, len(c.journaled("")), 1990)
		c.forget()
		require.EqualValues(c, 0, c.control("GET", "journal", "").JSON["dropped"])
	})

	add("controls.journal.clear", []string{"clearJournal", "resetState"}, func(c *Check) {
		s := c.sender()
		last := 0.0
		for _, clear := range []func(){func() { c.set("DELETE", "journal", "") }, func() { c.set("POST", "reset", "") }} {
			s.rest("GET", "/v2/pods", "")
			number := s.sole()["number"].(float64)
			require.Greater(c, number, last)
			last = number
			clear()
			require.Empty(c, s.journal())
		}
	})

	add("controls.journal.har", []string{"exportJournal"}, func(c *Check) {
		s := c.sender()
		s.rest("GET", "/v2/pods/nosuchpod?x=a%20b", "")
		s.run(job)
		a := c.control("GET", "journal.har?operation=getPod&keyId="+s.id, "")
		require.Equal(c, 200, a.Status)
		log := a.JSON["log"].(map[string]any)
		require.Equal(c, "1.2", log["version"])
		require.Len(c, log["entries"], 1)
		e := log["entries"].([]any)[0].(map[string]any)
		r := e["request"].(map[string]any)
		require.Equal(c, c.URL+"/v2/pods/nosuchpod?x=a%20b", strings.Replace(r["url"].(string), "http://", c.URL[:strings.Index(c.URL, "//")]+"//", 1))
		require.Equal(c, []any{map[string]any{"name": "x", "value": "a b"}}, r["queryString"])
		require.Equal(c, map[string]any{}, e["cache"])
		require.NotContains(c, string(a.Body), s.key)

		a = c.control("GET", "journal.har?operation=run&keyId="+s.id, "")
		e = a.JSON["log"].(map[string]any)["entries"].([]any)[0].(map[string]any)
		require.Equal(c, map[string]any{"mimeType": "application/json", "text": job}, e["request"].(map[string]any)["postData"])
		require.EqualValues(c, 200, e["response"].(map[string]any)["status"])
	})
})

// direct sends a request whose answer is not held against the documents.
func (c *Check) direct(method, address, key string) (Answer, error) {
	req, err := http.NewRequestWithContext(c.context(), method, address, nil)
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	return do(req)
}

var _ = area(func() {
	add("controls.journal.secrets", []string{"listJournal"}, func(c *Check) {
		s := c.sender()
		_, other := c.newKey("", "rest:read")
		s.rest("POST", "/v2/registries", `{"name":"","username":"u","password":"`+hidden+`"}`)
		s.rest("POST", "/v2/registries", `{"name":"a","password":"`+hidden)
		s.rest("POST", "/v2/registrys", `{"name":"a","username":"u","password":"`+hidden+`"}`)
		s.rest("POST", "/v2/account/secrets", `{"name":"","value":"`+hidden+`"}`)
		s.rest("PATCH", "/v2/account/secrets/nosuchsecret", `{"value":"`+hidden+`"}`)
		s.rest("POST", "/v2/pods", `{"name":"a","env":{"DB_PASSWORD":"`+hidden+`","EPOCHS":"3"}}`)
		s.rest("GET", "/v2/pods?api_key="+hidden, "", "Cookie: session=of-"+c.name, "X-Api-Key: "+hidden, "X-Runpod-Api-Key: "+hidden)
		s.rest("GET", "/v2/pods/"+other, "")
		s.run(`{"input":{"mine":"` + s.key + `","other":"` + other + `"},"s3Config":{"accessId":"` + hidden + `","acessSecert":"` + hidden + `"},"webhook":"http://u:` + hidden + `@127.0.0.1:9/"}`)
		s.rest("POST", "/v2/registries", `{"name":"a","username":"u","Password":"`+hidden+`"}`)
		s.rest("POST", "/v2/registries", `[{"password":"`+hidden+`"}]`)
		s.rest("POST", "/v2/account/secrets", `{"x":{"value":"`+hidden+`"}}`)

		entries := s.journal()
		require.Len(c, entries, 12)
		text, err := json.Marshal(entries)
		require.NoError(c, err)
		require.NotContains(c, string(text), hidden)
		for _, secret := range []string{s.key, other, other[len(other)-40:], "of-" + c.name} {
			require.NotContains(c, string(text), secret)
		}
		for _, e := range entries {
			require.Equal(c, "***", headerOf(e, "request", "Authorization"))
		}
		require.Equal(c, `{"name":"","username":"u","password":"***"}`, textOf(entries[0], "request"))
		require.Equal(c, `{"name":"a","env":{"DB_PASSWORD":"***","EPOCHS":"3"}}`, textOf(entries[5], "request"))
		require.Equal(c, "api_key=***", entries[6]["query"])
		require.Contains(c, textOf(entries[8], "request"), `"s3Config":{"accessId":"***","acessSecert":"***"}`)
	})

	add("controls.journal.secrets.graphql", []string{"listJournal"}, func(c *Check) {
		s := c.sender()
		for _, document := range []struct {
			query     string
			variables map[string]any
		}{
			{query: `mutation{secretCreate(input:{name:"",value:"` + hidden + `"}){id}}`},
			{query: `mutation{secretCreate(input:{name:"",value:"` + hidden + `"}`},
			{`mutation($p:String!){saveRegistryAuth(input:{name:"",username:"u",password:$p}){id}}`, map[string]any{"p": hidden}},
			{`mutation($i:SecretCreateInput!){secretCreate(input:$i){id}}`, map[string]any{"i": map[string]any{"name": "", "value": hidden}}},
			{query: `mutation{saveRegistryAuth(input:{name:"` + c.own("r") + `",username:"u",password:["` + hidden + `"]}){id}}`},
			{query: `mutation{secretCreate(input:{name:"a",value:"` + hidden + `",description:1e999}){id}}`},
			{query: `mutation{podFindAndDeployOnDemand(input:{env:[{key:"A_TOKEN",value:"` + hidden + `"},{key:"SEEN",value:"3"}]}){id}}`},
			{query: `mutation{saveTemplate(input:{name:"` + c.own("t") + `",imageName:"i",containerDiskInGb:5,volumeInGb:0,dockerArgs:"",env:[{key:"A_TOKEN",value:"` + hidden + `"}]}){id e:env{k:key v:value}}}`},
		} {
			c.graphQLAs("Bearer "+s.key, document.query, document.variables)
		}
		c.Send(Request{Method: "POST", URL: c.URL + graphqlPath + "?api_key=" + s.key, Body: `{"query":"{myself{id}}"}`, Key: "-"})

		entries := s.journal()
		require.Len(c, entries, 9)
		text, err := json.Marshal(entries)
		require.NoError(c, err)
		require.NotContains(c, string(text), hidden)
		require.NotContains(c, string(text), s.key)
		require.Contains(c, textOf(entries[0], "request"), `value:\"***\"`)
		require.Contains(c, textOf(entries[6], "request"), `{key:\"SEEN\",value:\"3\"}`)
		require.Contains(c, textOf(entries[7], "response"), `{"k":"A_TOKEN","v":"***"}`)
		require.Equal(c, "api_key=***", entries[8]["query"])
	})
})
