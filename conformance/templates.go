package conformance

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
)

const templates = "/v2/templates"

// template gives the body of a template with more members.
func template(members string) string { return `{"name":"t","image":"i",` + members + `}` }

const (
	plainTemplate = `{"name":"t","image":"i"}`
	fullTemplate  = `{"name":"t","image":"i","args":"-x","disk":30,"ports":["80/http","22/tcp"],"env":{"A":"1"},"registry":null,` +
		`"mounts":{"persistent":{"size":20,"path":"/d"}},"cmd":["-x"],"entrypoint":[],"category":"AMD","public":false,"serverless":true,"startSsh":false,` +
		`"startJupyter":false,"allowedCudaVersions":["12.4","12.11"]}`
)

// container are the members of a template that createPod takes.
var container = []string{"image", "args", "disk", "ports", "env", "registry", "mounts"}

// newTemplate creates a template and gives its path.
func (c *Check) newTemplate(body string) string {
	return templates + "/" + c.make(templates, body)["id"].(string)
}

// parsed reads JSON.
func (c *Check) parsed(text string) (value any) {
	require.NoError(c, json.Unmarshal([]byte(text), &value))
	return value
}

var _ = area(func() {
	create, update := []string{"createTemplate"}, []string{"createTemplate", "updateTemplate", "getTemplate"}
	add("templates.settings", []string{"getTemplate", "createPod"}, func(c *Check) {
		at := c.newTemplate(strings.Replace(fullTemplate, "null", `"`+c.newRegistry()+`"`, 1))
		for _, path := range []string{at, c.newTemplate(plainTemplate)} {
			template, body := c.read(path), map[string]any{"name": "p", "gpu": map[string]any{"id": "NVIDIA L4"}}
			for _, member := range container {
				body[member] = template[member]
			}
			text, err := json.Marshal(body)
			require.NoError(c, err)

			pod := c.createPod(string(text))
			for _, member := range container {
				require.Equal(c, template[member], pod[member], member)
			}
		}
	})

	add("templates.list", []string{"listTemplates"}, func(c *Check) {
		first, second := c.make(templates, plainTemplate), c.make(templates, fullTemplate)
		c.newestFirst(templates, "templates", first["id"].(string), second["id"].(string))
		require.Contains(c, c.everyOne(templates, "templates"), second)
	})

	add("templates.fields", create, func(c *Check) {
		require.ElementsMatch(c, []string{
			"id", "name", "image", "args", "cmd", "entrypoint", "disk", "ports", "env", "registry", "mounts", "category", "public", "serverless", "startSsh",
			"startJupyter", "allowedCudaVersions",
		}, keys(c.make(templates, plainTemplate)))
	})

	add("templates.create", create, func(c *Check) {
		made := c.make(templates, fullTemplate)
		require.NotEmpty(c, made["id"])
		delete(made, "id")
		require.Equal(c, c.parsed(fullTemplate), any(made))
	})

	add("templates.create.required", create, func(c *Check) {
		c.invalid("POST", templates, `{"image":$}`, "/name:", `"i"`)
		c.invalid("POST", templates, `{"name":$}`, "/image:", `"t"`)
	})
	add("templates.create.closed", create, func(c *Check) {
		c.invalid("POST", templates, template(`$:1`), "/", `"id"`, `"gpu"`, `"readme"`)
		c.invalid("POST", templates, template(`"mounts":{"network":[]}$`), "/mounts/network:", "")
	})

	values := map[string][]string{
		"/name:": {`{"name":""}`, `{"name":7}`}, "/image:": {`{"image":7}`}, "/args:": {`{"args":null}`}, "/disk:": {`{"disk":0}`, `{"disk":1.5}`},
		"/ports/0:": {`{"ports":["0/tcp"]}`, `{"ports":["80"]}`}, "/env/A:": {`{"env":{"A":1}}`}, "/registry:": {`{"registry":7}`},
		"/mounts/persistent/size:": {`{"mounts":{"persistent":{"size":9,"path":"/d"}}}`, `{"mounts":{"persistent":{"path":"/d"}}}`},
		"/public:":                 {`{"public":"yes"}`}, "/serverless:": {`{"serverless":1}`}, "/startSsh:": {`{"startSsh":null}`}, "/startJupyter:": {`{"startJupyter":0}`},
		"/category:": {`{"category":"nvidia"}`}, "/allowedCudaVersions/0:": {`{"allowedCudaVersions":["12"]}`},
	}

	add("templates.create.values", create, func(c *Check) {
		for place, bodies := range values {
			for _, body := range bodies {
				whole := c.parsed(plainTemplate).(map[string]any)
				for member, value := range c.parsed(body).(map[string]any) {
					whole[member] = value
				}
				text, err := json.Marshal(whole)
				require.NoError(c, err)
				c.invalid("POST", templates, string(text), place, "")
			}
		}
	})

	add("templates.create.cuda", create, func(c *Check) {
		c.invalid("POST", templates, template(`"allowedCudaVersions":[$]`), "/allowedCudaVersions/0:", `"12"`, `"12.x"`, `""`, `"12.4.1"`, `12.4`)
		require.Equal(c, []any{"11.8", "12.10"}, c.make(templates, template(`"allowedCudaVersions":["11.8","12.10"]`))["allowedCudaVersions"])
	})

	add("templates.create.category", create, func(c *Check) {
		c.invalid("POST", templates, template(`"category":$`), "/category:", `"GPU"`, `""`, `7`, `null`)
		for _, category := range []string{"CPU", "NVIDIA", "AMD"} {
			require.Equal(c, category, c.make(templates, template(`"category":"`+category+`"`))["category"])
		}
	})

	add("templates.create.ports", create, func(c *Check) {
		c.Refused(c.REST("POST", templates, template(`"ports":["80/tcp","80/http"]`)), 400)
	})
	add("templates.create.credential", create, func(c *Check) {
		c.Refused(c.REST("POST", templates, template(`"registry":"nosuchcredential"`)), 404)
		id := c.newRegistry()
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		body := template(`"registry":"` + id + `"`)
		c.Refused(c.Send(Request{Method: "POST", URL: c.URL + templates, Body: body, Key: "Bearer " + stranger}), 404)
		require.Equal(c, id, c.make(templates, body)["registry"])
	})

	add("templates.defaults", create, func(c *Check) {
		made := c.make(templates, plainTemplate)
		for member, want := range c.parsed(`{"args":"","disk":20,"ports":[],"env":{},"registry":null,"mounts":{},"category":"NVIDIA","public":false,
			"serverless":false,"startSsh":true,"startJupyter":true,"allowedCudaVersions":[]}`).(map[string]any) {
			require.Equal(c, want, made[member], member)
		}
	})

	add("templates.get", []string{"createTemplate", "getTemplate"}, func(c *Check) {
		made := c.make(templates, fullTemplate)
		require.Equal(c, made, c.read(templates+"/"+made["id"].(string)))
	})

	add("templates.unknown", []string{"getTemplate", "updateTemplate", "deleteTemplate"}, func(c *Check) {
		c.Refused(c.REST("GET", templates+"/nosuchtemplate", ""), 404)
		c.Refused(c.REST("PATCH", templates+"/nosuchtemplate", `{}`), 404)
		c.Refused(c.REST("DELETE", templates+"/nosuchtemplate", ""), 404)
	})

	add("templates.update", update, func(c *Check) {
		want := c.make(templates, fullTemplate)
		at := templates + "/" + want["id"].(string)
		require.Equal(c, want, c.changed(at, `{}`))
		want["name"] = "b"
		require.Equal(c, want, c.changed(at, `{"name":"b"}`))
		require.Equal(c, want, c.read(at))
	})

	add("templates.update.members", update, func(c *Check) {
		at := c.newTemplate(plainTemplate)
		want := c.parsed(strings.Replace(fullTemplate, "null", `"`+c.newRegistry()+`"`, 1)).(map[string]any)
		want["name"], want["image"], want["public"] = "b", "j", true
		for member, value := range want {
			body, err := json.Marshal(map[string]any{member: value})
			require.NoError(c, err)
			require.Equal(c, value, c.changed(at, string(body))[member], member)
		}

		got := c.read(at)
		delete(got, "id")
		require.Equal(c, want, got)
	})

	add("templates.update.clear", update, func(c *Check) {
		at := c.newTemplate(strings.Replace(fullTemplate, "null", `"`+c.newRegistry()+`"`, 1))
		empty := `{"args":"","ports":[],"env":{},"mounts":{},"allowedCudaVersions":[],"registry":null}`
		c.changed(at, empty)
		got := c.read(at)
		for member, value := range c.parsed(empty).(map[string]any) {
			require.Equal(c, value, got[member], member)
		}
		require.Equal(c, "i", got["image"])
	})

	add("templates.update.values", update, func(c *Check) {
		at := c.newTemplate(plainTemplate)
		for place, bodies := range values {
			c.invalid("PATCH", at, "$", place, bodies...)
		}
		c.invalid("PATCH", at, `{$:1}`, "/", `"id"`, `"gpu"`)
	})

	add("templates.update.refused", update, func(c *Check) {
		want := c.make(templates, fullTemplate)
		at := templates + "/" + want["id"].(string)
		c.Refused(c.REST("PATCH", at, `{"name":"b","ports":["80/tcp","80/http"]}`), 400)
		c.Refused(c.REST("PATCH", at, `{"name":"b","registry":"nosuchcredential"}`), 404)
		require.Equal(c, want, c.read(at))
	})

	add("templates.private", []string{"getTemplate", "updateTemplate", "deleteTemplate", "listTemplates"}, func(c *Check) {
		c.strange(templates, "templates", c.newTemplate(plainTemplate), `{"name":"b"}`)
	})
	add("templates.credential.deleted", []string{"getTemplate", "deleteRegistry"}, func(c *Check) {
		id := c.newRegistry()
		at := c.newTemplate(template(`"registry":"` + id + `"`))
		require.Equal(c, 204, c.REST("DELETE", registries+"/"+id, "").Status)
		require.Nil(c, c.read(at)["registry"])
	})

	add("templates.delete", []string{"deleteTemplate", "getTemplate", "listTemplates"}, func(c *Check) {
		c.deleted(c.newTemplate(plainTemplate))
	})
})

// Public templates.
var _ = area(func() {
	// foreign gives what asks with the key of another user.
	foreign := func(c *Check) func(method, path, body string) Answer {
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		return func(method, path, body string) Answer {
			return c.Send(Request{Method: method, URL: c.URL + path, Body: body, Key: "Bearer " + stranger})
		}
	}

	add("templates.delete.others", []string{"deleteTemplate", "createEndpoint"}, func(c *Check) {
		at := c.newTemplate(template(`"public":true,"serverless":true`))
		made := foreign(c)("POST", serverless, c.edited(gpuEndpoint, fromTemplate(at)))
		require.Equal(c, 201, made.Status, "%s", made.Body)
		id := made.JSON["id"].(string)
		a := c.REST("DELETE", at, "")
		c.Refused(a, 400)
		require.NotContains(c, string(a.Body), id)
		require.Equal(c, 204, foreign(c)("DELETE", serverless+"/"+id, "").Status)
	})

	add("templates.public.read", []string{"getTemplate", "listTemplates"}, func(c *Check) {
		made := c.make(templates, template(`"public":true`))
		send := foreign(c)
		require.Equal(c, made, send("GET", templates+"/"+made["id"].(string), "").JSON)
		require.Equal(c, []any{}, send("GET", templates, "").JSON["templates"])
		require.Contains(c, c.everyOne(templates, "templates"), made)
	})

	add("templates.public.write", []string{"updateTemplate", "deleteTemplate"}, func(c *Check) {
		made := c.make(templates, template(`"public":true`))
		at, send := templates+"/"+made["id"].(string), foreign(c)
		c.Refused(send("PATCH", at, `{"name":"b"}`), 404)
		c.Refused(send("DELETE", at, ""), 404)
		require.Equal(c, made, c.read(at))
	})

	add("templates.public.credential", []string{"getTemplate"}, func(c *Check) {
		c.needsControls()
		id := c.newRegistry()
		at := c.newTemplate(template(`"public":true,"registry":"` + id + `"`))
		a := foreign(c)("GET", at, "")
		require.Equal(c, 200, a.Status)
		require.Nil(c, a.JSON["registry"])
		require.NotContains(c, string(a.Body), id)
		require.Equal(c, id, c.read(at)["registry"])
	})

	add("templates.catalog", []string{"getTemplate", "updateTemplate", "deleteTemplate"}, func(c *Check) {
		for _, public := range append(c.catalog("templates", "source=official"), c.catalog("templates", "source=community")...) {
			at := templates + "/" + public["id"].(string)
			require.Equal(c, public["image"], c.read(at)["image"])
			c.Refused(c.REST("PATCH", at, `{"name":"b"}`), 404)
			c.Refused(c.REST("DELETE", at, ""), 404)
		}
	})

	add("templates.public.withdrawn", []string{"getTemplate", "updateTemplate"}, func(c *Check) {
		at, send := c.newTemplate(template(`"public":true`)), foreign(c)
		require.Equal(c, 200, send("GET", at, "").Status)
		c.changed(at, `{"public":false}`)
		c.Refused(send("GET", at, ""), 404)
	})
})
