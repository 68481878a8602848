package conformance

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// isUsers reports whether the operation is about users, which are for the scope admin.
func isUsers(op Operation) bool { return strings.HasPrefix(op.Path, controlsPath+"users") }

// madeUser notes the user that a key is made for: it is deleted after the rule.
func (c *Check) madeUser(body string) {
	var wanted struct{ User string }
	require.NoError(c, json.Unmarshal([]byte(body), &wanted))
	if wanted.User != "" {
		c.users = append(c.users, wanted.User)
	}
}

// newUser makes a user with the role, and gives its name.
func (c *Check) newUser(name, role string) string {
	name = c.name + "-" + name
	a := c.control("POST", "users", `{"name":"`+name+`","role":"`+role+`"}`)
	require.Equal(c, 201, a.Status, "%s", a.Body)
	c.users = append(c.users, name)
	return name
}

// userWithKey makes a user with the role and a key of it, and gives its name, and the key and its id.
func (c *Check) userWithKey(name, role string, scopes ...string) (user, id, key string) {
	user = c.newUser(name, role)
	id, key = c.newKey(`,"user":"`+name+`"`, scopes...)
	return user, id, key
}

// changeUser changes a user and gives it.
func (c *Check) changeUser(name, body string) map[string]any {
	a := c.control("PATCH", "users/"+url.PathEscape(name), body)
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// listedUsers lists the users, with a key.
func (c *Check) listedUsers(key string) (all []map[string]any) {
	a := c.told(key, "users")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	for _, one := range a.JSON["users"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

// listedUser gives the user as it is listed; nil if it is not.
func (c *Check) listedUser(name string) map[string]any {
	for _, one := range c.listedUsers(c.ControlsKey) {
		if one["name"] == name {
			return one
		}
	}
	return nil
}

// may asks, with a key, to read and to write over REST, to call the queue, for a query and a mutation of GraphQL, and for the hosts, and gives what
// of it is not refused.
func (c *Check) may(key string) (all []string) {
	for _, of := range []struct {
		what string
		r    Request
	}{
		{"read", Request{Method: "GET", URL: c.URL + "/v2/pods"}},
		{"write", Request{Method: "POST", URL: c.URL + "/v2/pods", Body: "{}"}},
		{"invoke", Request{Method: "GET", URL: c.QueueURL + "/v2/otherendpoint1/health"}},
		{"hosts", Request{Method: "GET", URL: c.URL + controlsPath + "hosts"}},
		{"keys", Request{Method: "GET", URL: c.URL + controlsPath + "keys"}},
	} {
		of.r.Key = "Bearer " + key
		if a := c.Send(of.r); a.Status != 403 && a.Status != 401 {
			all = append(all, of.what)
		}
	}
	for _, of := range []struct{ what, document string }{{"query", `{myself{id}}`}, {"mutation", `mutation{podStop(input:{podId:"otherpod123456"}){id}}`}} {
		if a := c.graphQLAs("Bearer "+key, of.document, nil); !strings.Contains(string(a.Body), "FORBIDDEN") && !strings.Contains(string(a.Body), "UNAUTHENTICATED") {
			all = append(all, of.what)
		}
	}
	return all
}

var _ = area(func() {
	add("users.list", []string{"listUsers"}, func(c *Check) {
		var one, two string
		c.frozen(func() {
			one = c.newUser("one", "reader")
			c.advance(time.Second)
			two = c.newUser("two", "member")
		})
		listed := string(c.told(c.ControlsKey, "users").Body)
		require.Less(c, strings.Index(listed, one), strings.Index(listed, two), "the oldest first")
		u := c.listedUser(one)
		require.Equal(c, []any{"reader", false}, []any{u["role"], u["disabled"]})
		require.NotEmpty(c, u["createdAt"])

		_, admin := c.newKey("", "admin")
		require.NotEmpty(c, c.listedUsers(admin))
		_, other := c.newKey("", "rest:read", "rest:write", "queue:*:invoke")
		c.Refused(c.told(other, "users"), 403)
	})

	add("users.create", []string{"createUser"}, func(c *Check) {
		name := c.newUser("made", "reader")
		require.Equal(c, "reader", c.listedUser(name)["role"])
		c.Refused(c.control("POST", "users", `{"name":"`+name+`"}`), 409)

		c.users = append(c.users, name+"2")
		a := c.control("POST", "users", `{"name":"`+name+`2"}`)
		require.Equal(c, []any{201, "member"}, []any{a.Status, a.JSON["role"]})
		for _, wrong := range []string{``, `a b`, `a/b`, `-a`, `ä`, strings.Repeat("a", 101)} {
			require.Len(c, c.Refused(c.control("POST", "users", `{"name":"`+wrong+`"}`), 422), 1, wrong)
			if wrong != "" {
				require.Contains(c, c.Refused(c.control("POST", "keys", `{"scopes":["all"],"user":"`+wrong+`"}`), 422)[0], "/user", wrong)
			}
		}
		require.Len(c, c.Refused(c.control("POST", "users", `{"name":"`+name+`3","role":"owner"}`), 422), 1)
	})

	add("users.made", []string{"createKey", "listUsers"}, func(c *Check) {
		c.newKey(`,"user":"plain"`, "all")
		require.Equal(c, "member", c.listedUser(c.name + "-plain")["role"])
		_, admin := c.newKey(`,"user":"chief"`, "admin")
		require.Equal(c, "admin", c.listedUser(c.name + "-chief")["role"])
		require.Equal(c, []string{"hosts", "keys"}, c.may(admin))
		c.newKey(`,"user":"plain"`, "rest:read")
		require.Equal(c, "member", c.listedUser(c.name + "-plain")["role"], "it is made once")
	})

	all := []string{"read", "write", "invoke", "hosts", "keys", "query", "mutation"}
	roles := []string{"listPods", "createPod", "health", "listHosts", "listKeys"}
	add("users.roles.admin", roles, func(c *Check) {
		_, _, key := c.userWithKey("chief", "admin", "all")
		require.Equal(c, all, c.may(key))
	})
	add("users.roles.member", roles, func(c *Check) {
		_, _, key := c.userWithKey("plain", "member", "all")
		require.Equal(c, []string{"read", "write", "invoke", "query", "mutation"}, c.may(key))
		c.Refused(c.told(key, "users"), 403)
	})
	add("users.roles.reader", append(roles, "getPod"), func(c *Check) {
		user, _, key := c.userWithKey("auditor", "reader", "all")
		require.Equal(c, []string{"read", "query"}, c.may(key))

		c.changeUser(user, `{"role":"member"}`)
		made := c.Send(Request{Method: "POST", URL: c.URL + "/v2/pods", Body: gpuPod, Key: "Bearer " + key})
		require.Equal(c, 201, made.Status, "%s", made.Body)
		pod := made.JSON["id"].(string)
		_, ofPod := c.newKey(`,"user":"auditor"`, "pod:"+pod, "queue:*:invoke")
		get := func() int {
			return c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods/" + pod, Key: "Bearer " + ofPod}).Status
		}
		require.Equal(c, 200, get())
		c.changeUser(user, `{"role":"reader"}`)
		require.Equal(c, 403, get(), "the scope of a pod permits to change it, too")
		require.Empty(c, c.may(ofPod))
		c.changeUser(user, `{"role":"member"}`) // or the pod cannot be deleted after the rule
	})

	add("users.keys", []string{"createKey"}, func(c *Check) {
		user := c.newUser("bound", "member")
		asked := func(scopes string) Answer {
			return c.control("POST", "keys", `{"user":"`+user+`","scopes":[`+scopes+`]}`)
		}
		wrong := c.Refused(asked(`"rest:read","admin"`), 422)
		require.Len(c, wrong, 1)
		require.Contains(c, wrong[0], "/scopes/1: the role member")
		require.Equal(c, 201, asked(`"all"`).Status)

		c.changeUser(user, `{"role":"reader"}`)
		require.Len(c, c.Refused(asked(`"rest:write","graphql:write","queue:*:invoke","queue:*:work","pod:otherpod123456","admin"`), 422), 6)
		require.Equal(c, 201, asked(`"rest:read","graphql:read"`).Status)
	})

	add("users.set-role", []string{"changeUser", "getSession"}, func(c *Check) {
		user, id, key := c.userWithKey("moved", "member", "all")
		require.Equal(c, 201, c.Send(Request{Method: "POST", URL: c.URL + templates, Key: "Bearer " + key, Body: `{"name":"` + user + `","image":"i"}`}).Status)
		require.Equal(c, "reader", c.changeUser(user, `{"role":"reader"}`)["role"])
		require.Equal(c, []string{"read", "query"}, c.may(key))
		s := c.session(key)
		require.Equal(c, []any{"reader", true, false}, []any{s["role"], s["may"].(map[string]any)["read"], s["may"].(map[string]any)["write"]})
		require.Contains(c, strings.Join(c.refusedBy(id), ", "), "rest role")

		c.changeUser(user, `{"role":"admin"}`)
		require.Equal(c, all, c.may(key))
		require.Equal(c, true, c.session(key)["may"].(map[string]any)["hosts"])
		c.changeUser(user, `{"role":"member"}`)
		c.Refused(c.control("PATCH", "users/"+c.name+"-nobody", `{"role":"member"}`), 404)
		require.Len(c, c.Refused(c.control("PATCH", "users/"+user, `{"role":"root"}`), 422), 1)
	})

	add("users.disabled", []string{"changeUser", "listPods", "getSession"}, func(c *Check) {
		user, id, key := c.userWithKey("gone", "member", "all")
		require.Equal(c, 200, c.listPods(key).Status)
		require.Equal(c, true, c.changeUser(user, `{"disabled":true}`)["disabled"])
		a := c.listPods(key)
		c.Refused(a, 401)
		require.Contains(c, string(a.Body), "disabled")
		require.Equal(c, 401, c.told(key, "session").Status)
		require.Empty(c, c.may(key))
		require.Contains(c, strings.Join(c.refusedBy(id), ", "), "rest disabled")

		require.Equal(c, false, c.changeUser(user, `{"disabled":false}`)["disabled"])
		require.Equal(c, 200, c.listPods(key).Status)
	})

	add("users.delete", []string{"deleteUser", "listKeys"}, func(c *Check) {
		user, id, key := c.userWithKey("deleted", "member", "all")
		c.set("DELETE", "users/"+user, "")
		require.Nil(c, c.listedUser(user))
		c.Refused(c.listPods(key), 401)
		require.Contains(c, c.listedKey(id), "revokedAt")
		c.Refused(c.control("DELETE", "users/"+user, ""), 404)
	})

	add("users.delete.resources", []string{"deleteUser"}, func(c *Check) {
		user, _, key := c.userWithKey("owner", "member", "all")
		as := func(key, method, path, body string) Answer {
			return c.Send(Request{Method: method, URL: c.URL + path, Key: "Bearer " + key, Body: body})
		}
		path := templates + "/" + as(key, "POST", templates, `{"name":"`+user+`","image":"i"}`).JSON["id"].(string)
		require.Equal(c, 201, as(key, "POST", secrets, `{"name":"a","value":"b"}`).Status)
		refused := c.control("DELETE", "users/"+user, "")
		c.Refused(refused, 409)
		require.Contains(c, string(refused.Body), "1 template, 1 secret")
		require.Equal(c, 200, as(key, "GET", path, "").Status, "nothing has changed")

		c.set("DELETE", "users/"+user+"?keepResources=true", "")
		c.Refused(as(key, "GET", path, ""), 401)
		_, again := c.newKey(`,"user":"owner"`, "all")
		require.Equal(c, 200, as(again, "GET", path, "").Status, "it is that of the next user of the name")
		for i := range c.made {
			c.made[i].key = strings.Replace(c.made[i].key, key, again, 1) // what made them is revoked
		}
	})

	add("users.last-admin", []string{"changeUser", "deleteUser"}, func(c *Check) {
		owner := c.session(c.Key)["key"].(map[string]any)["user"].(string)
		for _, u := range c.listedUsers(c.ControlsKey) {
			if u["role"] == "admin" && u["disabled"] == false && u["name"] != owner {
				c.Skip("the target has several admins")
			}
		}
		at := "users/" + url.PathEscape(owner)
		for _, a := range []Answer{
			c.control("PATCH", at, `{"role":"member"}`), c.control("PATCH", at, `{"disabled":true}`), c.control("DELETE", at+"?keepResources=true", ""),
		} {
			c.Refused(a, 409)
			require.Contains(c, string(a.Body), "last admin")
		}

		second := c.newUser("second", "admin")
		require.Equal(c, "member", c.changeUser(owner, `{"role":"member"}`)["role"])
		c.Refused(c.control("DELETE", "users/"+second, ""), 409)
		c.changeUser(owner, `{"role":"admin"}`)
		c.set("DELETE", "users/"+second, "")
	})

	add("users.audit", []string{"createUser", "changeUser", "deleteUser", "listAudit"}, func(c *Check) {
		user := c.newUser("watched", "member")
		c.changeUser(user, `{"role":"reader","disabled":true}`)
		c.set("DELETE", "users/"+user, "")
		var did []string
		for _, e := range c.auditBy(c.ControlsKey, "kind=user&id="+url.QueryEscape(user)) {
			did = append(did, fmt.Sprint(e["operation"], " ", e["change"], " ", e["fields"]))
		}
		require.Equal(c, []string{"deleteUser deleted []", "changeUser changed [role disabled]", "createUser created []"}, did)
	})
})
