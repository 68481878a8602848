package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// frame wraps a schema in a document, whose first schema line is line 15.
func frame(schema string) string {
	return `openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /things:
    post:
      operationId: make
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Thing'}
      responses: {'200': {description: d}}
components:
  schemas:
    Thing:
      type: object
      properties:
        a: ` + schema + "\n"
}

func generateFrom(t *testing.T, text string) (string, error) {
	return generateWith(t, text, "package x\ntype Thing struct {\nA *string `json:\"a,omitempty\"`\n}\n")
}

func generateWith(t *testing.T, text, models string) (string, error) {
	dir := t.TempDir()
	spec, model, out := filepath.Join(dir, "spec.yaml"), filepath.Join(dir, "model.go"), filepath.Join(dir, "out.go")
	require.NoError(t, os.WriteFile(spec, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(model, []byte(models), 0o600))
	t.Chdir(dir)
	if err := run("spec.yaml", "", "model.go", "x", "out.go"); err != nil {
		return "", err
	}
	code, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(code), nil
}

func TestGenerate_StopsAtAKeywordItCannotCheck(t *testing.T) {
	for schema, want := range map[string]string{
		`{type: string, contentEncoding: base64}`:                 `: unknown keyword "contentEncoding"`,
		`{type: object, patternProperties: {x: {}}}`:              `: unknown keyword "patternProperties"`,
		`{type: string, x-secret: true}`:                          `: unknown keyword "x-secret"`,
		`{allOf: [{type: string}]}`:                               `: unknown keyword "allOf"`,
		`{type: integer, multipleOf: 2}`:                          `: unknown keyword "multipleOf"`,
		`{type: array, items: {type: string, not: {}}}`:           `/items: unknown keyword "not"`,
		`{type: object, additionalProperties: {if: {}}}`:          `/additionalProperties: unknown keyword "if"`,
		`{anyOf: [{type: string, not: {}}, {type: 'null'}]}`:      `/anyOf/0: unknown keyword "not"`,
		`{type: string, format: ipv6}`:                            `: keyword "format": unknown format "ipv6"`,
		`{type: integer, format: int32}`:                          `: keyword "format": unknown format "int32"`,
		`{type: [string, integer]}`:                               `: keyword "type": string, integer is not handled`,
		`{type: 'null'}`:                                          `: keyword "type": "null" is not handled`,
		`{type: integer, minLength: 1}`:                           `: keyword "minLength" does not apply to type integer`,
		`{type: string, minimum: 1}`:                              `: keyword "minimum" does not apply to type string`,
		`{minLength: 1}`:                                          `: keyword "minLength" needs a type`,
		`{enum: [a]}`:                                             `: keyword "enum" needs a type`,
		`{$ref: '#/components/schemas/Thing', minProperties: 1}`:  `: keyword "minProperties" is not handled beside $ref`,
		`{type: string, anyOf: [{type: string}, {type: 'null'}]}`: `: keyword "type" is not handled beside anyOf`,
		`{oneOf: [{$ref: '#/components/schemas/Thing'}], discriminator: {propertyName: a}, type: object}`: `: keyword "type" is not handled beside oneOf`,
		`{type: string, discriminator: {propertyName: x}}`:                                                `: keyword "discriminator" needs oneOf`,
		`{type: string, maxLength: 0}`:                                                                    `: keyword "maxLength": 0 is not handled, say const: ''`,
		`{type: string, enum: [a, 1]}`:                                                                    `: keyword "enum" or "const": "1" is not of type string`,
		`{type: string, enum: [a], const: a}`:                                                             `: keyword "const" is not handled beside enum`,
		`{type: integer, enum: [1.5]}`:                                                                    `: keyword "enum" or "const": "1.5" is not of type integer`,
		`{type: integer, minimum: 2, maximum: 1}`:                                                         `: keyword "minimum": no integer of 64 bits is within the bounds`,
		`{type: integer, minimum: 0x10}`:                                                                  `: keyword "minimum": 0x10 is no decimal number`,
		`{type: string, pattern: '(?=a)'}`:                                                                ": keyword \"pattern\": error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
		`{type: array}`:                                                                                   `: keyword "items" is missing`,
		`{type: array, items: {type: string}}`:                                                            `: keyword "type": the model's type *string is no slice`,
		`{type: object, required: [a]}`:                                                                   `: keyword "required" needs properties`,
		`{type: object, minProperties: 1}`:                                                                `: keyword "minProperties" needs properties`,
		`{type: object, additionalProperties: {}, required: [a]}`:                                         `: keyword "required" needs properties`,
		`{type: object, additionalProperties: {type: string}}`:                                            `: keyword "additionalProperties": the model's type *string is no map`,
		`{type: object, properties: {a: {}}}`:                                                             `: keyword "properties": give the schema a name under components`,
		`{type: object, additionalProperties: no}`:                                                        `/additionalProperties: a schema must be a mapping`,
		`{type: array, items: false}`:                                                                     `/items: a schema must be a mapping`,
		`{type: [string, 'null']}`:                                                                        `: keyword "type": the model's type *string cannot be null`,
		`{anyOf: [{type: string}, {type: integer}]}`:                                                      `: keyword "anyOf": only a schema and null are handled`,
		`{oneOf: [{$ref: '#/components/schemas/Thing'}]}`:                                                 `: keyword "oneOf" needs a discriminator: the member, required in every branch, that says which branch a value is`,
		`{type: object, additionalProperties: true}`:                                                      `: a value of any shape is carried as it was sent, and the model's type *string cannot: give it x-go-type json.RawMessage in the generator's overlay, gen/overlay.yaml`,
		`{$ref: '#/components/schemas/Other'}`:                                                            ``,
	} {
		_, err := generateFrom(t, frame(schema))
		require.Error(t, err, schema)
		if want != "" {
			require.EqualError(t, err, "spec.yaml:18: #/components/schemas/Thing/properties/a"+want, schema)
		}
	}
}

func TestGenerate_StopsAtObjectsAndUnionsItCannotCheck(t *testing.T) {
	thing := strings.Index(frame("{}"), "      type: object")
	for schema, want := range map[string]string{
		`{type: object, properties: {b: {type: string}}}`:                                       `16: #/components/schemas/Thing/properties/b: type Thing has no field for it`,
		`{type: object, properties: {a: {type: string}}, required: [b]}`:                        `16: #/components/schemas/Thing: keyword "required": "b" is no property`,
		`{type: object, properties: {a: {type: string}}, dependentRequired: {a: [b]}}`:          `16: #/components/schemas/Thing: keyword "dependentRequired": "b" is no property`,
		`{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}`: `16: #/components/schemas/Thing: keyword "additionalProperties": a schema beside properties is not handled`,
		`{oneOf: [{type: string}, {type: integer}]}`:                                            `16: #/components/schemas/Thing: keyword "oneOf" needs a discriminator: the member, required in every branch, that says which branch a value is`,
		`{oneOf: [{$ref: '#/components/schemas/Part'}], discriminator: {propertyName: kind}}`:   `16: #/components/schemas/Thing: keyword "oneOf": the model Thing is no union`,
	} {
		_, err := generateFrom(t, frame("{}")[:thing]+"      "+schema+"\n    Part: {type: object, required: [kind], properties: {kind: {type: string, const: Part}}}\n")
		require.EqualError(t, err, "spec.yaml:"+want, schema)
	}
}

func TestGenerate_UnionBranchMustRequireItsDiscriminator(t *testing.T) {
	text, err := os.ReadFile("testdata/keywords/keywords.yaml")
	require.NoError(t, err)
	models, err := os.ReadFile("testdata/keywords/keywords.gen.go")
	require.NoError(t, err)

	for old, changed := range map[string]string{
		"required: [kind, radius]":                 "required: [radius]",
		"kind: {type: string, const: circle}":      "kind: {type: string}",
		"enum: [square]":                           "enum: [square, cube]",
		"{circle: '#/components/schemas/Circle', ": "{",
	} {
		require.Contains(t, string(text), old)
		_, err := generateWith(t, strings.Replace(string(text), old, changed, 1), string(models))
		require.ErrorContains(t, err, `#/components/schemas/Shape: keyword "oneOf": `, changed)
		require.ErrorContains(t, err, ` must require kind, with the one value "`, changed)
	}
}

func TestGenerate_StopsAtParametersAndBodiesItCannotCheck(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"required: true", "required: false"}: `spec.yaml:8: #/paths/~1things/post/requestBody: keyword "required": a body that may be missing is not handled`,
		{"application/json", "text/plain"}:    `spec.yaml:8: #/paths/~1things/post/requestBody: keyword "content": only application/json is handled`,
		{"operationId: make\n", "operationId: make\n      parameters: [{name: p, in: cookie, schema: {type: string}}]\n"}:                                            `spec.yaml:7: #/paths/~1things/post/parameters/0: keyword "in": "cookie" is not handled`,
		{"operationId: make\n", "operationId: make\n      parameters: [{name: p, in: query, explode: false, schema: {type: string}}]\n"}:                             `spec.yaml:7: #/paths/~1things/post/parameters/0: keyword "explode": only an array in the query has it`,
		{"operationId: make\n", "operationId: make\n      parameters: [{name: p, in: query, style: pipeDelimited, schema: {type: array, items: {type: string}}}]\n"}: `spec.yaml:7: #/paths/~1things/post/parameters/0: keyword "style": only form, in the query, is handled`,
		{"operationId: make\n", "operationId: make\n      parameters: [{name: p, in: query, schema: {type: object}}]\n"}:                                             `spec.yaml:7: #/paths/~1things/post/parameters/0: keyword "type": parameters of type "object" are not handled`,
		{"operationId: make\n", "operationId: make\n      parameters: [{name: p, in: query, schema: {type: [string, 'null']}}]\n"}:                                   `spec.yaml:7: #/paths/~1things/post/parameters/0: keyword "type": parameters of type "string, null" are not handled`,
		{"operationId: make\n", "operationId: make\n      parameters: [{name: p, in: query, schema: {type: array, uniqueItems: true, items: {type: number}}}]\n"}:    `spec.yaml:7: #/paths/~1things/post/parameters/0: keyword "uniqueItems": only strings, integers and booleans are handled`,
	} {
		text := frame("{type: string}")
		require.Contains(t, text, change[0])
		_, err := generateFrom(t, strings.Replace(text, change[0], change[1], 1))
		require.EqualError(t, err, want)
	}
}

func TestGenerate_GivesTheSameBytesTwice(t *testing.T) {
	first, err := generateFrom(t, frame(`{type: string, minLength: 2}`))
	require.NoError(t, err)
	require.Contains(t, first, "validate.Text{Min: 2}")
	second, err := generateFrom(t, frame(`{type: string, minLength: 2}`))
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestGenerate_RefusesADocumentThatIsNoOpenAPI(t *testing.T) {
	_, err := generateFrom(t, "openapi: 3.1.0\npaths: {}\n")
	require.ErrorContains(t, err, "spec.yaml")
}
