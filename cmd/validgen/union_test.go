package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// mergeable is a document with every place in which the documents of two editions could not be made one.
const mergeable = `paths:
  /things:
    parameters: [{name: zone, in: query, schema: {type: string}}]
    get:
      operationId: list
      parameters: [{name: size, in: query, schema: {type: string}}]
      responses: {'200': {description: d, content: {application/json: {schema: {type: object, properties: {a: {type: string}}}}}}}
    post:
      operationId: make
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
      responses: {'204': {description: d}}
components:
  parameters: {Zone: {name: zone, in: query, schema: {type: string}}}
  schemas:
    Thing:
      type: object
      properties:
        items: {type: array, items: {type: object, properties: {x: {type: string}}}}
        extra: {type: object, additionalProperties: {type: object, properties: {x: {type: string}}}}
        maybe: {anyOf: [{type: object, properties: {x: {type: string}}}, {type: 'null'}]}
        inner: {type: object, properties: {x: {type: string}}}
    Shape:
      discriminator: {propertyName: kind}
      oneOf: [{$ref: '#/components/schemas/Thing'}]
    Circle: {type: object}
`

// united gives the document that has what two documents have, of which the second is the edition b.
func united(t *testing.T, first, second string) (*document, error) {
	t.Helper()
	return union([]edition{{document: docOf(t, "a.yaml", first)}, {document: docOf(t, "b.yaml", second), name: "b"}})
}

func TestUnion_NamesWhatTwoEditionsCannotShare(t *testing.T) {
	t.Parallel()
	_, err := united(t, mergeable, mergeable)
	require.NoError(t, err)

	const list, create, thing = "#/paths/~1things/get", "#/paths/~1things/post", "#/components/schemas/Thing/properties/"
	const nested, unnamed = "properties: {x: {type: string}}", " in an object without a name: give the object one, under components"
	wider := strings.Replace(nested, "x:", "y: {type: string}, x:", 1)
	body := "      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}\n"
	for _, c := range []struct {
		old, changed string
		line         string
		place, what  string // what: with the words that name both lines, which are one and the same
	}{
		{"name: zone, in: query, schema: {type: string}}]", "name: zone, in: query, schema: {type: integer}}]", "3", "#/paths/~1things/parameters/schema", "type integer"},
		{"operationId: list", "operationId: lists", "5", list, "the operation is lists"},
		{"name: size, in: query, schema: {type: string}", "name: size, in: query, schema: {type: number}", "6", list + "/parameters/schema", "type number"},
		{"      operationId: list\n", "      operationId: list\n      requestBody: {content: {}}\n", "5", list, "it has a body or none"},
		{body, "", "9", create, "it has a body or none"},
		{body, strings.Replace(body, "schemas/Thing", "schemas/Shape", 1), "10", create + "/requestBody/content/application~1json/schema", "it is #/components/schemas/Shape"},
		{body, strings.Replace(body, "$ref: '#/components/schemas/Thing'", "type: object", 1), "10", create + "/requestBody/content/application~1json/schema", "it is described here"},
		{body, strings.Replace(body, "application/json", "text/plain", 1), "10", create + "/requestBody", "it has text/plain"},
		{"Zone: {name: zone, in: query, schema: {type: string}}", "Zone: {name: zone, in: query, schema: {type: boolean}}", "13", "#/components/parameters/Zone/schema", "type boolean"},
		{"items: {type: array, items: {type: object, " + nested + "}}", "items: {type: array}", "18", thing + "items", `keyword "items"`},
		{"additionalProperties: {type: object, " + nested + "}}", "additionalProperties: false}", "19", thing + "extra", `keyword "additionalProperties"`},
		{"additionalProperties: {type: object, " + nested + "}}", "description: d}", "19", thing + "extra", `keyword "additionalProperties"`},
		{", {type: 'null'}]", "]", "20", thing + "maybe", `keyword "anyOf"`},
		{"{type: 'null'}", "{type: boolean}", "20", thing + "maybe/anyOf/1", "type boolean"},
		{"{anyOf: [{type: object, " + nested + "}, {type: 'null'}]}", "{description: d}", "20", thing + "maybe", `keyword "anyOf"`},
		{"{type: object, " + nested + "}\n    Shape", "{type: object}\n    Shape", "21", thing + "inner", "it has properties or none"},
		{"      oneOf: [{$ref: '#/components/schemas/Thing'}]\n", "", "23", "#/components/schemas/Shape", `keyword "oneOf"`},
		{"Circle: {type: object}", "Circle: {type: object, format: f}", "25", "#/components/schemas/Circle", "format f"},
		{"Circle: {type: object}", "Circle: {description: d}", "25", "#/components/schemas/Circle", "type any"},
	} {
		require.Contains(t, mergeable, c.old)
		_, err := united(t, mergeable, strings.Replace(mergeable, c.old, c.changed, 1))
		require.EqualError(t, err, "b.yaml:"+c.line+": "+c.place+": "+c.what+" in edition b, and otherwise in a.yaml:"+c.line+": both would have one Go type", c.changed)

		_, err = united(t, strings.Replace(mergeable, c.old, c.changed, 1), mergeable) // the other way round
		require.ErrorContains(t, err, ": both would have one Go type", c.changed)
	}

	for old, at := range map[string]string{
		"items: {type: object, " + nested:                "b.yaml:18: " + thing + "items/items/properties/y",
		"additionalProperties: {type: object, " + nested: "b.yaml:19: " + thing + "extra/additionalProperties/properties/y",
		"anyOf: [{type: object, " + nested:               "b.yaml:20: " + thing + "maybe/anyOf/0/properties/y",
		"inner: {type: object, " + nested:                "b.yaml:21: " + thing + "inner/properties/y",
	} {
		require.Contains(t, mergeable, old)
		_, err := united(t, mergeable, strings.Replace(mergeable, old, strings.Replace(old, nested, wider, 1), 1))
		require.EqualError(t, err, at+": a property of edition b"+unnamed)
		_, err = united(t, strings.Replace(mergeable, old, strings.Replace(old, nested, wider, 1), 1), mergeable) // the other way round
		require.EqualError(t, err, at+": a property that edition b lacks"+unnamed)
	}
}

func TestUnion_NamesWhatOneEditionLacks(t *testing.T) {
	t.Parallel()
	answer, body := "schema: {type: object, properties: {a: {type: string}}}", "schema: {$ref: '#/components/schemas/Thing'}"
	_, err := united(t, mergeable, strings.Replace(mergeable, answer, "schema: {type: object, properties: {a: {type: string}, z: {type: string}}}", 1))
	require.EqualError(t, err, "b.yaml:7: #/paths/~1things/get/responses/200/content/application~1json/schema/properties/z: "+
		"a property of edition b in an object without a name: give the object one, under components")

	without := strings.Replace(mergeable, body, "", 1)
	require.NotEqual(t, mergeable, without)
	for _, pair := range [][2]string{{mergeable, without}, {without, mergeable}} {
		_, err = united(t, pair[0], pair[1])
		require.EqualError(t, err, "b.yaml:1: #/paths/~1things/post/requestBody/content/application~1json/schema: a schema that only one edition has")
	}

	_, components, _ := strings.Cut(mergeable, "components:\n")
	_, err = united(t, "components:\n"+components, mergeable)
	require.EqualError(t, err, "b.yaml:2: #/paths: no edition before b has paths")
}

const firstOfTwo = `paths:
  /things:
    get:
      operationId: list
      parameters:
        - {name: both, in: query, required: true, schema: {type: string}}
        - {name: soft, in: query, required: true, schema: {type: string}}
        - {name: hard, in: query, schema: {type: string}}
      responses: {'200': {description: d}}
components:
  schemas:
    Thing:
      type: object
      required: [a, b]
      properties:
        a: {type: [string, 'null']}
        b: {type: string, enum: [x, y]}
        c: {type: string, enum: [x]}
    Shape:
      oneOf: [{$ref: '#/components/schemas/Circle'}]
      discriminator: {propertyName: kind, mapping: {circle: '#/components/schemas/Circle'}}
    Bare:
      oneOf: [{$ref: '#/components/schemas/Circle'}]
      discriminator: {propertyName: kind}
    Circle: {type: object}
    Free: {type: string}
    Wish: {type: object, required: [a], properties: {a: {type: string}}}
`

const secondOfTwo = `paths:
  /things:
    get:
      operationId: list
      parameters:
        - {name: both, in: query, required: true, schema: {type: string}}
        - {name: soft, in: query, schema: {type: string}}
        - {name: hard, in: query, required: true, schema: {type: string}}
      responses: {'404': {description: n}, '200': {description: d}, '410': {description: g}}
    put: {operationId: replace, responses: {'204': {description: d}}}
    delete: {operationId: drop, responses: {'204': {description: d}}}
  /more: {get: {operationId: more, responses: {'204': {description: d}}}}
  /most: {get: {operationId: most, responses: {'204': {description: d}}}}
components:
  headers: {Count: {schema: {type: integer}}}
  examples: {One: {value: 1}}
  schemas:
    New: {type: string}
    Thing:
      type: object
      required: [b]
      properties:
        a: {type: ['null', string]}
        z: {type: integer}
        b: {type: string, enum: [y, z]}
        c: {type: string}
        w: {type: integer}
    Shape:
      oneOf: [{$ref: '#/components/schemas/Circle'}, {$ref: '#/components/schemas/Square'}]
      discriminator: {propertyName: kind, mapping: {circle: '#/components/schemas/Circle', square: '#/components/schemas/Square'}}
    Bare:
      oneOf: [{$ref: '#/components/schemas/Square'}]
      discriminator: {propertyName: kind, mapping: {square: '#/components/schemas/Square'}}
    Circle: {type: object}
    Square: {type: object}
    Free: {type: string, enum: [x]}
    Wish: {type: object, properties: {a: {type: string}}}
`

const ofBoth = `paths:
  /things:
    get:
      operationId: list
      parameters:
        - {name: both, in: query, required: true, schema: {type: string}}
        - {name: soft, in: query, required: false, schema: {type: string}}
        - {name: hard, in: query, schema: {type: string}}
      responses: {'200': {description: d}, '404': {description: n}, '410': {description: g}}
    put: {operationId: replace, responses: {'204': {description: d}}}
    delete: {operationId: drop, responses: {'204': {description: d}}}
  /more: {get: {operationId: more, responses: {'204': {description: d}}}}
  /most: {get: {operationId: most, responses: {'204': {description: d}}}}
components:
  headers: {Count: {schema: {type: integer}}}
  examples: {One: {value: 1}}
  schemas:
    New: {type: string}
    Thing:
      type: object
      required: [b]
      properties:
        a: {type: [string, 'null']}
        b: {type: string, enum: [x, y, z]}
        c: {type: string, enum: [x]}
        z: {type: integer}
        w: {type: integer}
    Shape:
      oneOf: [{$ref: '#/components/schemas/Circle'}, {$ref: '#/components/schemas/Square'}]
      discriminator: {propertyName: kind, mapping: {circle: '#/components/schemas/Circle', square: '#/components/schemas/Square'}}
    Bare:
      oneOf: [{$ref: '#/components/schemas/Circle'}, {$ref: '#/components/schemas/Square'}]
      discriminator: {propertyName: kind}
    Circle: {type: object}
    Square: {type: object}
    Free: {type: string}
    Wish: {type: object, required: [], properties: {a: {type: string}}}
`

// An edition that has the first document as it is does not keep the next one from being merged.
func TestUnion_HasWhatAnyEditionHas(t *testing.T) {
	t.Parallel()
	first := docOf(t, "a.yaml", firstOfTwo)
	whole, err := union([]edition{{document: first}, {document: first, name: "b"}, {document: docOf(t, "c.yaml", secondOfTwo), name: "c"}})
	require.NoError(t, err)

	var got, want, kept, was any
	require.NoError(t, whole.root.Decode(&got))
	require.NoError(t, yaml.Unmarshal([]byte(ofBoth), &want))
	require.Equal(t, want, got)

	require.NoError(t, first.root.Decode(&kept))
	require.NoError(t, yaml.Unmarshal([]byte(firstOfTwo), &was))
	require.Equal(t, was, kept, "the document of the first edition has not changed")
}
