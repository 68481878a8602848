package main

import (
	"os"
	"path/filepath"
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
	dir := t.TempDir()
	spec, model, out := filepath.Join(dir, "spec.yaml"), filepath.Join(dir, "model.go"), filepath.Join(dir, "out.go")
	require.NoError(t, os.WriteFile(spec, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(model, []byte("package x\ntype Thing struct {\nA *string `json:\"a,omitempty\"`\n}\n"), 0o600))
	t.Chdir(dir)
	if err := run("spec.yaml", "model.go", "x", "out.go"); err != nil {
		return "", err
	}
	code, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(code), nil
}

func TestAKeywordThatIsNotKnownStopsGenerationNamingFileLineAndKeyword(t *testing.T) {
	for schema, want := range map[string]string{
		`{type: string, contentEncoding: base64}`:       `spec.yaml:18: #/components/schemas/Thing/properties/a: unknown keyword "contentEncoding"`,
		`{type: object, patternProperties: {x: {}}}`:    `spec.yaml:18: #/components/schemas/Thing/properties/a: unknown keyword "patternProperties"`,
		`{type: string, x-secret: true}`:                `spec.yaml:18: #/components/schemas/Thing/properties/a: unknown keyword "x-secret"`,
		`{allOf: [{type: string}]}`:                     `spec.yaml:18: #/components/schemas/Thing/properties/a: unknown keyword "allOf"`,
		`{type: string, format: ipv6}`:                  `spec.yaml:18: #/components/schemas/Thing/properties/a: keyword "format": unknown format "ipv6"`,
		`{type: array, items: {type: string, not: {}}}`: `spec.yaml:18: #/components/schemas/Thing/properties/a/items: unknown keyword "not"`,
		`{type: [string, integer]}`:                     `spec.yaml:18: #/components/schemas/Thing/properties/a: keyword "type": string, integer is not handled`,
	} {
		_, err := generateFrom(t, frame(schema))
		require.EqualError(t, err, want, schema)
	}
}

func TestTwoRunsGiveTheSameBytes(t *testing.T) {
	first, err := generateFrom(t, frame(`{type: string, minLength: 2}`))
	require.NoError(t, err)
	require.Contains(t, first, "validate.Text{Min: 2}")
	second, err := generateFrom(t, frame(`{type: string, minLength: 2}`))
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestADocumentThatIsNoOpenAPIIsRefused(t *testing.T) {
	_, err := generateFrom(t, "openapi: 3.1.0\npaths: {}\n")
	require.ErrorContains(t, err, "spec.yaml")
}
