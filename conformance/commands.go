package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// These rules are about cmd and entrypoint, the other view of args.
var _ = area(func() {
	patch := []string{"updatePod"}
	add("pods.patch.command", patch, func(c *Check) {
		id := c.newPod(gpuPod)
		require.Equal(c, `-c 'a b'`, c.patched(id, `{"cmd":["-c","a b"]}`)["args"])
		both := map[string]any{"cmd": []any{"-c", "a b"}, "entrypoint": []any{"sh"}}
		require.Equal(c, both, c.parsed(c.patched(id, `{"entrypoint":["sh"]}`)["args"].(string)))
		both["cmd"] = []any{"-e"}
		require.Equal(c, both, c.parsed(c.patched(id, `{"cmd":["-e"]}`)["args"].(string)))
		c.invalid("PATCH", "/v2/pods/"+id, `{"cmd":$}`, "/cmd:", `"a"`, `null`)
		c.invalid("PATCH", "/v2/pods/"+id, `{"entrypoint":[$]}`, "/entrypoint/0:", `1`, `null`)
	})

	add("pods.patch.command.clear", patch, func(c *Check) {
		id := c.newPod(gpuPod)
		c.patched(id, `{"cmd":["-e"],"entrypoint":["sh"]}`)
		require.Equal(c, "-e", c.patched(id, `{"entrypoint":[]}`)["args"])
		require.Equal(c, "-e", c.patched(id, `{"name":"b"}`)["args"])
		require.Equal(c, "", c.patched(id, `{"cmd":[]}`)["args"])
	})

	add("pods.patch.command.both", patch, func(c *Check) {
		id := c.newPod(gpuPod)
		args := `{"args":"{\"cmd\": [\"-e\"], \"entrypoint\": [\"sh\"]}",`
		require.Equal(c, `{"cmd": ["-e"], "entrypoint": ["sh"]}`, c.patched(id, args+`"cmd":["-e"],"entrypoint":["sh"]}`)["args"])
		for _, other := range []string{`"cmd":["-f"]}`, `"entrypoint":["bash"]}`, `"cmd":[]}`} {
			c.Refused(c.patch(id, args+other), 400)
		}
	})

	add("templates.command", []string{"createTemplate", "updateTemplate", "getTemplate"}, func(c *Check) {
		made := c.make(templates, template(`"cmd":["-c","a b"],"entrypoint":["sh"]`))
		require.Equal(c, []any{[]any{"-c", "a b"}, []any{"sh"}}, []any{made["cmd"], made["entrypoint"]})
		at := templates + "/" + made["id"].(string)
		require.Equal(c, `-c 'a b'`, c.changed(at, `{"entrypoint":[]}`)["args"])
		require.Equal(c, []any{[]any{}, []any{}}, []any{c.changed(at, `{"args":""}`)["cmd"], c.read(at)["entrypoint"]})
		c.Refused(c.REST("PATCH", at, `{"args":"a","cmd":["b"]}`), 400)
	})

	add("clusters.create.command", []string{"createCluster", "listClusterPods"}, func(c *Check) {
		for _, pod := range c.members(c.newCluster(clusterWith(`"cmd":["-c","a b"]`))) {
			require.Equal(c, `-c 'a b'`, pod["args"])
		}
		c.Refused(c.REST("POST", clusters, clusterWith(`"args":"a","cmd":["b"]`)), 400)
	})

	add("serverless.command", []string{"createEndpoint", "updateEndpoint", "getEndpoint"}, func(c *Check) {
		of := c.make(templates, template(`"serverless":true,"cmd":["-t"],"entrypoint":["sh"]`))["id"].(string)
		made := c.make(serverless, strings.TrimSuffix(gpuEndpoint, "}")+`,"templateId":"`+of+`","cmd":["-e"]}`)
		require.Equal(c, []any{[]any{"-e"}, []any{"sh"}}, []any{made["cmd"], made["entrypoint"]})
		at := serverless + "/" + made["id"].(string)
		require.Equal(c, "-e", c.changed(at, `{"entrypoint":[]}`)["args"])
		c.Refused(c.REST("PATCH", at, `{"args":"a","cmd":["b"]}`), 400)
	})
})
