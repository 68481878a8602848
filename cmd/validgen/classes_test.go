package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shaped is a document with every place in which an edition may differ.
const shaped = `paths:
  /things:
    get:
      summary: s
      operationId: list
      parameters: [{name: p, in: query, description: d, schema: {type: string, title: t}}]
      responses: {'200': {description: d}}
components:
  schemas:
    Thing:
      title: t
      type: object
      required: [tags]
      properties:
        tags: {type: array, items: {type: string, default: a}}
        more: {anyOf: [{$ref: '#/components/schemas/More'}, {type: 'null', title: n}]}
        rest: {type: object, additionalProperties: {type: integer, title: r, minimum: 1}}
    More: {type: string, example: e, maxLength: 9}
    Other: {type: string, maxLength: 8}
`

// What only people read makes no edition another one; anything else does, however far away it stands.
func TestClasses_AreTheSameButForWhatOnlyPeopleRead(t *testing.T) {
	t.Parallel()
	thing, list := []string{"components", "schemas", "Thing"}, []string{"paths", "/things", "get"}
	for _, c := range []struct {
		path         []string
		old, changed string
		same         bool
	}{
		{thing, "title: t\n", "title: u\n", true},
		{thing, "default: a", "default: b", true},
		{thing, "title: n", "title: u", true},
		{thing, "title: r", "title: u", true},
		{thing, "example: e", "example: f", true},
		{thing, "maxLength: 8", "maxLength: 7", true},
		{thing, "operationId: list", "operationId: lists", true},
		{thing, "[tags]", "[more]", false},
		{thing, "tags: {type: array, items: {type: string", "tags: {type: array, items: {type: integer", false},
		{thing, "schemas/More'", "schemas/Other'", false},
		{thing, "{type: 'null', title: n}", "{type: boolean, title: n}", false},
		{thing, "minimum: 1", "minimum: 2", false},
		{thing, "maxLength: 9", "maxLength: 7", false},
		{thing, "        rest:", "        most:", false},
		{list, "summary: s", "summary: z", true},
		{list, "description: d, schema", "description: e, schema", true},
		{list, "title: t}", "title: u}", true},
		{list, "{'200': {description: d}}", "{'204': {description: e}}", true},
		{list, "name: p", "name: q", false},
		{list, "schema: {type: string", "schema: {type: number", false},
		{list, "operationId: list", "operationId: lists", false},
	} {
		require.Contains(t, shaped, c.old)
		other := strings.Replace(shaped, c.old, c.changed, 1)
		all := &classes{[]edition{{document: docOf(t, "a.yaml", shaped)}, {document: docOf(t, "b.yaml", other)}}, map[string]string{}}
		require.Equal(t, c.same, all.of(1, c.path...) == 0, c.changed)
		require.Zero(t, all.of(0, c.path...))
	}
}

// editionsOf gives editions of the documents, by the names a, b and so on.
func editionsOf(t *testing.T, texts ...string) []edition {
	t.Helper()
	var all []edition
	for i, text := range texts {
		name := string(rune('a' + i))
		all = append(all, edition{document: docOf(t, name+".yaml", text), name: name, suffix: strings.ToUpper(name)})
	}
	all[0].suffix = ""
	return all
}

func TestClasses_NameTheEditionsThatHaveMore(t *testing.T) {
	t.Parallel()
	const first = "components:\n  schemas:\n    Thing:\n      properties:\n        name: {type: string}\n"
	more := first + "        zone: {type: string}\n        area: {type: string}\n"
	all := &classes{editionsOf(t, first, more, first+"        zone: {type: string}\n"), map[string]string{}}
	path := []string{"components", "schemas", "Thing", "properties"}
	require.Equal(t, "\"area\": {\"b\"},\n\"zone\": {\"b\", \"c\"},\n", all.others(0, path...))
	require.Empty(t, all.others(1, path...))
	require.Equal(t, "\"area\": {\"b\"},\n", all.others(2, path...))
}

func TestClasses_NameTheEditionsThatHaveMoreValues(t *testing.T) {
	t.Parallel()
	with := func(values string) string {
		return "components:\n  schemas:\n    Size: {type: string, enum: [" + values + "]}\n    Thing: {properties: {a/b~c: {type: string, enum: [" + values + "]}}}\n"
	}
	all := &classes{editionsOf(t, with("small"), with("small, huge, big"), with("huge, small")), map[string]string{}}
	schemas := get(all.editions[0].root, "components", "schemas")
	for place, schema := range map[string][]string{
		"#/components/schemas/Thing/properties/a~1b~0c": {"Thing", "properties", "a/b~c"},
		"#/paths/~1things/get/parameters/0":             {"Size"}, // a component, wherever it is referred to
	} {
		at := get(schemas, schema...)
		require.NotNil(t, at, place)
		require.Equal(t, `"big": {"b"}, "huge": {"b", "c"}`, all.otherValues(0, at, place, []string{"small"}), place)
	}
	require.Empty(t, all.otherValues(1, get(all.editions[1].root, "components", "schemas", "Size"), "#/components/schemas/Size", []string{"small", "huge", "big"}))

	absent := &classes{editionsOf(t, with("small, null"), with("small, 'null', null"), with("small, null")), map[string]string{}}
	size := get(absent.editions[0].root, "components", "schemas", "Size")
	require.Equal(t, `"null": {"b"}`, absent.otherValues(0, size, "#/components/schemas/Size", []string{"small"}), "the text, which is not the value")
}

func TestGoName_IsWhatAGoNameMayHave(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"two": "Two", "public-2026-10": "Public202610", "next.v2_x": "NextV2X", "Über alles": "ÜberAlles", "--": ""} {
		require.Equal(t, want, goName(name))
	}
}

// What an alias stands for is as good as written out.
func TestClasses_AreTheSameWithAliasesOrWithout(t *testing.T) {
	t.Parallel()
	const aliased = "components:\n  schemas:\n    Thing: {type: object, properties: {a: &text {type: string}, b: *text}}\n"
	written := strings.NewReplacer("&text ", "", "*text", "{type: string}").Replace(aliased)
	all := &classes{editionsOf(t, aliased, written), map[string]string{}}
	require.Zero(t, all.of(1, "components", "schemas", "Thing"))
}
