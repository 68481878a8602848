package conformance

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// isSession reports whether the operation says who asks, which is for every key.
func isSession(op Operation) bool { return op.Path == controlsPath+"session" }

// isKeyList reports whether the operation lists the keys, which is for the scope admin.
func isKeyList(op Operation) bool { return op.Method == "GET" && op.Path == controlsPath+"keys" }

// told reads what the controls tell a key.
func (c *Check) told(key, path string) Answer {
	c.needsControls() // else it may be no berth
	return c.Send(Request{Method: "GET", URL: c.URL + controlsPath + path, Key: "Bearer " + key})
}

// session gives who a key is.
func (c *Check) session(key string) map[string]any {
	a := c.told(key, "session")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	return a.JSON
}

// listedKey gives the key as it is listed; nil if it is not.
func (c *Check) listedKey(id string) map[string]any {
	a := c.told(c.Key, "keys")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	for _, one := range a.JSON["keys"].([]any) {
		if k := one.(map[string]any); k["id"] == id {
			return k
		}
	}
	return nil
}

var _ = area(func() {
	add("controls.session", []string{"getSession"}, func(c *Check) {
		id, key := c.newKey(`,"user":"asks","name":"mine","expiresIn":3600000,"spendLimit":1.5,"exempt":true`, "rest:read", "queue:*:invoke")
		s := c.session(key)
		k := s["key"].(map[string]any)
		require.Equal(c, id, k["id"])
		require.Equal(c, "mine", k["name"])
		require.Equal(c, c.name+"-asks", k["user"])
		require.Equal(c, []any{"rest:read", "queue:*:invoke"}, k["scopes"])
		require.Equal(c, true, k["exempt"])
		require.EqualValues(c, 1.5, k["spendLimit"])
		require.Equal(c, time.Hour, c.time(k["expiresAt"]).Sub(c.time(k["createdAt"])))
		require.Equal(c, k, c.listedKey(id), "as it is listed")

		require.Equal(c, true, s["testControls"])
		require.NotEmpty(c, s["version"])
		require.NotEmpty(c, s["contract"])
		require.NotEmpty(c, s["runtime"])
		require.Equal(c, s["runtime"] == "sim", s["simulated"])
		require.False(c, strings.Contains(c.text(s), key), "not the key itself")
	})

	add("controls.session.rights", []string{"getSession"}, func(c *Check) {
		right := func(of string) map[string]any {
			return map[string]any{
				"read": of == "rest:read", "write": of == "rest:write", "invoke": strings.HasPrefix(of, "queue:") && strings.HasSuffix(of, ":invoke"),
				"graphql": of == "graphql:read", "hosts": of == "admin", "controls": false,
			}
		}
		pod := c.newPod(gpuPod)
		for _, scope := range []string{"rest:read", "rest:write", "queue:*:invoke", "queue:otherendpoint1:invoke", "queue:*:work", "graphql:read", "admin", "pod:" + pod} {
			_, key := c.newKey("", scope)
			require.Equal(c, right(scope), c.session(key)["may"], scope)
		}
		require.Equal(c, map[string]any{"read": true, "write": true, "invoke": true, "graphql": true, "hosts": true, "controls": false}, c.session(c.Key)["may"])
		require.Equal(c, true, c.session(c.ControlsKey)["may"].(map[string]any)["controls"])
	})

	add("controls.keys.list", []string{"listKeys", "createKey", "revokeKey"}, func(c *Check) {
		var id, key, other string
		c.frozen(func() {
			id, key = c.newKey(`,"user":"listed","name":"mine"`, "rest:read")
			c.advance(time.Second)
			other, _ = c.newKey("", "graphql:read")
		})
		listed := c.listedKey(id)
		require.Equal(c, []any{"mine", c.name + "-listed", []any{"rest:read"}}, []any{listed["name"], listed["user"], listed["scopes"]})
		require.NotContains(c, listed, "expiresAt")
		require.NotContains(c, listed, "revokedAt")
		all := c.told(c.Key, "keys")
		require.NotContains(c, string(all.Body), key)
		require.Less(c, strings.Index(string(all.Body), id), strings.Index(string(all.Body), other), "the oldest first")

		c.set("DELETE", "keys/"+id, "")
		require.Contains(c, c.listedKey(id), "revokedAt")
		_, admin := c.newKey("", "admin")
		require.Equal(c, 200, c.told(admin, "keys").Status)
		_, reader := c.newKey("", "rest:read", "rest:write", "queue:*:invoke")
		c.Refused(c.told(reader, "keys"), 403)
	})
})
