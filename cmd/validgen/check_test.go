package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checked are files of every kind that is checked, in which nothing is wrong.
var checked = map[string]string{
	"spec.yaml": `openapi: 3.1.0
info: {title: things, version: '1'}
paths:
  /things/{id}:
    get:
      operationId: getThing
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {$ref: '#/components/responses/One'}}
    delete:
      operationId: deleteThing
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'204': {description: Gone.}}
components:
  responses:
    One: {description: It., content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
  schemas:
    Thing:
      type: object
      properties:
        name: {type: string, maxLength: 9}
        size: {type: integer, maximum: 9}
        carried: {}
    Other: {type: object, properties: {name: {type: string}}}
`,
	"overlay.yaml": `overlay: 1.0.0
info: {title: carried JSON, version: '1'}
actions:
  - target: $.components.schemas.Thing.properties['carried']
    update: {x-go-type: json.RawMessage}
  - target: $.components.schemas['Thing']
    update: {required: [name, size]}
`,
	"rules.yaml": `- {id: things.get, says: A thing is answered., source: here, kind: decided}
- {id: things.delete, says: A thing is deleted., source: here, kind: documented, open: true}
`,
	"schema.graphqls": `type Query {
  thing(id: String!): Thing
}

type Thing {
  name: String
}
`,
	"things.graphql": `query thing($id: String!) {
  thing(id: $id) { name }
}
`,
	"gqlgen.yaml": `exec: {package: graph}
models:
  Thing:
    fields:
      name: {resolver: true}
`,
}

// checkEdited checks the files, of which one is edited.
func checkEdited(t *testing.T, file, old, changed string) error {
	dir := t.TempDir()
	var paths []string
	for name, content := range checked {
		if name == file {
			require.Contains(t, content, old)
			content = strings.Replace(content, old, changed, 1)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		paths = append(paths, name)
	}

	t.Chdir(dir)
	slices.Sort(paths)
	return checkFiles(paths, "")
}

func TestCheckFiles_ReportsFaultsWithFileAndLine(t *testing.T) {
	require.NoError(t, checkEdited(t, "", "", ""))
	for _, edit := range []struct{ file, old, changed, want string }{
		// What oapi-codegen would trip over, or pass over.
		{"spec.yaml", "responses/One'}", "responses/Two'}", `8: #/paths/~1things~1{id}/get/responses/200: keyword "$ref": there is no #/components/responses/Two in the document`},
		{"spec.yaml", "schemas/Thing'}", "schemas/Thin'}", `15: #/components/responses/One/content/application~1json/schema: keyword "$ref": there is no #/components/schemas/Thin in the document`},
		{"spec.yaml", "parameters: [{name: id, in: path, required: true, schema: {type: string}}]", "parameters: [{$ref: '#/components/parameters/Id'}]", `7: #/paths/~1things~1{id}/get/parameters: keyword "$ref": there is no #/components/parameters/Id in the document`},
		{"spec.yaml", "responses/One'}", "responses/One', content: {application/json: {schema: {$ref: '#/components/schemas/None'}}}}", `8: #/paths/~1things~1{id}/get/responses/200/content/application~1json/schema: keyword "$ref": there is no #/components/schemas/None in the document`},
		{"spec.yaml", "'#/components/schemas/Thing'", "'components/schemas/Thing'", `15: #/components/responses/One/content/application~1json/schema: keyword "$ref": there is no components/schemas/Thing in the document`},
		{"spec.yaml", "responses: {'204': {description: Gone.}}", "responses: {}", `9: #/paths/~1things~1{id}/delete: the responses object MUST contain at least one response code`},
		{"spec.yaml", "title: things, ", "", `2: #/info: value of title must be a non-empty string`},
		{"spec.yaml", "/things/{id}:", "/things/{thing}:", `9: #/paths/~1things~1{thing}/delete: operation DELETE /things/{thing} must define exactly all path parameters (missing: [id thing])`},
		{"spec.yaml", "operationId: deleteThing", "operationId: getThing", `5: #/paths: operations "DELETE /things/{id}" and "GET /things/{id}" have the same operation id "getThing"`},
		{"spec.yaml", "description: It., ", "", `15: #/components/responses/One: a short description of the response is required`},
		{"spec.yaml", "maxLength: 9", "maxLength: nine", `20: #/components/schemas/Thing/properties/name: keyword "maxLength": nine is no count`},
		{"spec.yaml", "maximum: 9", "maximum: 0x9", `21: #/components/schemas/Thing/properties/size: keyword "maximum": 0x9 is no decimal number`},
		{"spec.yaml", "in: path, required: true, schema: {type: string}", "in: path, required: true, schema: {type: [string, integer]}", `7: #/paths/~1things~1{id}/get/parameters/0: keyword "type": parameters of type "string, integer" are not handled`},

		{"overlay.yaml", "Thing.properties", "Thin.properties", `4: action 1: target $.components.schemas.Thin.properties['carried']: no document has "Thin" there`},
		{"overlay.yaml", "['carried']", "['carried','sent']", `4: action 1: target $.components.schemas.Thing.properties['carried','sent']: no document has "sent" there`},
		{"overlay.yaml", ".Thing.properties", "['Thing','Other'].properties", `4: action 1: target $.components.schemas['Thing','Other'].properties['carried']: no document has the rest below "Other"`},
		{"overlay.yaml", "['carried']", ".*", `4: action 1: target $.components.schemas.Thing.properties.*: only $, .name and ['name', 'name'] are handled`},
		{"overlay.yaml", "['carried']", "[carried]", `4: action 1: target $.components.schemas.Thing.properties[carried]: only $, .name and ['name', 'name'] are handled`},
		{"overlay.yaml", "update: {x", "updat: {x", `5: action 1: unknown member "updat"`},
		{"overlay.yaml", "    update: {x-go-type: json.RawMessage}\n", "", `4: action 1: it needs a target, and one of update and remove`},
		{"overlay.yaml", "[name, size]", "[name, weight]", `7: action 2: keyword "required": "weight" is no property in spec.yaml:18`},

		{"rules.yaml", "kind: documented", "kind: guessed", `2: things.delete: kind "guessed" is neither documented nor decided`},
		{"rules.yaml", "things.delete", "things.get", `2: things.get: it is in line 1 too`},
		{"rules.yaml", "says: A thing is deleted., ", "", `2: things.delete: "says" is missing`},
		{"rules.yaml", "open: true", "editions: ['1', two]", `2: things.delete: there is no edition "two"`},
		{"rules.yaml", "open: true", "opened: true", `2: things.delete: unknown member "opened"`},

		{"schema.graphqls", ": Thing\n", ": Thin\n", `2:23: Undefined type Thin.`},
		{"schema.graphqls", "type Thing {", "type Thing", `6:3: Unexpected Name "name"`},
		{"things.graphql", "{ name }", "{ size }", `2:20: Cannot query field "size" on type "Thing".`},
		{"things.graphql", "{ name }", "{ name", `4:1: Expected Name, found <EOF>`},
		{"gqlgen.yaml", "Thing:", "Thin:", `3: models: the schema has no type Thin`},
		{"gqlgen.yaml", "name:", "nam:", `5: models: type Thing has no field nam`},
	} {
		t.Run(fmt.Sprintf("%s: %s", edit.file, edit.changed), func(t *testing.T) {
			require.EqualError(t, checkEdited(t, edit.file, edit.old, edit.changed), edit.file+":"+edit.want)
		})
	}
}
