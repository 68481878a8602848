package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResolve_FollowsAChainOfReferencesSoFar(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("components:\n  schemas:\n    S40: {type: string}\n    Round: {$ref: '#/components/schemas/Round'}\n")
	for i := range 40 {
		fmt.Fprintf(&text, "    S%d: {$ref: '#/components/schemas/S%d'}\n", i, i+1)
	}
	doc := docOf(t, "spec.yaml", text.String())
	schemas := get(doc.root, "components", "schemas")

	target, name := doc.resolve(get(schemas, "S9")) // 31 references
	require.Equal(t, "S40", name)
	require.Same(t, get(schemas, "S40"), target)
	for _, endless := range []string{"S8", "Round"} {
		target, _ = doc.resolve(get(schemas, endless))
		require.Nil(t, target, endless)
	}
}

func TestResolve_ReadsANameThatAPointerEscapes(t *testing.T) {
	t.Parallel()
	doc := docOf(t, "spec.yaml", "components: {schemas: {a/b~c: {type: string}, To: {$ref: '#/components/schemas/a~1b~0c'}}}\n")
	target, name := doc.resolve(get(doc.root, "components", "schemas", "To"))
	require.Equal(t, "a/b~c", name)
	require.Equal(t, "string", text(get(target, "type")))
}

func TestCheckKeywords_EndAtAnAliasWithinWhatItStandsFor(t *testing.T) {
	t.Parallel()
	_, err := parsed(t, "openapi: 3.1.0\ninfo: &info {title: t, version: '1', contact: *info}\npaths: {}\n")
	require.NoError(t, err)
}

// What is carried, such as an example, is no schema, whatever it looks like.
func TestCheckKeywords_LeaveExamplesAlone(t *testing.T) {
	t.Parallel()
	for _, edit := range [][2]string{
		{"schema: {$ref: '#/components/schemas/Thing'}\n", "schema: {$ref: '#/components/schemas/Thing'}\n            example: {x-size: 1, schema: 5, schemas: {a: 1}}\n"},
		{"        a: {type: string}\n", "        a: {type: string, default: {x-size: 1, items: 5, properties: {a: 1}}}\n"},
		{"  securitySchemes:\n", "  parameters:\n    type: {name: type, in: query, schema: {type: string}}\n  securitySchemes:\n"},
	} {
		require.Contains(t, described, edit[0])
		_, err := parsed(t, strings.Replace(described, edit[0], edit[1], 1))
		require.NoError(t, err, edit[1])
	}

	for name, edit := range map[string][2]string{ // names that are keywords elsewhere
		"/paths/~1things~1{id}/post/responses/default/content/application~1json": {"        '200':\n", "        default: {description: d, content: {application/json: {schema: {type: string, not: {}}}}}\n        '200':\n"},
		"/components/parameters/links":                                           {"  securitySchemes:\n", "  parameters:\n    links: {name: links, in: query, schema: {type: string, not: {}}}\n  securitySchemes:\n"},
		"/components/headers/x-default":                                          {"  securitySchemes:\n", "  headers:\n    x-default: {schema: {type: string, not: {}}}\n  securitySchemes:\n"},
	} {
		require.Contains(t, described, edit[0])
		_, err := parsed(t, strings.Replace(described, edit[0], edit[1], 1))
		require.ErrorContains(t, err, "#"+name+"/schema: unknown keyword \"not\"")
	}
	_, err := parsed(t, strings.Replace(described, "  securitySchemes:\n", "  parameters:\n    type: {name: type, in: query, schema: {type: string, not: {}}}\n  securitySchemes:\n", 1))
	require.EqualError(t, err, `spec.yaml:25: #/components/parameters/type/schema: unknown keyword "not"`)
}

func TestModels_AreReadFromFieldsThatHaveOneNameAndATag(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "model.go")
	require.NoError(t, os.WriteFile(file, []byte("package x\n\nconst a = 1\n\nfunc f() {}\n\ntype Thing struct {\n\tPart `json:\"part\"`\n\tA, B string `json:\"ab\"`\n"+
		"\tC *string `json:\"c,omitempty\"`\n\tD string\n\tE int `json:\"e\"`\n}\n\ntype (\n\tNames = []string\n\tShape struct{ union json.RawMessage }\n\tPair struct{ union, b string }\n)\n"), 0o600))
	m, err := parseModels(file)
	require.NoError(t, err)
	require.Equal(t, models{
		"thing": {name: "Thing", tags: []modelTag{{"c", "omitempty"}, {"e", ""}}, fields: map[string]modelField{"c": {"C", "*string"}, "e": {"E", "int"}}},
		"names": {name: "Names", is: "[]string", fields: map[string]modelField{}},
		"shape": {name: "Shape", union: true, fields: map[string]modelField{}},
		"pair":  {name: "Pair", fields: map[string]modelField{}},
	}, m)
}

func TestModels_KnowWhatANameStandsFor(t *testing.T) {
	t.Parallel()
	m := models{"a": {name: "A", is: "B"}, "b": {name: "B", is: "[]int64"}, "thing": {name: "Thing"}}
	for goType, want := range map[string]string{"A": "[]int64", "B": "[]int64", "a": "a", "Thing": "Thing", "Other": "Other", "[]A": "[]A"} {
		require.Equal(t, want, m.underlying(goType))
	}
	of, err := m.of("tHING")
	require.NoError(t, err)
	require.Equal(t, "Thing", of.name)
	_, err = m.of("Other")
	require.EqualError(t, err, "no Go type for schema Other")
}
