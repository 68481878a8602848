package conformance

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"time"

	"github.com/stretchr/testify/require"
)

// auditBy lists who changed what with a key of the target, by a query.
func (c *Check) auditBy(key, query string) (entries []map[string]any) {
	a := c.told(key, "audit?"+query)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	for _, one := range a.JSON["entries"].([]any) {
		entries = append(entries, one.(map[string]any))
	}
	return entries
}

// auditor is a user of its own, who has done nothing yet, with a key that sees nobody else's changes.
type auditor struct {
	*Check
	user, id, key string
}

func (c *Check) auditor() auditor {
	c.needsControls()
	user := "auditor-" + rand.Text()
	id, key := c.newKey(`,"user":"`+user+`"`, "rest:read", "rest:write", "graphql:write")
	return auditor{c, c.name + "-" + user, id, key}
}

// does sends a request of REST with the user's key.
func (a auditor) does(status int, method, path, body string) Answer {
	got := a.Send(Request{Method: method, URL: a.URL + "/v2" + path, Key: "Bearer " + a.key, Body: body})
	require.Equal(a, status, got.Status, "%s", got.Body)
	return got
}

// volume makes a network volume and gives its id.
func (a auditor) volume() string {
	return a.does(201, "POST", "/network-volumes", `{"name":"a","size":10,"dataCenter":"EU-RO-1"}`).JSON["id"].(string)
}

// did gives what the user did, newest first, each as its operation, kind, id, change and fields.
func (a auditor) did() (all []string) {
	for _, e := range a.auditBy(a.key, "") {
		require.Equal(a, a.id, e["key"])
		all = append(all, fmt.Sprint(e["operation"], " ", e["kind"], " ", e["id"], " ", e["change"], " ", e["fields"]))
	}
	return all
}

// found gives the ids that a query finds with the user's key, newest first.
func (a auditor) found(query string) (ids []string) {
	for _, e := range a.auditBy(a.key, query) {
		ids = append(ids, e["id"].(string))
	}
	return ids
}

var _ = area(func() {
	list := []string{"listAudit"}

	add("audit.entries", []string{"listAudit", "createTemplate", "updateTemplate", "deleteTemplate"}, func(c *Check) {
		a := c.auditor()
		made := a.does(201, "POST", "/templates", `{"name":"`+a.user+`","image":"i","env":{"TOKEN":"hush"}}`)
		id := made.JSON["id"].(string)
		a.does(200, "PATCH", "/templates/"+id, `{"env":{"TOKEN":"shush"},"disk":30}`)
		a.does(200, "PATCH", "/templates/"+id, `{"env":{"TOKEN":"shush"}}`) // changes nothing
		a.does(204, "DELETE", "/templates/"+id, "")
		require.Equal(c, []string{
			"deleteTemplate template " + id + " deleted []", "updateTemplate template " + id + " changed [diskGb env]", "createTemplate template " + id + " created []",
		}, a.did())

		entries := c.auditBy(a.key, "id="+id)
		first := entries[len(entries)-1]
		require.WithinDuration(c, c.now(), c.time(first["at"]), time.Minute)
		require.Equal(c, made.Header.Get("X-Request-Id"), first["request"])
		require.Equal(c, a.user, first["user"])
		require.NotEmpty(c, first["client"])
		require.Greater(c, entries[0]["number"], first["number"])
	})

	add("audit.doors", []string{"listAudit", "createKey", "revokeKey", "addHost", "removeHost"}, func(c *Check) {
		a := c.auditor()
		in := `{name:"` + a.user + `",imageName:"i",containerDiskInGb:5,volumeInGb:0,dockerArgs:"",env:[],readme:""}`
		c.data(c.graphQLAs("Bearer "+a.key, `mutation{saveTemplate(input:`+in+`){id}}`, nil))
		require.Len(c, a.did(), 1)
		require.Regexp(c, `^saveTemplate template \S+ created \[\]$`, a.did()[0])

		made, _ := c.newKey("", "rest:read")
		c.set("DELETE", "keys/"+made, "")
		c.addBox()()
		for query, want := range map[string][]string{
			"kind=key&id=" + made:      {"revokeKey changed [revokedAt]", "createKey created []"},
			"kind=host&id=box&limit=2": {"removeHost deleted []", "addHost created []"},
		} {
			var got []string
			for _, e := range c.auditBy(c.ControlsKey, query) {
				got = append(got, fmt.Sprint(e["operation"], " ", e["change"], " ", e["fields"]))
			}
			require.Equal(c, want, got)
		}
	})

	add("audit.values", list, func(c *Check) {
		a := c.auditor()
		made := a.does(201, "POST", "/templates", `{"name":"`+a.user+`","image":"i","env":{"TOKEN":"hush-hush"}}`)
		a.does(200, "PATCH", "/templates/"+made.JSON["id"].(string), `{"env":{"TOKEN":"hush-too"}}`)
		a.does(201, "POST", "/registries", `{"name":"r","username":"u","password":"hush-hush"}`)
		a.does(201, "POST", "/account/secrets", `{"name":"S","value":"hush-hush"}`)
		a.volume()
		shown := c.told(a.key, "audit")
		require.Len(c, shown.JSON["entries"], 5)
		require.NotContains(c, string(shown.Body), "hush")
		require.NotContains(c, string(shown.Body), a.key)
	})

	add("audit.silent", list, func(c *Check) {
		a := c.auditor()
		a.does(422, "POST", "/network-volumes", `{"name":"a"}`)
		a.does(404, "DELETE", "/network-volumes/nosuchvolume", "")
		a.does(200, "GET", "/pods", "")
		require.Empty(c, a.did())

		q, _ := c.ownQueue()
		q.ends(`{}`)
		q.cancel(q.submit(job))
		for _, e := range c.auditBy(c.Key, "id="+q.Endpoint) {
			require.Equal(c, "createEndpoint", e["operation"], "jobs have none")
		}

		c.frozen(func() {
			c.running(gpuPod)
			c.advance(time.Minute)
			require.Empty(c, c.auditBy(c.ControlsKey, "operation=advanceClock"), "what falls due is not asked for by who moves the clock")
		})
	})

	add("audit.filters", list, func(c *Check) {
		a := c.auditor()
		c.frozen(func() {
			made := func() (id, at string) {
				id = a.volume()
				return id, url.QueryEscape(c.auditBy(a.key, "id="+id)[0]["at"].(string))
			}
			one, early := made()
			c.advance(time.Minute)
			two, late := made()
			for query, want := range map[string][]string{
				"": {two, one}, "since=" + early: {two, one}, "since=" + late: {two}, "until=" + late: {one}, "until=" + early: nil, "kind=volume": {two, one}, "kind=pod": nil,
				"id=" + one: {one}, "operation=createNetworkVolume": {two, one}, "operation=createPod": nil, "key=" + a.id: {two, one}, "key=nobody": nil,
				"user=" + a.user: {two, one}, "user=nobody": nil,
			} {
				require.Equal(c, want, a.found(query), query)
			}
		})
		for _, wrong := range []string{"kind=potato", "since=yesterday", "until=1", "user=", "page=2", "limit=0", "limit=1001", "cursor=x"} {
			c.Refused(c.told(a.key, "audit?"+wrong), 422)
		}
	})

	add("audit.pages", list, func(c *Check) {
		a := c.auditor()
		var want, got []string
		for range 5 {
			want = append([]string{a.volume()}, want...)
		}
		for cursor := ""; ; {
			page := c.told(a.key, "audit?kind=volume&limit=2"+cursor)
			require.Equal(c, 200, page.Status, "%s", page.Body)
			require.LessOrEqual(c, len(page.JSON["entries"].([]any)), 2)
			for _, e := range page.JSON["entries"].([]any) {
				got = append(got, e.(map[string]any)["id"].(string))
			}
			pagination := page.JSON["pagination"].(map[string]any)
			if pagination["hasNextPage"] == false {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(pagination["nextCursor"].(string))
			c.Refused(c.told(a.key, "audit?kind=pod"+cursor), 422)
			a.volume() // what comes moves nothing from one page to another
		}
		require.Equal(c, want, got)
	})

	add("audit.scope", list, func(c *Check) {
		a := c.auditor()
		id := a.volume()
		require.Equal(c, []string{id}, a.found(""))
		_, stranger := c.newKey(`,"user":"stranger"`, "rest:read")
		require.Empty(c, c.auditBy(stranger, "user="+a.user))
		_, admin := c.newKey("", "admin")
		for _, all := range []string{admin, c.ControlsKey} {
			require.Len(c, c.auditBy(all, "user="+a.user), 1)
		}
		_, narrow := c.newKey("", "rest:write", "queue:*:invoke", "graphql:read")
		c.Refused(c.told(narrow, "audit"), 403)
	})

	add("audit.sessions", []string{"listAudit", "execPod"}, func(c *Check) {
		pod := c.runningPod()
		c.exec("pods/"+pod, execCommand, bearing(c.Key))
		e := c.told(c.Key, "audit?id="+pod+"&limit=1").JSON["entries"].([]any)[0].(map[string]any)
		require.Equal(c, "session by http", e["operation"])
		require.Equal(c, "opened", e["change"])
		require.NotEmpty(c, e["request"])
	})

	add("audit.reset", []string{"listAudit", "resetState"}, func(c *Check) {
		a := c.auditor()
		id := a.volume()
		c.set("POST", "reset", "")
		require.Equal(c, []string{id}, a.found(""))
		require.NotEmpty(c, c.auditBy(c.ControlsKey, "kind=everything&operation=resetState"))
	})
})
