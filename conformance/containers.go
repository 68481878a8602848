package conformance

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
)

// badPaths are JSON texts of paths at which nothing can be mounted.
var badPaths = []string{
	`""`, `"/"`, `"//"`, `"data"`, `"./data"`, `"../etc"`, `"/a/../../etc"`, `"/.."`, `"/a/."`, `"/a//b"`, `"/a:b"`, `"/a:/b:ro"`, `"/a\u0000b"`, `"/a\nb"`, `"C:\\data"`,
}

// goodPaths are paths that look like those.
var goodPaths = []string{"/a", "/workspace/", "/a/.cache", "/..a", "/a/...", "/a b", "/ä", "/a.b/c-d_e"}

// badArgs are args that cannot be read.
var badArgs = []string{`it's`, `"open`, `end\`, `{"cmd":"sleep 1"}`, `{"cmd":[1]}`, `{"entrypoint":null}`, `{"cmd":[],"env":{}}`}

// unreadable asserts that the body in which $ stands for args is refused with 400 for each of the bad ones.
func (c *Check) unreadable(method, path, body string) {
	for _, args := range badArgs {
		a := c.REST(method, path, strings.ReplaceAll(body, "$", c.text(args)))
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], "args: ", args)
	}
}

// graphText writes a text of a GraphQL document: as JSON does, but for NUL.
func graphText(text string) string {
	written, _ := json.Marshal(text)
	return string(written)
}

var _ = area(func() {
	add("pods.create.mount-path", []string{"createPod", "updatePod"}, func(c *Check) {
		c.valuesRefused(with(`"mounts":{"persistent":{"size":20,"path":$}}`), "/mounts/persistent/path:", badPaths...)
		c.valuesRefused(with(`"mounts":{"network":[{"volumeId":"v","path":$}]}`), "/mounts/network/0/path:", badPaths...)
		id := c.newPod(with(`"mounts":{"persistent":{"size":20,"path":"/a"}}`))
		for _, path := range badPaths {
			c.invalid("PATCH", "/v2/pods/"+id, `{"mounts":{"persistent":{"size":20,"path":$}}}`, "/mounts/persistent/path:", path)
		}
		for _, path := range goodPaths {
			want := map[string]any{"persistent": map[string]any{"size": 20.0, "path": path}}
			require.Equal(c, want, c.patched(id, `{"mounts":`+c.text(want)+`}`)["mounts"])
		}
	})

	add("templates.create.mount-path", []string{"createTemplate", "updateTemplate"}, func(c *Check) {
		c.invalid("POST", templates, template(`"mounts":{"persistent":{"size":20,"path":$}}`), "/mounts/persistent/path:", badPaths...)
		c.invalid("PATCH", c.newTemplate(plainTemplate), `{"mounts":{"persistent":{"size":20,"path":$}}}`, "/mounts/persistent/path:", badPaths...)
	})
	add("clusters.create.mount-path", []string{"createCluster"}, func(c *Check) {
		c.invalid("POST", clusters, clusterWith(`"mounts":{"network":[{"volumeId":"v","path":$}]}`), "/mounts/network/0/path:", badPaths...)
	})

	add("graphql.deploy.mount-path", []string{"createPod"}, func(c *Check) {
		pod, mounted := c.newPod(gpuPod), c.newPod(with(`"mounts":{"persistent":{"size":20,"path":"/a"}}`))
		for _, path := range badPaths[1:] { // empty text is as if it were absent
			for _, a := range []Answer{
				c.deploying(`volumeInGb:20,volumeMountPath:` + path),
				c.deploying(`volumeMountPath:` + path),
				c.graphQL(`mutation{deployCpuPod(input:{imageName:"i",networkVolumeId:"v",volumeMountPath:` + path + `}){id}}`),
				c.savingTemplate(`volumeMountPath:` + path),
				c.graphQL(`mutation{podEditJob(input:{podId:"` + pod + `",volumeMountPath:` + path + `}){id}}`),
				c.graphQL(`mutation{podEditJob(input:{podId:"` + mounted + `",volumeMountPath:` + path + `}){id}}`),
			} {
				require.Contains(c, c.wrongly(a, 200, "INVALID"), "input.volumeMountPath: ", path)
			}

			mount := `volumeMounts:[{volumeId:"v",mountPath:` + path + `}]`
			for _, a := range []Answer{
				c.deploying(mount),
				c.graphQL(`mutation{podRentInterruptable(input:{gpuTypeId:"NVIDIA GeForce RTX 4090",imageName:"i",bidPerGpu:1,` + mount + `}){id}}`),
				c.graphQL(`mutation{deployCpuPod(input:{imageName:"i",` + mount + `}){id}}`),
			} {
				require.Contains(c, c.wrongly(a, 200, "INVALID"), "input.volumeMounts.mountPath: ", path)
			}
		}

		for _, path := range goodPaths {
			c.data(c.graphQL(`mutation{podEditJob(input:{podId:"` + mounted + `",volumeMountPath:` + graphText(path) + `}){id}}`))
			require.Equal(c, path, c.getPod(mounted)["mounts"].(map[string]any)["persistent"].(map[string]any)["path"])
		}
	})

	add("pods.create.args.unreadable", []string{"createPod", "updatePod"}, func(c *Check) {
		c.unreadable("POST", "/v2/pods", with(`"args":$`))
		c.unreadable("PATCH", "/v2/pods/"+c.newPod(gpuPod), `{"args":$}`)
	})

	add("pods.create.env.names", []string{"createPod", "updatePod", "createTemplate", "createEndpoint"}, func(c *Check) {
		pod, endpoint, template := c.newPod(gpuPod), c.newEndpoint(gpuEndpoint), c.newTemplate(plainTemplate)
		for _, env := range []string{`{"":"1"}`, `{"A=B":"1"}`, `{"=":""}`, `{"A\u0000":"1"}`, `{"A":"\u0000"}`} {
			for _, of := range []struct{ method, path, body string }{
				{"POST", "/v2/pods", gpuPod}, {"PATCH", "/v2/pods/" + pod, `{}`}, {"POST", templates, plainTemplate}, {"PATCH", template, `{}`},
				{"POST", serverless, gpuEndpoint}, {"PATCH", endpoint, `{}`},
			} {
				a := c.REST(of.method, of.path, c.edited(of.body, `"env":`+env))
				c.Refused(a, 400)
				require.Contains(c, a.JSON["detail"], "env: ", env)
			}
		}

		require.Equal(c, map[string]any{"a.b-c d": "x=y", "É": ""}, c.createPod(with(`"env":{"a.b-c d":"x=y","É":""}`))["env"])
	})

	add("pods.create.args.json", []string{"createPod"}, func(c *Check) {
		for _, args := range []string{`{"cmd":["-c","it's"],"entrypoint":["sh"]}`, ` {"cmd": []}`, `{"entrypoint":["a b"]}`} {
			require.Equal(c, args, c.createPod(with(`"args":` + c.text(args)))["args"])
		}
	})

	add("templates.create.args", []string{"createTemplate", "updateTemplate"}, func(c *Check) {
		c.unreadable("POST", templates, template(`"args":$`))
		c.unreadable("PATCH", c.newTemplate(plainTemplate), `{"args":$}`)
	})
	add("serverless.create.args", []string{"createEndpoint", "updateEndpoint"}, func(c *Check) {
		c.unreadable("POST", serverless, strings.Replace(gpuEndpoint, "{", `{"args":$,`, 1))
		c.unreadable("PATCH", c.newEndpoint(gpuEndpoint), `{"args":$}`)
	})

	add("graphql.deploy.args.unreadable", []string{"createPod"}, func(c *Check) {
		for _, args := range badArgs {
			for _, a := range []Answer{c.deploying(`dockerArgs:` + graphText(args)), c.savingTemplate(`dockerArgs:` + graphText(args))} {
				require.Contains(c, c.wrongly(a, 200, "REJECTED"), "args: ", args)
			}
		}
	})
})
