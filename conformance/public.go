package conformance

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// bareTemplate is a template that starts neither SSH nor Jupyter, with more members.
func bareTemplate(members string) string {
	return `{"name":"t","image":"from-template","startSsh":false,"startJupyter":false,"args":"-a -b","disk":33,"ports":["80/http"],"env":{"A":"t","B":"t"}` + members + `}`
}

// newPodOf creates a pod of a template, with more members.
func (c *Check) newPodOf(template, members string) map[string]any {
	return c.createPod(`{"name":"a","gpu":{"id":"NVIDIA L4"},"templateId":"` + c.make(templates, template)["id"].(string) + `"` + members + `}`)
}

// These rules are of the public edition alone.
var _ = area(func() {
	create := []string{"createPod"}
	add("public.create.template", create, func(c *Check) {
		pod := c.newPodOf(bareTemplate(`,"mounts":{"persistent":{"size":20,"path":"/d"}}`), "")
		require.Equal(c, []any{"from-template", "-a -b", 33.0, []any{"80/http"}}, []any{pod["image"], pod["args"], pod["disk"], pod["ports"]})
		require.Equal(c, map[string]any{"A": "t", "B": "t"}, pod["env"])
		require.Equal(c, map[string]any{"persistent": map[string]any{"size": 20.0, "path": "/d"}}, pod["mounts"])
	})

	add("public.create.template.body", create, func(c *Check) {
		pod := c.newPodOf(bareTemplate(""), `,"image":"own","args":"","disk":5,"ports":[],"env":{"B":"own","C":"own"}`)
		require.Equal(c, []any{"own", "", 5.0, []any{}}, []any{pod["image"], pod["args"], pod["disk"], pod["ports"]})
		require.Equal(c, map[string]any{"A": "t", "B": "own", "C": "own"}, pod["env"])
		require.Empty(c, c.newPodOf(bareTemplate(""), `,"image":""`)["image"])
		require.Equal(c, `'c d'`, c.newPodOf(bareTemplate(""), `,"cmd":["c d"]`)["args"])
	})

	add("public.create.template.size", create, func(c *Check) {
		id := c.make(templates, strings.Replace(bareTemplate(""), "-a -b", strings.Repeat("x", 50_000), 1))["id"].(string)
		of := func(bytes int) string {
			return with(`"templateId":"` + id + `","env":{"A":"` + strings.Repeat("y", bytes) + `"}`)
		}
		c.Refused(c.REST("POST", "/v2/pods", of(52_400)), 413)
		c.createPod(of(50_000))
		c.createPod(strings.Replace(of(52_400), `"env":`, `"args":"","env":`, 1))

		// Of args, cmd and entrypoint replace a part each, and the other one is the template's.
		long := `[\"` + strings.Repeat("x", 50_000) + `\"]`
		for args, own := range map[string]struct{ beside, inPlace string }{
			`{\"cmd\":[\"-a\"],\"entrypoint\":` + long + `}`: {`"cmd":["-b"]`, `"entrypoint":["sh"]`},
			`{\"cmd\":` + long + `}`:                         {`"entrypoint":["sh"]`, `"cmd":[]`},
		} {
			id = c.make(templates, strings.Replace(bareTemplate(""), "-a -b", args, 1))["id"].(string)
			sent := func(bytes int, member string) string {
				return strings.Replace(of(bytes), `"env":`, member+`,"env":`, 1)
			}
			c.Refused(c.REST("POST", "/v2/pods", sent(52_400, own.beside)), 413)
			c.createPod(sent(50_000, own.beside))
			c.createPod(sent(52_400, own.inPlace))
		}
	})

	add("public.create.template.link", create, func(c *Check) {
		require.Nil(c, c.newPodOf(bareTemplate(""), "")["template"])
	})
	add("public.create.template.unknown", create, func(c *Check) {
		c.detailHas(with(`"templateId":"notemplate"`), 404, "templateId")
	})
	add("public.create.template.serverless", create, func(c *Check) {
		id := c.make(templates, bareTemplate(`,"serverless":true`))["id"].(string)
		c.detailHas(with(`"templateId":"`+id+`"`), 422, "serverless")
	})

	add("public.create.template.cuda", create, func(c *Check) {
		c.needsSim()
		only := bareTemplate(`,"allowedCudaVersions":["12.4"]`)
		require.Equal(c, "12.4", c.newPodOf(only, "")["cudaVersion"])
		for _, gpu := range []string{`"allowedCudaVersions":[]`, `"allowedCudaVersions":["12.8"]`, `"minCudaVersion":"12.5"`} {
			id := c.make(templates, only)["id"].(string)
			pod := c.createPod(`{"name":"a","templateId":"` + id + `","gpu":{"id":"NVIDIA L4",` + gpu + `}}`)
			require.NotEqual(c, "12.4", pod["cudaVersion"], gpu)
		}
	})

	add("public.create.template.cpu", create, func(c *Check) {
		id := c.make(templates, bareTemplate(`,"allowedCudaVersions":["12.4"],"mounts":{"persistent":{"size":20,"path":"/d"}}`))["id"].(string)
		pod := c.createPod(`{"name":"a","cpu":{"id":"cpu3g","vcpuCount":2},"templateId":"` + id + `"}`)
		require.Equal(c, map[string]any{}, pod["mounts"])
		require.Nil(c, pod["cudaVersion"])
	})

	add("public.create.image", create, func(c *Check) {
		c.createRefused(`{"name":"a","gpu":{"id":"NVIDIA L4"}}`, 422, "/image:")
	})

	add("public.create.ssh", []string{"createPod", "updateSshKeys"}, func(c *Check) {
		c.keepSSHKeys()
		require.Equal(c, 200, c.putKeys("", ed25519Key).Status)
		env := func(members string) any { return c.createPod(with(members))["env"] }
		require.Equal(c, map[string]any{"PUBLIC_KEY": ed25519Key}, env(`"startSsh":true`))
		require.Equal(c, map[string]any{"PUBLIC_KEY": "own"}, env(`"startSsh":true,"env":{"PUBLIC_KEY":"own"}`))
		require.Equal(c, map[string]any{}, env(`"startSsh":false`))
		require.Equal(c, map[string]any{}, c.createPod(gpuPod)["env"])
	})

	add("public.create.jupyter", create, func(c *Check) {
		password := func(members string) any {
			return c.createPod(with(members))["env"].(map[string]any)["JUPYTER_PASSWORD"]
		}
		first := password(`"startJupyter":true`)
		require.Greater(c, len(first.(string)), 16)
		require.NotEqual(c, first, password(`"startJupyter":true`))
		require.Equal(c, "own", password(`"startJupyter":true,"env":{"JUPYTER_PASSWORD":"own"}`))
		require.Nil(c, password(`"startJupyter":false`))
	})

	add("public.create.command", create, func(c *Check) {
		pod := c.createPod(with(`"cmd":["-c","a b"],"entrypoint":["sh"]`))
		require.Equal(c, []any{[]any{"-c", "a b"}, []any{"sh"}}, []any{pod["cmd"], pod["entrypoint"]})
		require.Equal(c, map[string]any{"cmd": []any{"-c", "a b"}, "entrypoint": []any{"sh"}}, c.parsed(pod["args"].(string)))
		require.Equal(c, `-c 'a b'`, c.createPod(with(`"args":"-c 'a b'","cmd":["-c","a b"]`))["args"])
		c.detailHas(with(`"args":"-c 'a b'","cmd":["-c","a","b"]`), 400, "cmd")
		c.detailHas(with(`"args":"-c","entrypoint":["sh"]`), 400, "entrypoint")
	})

	add("public.create.values", create, func(c *Check) {
		for place, values := range map[string][]string{
			"/templateId:": {`""`, `7`, `null`}, "/startSsh:": {`1`, `null`}, "/startJupyter:": {`"true"`}, "/cmd:": {`"a"`, `null`}, "/cmd/0:": {`[1]`},
			"/entrypoint:": {`{}`}, "/entrypoint/0:": {`[null]`},
		} {
			c.valuesRefused(with(`"`+strings.Split(strings.Trim(place, "/:"), "/")[0]+`":$`), place, values...)
		}
		for place, values := range map[string][]string{
			"allowedCudaVersions": {`"12.4"`, `null`}, "minCudaVersion": {`"12"`, `12.4`, `""`}, "minRamPerGpu": {`0`, `1.5`, `"1"`}, "minVcpuCountPerGpu": {`0`, `null`},
		} {
			c.valuesRefused(withGPU(`{"id":"NVIDIA L4","`+place+`":$}`), "/gpu/"+place+":", values...)
		}
	})

	add("public.create.cuda", create, func(c *Check) {
		c.needsSim()
		version := func(members string) any {
			return c.createPod(withGPU(`{"id":"NVIDIA L4",` + members + `}`))["cudaVersion"]
		}
		require.Equal(c, "12.4", version(`"allowedCudaVersions":["12.4"]`))
		require.Equal(c, "12.8", version(`"allowedCudaVersions":["12.8","12.4"]`))
		require.NotNil(c, version(`"minCudaVersion":"12.4"`))
		require.NotNil(c, version(`"minCudaVersion":"12.4","allowedCudaVersions":[]`))
		c.detailHas(withGPU(`{"id":"NVIDIA L4","allowedCudaVersions":["11.0"]}`), 400, "CUDA 11.0")
		c.detailHas(withGPU(`{"id":"NVIDIA L4","minCudaVersion":"99.0"}`), 400, "CUDA")
	})
	add("public.create.cuda.both", create, func(c *Check) {
		c.detailHas(withGPU(`{"id":"NVIDIA L4","allowedCudaVersions":["12.4"],"minCudaVersion":"12.4"}`), 400, "minCudaVersion")
	})
	add("public.create.shares", create, func(c *Check) {
		gpu := c.createPod(withGPU(`{"id":"NVIDIA L4","minRamPerGpu":1,"minVcpuCountPerGpu":1}`))["gpu"].(map[string]any)
		require.GreaterOrEqual(c, gpu["memory"], 1.0)
		for _, member := range []string{"minRamPerGpu", "minVcpuCountPerGpu"} {
			c.detailHas(withGPU(`{"id":"NVIDIA L4","`+member+`":100000}`), 400, "100000")
			for _, count := range []string{"2", "4"} { // so much of each GPU that all of it together is beyond 64 bits
				c.detailHas(withGPU(`{"id":"NVIDIA L4","count":`+count+`,"`+member+`":4611686018427387904}`), 400, "")
			}
		}
	})

	add("public.pod.fields", create, func(c *Check) {
		require.ElementsMatch(c, append(slices.Clone(common), "gpu", "cmd", "entrypoint", "cudaVersion", "ssh"), keys(c.createPod(gpuPod)))
	})

	add("public.pod.command", []string{"createPod", "updatePod"}, func(c *Check) {
		pod := c.createPod(with(`"args":"-c 'a b'"`))
		require.Equal(c, []any{[]any{"-c", "a b"}, []any{}}, []any{pod["cmd"], pod["entrypoint"]})
		pod = c.patched(pod["id"].(string), `{"args":"{\"entrypoint\":[\"sh\"]}"}`)
		require.Equal(c, []any{[]any{}, []any{"sh"}}, []any{pod["cmd"], pod["entrypoint"]})
	})

	add("public.pod.gpu", create, func(c *Check) {
		one := c.createPod(withGPU(`{"id":"NVIDIA L4"}`))["gpu"].(map[string]any)
		two := c.createPod(withGPU(`{"id":"NVIDIA L4","count":2}`))["gpu"].(map[string]any)
		require.ElementsMatch(c, []string{"id", "count", "vcpuCount", "memory"}, keys(one))
		for _, member := range []string{"vcpuCount", "memory"} {
			require.InDelta(c, 2*one[member].(float64), two[member], 0, member)
		}
	})

	add("public.pod.ssh", []string{"createPod", "getPod"}, func(c *Check) {
		none := map[string]any{"proxy": nil, "direct": nil}
		require.Equal(c, none, c.createPod(with(`"ports":["22/tcp"]`))["ssh"])
		require.Equal(c, none, c.getPod(c.running(with(`"ports":["80/tcp"]`)))["ssh"])
		direct, _ := c.becomes(c.running(with(`"ports":["22/tcp"]`)), "RUNNING")["ssh"].(map[string]any)["direct"].(map[string]any)
		if direct == nil {
			c.Skip("the target publishes no ports")
		}
		require.Equal(c, "root", direct["username"])
		for _, part := range []string{"ssh ", direct["host"].(string)} {
			require.Contains(c, direct["command"], part)
		}
	})

	add("public.pod.cluster", []string{"createCluster", "listClusterPods"}, func(c *Check) {
		require.NotContains(c, c.createPod(gpuPod), "cluster")
		at := c.newCluster(clusterWith(`"startSsh":false`))
		id := at[strings.LastIndex(at, "/")+1:]
		for rank, pod := range c.members(at) {
			require.Equal(c, []any{id, float64(rank)}, []any{pod["cluster"].(map[string]any)["id"], pod["cluster"].(map[string]any)["rank"]})
		}
	})

	add("public.pod.cluster.role", []string{"createCluster", "listClusterPods"}, func(c *Check) {
		for kind, want := range map[string][]any{
			"SLURM": {"SLURM_CONTROLLER", "SLURM_COMPUTE", "SLURM_COMPUTE"}, "RAY": {"RAY_HEAD", "RAY_WORKER", "RAY_WORKER"}, "TRAINING": {nil, nil, nil},
		} {
			var roles []any
			for _, pod := range c.members(c.newCluster(strings.Replace(cluster, "TRAINING", kind, 1))) {
				roles = append(roles, pod["cluster"].(map[string]any)["role"])
			}
			require.Equal(c, want, roles, kind)
		}
	})

	add("public.run.input", []string{"run", "runSync", "takeJob"}, func(c *Check) {
		id := c.Queue("POST", "run", `{}`).JSON["id"]
		taken := c.Queue("GET", "job-take/"+c.worker("w"), "")
		require.Equal(c, id, taken.JSON["id"])
		require.Equal(c, map[string]any{}, taken.JSON["input"])
		for _, body := range []string{`{"input":[1]}`, `{"input":"text"}`, `{"input":7}`, `{"input":null}`} {
			c.jobRefused(body, 422, "/input:")
		}
	})
	add("public.run.webhook-v2", []string{"run"}, func(c *Check) {
		require.Equal(c, 200, c.Queue("POST", "run", `{"input":{},"webhookV2":""}`).Status)
		a := c.Queue("POST", "run", `{"input":{},"webhookV2":"https://example.com"}`)
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], "webhookV2")
	})
})
