package conformance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/spec/diff"
)

// asked sends what is known of the public document to a server in the public edition.
type asked struct {
	*testing.T
	check *conformance.Check
	ids   map[string]string // of what there is, by the path that has it
	tried int
}

// TestFacts_EveryKnownMemberIsTakenOrNamed sends each operation that is known with each member, and each value of those that have
// few: it is taken, or the refusal names the member.
func TestFacts_EveryKnownMemberIsTakenOrNamed(t *testing.T) {
	public, err := diff.Load("../spec/facts/public-2026-10.overlay.yaml")
	require.NoError(t, err)
	target, stop, err := conformance.Own(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop()) })
	target.Contract = "public-2026-10"
	documents, err := conformance.LoadDocuments(target.Contract)
	require.NoError(t, err)
	suite := conformance.Suite{Target: target, Documents: documents}
	a := &asked{T: t, check: suite.NewCheck(t.Context(), t, func(why string) { require.Fail(t, why) }), ids: map[string]string{}}

	for _, op := range public.Operations() {
		body, ok := bodies[op.ID]
		if op.Body != nil && a.served(op) {
			require.True(t, ok, "%s: what its body is at least is to stand in bodies", op.ID)
			a.members(op, body, nil, op.Body)
		}
		if strings.HasSuffix(op.Path, "/logs") || !a.served(op) {
			continue // their answers have no end; their rules send these parameters
		}
		for name, schema := range op.Query {
			for _, value := range values(name, schema.(map[string]any)) {
				text := strings.Trim(a.text(value), `"[]`)
				a.send(op, a.at(op)+"?"+beside(op, name)+url.QueryEscape(name)+"="+url.QueryEscape(text), "", name)
			}
		}
	}
	require.Greater(t, a.tried, 300)
}

// served reports whether there is an operation at the path. Of one that is not, the answer says so.
func (a *asked) served(op diff.Operation) bool {
	got := a.check.Send(conformance.Request{Method: op.Method, URL: a.check.URL + strings.NewReplacer("{id}", "none", "{workerId}", "none", "{buildId}", "none").Replace(op.Path)})
	detail, _ := got.JSON["detail"].(string)
	if got.Status == 404 && strings.Contains(detail, "nothing at this path") || got.Status == 405 {
		require.Contains(a, []string{"sandboxes"}, unserved(op.Path), "%s %s", op.Method, op.Path)
		return false
	}
	return true
}

// unserved gives the word of a path that says which resource is not there.
func unserved(path string) string {
	for word := range strings.SplitSeq(path, "/") {
		if slices.Contains([]string{"sandboxes"}, word) {
			return word
		}
	}
	return ""
}

// bodies are what operations take at least.
var bodies = map[string]string{
	"createPod": `{"name":"a","image":"i","gpu":{"id":"NVIDIA L4"}}`, "updatePod": `{}`, "podAction": `{"action":"stop"}`,
	"createCluster": `{"name":"c","type":"TRAINING","image":"i","compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":1,"podCount":2}}`, "updateCluster": `{"name":"b"}`,
	"createEndpoint": `{"name":"e","type":"QUEUE","image":"i","gpu":{"pools":["ADA_24"]},"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`, "updateEndpoint": `{}`,
	"createTemplate": `{"name":"t","image":"i"}`, "updateTemplate": `{"name":"u"}`,
	"createNetworkVolume": `{"name":"v","size":10,"dataCenter":"US-KS-2"}`, "updateNetworkVolume": `{"name":"w"}`,
	"createGlobalVolume": `{"name":"g"}`, "updateGlobalVolume": `{"name":"h"}`,
	"createRegistry": `{"name":"r","username":"u","password":"p"}`, "createDelegation": `{"resource":"arn:aws:ecr:eu-west-1:123456789012:repository/a"}`,
	"updateSshKeys": `{"keys":[]}`, "createSecret": `{"name":"s","value":"v"}`, "updateSecret": `{"value":"w"}`,
}

// beside gives the parameters without which another one of the catalog means nothing.
func beside(op diff.Operation, name string) (query string) {
	for _, with := range []string{"include=AVAILABILITY", "product=POD"} {
		if key, _, _ := strings.Cut(with, "="); op.Query["product"] != nil && key != name {
			query += with + "&"
		}
	}
	return query
}

// members sends each member of the schema in the body, where the names lead to.
func (a *asked) members(op diff.Operation, body string, names []string, schema map[string]any) {
	for _, branch := range append(branches(schema, "oneOf"), branches(schema, "anyOf")...) {
		a.members(op, body, names, branch)
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property := properties[name].(map[string]any)
		at := append(slices.Clone(names), name)
		for _, value := range values(name, property) {
			var whole map[string]any
			require.NoError(a, json.Unmarshal([]byte(body), &whole))
			if op.ID == "createSecret" {
				whole["name"] = fmt.Sprint("s", a.tried) // one of its own
			}
			put(op, whole, at, value, schema)
			if names == nil && name == "templateId" {
				delete(whole, "image")
			}
			if at[0] == "cpu" && whole["gpu"] != nil {
				delete(whole, "gpu")
			}
			reported := at
			if op.ID == "podAction" {
				reported = append(reported, value.(string)) // a status that does not allow it
			}
			a.send(op, a.at(op), a.text(whole), reported...)
		}
		if items, ok := property["items"].(map[string]any); ok {
			property = items
		}
		a.members(op, body, at, property)
	}
}

// put sets a member, and makes what it is in, with what that requires.
func put(op diff.Operation, whole map[string]any, at []string, value any, schema map[string]any) {
	for _, name := range at[:len(at)-1] {
		inner, ok := whole[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			whole[name] = inner
			if name == "network" || name == "global" || name == "cpu" && strings.Contains(op.Path, "serverless") {
				whole[name] = []any{inner}
			}
		}
		whole = inner
	}
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	if len(at) > 1 {
		for _, name := range required {
			if _, has := whole[name.(string)]; !has {
				whole[name.(string)] = values(name.(string), properties[name.(string)].(map[string]any))[0]
			}
		}
	}
	whole[at[len(at)-1]] = value
}

// send asserts that the request is taken, or that the refusal names the member, or what it is in.
func (a *asked) send(op diff.Operation, path, body string, at ...string) {
	a.tried++
	got := a.check.Send(conformance.Request{Method: op.Method, URL: a.check.URL + path, Body: body})
	if got.Status < 300 {
		return
	}
	assert.Less(a, got.Status, 500, "%s %s %s: %s", op.Method, path, body, got.Body)
	reported := strings.ToLower(fmt.Sprint(got.JSON["detail"], got.JSON["errors"]))
	named := slices.ContainsFunc(at, func(name string) bool { return strings.Contains(reported, strings.ToLower(name)) })
	assert.True(a, named, "%v is not named: %s %s %s: %s", at, op.Method, path, body, got.Body)
}

func (a *asked) text(value any) string {
	text, err := json.Marshal(value)
	require.NoError(a, err)
	return string(text)
}

// at gives the path of the operation, with the id of something new that it may change, or of something old that it reads.
func (a *asked) at(op diff.Operation) string {
	path, has := strings.CutSuffix(op.Path, "/{id}")
	rest := ""
	if before, after, ok := strings.Cut(op.Path, "/{id}"); ok {
		path, rest, has = before, after, true
	}
	if !has {
		return path
	}
	return path + "/" + a.id(path, op.Method != "GET") + rest
}

// id gives the id of what the path has: a new one, or the first.
func (a *asked) id(path string, fresh bool) string {
	known := map[string]string{"/v2/catalog/gpus": "NVIDIA%20L4", "/v2/catalog/cpus": "cpu3g", "/v2/catalog/datacenters": "US-KS-2"}
	makers := map[string]string{
		"/v2/pods": "createPod", "/v2/clusters": "createCluster", "/v2/serverless": "createEndpoint", "/v2/templates": "createTemplate",
		"/v2/network-volumes": "createNetworkVolume", "/v2/registries": "createRegistry", "/v2/registries/delegations": "createDelegation", "/v2/account/secrets": "createSecret",
		"/v2/global-volumes": "createGlobalVolume",
	}
	if id := known[path]; id != "" {
		return id
	}
	if a.ids[path] == "" || fresh {
		body := strings.Replace(bodies[makers[path]], `"name":"s"`, fmt.Sprintf(`"name":"s%d"`, a.tried), 1)
		made := a.check.REST("POST", path, body)
		require.Equal(a, 201, made.Status, "%s %s: %s", path, body, made.Body)
		a.ids[path] = made.JSON["id"].(string)
	}
	return a.ids[path]
}

func branches(schema map[string]any, key string) (all []map[string]any) {
	list, _ := schema[key].([]any)
	for _, branch := range list {
		if b, ok := branch.(map[string]any); ok {
			all = append(all, b)
		}
	}
	return all
}

// examples are values of members whose schema says too little of them.
var examples = map[string]any{
	"ports": []any{"80/http"}, "allowedCudaVersions": []any{"12.4"}, "minCudaVersion": "12.4", "cudaVersions": "12.4", "pools": []any{"ADA_24"}, "excludedTypes": []any{"NVIDIA L4"},
	"dataCenterIds": []any{"US-KS-2"}, "dataCenter": "US-KS-2", "path": "/data", "size": 20, "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-02T00:00:00Z",
	"resource": "arn:aws:ecr:eu-west-1:123456789012:repository/a", "gpuTypeId": "NVIDIA L4", "countryCodes": "US", "vcpuCount": 2, "name": "other", "keys": []any{}, "podCount": 2,
}

// values gives values of a schema: all that it lists, or one.
func values(name string, schema map[string]any) []any {
	if example, ok := examples[name]; ok {
		return []any{example}
	}
	if list, ok := schema["enum"].([]any); ok {
		return list
	}
	kind := schema["type"]
	if list, ok := kind.([]any); ok {
		kind = list[0]
	}
	properties, _ := schema["properties"].(map[string]any)
	switch kind {
	case "string":
		if name == "id" {
			return []any{"NVIDIA L4", "cpu3g"}
		}
		return []any{"text"}
	case "boolean":
		return []any{true, false}
	case "integer", "number":
		if least, ok := schema["minimum"]; ok {
			return []any{least}
		}
		return []any{1}
	case "array":
		items, _ := schema["items"].(map[string]any)
		var list []any
		for _, item := range values(name, items) {
			list = append(list, []any{item})
		}
		return list
	default:
		one := map[string]any{}
		required, _ := schema["required"].([]any)
		for _, member := range required {
			p, _ := properties[member.(string)].(map[string]any)
			one[member.(string)] = values(member.(string), p)[0]
		}
		for _, key := range []string{"oneOf", "anyOf"} {
			for _, branch := range branches(schema, key) {
				return values(name, branch)
			}
		}
		return []any{one}
	}
}
