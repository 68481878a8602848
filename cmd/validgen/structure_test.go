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
		{"      operationId: make\n", "      operationId: make\n      security: [{key: []}]\n"}:                                                           `10: ` + operation + `: keyword "security", here in the operation, would have no effect: every operation asks for the key that the document's security names, but for one with an empty list, which asks for none`,
		{"      operationId: make\n", "      operationId: make\n      servers: []\n"}:                                                                     `10: ` + operation + `: keyword "servers", here in the operation, would have no effect`,
		{"Retry-After: {", "Retry-After: {required: true, "}:                                                                                              `19: ` + operation + `/responses/200/headers/Retry-After: keyword "required", here in the header, would have no effect: the server does not check its own answers; say in the description when the header is there`,
		{"in: path, required: true, ", "in: path, required: true, allowReserved: true, "}:                                                                 `7: #/paths/~1things~1{id}/parameters: keyword "allowReserved", here in the parameter, would have no effect`,
		{"    post:\n", "    trace: {}\n    post:\n"}:                                                                                                     `8: #/paths/~1things~1{id}: keyword "trace", here in the path, would have no effect`,
		{"components:\n", "webhooks: {}\ncomponents:\n"}:                                                                                                  `23: #: keyword "webhooks", here in the document, would have no effect`,
		{"Thing:\n      type: object\n      properties:\n        a: {", "Thing:\n      type: object\n      properties:\n        a: {readOnly: true, "}:    `30: ` + request + `/schema/properties/a: keyword "readOnly" would have no effect: no server would refuse or leave out what a request has there: take the member out of the request's schema`,
		{"parts: {type: array, items: {$ref: '#/components/schemas/Thing'}", "parts: {type: array, items: {type: string, readOnly: true}"}:                `31: ` + request + `/schema/properties/parts/items: keyword "readOnly" would have no effect: no server would refuse or leave out what a request has there: take the member out of the request's schema`,
		{"Answer:\n      type: object\n      properties:\n        a: {", "Answer:\n      type: object\n      properties:\n        a: {writeOnly: true, "}: `35: ` + answer + `/schema/properties/a: keyword "writeOnly" would have no effect: it would be answered all the same: take the member out of the answer's schema`,
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
