package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGenerate_WritesWhatASchemaAsksFor(t *testing.T) {
	t.Parallel()
	const null, whole, many = "nullable.Nullable[string]", "*int64", "map[string]string"
	for _, c := range []struct{ schema, goType, want string }{
		{`{type: string, minLength: 0}`, "*string", "s.String(nil)"},
		{`{type: string, minLength: 1}`, "*string", "validate.Text{Min: 1}"},
		{`{type: string, maxLength: 1}`, "*string", "validate.Text{Max: 1}"},
		{"{type: string, pattern: 'a`b'}", "*string", "validate.MustPattern(\"a`b\")"},
		{`{type: string, enum: [&x a, *x, b]}`, "*string", `validate.Text{Enum: []string{"a", "b"}}`},
		{`{type: [string, 'null'], enum: [null, a]}`, null, `validate.Text{Enum: []string{"a"}}`},
		{`{type: [string, 'null'], enum: [null, a]}`, null, "if s.Null() {\n\t\t\t\t\tv.A.SetNull()"},
		{`{type: [string, 'null'], enum: [a]}`, null, "if !s.RefuseNull() {"},
		{`{type: [string, 'null'], const: a}`, null, "if !s.RefuseNull() {"},
		{`{type: ['null', string], maxLength: 3}`, null, "v.A.SetNull()"},
		{`{anyOf: [{type: 'null'}, {type: string}]}`, null, "v.A.SetNull()"},
		{`{type: boolean, const: false}`, "*bool", "s.Only(false)"},
		{`{type: boolean, enum: [true]}`, "*bool", "s.Only(true)"},
		{`{type: boolean, enum: [true, false]}`, "*bool", "s.Bool()"},
		{`{type: integer}`, whole, "s.Int(nil)"},
		{`{type: integer, minimum: 5, exclusiveMinimum: 1}`, whole, "{Min: 5, Max: math.MaxInt64}"},
		{`{type: integer, minimum: 1, exclusiveMinimum: 5}`, whole, "{Min: 6, Max: math.MaxInt64}"},
		{`{type: integer, minimum: 1.5}`, whole, "{Min: 2, Max: math.MaxInt64}"},
		{`{type: integer, maximum: 5, exclusiveMaximum: 9}`, whole, "{Min: math.MinInt64, Max: 5}"},
		{`{type: integer, maximum: 9, exclusiveMaximum: 5}`, whole, "{Min: math.MinInt64, Max: 4}"},
		{`{type: integer, exclusiveMaximum: 9.5}`, whole, "{Min: math.MinInt64, Max: 9}"},
		{`{type: integer, maximum: 9.5}`, whole, "{Min: math.MinInt64, Max: 9}"},
		{`{type: integer, minimum: 3, maximum: 3}`, whole, "{Min: 3, Max: 3}"},
		{`{type: integer, minimum: -1e30, maximum: 1e30}`, whole, "{Min: math.MinInt64, Max: math.MaxInt64}"},
		{`{type: array, minItems: 1, items: {type: string}}`, "[]string", "s.Items(len(items), 1, -1)"},
		{`{type: array, maxItems: 0, items: {type: string}}`, "[]string", "s.Items(len(items), 0, 0)"},
		{`{type: array, maxItems: 0, items: {type: string}}`, "[]string", "make([]string, 0, 0)"},
		{`{type: array, maxItems: 9, items: {type: string}}`, "[]string", "make([]string, 0, 4)"},
		{`{type: object, minProperties: 1, additionalProperties: {type: string}}`, many, "s.Members(len(entries), 1, -1)"},
		{`{type: object, maxProperties: 0, additionalProperties: {type: string}}`, many, "s.Members(len(entries), 0, 0)"},
	} {
		code, err := made(t, frame(c.schema), models{"thing": {name: "Thing", fields: map[string]modelField{"a": {"A", c.goType}}}})
		require.NoError(t, err, c.schema)
		require.Contains(t, code, c.want, c.schema)
	}
}

// threeTexts is a model with three texts.
func threeTexts() models {
	return models{"thing": {name: "Thing", fields: map[string]modelField{"a": {"A", "string"}, "b": {"B", "string"}, "c": {"C", "string"}}}}
}

func TestGenerate_CountsTheMembersOfAnObject(t *testing.T) {
	t.Parallel()
	for limits, want := range map[string]string{"minProperties: 1": "s.Members(n, 1, -1)", "maxProperties: 0": "s.Members(n, 0, 0)"} {
		code, err := made(t, component("{type: object, "+limits+", properties: {a: {type: string}}}"), threeTexts())
		require.NoError(t, err)
		require.Contains(t, code, want)
		require.Contains(t, code, "\tn := 0\n\tfor s.Member() {\n\t\tn++\n", limits)
	}
}

func TestGenerate_WritesAnObjectWithoutProperties(t *testing.T) {
	t.Parallel()
	code, err := made(t, component("{type: object, additionalProperties: false}"), threeTexts())
	require.NoError(t, err)
	require.Contains(t, code, `func readThing(s *validate.Scanner, v *Thing) {
	if !s.Object() {
		return
	}
	for s.Member() {
		s.Unknown()
	}
}
`)
}

func TestGenerate_ChecksWhatAMemberNeedsWithoutAnyThatIsRequired(t *testing.T) {
	t.Parallel()
	const properties = "{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}, "
	code, err := made(t, component(properties+"dependentRequired: {a: [b]}}"), threeTexts())
	require.NoError(t, err)
	require.Contains(t, code, "\twant := uint64(0)\n")
	require.Contains(t, code, "\tif seen&(1<<bitA) != 0 {\n\t\twant |= 1 << bitB\n\t}\n\ts.Require(seen, want, membersOfThing)\n")

	code, err = made(t, component(properties+"required: [c], dependentRequired: {a: &needs [b], c: *needs}}"), threeTexts())
	require.NoError(t, err)
	require.Contains(t, code, "want := uint64(1 << bitC)")
	require.Equal(t, 2, strings.Count(code, "want |= 1 << bitB"))

	code, err = made(t, component(properties+"additionalProperties: false}"), threeTexts())
	require.NoError(t, err)
	require.NotContains(t, code, "s.Require(")
}

func TestGenerate_NamesABranchByItsSchemaWithoutAMapping(t *testing.T) {
	t.Parallel()
	code, err := made(t, component("{oneOf: [{$ref: '#/components/schemas/Part'}], discriminator: {propertyName: kind}}")+
		"    Part: {type: object, required: [kind], properties: {kind: {type: string, const: Part}}}\n", models{
		"thing": {name: "Thing", union: true},
		"part":  {name: "Part", fields: map[string]modelField{"kind": {"Kind", "PartKind"}}},
	})
	require.NoError(t, err)
	require.Contains(t, code, `switch s.Branch("kind", "Part") {`)
	require.Contains(t, code, "\tcase \"Part\":\n\t\tvar branch Part\n\t\treadPart(s, &branch)\n")
}

func TestGenerate_WritesWhatAnOperationAsksFor(t *testing.T) {
	t.Parallel()
	m := models{"thing": {name: "Thing", fields: map[string]modelField{"a": {"A", "*string"}}}}
	for added, want := range map[string]string{
		"x-max-body-bytes: 1":      "MaxBody: 1, HasBody: true, AnyContentType: false,",
		"x-any-content-type: true": "MaxBody: validate.DefaultMaxBody, HasBody: true, AnyContentType: true,",
		"x-open-query: true":       "return validate.Params(nil, true, path, query, header)",
		"security: []":             "\t\tOpen:    true,\n",
	} {
		code, err := made(t, asking("      "+added+"\n"), m)
		require.NoError(t, err, added)
		require.Contains(t, code, want, added)
	}
}

// A parameter of an operation stands for that of its path with the same name, in the same place.
func TestGenerate_ParameterOfAnOperationReplacesThatOfItsPath(t *testing.T) {
	t.Parallel()
	own := "parameters: [{name: id, in: path, required: true, schema: {type: string, maxLength: 3}}, {name: id, in: query, schema: {type: string}}, {name: X-Trace, in: query, schema: {type: string}}]"
	text := strings.Replace(asked, "parameters: [{name: deep, in: query, required: true, schema: {type: boolean}}]", own, 1)
	require.NotEqual(t, asked, text)
	code, err := made(t, text, models{"trace": {name: "Trace"}})
	require.NoError(t, err)
	require.Contains(t, code, `var paramsOfGetThing = []validate.Param{
	parameterTrace,
	{In: "path", Name: "id", Required: true, Text: &validate.Text{Max: 3}},
	{In: "query", Name: "id", Required: false},
	{In: "query", Name: "X-Trace", Required: false},
}
`)
	require.Contains(t, code, "var paramsOfDeleteThing = []validate.Param{\n\tparameterId,\n\tparameterTrace,\n}\n")
	require.Equal(t, 1, strings.Count(code, "var parameterTrace = "))
}

func TestGenerate_NamesAParameterWithoutWhatNoGoNameHas(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("parameters/Trace'", "parameters/x-Trace_2'", "    Trace: {name: X-Trace", "    x-Trace_2: {name: X-Trace").Replace(asked)
	code, err := made(t, text, models{"trace": {name: "Trace"}})
	require.NoError(t, err)
	require.Contains(t, code, `var parameterXTrace_2 = validate.Param{In: "header", Name: "X-Trace", Required: true, Text: checkTrace}`)
}
