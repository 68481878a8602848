package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked is a document whose operations have parameters alone. All but deep are in their places by $ref.
const asked = `openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /things/{id}:
    parameters:
      - {$ref: '#/components/parameters/Id'}
      - {$ref: '#/components/parameters/Trace'}
    get:
      operationId: getThing
      parameters: [{name: deep, in: query, required: true, schema: {type: boolean}}]
      responses: {'204': {description: d}}
    delete:
      operationId: deleteThing
      responses: {'204': {description: d}}
  /things:
    get:
      operationId: listThings
      responses: {'204': {description: d}}
components:
  parameters:
    Id: {name: id, in: path, required: true, schema: {type: string, maxLength: 9}}
    Trace: {name: X-Trace, in: header, required: true, schema: {$ref: '#/components/schemas/Trace'}}
    Page: {name: page, in: query, required: true, schema: {type: integer}}
  schemas:
    Trace: {type: string, maxLength: 9}
`

// askedIn gives the editions of the document that the actions of overlays make, one edition each.
func askedIn(t *testing.T, actions ...string) []edition {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "editions"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "asked.yaml"), []byte(asked), 0o600))
	for i, of := range actions {
		name := string(rune('b' + i))
		text := "overlay: 1.0.0\ninfo: {title: t, version: " + name + "}\nextends: ../asked.yaml\nactions:\n" + of
		require.NoError(t, os.WriteFile(filepath.Join(dir, "editions", name+".overlay.yaml"), []byte(text), 0o600))
	}
	editions, err := loadEditions(filepath.Join(dir, "asked.yaml"), filepath.Join(dir, "editions"))
	require.NoError(t, err)
	require.Len(t, editions, len(actions)+1)
	return editions
}

func updates(target, value string) string {
	return "  - target: " + target + "\n    update: " + value + "\n"
}

func removes(target string) string { return "  - target: " + target + "\n    remove: true\n" }

// What a parameter of a path refers to is a part of each of its operations, however far away it stands.
func TestEdition_HasWhatAParameterOfAPathRefersTo(t *testing.T) {
	const id = "$.components.parameters.Id"
	made := func(actions string) string {
		code, err := generate(askedIn(t, actions), models{"trace": {name: "Trace"}}, "x", "asked.yaml")
		require.NoError(t, err)
		return string(code)
	}
	for _, changed := range []string{
		updates(id+".schema", "{maxLength: 7}"),
		updates(id, "{description: d}") + updates("$.components.schemas.Trace", "{maxLength: 7}"),
	} {
		code := made(changed)
		require.Contains(t, code, "{Max: 7}", changed)
		require.NotContains(t, code, `Ops["getThing"]`, changed)
		require.NotContains(t, code, `Ops["deleteThing"]`, changed)
		require.Contains(t, code, `Ops["listThings"]`, changed)
	}
	require.Contains(t, made(updates(id, "{description: d}")), `Ops["getThing"]`)
}

// The models' server asks for what is required before the validator of the request's edition is asked.
func TestUnion_RequiresOnlyTheParametersThatEachEditionRequires(t *testing.T) {
	const list, thing, read = "$.paths['/things'].get", "$.paths['/things/{id}']", "$.paths['/things/{id}'].get"
	const of, page = "{name: of, in: query, required: true, schema: {type: string}}", "{parameters: [{$ref: '#/components/parameters/Page'}]}"
	for name, c := range map[string]struct {
		actions []string
		want    map[string]bool // required
	}{
		"all alike":           {nil, map[string]bool{"path.id": true, "header.X-Trace": true, "query.deep": true}},
		"one more":            {[]string{updates(list, "{parameters: ["+of+"]}")}, map[string]bool{"query.of": false, "query.deep": true, "header.X-Trace": true}},
		"one more, by $ref":   {[]string{updates(list, page)}, map[string]bool{"query.page": false, "query.deep": true}},
		"a new one, by $ref":  {[]string{updates("$.components.parameters", "{Of: "+of+"}") + updates(list, "{parameters: [{$ref: '#/components/parameters/Of'}]}")}, map[string]bool{"query.of": false}},
		"one more, of a path": {[]string{updates("$.paths['/things']", "{parameters: ["+of+"]}")}, map[string]bool{"query.of": false}},
		"one less":            {[]string{removes(read + ".parameters")}, map[string]bool{"query.deep": false, "header.X-Trace": true}},
		"another one": {
			[]string{removes(read+".parameters") + updates(read, "{parameters: ["+of+"]}")},
			map[string]bool{"query.deep": false, "query.of": false, "header.X-Trace": true},
		},
		"less in a path": {
			[]string{removes(thing+".parameters") + updates(thing, "{parameters: [{$ref: '#/components/parameters/Id'}]}")},
			map[string]bool{"path.id": true, "header.X-Trace": false, "query.deep": true},
		},
		"in two of three":           {[]string{updates(list, page), updates(list, page)}, map[string]bool{"query.page": false}},
		"not in the third alone":    {[]string{updates(list, "{description: d}"), removes(read + ".parameters")}, map[string]bool{"query.deep": false}},
		"one more, before it":       {[]string{removes(read+".parameters") + updates(read, "{parameters: ["+of+", {name: deep, in: query, required: true, schema: {type: boolean}}]}")}, map[string]bool{"query.of": false, "query.deep": true}},
		"one more that is optional": {[]string{updates(list, "{parameters: [{name: of, in: query, schema: {type: string}}]}")}, map[string]bool{"query.of": false, "query.deep": true}},
		"optional in one":           {[]string{removes(read+".parameters") + updates(read, "{parameters: [{name: deep, in: query, schema: {type: boolean}}]}")}, map[string]bool{"query.deep": false}},
		"of operations, not of their path": {
			[]string{removes(thing+".parameters") + updates(thing+"['get','delete']", "{parameters: [{$ref: '#/components/parameters/Id'}, {$ref: '#/components/parameters/Trace'}]}")},
			map[string]bool{"path.id": true, "header.X-Trace": false, "query.deep": true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := union(askedIn(t, c.actions...))
			require.NoError(t, err)
			have := map[string]bool{}
			for _, path := range members(get(whole.root, "paths")) {
				for _, holder := range append(members(path.value), path) {
					for _, p := range whole.parameterList(holder.value) {
						have[text(get(p.Node, "in"))+"."+text(get(p.Node, "name"))] = text(get(p.Node, "required")) == "true"
					}
				}
			}
			for parameter, required := range c.want {
				require.Contains(t, have, parameter)
				require.Equal(t, required, have[parameter], parameter)
			}
		})
	}
}
