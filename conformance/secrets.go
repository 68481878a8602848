package conformance

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

const secrets = "/v2/account/secrets" //nolint:gosec // G101: a path

// own gives a name that begins so and that no other run of a rule has.
func (c *Check) own(name string) string { return name + "_" + c.name }

// secretBody gives the body that stores a secret.
func secretBody(name string, more ...string) string {
	return fmt.Sprintf(`{"name":%q,"value":"v"%s}`, name, strings.Join(more, ""))
}

// newSecret stores a secret and gives its path.
func (c *Check) newSecret(name string) string {
	return secrets + "/" + c.make(secrets, secretBody(name))["id"].(string)
}

var _ = area(func() {
	create, update, get, list := []string{"createSecret"}, []string{"updateSecret"}, []string{"getSecret"}, []string{"listSecrets"}
	add("secrets.create", []string{"createSecret", "getSecret"}, func(c *Check) {
		made := c.make(secrets, secretBody(c.own("a_1.b-c/d"), `,"description":"for tests"`))
		require.ElementsMatch(c, []string{"id", "name", "description", "createdAt", "valueLastUpdatedAt"}, keys(made))
		require.NotEmpty(c, made["id"])
		require.Equal(c, c.own("a_1.b-c/d"), made["name"])
		require.Equal(c, "for tests", made["description"])
		require.Nil(c, made["valueLastUpdatedAt"])
		require.Equal(c, made, c.read(secrets+"/"+made["id"].(string)))
		require.Nil(c, c.make(secrets, secretBody(c.own("plain")))["description"])
	})

	add("secrets.create.required", create, func(c *Check) {
		c.invalid("POST", secrets, `{"value":$}`, "/name:", `"v"`)
		c.invalid("POST", secrets, `{"name":$}`, "/value:", `"n"`)
	})
	add("secrets.create.values", create, func(c *Check) {
		c.invalid("POST", secrets, `{"name":$,"value":"v"}`, "/name:", `""`, `7`, `null`, `"1a"`, `"a b"`, `"-a"`, `"ä"`, `"`+strings.Repeat("n", 192)+`"`)
		c.invalid("POST", secrets, `{"name":"n","value":$}`, "/value:", `""`, `7`, `null`)
		c.invalid("POST", secrets, `{"name":"n","value":"v","description":$}`, "/description:", `7`, `null`, `"`+strings.Repeat("d", 65_536)+`"`)
		c.make(secrets, secretBody(c.own(strings.Repeat("n", 191-1-len(c.name)))))
	})
	add("secrets.create.closed", create, func(c *Check) {
		c.invalid("POST", secrets, `{"name":"n","value":"v",$:"x"}`, "/", `"id"`, `"createdAt"`)
	})

	add("secrets.name.reserved", create, func(c *Check) {
		for _, name := range []string{"RUNPOD", "RUNPOD_x", "runpodx", "RunPod.x"} {
			a := c.REST("POST", secrets, secretBody(name))
			c.Refused(a, 400)
			require.Contains(c, a.JSON["detail"], "name")
		}
		c.newSecret(c.own("RUNPO"))
	})
	add("secrets.name.taken", create, func(c *Check) {
		name := c.own("Token")
		at := c.newSecret(name)
		for _, name := range []string{name, strings.ToUpper(name)} {
			a := c.REST("POST", secrets, secretBody(name))
			c.Refused(a, 409)
			require.Contains(c, a.JSON["detail"], "name")
		}
		require.Len(c, c.read(secrets + "?name=" + name)["secrets"], 1)

		require.Equal(c, 204, c.REST("DELETE", at, "").Status)
		c.newSecret(strings.ToLower(name))
	})

	add("secrets.value.bytes", []string{"createSecret", "updateSecret"}, func(c *Check) {
		// Two bytes each: half as many characters as the schema allows.
		value := func(characters int, more string) string { return strings.Repeat("é", characters) + more }
		long := fmt.Sprintf(`{"name":%q,"value":%q}`, c.own("n"), value(8_388_608, ""))
		a := c.REST("POST", secrets, long)
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], "value")

		at := secrets + "/" + c.make(secrets, fmt.Sprintf(`{"name":%q,"value":%q}`, c.own("n"), value(8_388_607, "x")))["id"].(string)
		c.Refused(c.REST("PATCH", at, fmt.Sprintf(`{"value":%q}`, value(8_388_608, ""))), 400)
	})
	add("secrets.description.bytes", []string{"createSecret", "updateSecret"}, func(c *Check) {
		body := func(characters int) string {
			return secretBody(c.own("n"), fmt.Sprintf(`,"description":%q`, strings.Repeat("é", characters)))
		}
		a := c.REST("POST", secrets, body(32_768))
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], "description")
		made := c.make(secrets, body(32_767))
		c.Refused(c.REST("PATCH", secrets+"/"+made["id"].(string), fmt.Sprintf(`{"description":%q}`, strings.Repeat("é", 32_768))), 400)
	})
	add("secrets.body.limit", []string{"createSecret", "updateSecret"}, func(c *Check) {
		at := c.newSecret(c.own("n"))
		long := fmt.Sprintf(`{"name":"m","value":%q}`, strings.Repeat("x", 36_000_000))
		c.Refused(c.REST("POST", secrets, long), 413)
		c.Refused(c.REST("PATCH", at, long), 413)
	})

	add("secrets.hidden", []string{"createSecret", "updateSecret", "getSecret", "listSecrets"}, func(c *Check) {
		const value = "a-very-special-value"
		name := c.own("n")
		made := c.REST("POST", secrets, `{"name":"`+name+`","value":"`+value+`"}`)
		at := secrets + "/" + made.JSON["id"].(string)
		for _, a := range []Answer{
			made, c.REST("GET", at, ""), c.REST("GET", secrets, ""), c.REST("PATCH", at, `{"value":"`+value+`2"}`),
			c.REST("POST", secrets, `{"name":7,"value":"`+value+`"}`), c.REST("POST", secrets, `{"name":"`+name+`","value":"`+value+`"}`),
			c.REST("POST", secrets, `{"name":"`+name+`","value":"`+value+`"`),
		} {
			require.NotContains(c, string(a.Body), value)
		}
	})

	add("secrets.list", list, func(c *Check) {
		first, second := c.newSecret(c.own("a")), c.newSecret(c.own("b"))
		c.newestFirst(secrets, "secrets", strings.TrimPrefix(first, secrets+"/"), strings.TrimPrefix(second, secrets+"/"))
	})
	add("secrets.list.name", list, func(c *Check) {
		name := c.own("One")
		at := c.newSecret(name)
		c.newSecret(c.own("two"))
		for query, want := range map[string]int{name: 1, strings.ToUpper(name): 1, name[:len(name)-1]: 0, "": 0, name + "%20": 0} {
			found := c.read(secrets + "?name=" + query)["secrets"].([]any)
			require.Len(c, found, want, query)
			if want == 1 {
				require.Equal(c, c.read(at), found[0])
			}
		}
	})

	add("secrets.update", update, func(c *Check) {
		at := c.newSecret(c.own("n"))
		before := c.read(at)
		changed := c.changed(at, `{"description":"d"}`)
		require.Equal(c, "d", changed["description"])
		require.Nil(c, changed["valueLastUpdatedAt"])
		changed = c.changed(at, `{"value":"w"}`)
		require.Equal(c, "d", changed["description"])
		require.NotNil(c, changed["valueLastUpdatedAt"])
		require.Equal(c, changed, c.read(at))

		changed = c.changed(at, `{"description":"","value":"x"}`)
		require.Nil(c, changed["description"])
		require.Equal(c, []any{before["id"], before["name"], before["createdAt"]}, []any{changed["id"], changed["name"], changed["createdAt"]})
	})
	add("secrets.update.values", update, func(c *Check) {
		at := c.newSecret(c.own("n"))
		c.invalid("PATCH", at, `$`, "", `{}`)
		c.invalid("PATCH", at, `{"value":$}`, "/value:", `""`, `7`, `null`)
		c.invalid("PATCH", at, `{"description":$}`, "/description:", `7`, `null`)
		c.invalid("PATCH", at, `{$:"x"}`, "/", `"name"`, `"id"`)
	})

	add("secrets.get", get, func(c *Check) {
		made := c.make(secrets, secretBody(c.own("n")))
		require.Equal(c, made, c.read(secrets+"/"+made["id"].(string)))
	})
	add("secrets.delete", []string{"deleteSecret", "getSecret", "listSecrets"}, func(c *Check) { c.deleted(c.newSecret(c.own("n"))) })
	add("secrets.unknown", []string{"getSecret", "updateSecret", "deleteSecret"}, func(c *Check) {
		c.Refused(c.REST("GET", secrets+"/nosuchsecret", ""), 404)
		c.Refused(c.REST("PATCH", secrets+"/nosuchsecret", `{"value":"v"}`), 404)
		c.Refused(c.REST("DELETE", secrets+"/nosuchsecret", ""), 404)
	})
	add("secrets.ownership", []string{"listSecrets", "getSecret", "updateSecret", "deleteSecret"}, func(c *Check) {
		c.strange(secrets, "secrets", c.newSecret(c.own("n")), `{"value":"w"}`)
	})

	add("secrets.use.shown", []string{"createPod", "getPod", "createTemplate", "createEndpoint"}, func(c *Check) {
		name := c.own("token")
		c.newSecret(name)
		reference := "{{ RUNPOD_SECRET_" + name + " }}"
		env := `"env":{"TOKEN":"` + reference + `"}`
		for _, made := range []map[string]any{
			c.createPod(with(env)), c.make(templates, c.edited(plainTemplate, env)), c.make(serverless, c.edited(cpuEndpoint, env)),
		} {
			require.Equal(c, map[string]any{"TOKEN": reference}, made["env"])
		}
	})
})
