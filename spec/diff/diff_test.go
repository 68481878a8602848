package diff_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/diff"
)

func load(t *testing.T, path string) diff.Document {
	t.Helper()
	d, err := diff.Load(path)
	require.NoError(t, err)
	return d
}

func TestCompare_OtherWordsAreNoDifference(t *testing.T) {
	t.Parallel()
	a, same := load(t, "testdata/a.yaml"), load(t, "testdata/same.yaml")
	require.Empty(t, diff.Compare(a, same))
	require.Empty(t, diff.Compare(same, a))
	require.Empty(t, diff.Compare(a, a))
}

// Each edit is one replacement in a.yaml, and what it is to be reported as.
func TestCompare_ReportsEveryKindOfDifferenceOnce(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/a.yaml")
	require.NoError(t, err)

	a := load(t, "testdata/a.yaml")
	for _, edit := range []struct {
		from, to string
		want     []string
	}{
		{"operationId: getBox", "operationId: readBox", []string{"GET /boxes/{id}/operationId: getBox | readBox"}},
		{"  /lids:", "  /covers:", []string{"GET /covers: absent | present", "GET /lids: present | absent"}},
		{"{name: limit, in: query,", "{name: limit, in: query, required: true,", []string{"GET /boxes/parameters/query.limit/required: false | true"}},
		{"{name: limit, in: query,", "{name: most, in: query,", []string{"GET /boxes/parameters/query.limit: present | absent", "GET /boxes/parameters/query.most: absent | present"}},
		{"explode: false", "explode: true", []string{"GET /boxes/parameters/query.tags/explode: false | true"}},
		{"style: form, explode", "style: pipeDelimited, explode", []string{"GET /boxes/parameters/query.tags/style: form | pipeDelimited"}},
		{"minimum: 1, default: 10", "minimum: 2", []string{"GET /boxes/parameters/query.limit/default: 10 | absent", "GET /boxes/parameters/query.limit/minimum: 1 | 2"}},
		{"items: {type: string}", "items: {type: integer}", []string{"GET /boxes/parameters/query.tags/items/type: string | integer"}},
		{"        required: true\n        content", "        content", []string{"POST /boxes/requestBody/required: true | false"}},
		{"headers: {Total: {schema: {type: integer}}}", "headers: {Sum: {schema: {type: integer}}}", []string{
			"GET /boxes/responses/200/headers/Sum: absent | present", "GET /boxes/responses/200/headers/Total: present | absent",
		}},
		{"        '422': {$ref: '#/components/responses/Invalid'}\n    post", "    post", []string{"GET /boxes/responses/422: present | absent"}},
		{"application/problem+json", "application/json", []string{
			"responses/Invalid/application/json: absent | present", "responses/Invalid/application/problem+json: present | absent",
		}},
		{"required: [id, size]", "required: [id, note]", []string{"Box/required/note: absent | present", "Box/required/size: present | absent"}},
		{"note: {type: [string, 'null']}", "note: {type: string}", []string{`Box/properties/note/type: ["null","string"] | string`}},
		{"enum: [RED, BLUE]", "enum: [RED, GREEN]", []string{
			"NewBox/properties/color/enum/BLUE: present | absent", "NewBox/properties/color/enum/GREEN: absent | present",
		}},
		{"enum: [RED, BLUE]", "const: RED", []string{"NewBox/properties/color/enum/BLUE: present | absent"}},
		{"default: RED", "default: BLUE", []string{"NewBox/properties/color/default: RED | BLUE"}},
		{"open: {type: boolean}", "shut: {type: boolean}", []string{"Lid/properties/open: present | absent", "Lid/properties/shut: absent | present"}},
		{", {type: 'null'}]}", "]}", []string{"Box/properties/lid/anyOf: 2 branches | 1 branches"}},
		{"properties: {title: {type: string}}\n      additionalProperties: false", "properties: {title: {type: string}}\n      additionalProperties: {type: string}", []string{
			"Problem/additionalProperties: false | present",
		}},
		{"properties: {title: {type: string}}\n      additionalProperties: false", "properties: {title: {type: string}}", []string{"Problem/additionalProperties: false | absent"}},
		{"note: {type: [string, 'null']}", "note: {type: [string, 'null'], not: {const: a}, allOf: [{not: {const: b}}]}", []string{
			"Box/properties/note/allOf: 0 branches | 1 branches", "Box/properties/note/not: absent | present",
		}},
		{"lid: {anyOf: [{$ref: '#/components/schemas/Lid'}, {type: 'null'}]}", "lid: {anyOf: [{$ref: '#/components/schemas/Lid'}, {type: 'null'}], discriminator: {propertyName: kind, mapping: {flat: '#/components/schemas/Lid'}}}", []string{
			"Box/properties/lid/discriminator: absent | present",
		}},
		{"color: {$ref: '#/components/schemas/Color', default: RED}", "color: {$ref: '#/components/schemas/Color', default: RED, allOf: [{maxLength: 3}, {maxLength: 4}]}", []string{
			"NewBox/properties/color/allOf: 0 branches | 1 branches", "NewBox/properties/color/maxLength: absent | 3",
		}},
		{"minimum: 1, default: 10", "minimum: 1, default: '10'", []string{`GET /boxes/parameters/query.limit/default: 10 | "10"`}},
		{"scheme: bearer}", "scheme: basic}", []string{
			`GET /boxes/security: [[{"scheme":{"scheme":"bearer","type":"http"},"scopes":[]}]] | [[{"scheme":{"scheme":"basic","type":"http"},"scopes":[]}]]`,
			`GET /boxes/{id}/security: [[{"scheme":{"scheme":"bearer","type":"http"},"scopes":[]}]] | [[{"scheme":{"scheme":"basic","type":"http"},"scopes":[]}]]`,
			`GET /lids/security: [[{"scheme":{"scheme":"bearer","type":"http"},"scopes":[]}]] | [[{"scheme":{"scheme":"basic","type":"http"},"scopes":[]}]]`,
			`POST /boxes/security: [[{"scheme":{"scheme":"bearer","type":"http"},"scopes":[]}]] | [[{"scheme":{"scheme":"basic","type":"http"},"scopes":[]}]]`,
		}},
		{"        inner: {$ref: '#/components/schemas/NewBox'}", "        inner: {$ref: '#/components/schemas/NewBox', maxProperties: 3}", []string{
			"NewBox/properties/inner/maxProperties: absent | 3",
		}},
	} {
		require.Contains(t, string(text), edit.from)
		b, err := diff.Parse([]byte(strings.Replace(string(text), edit.from, edit.to, 1)))
		require.NoError(t, err)
		var got []string
		for _, d := range diff.Compare(a, b) {
			got = append(got, d.String())
		}
		require.Equal(t, edit.want, got, edit.to)
	}
}

func TestParse_RefusesWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	for text, words := range map[string]string{
		"openapi: 3.1.0": "no paths", "paths: [": "yaml",
		"paths: {/a: {get: {responses: {'200': {$ref: '#/components/responses/None'}}}}}": "#/components/responses/None leads nowhere",
	} {
		_, err := diff.Parse([]byte(text))
		require.ErrorContains(t, err, words)
	}
	_, err := diff.Load("testdata/none.yaml")
	require.Error(t, err)
}

func TestCheck_OnlyWhatIsListedIsExpected(t *testing.T) {
	t.Parallel()
	at := func(at, a, b string) diff.Difference { return diff.Difference{At: at, A: a, B: b} }
	found := []diff.Difference{at("Box/properties/a", "absent", "present"), at("Box/properties/b", "absent", "present"), at("Box/required/a", "x", "y")}
	for _, c := range []struct {
		listed   []diff.Difference
		unlisted int
		stale    int
	}{
		{nil, 3, 0},
		{found, 0, 0},
		{found[1:], 1, 0},
		{[]diff.Difference{at("*", "*", "*"), at("Box/properties/*", "absent", "present")}, 3, 2},
		{[]diff.Difference{at("Box/properties/a", "present", "absent")}, 3, 1},
		{[]diff.Difference{at("Box/properties", "absent", "present"), at("Box/required/a", "x", "y")}, 2, 1},
	} {
		var expected []diff.Expected
		for _, d := range c.listed {
			expected = append(expected, diff.Expected{Difference: d, Reason: "r"})
		}
		unlisted, stale := diff.Check(found, expected)
		require.Len(t, unlisted, c.unlisted, "%v", c.listed)
		require.Len(t, stale, c.stale, "%v", c.listed)
	}
}

func TestLoadExpected_DifferenceMayHaveSeveralPlaces(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/expected.yaml"
	require.NoError(t, os.WriteFile(path, []byte("- {at: one, a: 1, b: absent, reason: r}\n- at: [two, three]\n  a: x\n  b: y\n  reason: s\n"), 0o600))
	list, err := diff.LoadExpected(path)
	require.NoError(t, err)
	require.Equal(t, []diff.Expected{
		{Difference: diff.Difference{At: "one", A: "1", B: "absent"}, Reason: "r"},
		{Difference: diff.Difference{At: "two", A: "x", B: "y"}, Reason: "s"}, {Difference: diff.Difference{At: "three", A: "x", B: "y"}, Reason: "s"},
	}, list)
}

func TestLoadExpected_OurListNamesWhatExists(t *testing.T) {
	t.Parallel()
	list, err := diff.LoadExpected("../differences.yaml")
	require.NoError(t, err)
	text, err := os.ReadFile("../rest.yaml")
	require.NoError(t, err)

	var document struct {
		Components struct{ Schemas map[string]any }
	}
	require.NoError(t, yaml.Unmarshal(text, &document))

	editions, err := os.ReadFile("../editions/public-2026-10.overlay.yaml")
	require.NoError(t, err)
	var seen []diff.Difference
	for _, e := range list {
		require.NotContains(t, seen, e.Difference)
		seen = append(seen, e.Difference)
		require.True(t, slices.ContainsFunc([]string{"interface: ", "decisions: ", "public REST document: ", "berth: "}, func(source string) bool { return strings.HasPrefix(e.Reason, source) }), e.Reason)
		require.NotContains(t, e.At, "*")
		if name, _, _ := strings.Cut(e.At, "/"); !strings.Contains(name, " ") && name != "responses" {
			require.True(t, document.Components.Schemas[name] != nil || strings.Contains(string(editions), "\n      "+name+":\n"), name)
		}
	}
}

func TestLoadExpected_RefusesADifferenceWithoutItsReason(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"- {at: x, a: y, b: z}", "- {at: [], a: y, b: z, reason: r}", "- {at: [x, x], a: y, b: z, reason: r}", "- {at: {x: y}, a: y, b: z, reason: r}", "- {at: x, a: y, reason: r}", "- {at: x, a: y, b: z, reason: r, more: 1}", "at: x"} {
		path := t.TempDir() + "/expected.yaml"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := diff.LoadExpected(path)
		require.ErrorContains(t, err, "expected.yaml")
	}
}
