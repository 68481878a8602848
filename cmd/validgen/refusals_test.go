package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docOf reads a document that nothing has checked yet.
func docOf(t *testing.T, file, text string) *document {
	t.Helper()
	doc, err := parseDocument(file, []byte(text))
	require.NoError(t, err)
	return doc
}

// dried gives what the generator itself says of a document, before any model is there: it must stop by itself, whoever calls it.
func dried(t *testing.T, text string) error {
	t.Helper()
	return dry(docOf(t, "spec.yaml", text))
}

// component wraps a schema, as that of the body, in a document: in its line 16.
func component(schema string) string {
	whole := frame("{}")
	return whole[:strings.Index(whole, "      type: object")] + "      " + schema + "\n"
}

// asking adds lines to the one operation of a document, from line 7 on.
func asking(lines string) string {
	return strings.Replace(frame("{type: string}"), "      operationId: make\n", "      operationId: make\n"+lines, 1)
}

func TestDry_StopsAtASchemaItCannotCheck(t *testing.T) {
	t.Parallel()
	const onlySimple = `: keyword "uniqueItems": only strings, integers and booleans are handled`
	for schema, want := range map[string]string{
		`{type: string, minLength: x}`:                                                            `: keyword "minLength": x is no count`,
		`{type: string, maxLength: x}`:                                                            `: keyword "maxLength": x is no count`,
		`{type: string, maxLength: -1}`:                                                           `: keyword "maxLength": -1 is no count`,
		`{type: [string, 'null'], maxLength: 0}`:                                                  `: keyword "maxLength": 0 is not handled, say const: ''`,
		`{type: array, minItems: x, items: {type: string}}`:                                       `: keyword "minItems": x is no count`,
		`{type: array, maxItems: x, items: {type: string}}`:                                       `: keyword "maxItems": x is no count`,
		`{type: array, items: {type: string, maxLength: 0}}`:                                      `/items: keyword "maxLength": 0 is not handled, say const: ''`,
		`{type: array, uniqueItems: true, items: {type: number}}`:                                 onlySimple,
		`{type: array, uniqueItems: true, items: {type: string, format: date-time}}`:              onlySimple,
		`{type: array, uniqueItems: true, items: {type: [string, 'null']}}`:                       onlySimple,
		`{type: array, uniqueItems: true, items: {}}`:                                             onlySimple,
		`{type: object, maxProperties: 1}`:                                                        `: keyword "maxProperties" needs properties`,
		`{type: object, additionalProperties: {type: string}, minProperties: x}`:                  `: keyword "minProperties": x is no count`,
		`{type: object, additionalProperties: {type: string}, maxProperties: x}`:                  `: keyword "maxProperties": x is no count`,
		`{type: object, additionalProperties: {type: string}, dependentRequired: {a: [b]}}`:       `: keyword "dependentRequired" needs properties`,
		`{type: object, additionalProperties: {type: string, maxLength: 0}}`:                      `/additionalProperties: keyword "maxLength": 0 is not handled, say const: ''`,
		`{type: integer, minimum: 0x10}`:                                                          `: keyword "minimum": 0x10 is no decimal number`,
		`{type: integer, minimum: 9223372036854775808}`:                                           `: keyword "minimum": no integer of 64 bits is within the bounds`,
		`{type: number, exclusiveMaximum: .5}`:                                                    `: keyword "exclusiveMaximum": .5 is no decimal number`,
		`{type: number, enum: [a]}`:                                                               `: keyword "enum" or "const": "a" is not of type number`,
		`{type: boolean, enum: [maybe]}`:                                                          `: keyword "enum" or "const": "maybe" is not of type boolean`,
		`{type: string, enum: [a, null]}`:                                                         `: keyword "enum" or "const": "null" is not of type string`,
		`{type: [string, 'null'], enum: [null]}`:                                                  `: keyword "enum": it allows no value`,
		`{type: [string, 'null'], const: null}`:                                                   `: keyword "enum": it allows no value`,
		`{type: [string, integer, 'null']}`:                                                       `: keyword "type": string, integer, null is not handled`,
		`{anyOf: [{type: string}, {type: integer}, {type: 'null'}]}`:                              `: keyword "anyOf": only a schema and null are handled`,
		`{oneOf: [{$ref: '#/components/schemas/Thing'}], discriminator: {propertyName: a}}`:       `: keyword "oneOf": give the schema a name under components`,
		`{$ref: '#/components/schemas/None'}`:                                                     `: keyword "$ref": "None" does not exist`,
		`{type: array, items: {$ref: '#/components/schemas/None'}}`:                               `/items: keyword "$ref": "None" does not exist`,
		`{anyOf: [{type: 'null'}, {$ref: '#/components/schemas/None'}]}`:                          `: keyword "$ref": "None" does not exist`,
		`{type: object, additionalProperties: {$ref: '#/components/schemas/None'}}`:               `/additionalProperties: keyword "$ref": "None" does not exist`,
		`{type: array, items: {type: object, properties: {b: {type: string}}}}`:                   `/items: keyword "properties": give the schema a name under components`,
		`{type: object, additionalProperties: {type: [integer, 'null'], minimum: 2, maximum: 1}}`: `/additionalProperties: keyword "minimum": no integer of 64 bits is within the bounds`,
	} {
		require.EqualError(t, dried(t, frame(schema)), "spec.yaml:18: #/components/schemas/Thing/properties/a"+want, schema)
	}
}

func TestDry_StopsAtAnObjectOrAUnionItCannotCheck(t *testing.T) {
	t.Parallel()
	const others = `    Part: {type: object, required: [kind], properties: {kind: {type: string, const: Part}}}
    Text: {type: string}
    Both: {type: object, required: [kind], properties: {kind: {type: string, const: Both, enum: [Both]}}}
    Thing_a: {type: string, maxLength: 5}
`
	const place = " #/components/schemas/Thing: "
	for schema, want := range map[string]string{
		`{type: array}`: `16:` + place + `keyword "items" is missing`,
		`{type: object, properties: {a: {type: string}}, minProperties: x}`:                                                                                              `16:` + place + `keyword "minProperties": x is no count`,
		`{type: object, properties: {a: {type: string}}, maxProperties: x}`:                                                                                              `16:` + place + `keyword "maxProperties": x is no count`,
		`{type: object, properties: {a: {type: string}}, dependentRequired: {b: [a]}}`:                                                                                   `16:` + place + `keyword "dependentRequired": "b" is no property`,
		`{oneOf: [{type: object, properties: {kind: {type: string}}}], discriminator: {propertyName: kind}}`:                                                             `16:` + place + `keyword "oneOf": a branch must be a $ref to an object with properties`,
		`{oneOf: [{$ref: '#/components/schemas/Text'}], discriminator: {propertyName: kind}}`:                                                                            `16:` + place + `keyword "oneOf": a branch must be a $ref to an object with properties`,
		`{oneOf: [{$ref: '#/components/schemas/Part'}, {$ref: '#/components/schemas/Part'}], discriminator: {propertyName: kind}}`:                                       `16:` + place + `keyword "oneOf": Part must require kind, with the one value "Part"`,
		`{oneOf: [{$ref: '#/components/schemas/Both'}], discriminator: {propertyName: kind}}`:                                                                            `19:` + place + `keyword "const" is not handled beside enum`,
		`{oneOf: [{$ref: '#/components/schemas/Part'}], discriminator: {propertyName: kind, mapping: {a: '#/components/schemas/Part', b: '#/components/schemas/Part'}}}`: `16:` + place + `keyword "mapping": several values for Part are not handled`,
		`{type: object, properties: {a: {type: string, maxLength: 9}, b: {$ref: '#/components/schemas/Thing_a'}}}`:                                                       `20: #/components/schemas/Thing_a: its Go name checkThing_a is that of #/components/schemas/Thing/properties/a too: rename one`,
	} {
		require.EqualError(t, dried(t, component(schema)+others), "spec.yaml:"+want, schema)
	}
}

func TestDry_AnObjectHas64PropertiesAtMost(t *testing.T) {
	t.Parallel()
	with := func(n int) error {
		var properties strings.Builder
		for i := range n {
			fmt.Fprintf(&properties, "p%d: {type: string}, ", i)
		}
		return dried(t, component("{type: object, properties: {"+properties.String()+"}}"))
	}
	require.NoError(t, with(64))
	require.EqualError(t, with(65), `spec.yaml:16: #/components/schemas/Thing: keyword "properties": more than 64 are not handled`)
}

func TestDry_StopsAtAParameterItCannotCheck(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]string{
		`in: query, schema: {type: string}, allowReserved: true`: `keyword "allowReserved" of a parameter is not handled`,
		`in: query`: `keyword "$ref": "" does not exist`,
		`in: query, schema: {$ref: '#/components/schemas/None'}`:                       `keyword "$ref": "None" does not exist`,
		`in: query, schema: {type: array}`:                                             `keyword "items" is missing`,
		`in: query, schema: {type: array, minItems: x, items: {type: string}}`:         `keyword "minItems": x is no count`,
		`in: query, schema: {type: array, maxItems: x, items: {type: string}}`:         `keyword "maxItems": x is no count`,
		`in: query, schema: {type: array, items: {$ref: '#/components/schemas/None'}}`: `keyword "$ref": "None" does not exist`,
		`in: query, schema: {type: array, items: {type: string, maxLength: 0}}`:        `keyword "maxLength": 0 is not handled, say const: ''`,
		`in: query, schema: {type: string, maxLength: 0}`:                              `keyword "maxLength": 0 is not handled, say const: ''`,
		`in: query, schema: {type: boolean, enum: [maybe]}`:                            `keyword "enum" or "const": "maybe" is not of type boolean`,
		`in: header, schema: {type: array, items: {type: string}}`:                     `keyword "type": parameters of type "array" are not handled`,
		`in: header, explode: true, schema: {type: array, items: {type: string}}`:      `keyword "explode": only an array in the query has it`,
		`in: header, style: simple, schema: {type: string}`:                            `keyword "style": only form, in the query, is handled`,
		`in: header, style: form, schema: {type: string}`:                              `keyword "style": only form, in the query, is handled`,
	} {
		err := dried(t, asking("      parameters: [{name: p, "+rest+"}]\n"))
		require.EqualError(t, err, "spec.yaml:7: #/paths/~1things/post/parameters/0: "+want, rest)
	}

	for _, rest := range []string{`style: form, schema: {type: string}`, `explode: true, schema: {type: array, items: {type: string}}`} {
		require.NoError(t, dried(t, asking("      parameters: [{name: p, in: query, "+rest+"}]\n")), rest)
	}
}

func TestDry_StopsAtAnOperationItCannotCheck(t *testing.T) {
	t.Parallel()
	const body = "#/paths/~1things/post/requestBody: "
	for edit, want := range map[[2]string]string{
		{"      operationId: make\n", "      summary: s\n"}:                                             `5: #/paths/~1things/post: keyword "operationId" is missing`,
		{"          application/json:\n", "          text/plain: {}\n          application/json:\n"}:    `8: ` + body + `keyword "content": only application/json is handled`,
		{"schema: {$ref: '#/components/schemas/Thing'}", "schema: {type: object}"}:                      `8: ` + body + `keyword "schema": it must be a $ref to a schema under components`,
		{"schema: {$ref: '#/components/schemas/Thing'}", "schema: {$ref: '#/components/schemas/None'}"}: `8: ` + body + `keyword "schema": it must be a $ref to a schema under components`,
		{"      operationId: make\n", "      operationId: make\n      x-max-body-bytes: 0\n"}:           `7: ` + body + `keyword "x-max-body-bytes": 0 is no count`,
		{"      operationId: make\n", "      operationId: make\n      x-max-body-bytes: -1\n"}:          `7: ` + body + `keyword "x-max-body-bytes": -1 is no count`,
		{"      operationId: make\n", "      operationId: make\n      x-max-body-bytes: much\n"}:        `7: ` + body + `keyword "x-max-body-bytes": much is no count`,
	} {
		text := frame("{type: string}")
		require.Contains(t, text, edit[0])
		require.EqualError(t, dried(t, strings.Replace(text, edit[0], edit[1], 1)), "spec.yaml:"+want, edit[1])
	}
}

func TestDry_StopsAtTwoParametersWithOneGoName(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(
		"      - {$ref: '#/components/parameters/Trace'}\n", "      - {$ref: '#/components/parameters/I-d'}\n      - {$ref: '#/components/parameters/Trace'}\n",
		"    Trace: {name: X-Trace", "    I-d: {name: other, in: query, schema: {type: string}}\n    Trace: {name: X-Trace",
	).Replace(asked)
	require.EqualError(t, dried(t, text), `spec.yaml:23: #/components/parameters/I-d: its Go name parameterId is that of #/components/parameters/Id too: rename one`)
}

// made generates the validators of a document that nothing has checked yet.
func made(t *testing.T, text string, m models) (string, error) {
	t.Helper()
	code, err := generate([]edition{{document: docOf(t, "spec.yaml", text)}}, m, "x", "spec.yaml")
	return string(code), err
}

func TestGenerate_StopsWhereThereIsNoModel(t *testing.T) {
	t.Parallel()
	thing := modelType{name: "Thing", fields: map[string]modelField{"a": {"A", "*string"}}}
	const short = "\n    Short: {type: string, maxLength: 2}"
	const branched = "{oneOf: [{$ref: '#/components/schemas/Part'}], discriminator: {propertyName: kind}}\n" +
		"    Part: {type: object, required: [kind], properties: {kind: {type: string, const: Part}}}"
	twice := strings.NewReplacer(
		"      - {$ref: '#/components/parameters/Trace'}\n", "      - {$ref: '#/components/parameters/Trace'}\n      - {$ref: '#/components/parameters/Page'}\n",
		"schema: {type: integer}", "schema: {$ref: '#/components/schemas/trace'}",
	).Replace(asked) + "    trace: {type: string, maxLength: 8}\n"

	for name, c := range map[string]struct {
		text   string
		models models
		want   string
	}{
		"of a body":       {frame("{type: string}"), models{}, `8: #/paths/~1things/post/requestBody: no Go type for schema Thing`},
		"of a property":   {frame("{$ref: '#/components/schemas/Short'}" + short), models{"thing": thing}, `19: #/components/schemas/Short: no Go type for schema Short`},
		"of a branch":     {component(branched), models{"thing": {name: "Thing", union: true}}, `16: #/components/schemas/Thing: no Go type for schema Part`},
		"of a parameter":  {asked, models{}, `25: #/components/schemas/Trace: no Go type for schema Trace`},
		"of its own name": {twice, models{"trace": {name: "Trace"}}, `27: #/components/schemas/trace: its Go name checkTrace is that of #/components/schemas/Trace too: rename one`},
	} {
		_, err := made(t, c.text, c.models)
		require.EqualError(t, err, "spec.yaml:"+c.want, name)
	}

	doc := docOf(t, "spec.yaml", frame("{type: string}"))
	g := &generator{document: doc, shared: newShared([]edition{{document: doc}}), models: models{}}
	_, err := g.function(doc.root, "None", "#")
	require.EqualError(t, err, "spec.yaml:1: #: no Go type for schema None")
	require.EqualError(t, g.schema("Thing"), "spec.yaml:16: #/components/schemas/Thing: no Go type for schema Thing")
}

func TestGenerate_StopsAtCodeThatDoesNotParse(t *testing.T) {
	t.Parallel()
	_, err := generate([]edition{{document: docOf(t, "spec.yaml", asked)}}, models{"trace": {name: "Trace"}}, "1x", "spec.yaml")
	require.ErrorContains(t, err, "the generated code does not parse: ")
	require.ErrorContains(t, err, "package 1x")
}
