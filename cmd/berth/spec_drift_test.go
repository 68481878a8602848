package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec"
	"github.com/berthdev/berth/spec/diff"
	"github.com/berthdev/berth/spec/overlay"
)

// invented is what a public document of some later day might have changed.
const invented = `
actions:
  - {target: $.info, update: {version: 3.0.0}}
  - target: $.paths
    update:
      /v2/boats:
        post:
          operationId: createBoat
          parameters: [{name: dry, in: query, schema: {type: boolean}}]
          requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Boat'}}}}
          responses: {'201': {description: A boat., content: {application/json: {schema: {$ref: '#/components/schemas/Boat'}}}}, '401': {$ref: '#/components/responses/Unauthenticated'}}
  - target: $.components.schemas
    update:
      Boat: {type: object, required: [hull], properties: {hull: {$ref: '#/components/schemas/Hull'}, pod: {$ref: '#/components/schemas/Pod'}}}
      Hull: {type: object, properties: {length: {type: integer}, inner: {$ref: '#/components/schemas/Hull'}}}
  - target: $.paths['/v2/pods'].get
    update: {parameters: [{name: color, in: query, schema: {type: string}}], responses: {'418': {description: No.}}}
  - target: $.paths['/v2/pods/{id}'].get
    update: {parameters: [{name: shade, in: query, schema: {type: string}}], responses: {'418': {description: No.}}}
  - target: $.paths['/v2/pods/{id}/logs'].get.responses['404']
    remove: true
  - target: $.components.schemas.CreatePodRequest
    update: {required: [gpu], properties: {color: {type: string, enum: [RED]}}}
  - target: $.components.schemas.PodStatus
    update: {enum: [SUNK]}
  - target: $.components.schemas.NetworkMount.properties.path
    update: {maxLength: 7}
  - target: $.components.schemas.CreateTemplateRequest.properties.category
    remove: true
  - target: $.paths['/v2/account/ssh-keys'].put
    remove: true
  - target: $.paths['/v2/catalog/gpus/{id}']
    remove: true
`

func TestSpecDrift_ComparesADocumentAndWritesItsOverlay(t *testing.T) {
	t.Parallel()
	document := func(name string) *yaml.Node {
		text, err := spec.JSON(name, "2.0.0")
		require.NoError(t, err)
		var whole yaml.Node
		require.NoError(t, yaml.Unmarshal(text, &whole))
		return whole.Content[0]
	}
	rest, queue := document("rest"), document("queue")
	original, err := diff.Parse(encoded(t, rest))
	require.NoError(t, err)

	var changes yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(invented), &changes))
	require.NoError(t, overlay.Apply(rest, changes.Content[0]))
	health := overlay.Get(queue, "paths", "/v2/{endpointId}/health", "get") // the document describes one operation of the queue, too
	overlay.Get(health, "operationId").SetString("readHealth")
	addition := &yaml.Node{Kind: yaml.MappingNode}
	require.NoError(t, addition.Encode(map[string]any{"/v2/{endpointId}/health": map[string]any{"get": health}}))
	adopt(overlay.Get(rest, "components"), overlay.Get(queue, "components"), 2)
	overlay.Get(rest, "paths").Content = append(overlay.Get(rest, "paths").Content, addition.Content...)

	dir := t.TempDir()
	file, skeleton := filepath.Join(dir, "later.yaml"), filepath.Join(dir, "boats.overlay.yaml")
	require.NoError(t, os.WriteFile(file, encoded(t, rest), 0o600))
	var out, stderr bytes.Buffer
	cmd := newCommand()
	cmd.SetArgs([]string{"spec", "drift", file, "--overlay", skeleton, "--name", "boats"})
	cmd.SetOut(&out)
	cmd.SetErr(&stderr)
	require.ErrorContains(t, cmd.ExecuteContext(t.Context()), "differences are not expected")

	for _, line := range []string{
		"POST /v2/boats: absent | present", "GET /v2/pods/parameters/query.color: absent | present", "GET /v2/pods/responses/418: absent | present",
		"CreatePodRequest/properties/color: absent | present", "CreatePodRequest/required/gpu: absent | present", "PodStatus/enum/SUNK: absent | present",
		"NetworkMount/properties/path/maxLength: absent | 7", "CreateTemplateRequest/properties/category: present | absent", "PUT /v2/account/ssh-keys: present | absent",
		"GET /v2/pods/{id}/parameters/query.shade: absent | present", "GET /v2/pods/{id}/logs/responses/404: present | absent", "GET /v2/catalog/gpus/{id}: present | absent",
		"GET /v2/{endpointId}/health/operationId: ", // of the queue
	} {
		require.Contains(t, out.String(), line)
	}
	require.Contains(t, stderr.String(), "nearest to edition 2.0.0")
	require.Contains(t, stderr.String(), " 0 of them to be written by hand")

	// The overlay makes of ours what the document has.
	text, err := os.ReadFile(skeleton)
	require.NoError(t, err)
	ours := document("rest")
	var made yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &made))
	require.Equal(t, "1.0.0", overlay.Get(made.Content[0], "overlay").Value)
	require.Equal(t, "../rest.yaml", overlay.Get(made.Content[0], "extends").Value)
	require.NoError(t, overlay.Apply(ours, made.Content[0]))
	a, err := diff.Parse(encoded(t, ours))
	require.NoError(t, err)
	b, err := diff.Load(file)
	require.NoError(t, err)
	_, b = b.Part(func(path string) bool { return strings.HasSuffix(path, "/health") })
	require.NotEmpty(t, diff.Compare(original, b))
	require.Empty(t, diff.Compare(a, b))
	require.Equal(t, "boats", a.Version())
}

func encoded(t *testing.T, n *yaml.Node) []byte {
	text, err := yaml.Marshal(n)
	require.NoError(t, err)
	return text
}

// adopt gives a tree the members of another one that it does not have, as deep as that.
func adopt(into, from *yaml.Node, depth int) {
	for _, m := range overlay.Members(from) {
		if have := overlay.Get(into, m.Key.Value); have == nil {
			into.Content = append(into.Content, m.Key, m.Value)
		} else if depth > 1 {
			adopt(have, m.Value, depth-1)
		}
	}
}
