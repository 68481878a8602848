package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

const (
	registries  = "/v2/registries"
	delegations = registries + "/delegations"
	repository  = `{"resource":"arn:aws:ecr:eu-west-1:123456789012:repository/team/image:1.0"}`
)

// newRegistry stores a registry credential and gives its id.
func (c *Check) newRegistry() string {
	return c.make(registries, `{"name":"r","username":"u","password":"p"}`)["id"].(string)
}

var _ = area(func() {
	create, use := []string{"createRegistry"}, []string{"createRegistry", "createPod", "updatePod"}
	add("registries.use", use, func(c *Check) {
		id := c.newRegistry()
		pod := c.createPod(with(`"registry":"` + id + `"`))
		require.Equal(c, id, pod["registry"])
		require.Equal(c, id, c.getPod(pod["id"].(string))["registry"])
		require.Equal(c, id, c.createPod(cpuWith(`"registry":"` + id + `"`))["registry"])
	})

	add("registries.use.patch", use, func(c *Check) {
		first, second := c.newRegistry(), c.newRegistry()
		pod := c.newPod(gpuPod)
		for _, id := range []string{first, second} {
			require.Equal(c, id, c.patched(pod, `{"registry":"`+id+`"}`)["registry"])
			require.Equal(c, id, c.patched(pod, `{"name":"b"}`)["registry"])
		}
		c.Refused(c.patch(pod, `{"registry":"nosuchcredential"}`), 404)
		require.Equal(c, second, c.getPod(pod)["registry"])
		require.Nil(c, c.patched(pod, `{"registry":null}`)["registry"])
		require.Nil(c, c.getPod(pod)["registry"])
	})

	add("registries.use.ownership", use, func(c *Check) {
		id := c.newRegistry()
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		send := func(method, path, body string) Answer {
			return c.Send(Request{Method: method, URL: c.URL + path, Body: body, Key: "Bearer " + stranger})
		}
		c.Refused(send("POST", "/v2/pods", with(`"registry":"`+id+`"`)), 404)
		pod := send("POST", "/v2/pods", gpuPod)
		require.Equal(c, 201, pod.Status)

		at := "/v2/pods/" + pod.JSON["id"].(string)
		c.Refused(send("PATCH", at, `{"registry":"`+id+`"}`), 404)
		require.Equal(c, 204, send("DELETE", at, "").Status)
	})

	add("registries.use.empty", []string{"createPod", "updatePod", "createTemplate", "updateTemplate", "createEndpoint", "updateEndpoint"}, func(c *Check) {
		const empty = `"registry":""`
		for path, body := range map[string]string{
			"/v2/pods": with(empty), templates: c.edited(plainTemplate, empty), serverless: c.edited(cpuEndpoint, empty),
		} {
			a := c.REST("POST", path, body)
			c.Refused(a, 404)
			require.Contains(c, a.JSON["detail"], "registry")
		}

		id := c.newRegistry()
		held := `"registry":"` + id + `"`
		pod := c.newPod(with(held))
		for _, path := range []string{
			"/v2/pods/" + pod, templates + "/" + c.make(templates, c.edited(plainTemplate, held))["id"].(string), serverless + "/" + c.make(serverless, c.edited(cpuEndpoint, held))["id"].(string),
		} {
			c.Refused(c.REST("PATCH", path, "{"+empty+"}"), 404)
			require.Equal(c, id, c.read(path)["registry"], "a refusal changes nothing")
		}
	})

	add("registries.ownership", []string{"getRegistry", "deleteRegistry", "listRegistries"}, func(c *Check) {
		c.strange(registries, "registries", registries+"/"+c.newRegistry(), "")
	})
	add("registries.list", []string{"listRegistries"}, func(c *Check) {
		first, second := c.newRegistry(), c.newRegistry()
		c.newestFirst(registries, "registries", second, first) // oldest first
	})

	add("registries.create", create, func(c *Check) {
		made := c.make(registries, `{"name":"a b","username":"u","password":"p"}`)
		require.ElementsMatch(c, []string{"id", "name"}, keys(made))
		require.NotEmpty(c, made["id"])
		require.Equal(c, "a b", made["name"])
	})

	add("registries.create.required", create, func(c *Check) {
		c.invalid("POST", registries, `{"username":"u","password":$}`, "/name:", `"p"`)
		c.invalid("POST", registries, `{"name":"a","password":$}`, "/username:", `"p"`)
		c.invalid("POST", registries, `{"name":"a","username":$}`, "/password:", `"u"`)
	})

	add("registries.create.values", create, func(c *Check) {
		text := func(characters int) string { return `"` + strings.Repeat("é", characters) + `"` }
		c.invalid("POST", registries, `{"name":$,"username":"u","password":"p"}`, "/name:", `""`, `7`, `null`, text(192))
		c.invalid("POST", registries, `{"name":"a","username":$,"password":"p"}`, "/username:", `""`, `7`, `null`, text(192))
		c.invalid("POST", registries, `{"name":"a","username":"u","password":$}`, "/password:", `""`, `7`, `null`, text(16_385))
		c.make(registries, `{"name":`+text(191)+`,"username":`+text(191)+`,"password":`+text(16_384)+`}`)
	})

	add("registries.create.closed", create, func(c *Check) {
		c.invalid("POST", registries, `{"name":"a","username":"u","password":"p",$:"x"}`, "/", `"id"`, `"url"`)
	})
	add("registries.secret", []string{"createRegistry", "getRegistry", "listRegistries"}, func(c *Check) {
		const user, password = "a-very-special-user", "a-very-special-password"
		made := c.REST("POST", registries, `{"name":"a","username":"`+user+`","password":"`+password+`"}`)
		at := registries + "/" + made.JSON["id"].(string)
		for _, a := range []Answer{
			made, c.REST("GET", at, ""), c.REST("GET", registries, ""),
			c.REST("POST", registries, `{"name":7,"username":"`+user+`","password":"`+password+`"}`),
			c.REST("POST", registries, `{"name":"a","username":"`+user+`","password":"`+password+`"`),
		} {
			require.NotContains(c, string(a.Body), user)
			require.NotContains(c, string(a.Body), password)
		}
	})

	add("registries.get", []string{"createRegistry", "getRegistry"}, func(c *Check) {
		made := c.make(registries, `{"name":"a","username":"u","password":"p"}`)
		require.Equal(c, made, c.read(registries+"/"+made["id"].(string)))
	})
	add("registries.unknown", []string{"getRegistry", "deleteRegistry"}, func(c *Check) {
		c.Refused(c.REST("GET", registries+"/nosuchcredential", ""), 404)
		c.Refused(c.REST("DELETE", registries+"/nosuchcredential", ""), 404)
	})
	add("registries.delete", []string{"deleteRegistry", "getRegistry", "listRegistries"}, func(c *Check) {
		c.deleted(registries + "/" + c.newRegistry())
	})

	add("registries.delete.used", []string{"deleteRegistry", "createPod"}, func(c *Check) {
		id := c.newRegistry()
		pod := c.newPod(with(`"registry":"` + id + `"`))
		a := c.REST("DELETE", registries+"/"+id, "")
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], pod)
		c.read(registries + "/" + id)
	})

	add("registries.delete.freed", []string{"deleteRegistry", "deletePod", "updatePod"}, func(c *Check) {
		id := c.newRegistry()
		first, second := c.newPod(with(`"registry":"`+id+`"`)), c.newPod(with(`"registry":"`+id+`"`))
		require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+first, "").Status)
		c.patched(second, `{"registry":null}`)
		c.deleted(registries + "/" + id)
	})
})

var _ = area(func() {
	create := []string{"createDelegation"}
	add("delegations.create", create, func(c *Check) {
		made := c.make(delegations, repository)
		require.NotEmpty(c, made["id"])
		require.NotEmpty(c, made["delegatorUserId"])
		c.time(made["createdAt"])

		for member, want := range map[string]string{
			"awsUser": "123456789012", "awsRegion": "eu-west-1", "repository": "team/image", "tag": "1.0",
			"dockerRegistryUri": "123456789012.dkr.ecr.eu-west-1.amazonaws.com",
		} {
			require.Equal(c, want, made[member], member)
		}
	})

	add("delegations.create.tag", create, func(c *Check) {
		require.Equal(c, "latest", c.make(delegations, strings.Replace(repository, ":1.0", "", 1))["tag"])
	})
	add("delegations.create.name", create, func(c *Check) {
		named := strings.TrimSuffix(repository, "}") + `,"name":$}`
		c.invalid("POST", delegations, named, "/name:", `7`, `{}`)
		require.Equal(c, "a b", c.make(delegations, strings.Replace(named, "$", `"a b"`, 1))["name"])
		for _, body := range []string{repository, strings.Replace(named, "$", "null", 1)} {
			made := c.make(delegations, body)
			require.Contains(c, made, "name")
			require.Nil(c, made["name"])
		}
	})

	add("delegations.create.resource", create, func(c *Check) {
		c.invalid("POST", delegations, `{"name":$}`, "/resource:", `"a"`)
		c.invalid("POST", delegations, `{"resource":$}`, "/resource:", `""`, `7`, `null`, `"team/image"`, `"arn:aws:s3:eu-west-1:123456789012:repository/a"`,
			`"arn:aws:ecr:eu-west-1:123:repository/a"`, `"arn:aws:ecr:eu-west-1:123456789012:repository/"`, `"arn:aws:ecr:eu-west-1:123456789012:repository/a:"`)
	})

	add("delegations.create.closed", create, func(c *Check) {
		c.invalid("POST", delegations, strings.TrimSuffix(repository, "}")+`,$:"x"}`, "/", `"tag"`, `"id"`)
	})
	add("delegations.list", []string{"listDelegations"}, func(c *Check) {
		first, second := c.make(delegations, repository), c.make(delegations, repository)
		c.newestFirst(delegations, "delegations", first["id"].(string), second["id"].(string))
		require.Contains(c, c.read(delegations)["delegations"], first)
	})

	add("delegations.ownership", []string{"listDelegations", "revokeDelegation"}, func(c *Check) {
		made := c.make(delegations, repository)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		url, key := c.URL+delegations, "Bearer "+stranger
		require.Equal(c, []any{}, c.Send(Request{Method: "GET", URL: url, Key: key}).JSON["delegations"])
		c.Refused(c.Send(Request{Method: "DELETE", URL: url + "/" + made["id"].(string), Key: key}), 404)
		require.Contains(c, c.read(delegations)["delegations"], made)
	})

	add("delegations.revoke", []string{"revokeDelegation", "listDelegations"}, func(c *Check) {
		made := c.make(delegations, repository)
		require.Equal(c, 204, c.REST("DELETE", delegations+"/"+made["id"].(string), "").Status)
		require.NotContains(c, c.read(delegations)["delegations"], made)
	})

	add("delegations.unknown", []string{"revokeDelegation"}, func(c *Check) {
		c.Refused(c.REST("DELETE", delegations+"/nosuchdelegation", ""), 404)
	})
})
