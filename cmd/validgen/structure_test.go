package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// described is a document with one of every object that is no schema.
const described = `openapi: 3.1.0
info: {title: t, version: '1'}
security: [{key: []}]
paths:
  /things/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
    post:
      operationId: make
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Thing'}
      responses:
        '200':
          description: d
          headers:
            Retry-After: {schema: {type: integer}}
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Answer'}
components:
  securitySchemes:
    key: {type: http, scheme: bearer}
  schemas:
    Thing:
      type: object
      properties:
        a: {type: string}
        parts: {type: array, items: {$ref: '#/components/schemas/Thing'}}
    Answer:
      type: object
      properties:
        a: {type: string}
`

func TestGenerate_StopsAtWhatNoGeneratorReads(t *testing.T) {
	const operation, request, answer = "#/paths/~1things~1{id}/post", "#/paths/~1things~1{id}/post/requestBody/content/application~1json", "#/paths/~1things~1{id}/post/responses/200/content/application~1json"
	_, err := parsed(t, described)
	require.NoError(t, err)

	for edit, want := range map[[2]string]string{
		{"      operationId: make\n", "      operationId: make\n      security: [{key: []}]\n"}:                                                            `10: ` + operation + `: keyword "security", here in the operation, would have no effect: every operation asks for the key that the document's security names, but for one with an empty list, which asks for none`,
		{"      operationId: make\n", "      operationId: make\n      security:\n"}:                                                                        `10: ` + operation + `: keyword "security", here in the operation, would have no effect: every operation asks for the key that the document's security names, but for one with an empty list, which asks for none`,
		{"      operationId: make\n", "      operationId: make\n      security: {}\n"}:                                                                     `10: ` + operation + `: keyword "security", here in the operation, would have no effect: every operation asks for the key that the document's security names, but for one with an empty list, which asks for none`,
		{"      operationId: make\n", "      operationId: make\n      servers: []\n"}:                                                                      `10: ` + operation + `: keyword "servers", here in the operation, would have no effect`,
		{"Retry-After: {", "Retry-After: {required: true, "}:                                                                                               `19: ` + operation + `/responses/200/headers/Retry-After: keyword "required", here in the header, would have no effect: the server does not check its own answers; say in the description when the header is there`,
		{"in: path, required: true, ", "in: path, required: true, allowReserved: true, "}:                                                                  `7: #/paths/~1things~1{id}/parameters: keyword "allowReserved", here in the parameter, would have no effect`,
		{"    post:\n", "    trace: {}\n    post:\n"}:                                                                                                      `8: #/paths/~1things~1{id}: keyword "trace", here in the path, would have no effect`,
		{"components:\n", "components:\n  callbacks: {}\n"}:                                                                                                `24: #/components: keyword "callbacks", here in the components, would have no effect`,
		{"components:\n", "components:\n  headers: {H: {style: simple, schema: {type: string}}}\n"}:                                                        `24: #/components/headers/H: keyword "style", here in the header, would have no effect`,
		{"      operationId: make\n", "      operationId: make\n      parameters: [{name: p, in: query, allowReserved: true, schema: {type: string}}]\n"}:  `10: ` + operation + `/parameters: keyword "allowReserved", here in the parameter, would have no effect`,
		{"      operationId: make\n", "      operationId: make\n      parameters: [{name: p, in: query, content: {}}]\n"}:                                  `10: ` + operation + `/parameters: keyword "content", here in the parameter, would have no effect: give the parameter a schema`,
		{"        required: true\n", "        required: true\n        summary: s\n"}:                                                                       `12: ` + operation + `/requestBody: keyword "summary", here in the request body, would have no effect`,
		{"          description: d\n", "          description: d\n          summary: s\n"}:                                                                 `18: ` + operation + `/responses/200: keyword "summary", here in the response, would have no effect`,
		{"parts: {type: array, items: {$ref: '#/components/schemas/Thing'}", "parts: {anyOf: [{type: string, readOnly: true}, {type: 'null'}]"}:            `31: ` + request + `/schema/properties/parts/anyOf: keyword "readOnly" would have no effect: no server would refuse or leave out what a request has there: take the member out of the request's schema`,
		{"parts: {type: array, items: {$ref: '#/components/schemas/Thing'}", "parts: {type: object, additionalProperties: {type: string, readOnly: true}"}: `31: ` + request + `/schema/properties/parts/additionalProperties: keyword "readOnly" would have no effect: no server would refuse or leave out what a request has there: take the member out of the request's schema`,
		{"components:\n", "webhooks: {}\ncomponents:\n"}:                                                                                                   `23: #: keyword "webhooks", here in the document, would have no effect`,
		{"Thing:\n      type: object\n      properties:\n        a: {", "Thing:\n      type: object\n      properties:\n        a: {readOnly: true, "}:     `30: ` + request + `/schema/properties/a: keyword "readOnly" would have no effect: no server would refuse or leave out what a request has there: take the member out of the request's schema`,
		{"parts: {type: array, items: {$ref: '#/components/schemas/Thing'}", "parts: {type: array, items: {type: string, readOnly: true}"}:                 `31: ` + request + `/schema/properties/parts/items: keyword "readOnly" would have no effect: no server would refuse or leave out what a request has there: take the member out of the request's schema`,
		{"Answer:\n      type: object\n      properties:\n        a: {", "Answer:\n      type: object\n      properties:\n        a: {writeOnly: true, "}:  `35: ` + answer + `/schema/properties/a: keyword "writeOnly" would have no effect: it would be answered all the same: take the member out of the answer's schema`,
	} {
		require.Contains(t, described, edit[0])
		_, err := parsed(t, strings.Replace(described, edit[0], edit[1], 1))
		require.EqualError(t, err, "spec.yaml:"+want, edit[1])
	}

	_, err = parsed(t, strings.Replace(described, "Answer:\n      type: object\n      properties:\n        a: {", "Answer:\n      type: object\n      properties:\n        a: {readOnly: true, ", 1))
	require.NoError(t, err, "readOnly is true of every answer")
}

// parsed gives the document as far as it can be checked without models.
func parsed(t *testing.T, text string) (*document, error) {
	doc, err := parseDocument("spec.yaml", []byte(text))
	require.NoError(t, err)
	if err := doc.checkKeywords(); err != nil {
		return nil, err
	}
	return doc, doc.checkStructure()
}

func TestGenerate_StopsAtTwoPropertiesWithOneGoName(t *testing.T) {
	_, err := generateWith(t, frame("{type: string}\n        A: {type: string}"), "package x\ntype Thing struct {\nA *string `json:\"a,omitempty\"`\nA *string `json:\"A,omitempty\"`\n}\n")
	require.EqualError(t, err, `spec.yaml:19: #/components/schemas/Thing/properties/A: its Go name A is that of property "a" too: rename one`)
}

// TestGenerate_StopsAtAnExtensionInTheWrongPlace adds an extension to each kind of object in turn.
func TestGenerate_StopsAtAnExtensionInTheWrongPlace(t *testing.T) {
	for _, good := range []string{"x-max-body-bytes: 9", "x-any-content-type: true", "x-open-query: False"} {
		_, err := parsed(t, strings.Replace(described, "      operationId: make\n", "      operationId: make\n      "+good+"\n", 1))
		require.NoError(t, err, good)
	}

	const path = "#/paths/~1things~1{id}"
	for edit, want := range map[[2]string]string{
		{"info: {", "info: {x-open-query: true, "}:                                                               `2: #/info: keyword "x-open-query", here,`,
		{"paths:\n", "x-open-query: true\npaths:\n"}:                                                             `4: #: keyword "x-open-query", here,`,
		{"    parameters:\n", "    x-open-query: true\n    parameters:\n"}:                                       `6: ` + path + `: keyword "x-open-query", here,`,
		{"{name: id, ", "{x-open-query: true, name: id, "}:                                                       `7: ` + path + `/parameters/0: keyword "x-open-query", here,`,
		{"        required: true\n", "        x-max-body-bytes: 9\n        required: true\n"}:                    `11: ` + path + `/post/requestBody: keyword "x-max-body-bytes", here,`,
		{"          application/json:\n", "          application/json:\n            x-any-content-type: true\n"}: `14: ` + path + `/post/requestBody/content/application~1json: keyword "x-any-content-type", here,`,
		{"          description: d\n", "          description: d\n          x-open-query: true\n"}:               `18: ` + path + `/post/responses/200: keyword "x-open-query", here,`,
		{"key: {", "key: {x-open-query: true, "}:                                                                 `25: #/components/securitySchemes/key: keyword "x-open-query", here,`,
	} {
		require.Contains(t, described, edit[0])
		_, err := parsed(t, strings.Replace(described, edit[0], edit[1], 1))
		require.EqualError(t, err, "spec.yaml:"+want+" would have no effect: it is one of operations", edit[1])
	}

	for added, want := range map[string]string{
		"x-open-query: 1":          `: keyword "x-open-query": "1" is neither true nor false`,
		"x-any-content-type: yes":  `: keyword "x-any-content-type": "yes" is neither true nor false`,
		"x-any-content-types: yes": `: unknown keyword "x-any-content-types"`,
	} {
		_, err := parsed(t, strings.Replace(described, "      operationId: make\n", "      operationId: make\n      "+added+"\n", 1))
		require.ErrorContains(t, err, "spec.yaml:10: "+path+"/post", added)
		require.ErrorContains(t, err, want, added)
	}

	head := strings.Replace(described, "    post:\n", "    get: {operationId: read, x-max-body-bytes: 9, responses: {'204': {description: d}}}\n    post:\n", 1)
	_, err := parsed(t, head)
	require.EqualError(t, err, `spec.yaml:8: `+path+`/get: keyword "x-max-body-bytes", here in the operation, would have no effect: it has no body`)
}

func TestGenerate_ReadsABooleanHoweverItIsSpelled(t *testing.T) {
	plain := strings.Replace(frame("{type: string}"), "      operationId: make\n", "      operationId: make\n      x-open-query: true\n", 1)
	plain = strings.Replace(plain, "    Thing:\n", "    Thing:\n      additionalProperties: false\n", 1)
	want, err := generateFrom(t, plain)
	require.NoError(t, err)

	for _, spelling := range [][2]string{{"True", "False"}, {"TRUE", "FALSE"}, {"!!bool True", "!!bool False"}} {
		spelled := strings.NewReplacer("required: true", "required: "+spelling[0], "x-open-query: true", "x-open-query: "+spelling[0],
			"additionalProperties: false", "additionalProperties: "+spelling[1]).Replace(plain)
		require.NotEqual(t, plain, spelled)
		got, err := generateFrom(t, spelled)
		require.NoError(t, err, spelling)
		require.Equal(t, want, got, spelling)
	}
}
