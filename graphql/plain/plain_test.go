package plain_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/graphql/plain"
)

type thing struct {
	ID    string
	Name  *string
	Words []*string
	Must  *string
	One   *thing
	Many  []*thing
	Sure  []*thing
}

func thingType() plain.Type[*thing] {
	return plain.Type[*thing]{Name: "Thing", Implements: []string{"Thing"}, Field: func(name string) plain.Field[*thing] {
		switch name {
		case "id":
			return plain.Value(func(t *thing) string { return t.ID }, plain.String)
		case "name":
			return plain.Pointer(func(t *thing) *string { return t.Name }, plain.String, true)
		case "words":
			return plain.Pointers(func(t *thing) []*string { return t.Words }, plain.String, true, true)
		case "must":
			return plain.Pointer(func(t *thing) *string { return t.Must }, plain.String, false)
		case "one":
			return plain.One(func(t *thing) *thing { return t.One }, thingType, true)
		case "many":
			return plain.Many(func(t *thing) []*thing { return t.Many }, thingType, true, true)
		case "sure":
			return plain.Many(func(t *thing) []*thing { return t.Sure }, thingType, false, false)
		}
		return nil
	}}
}

const schema = `type Query { thing: Thing }
type Thing { id: String! name: String words: [String] must: String! one: Thing many: [Thing] sure: [Thing!]! other(n: Int): String }`

// write writes a thing as a selection asks for it; false: it is left to gqlgen.
func write(t *testing.T, of *thing, selection string) (string, bool) {
	t.Helper()
	document, errs := gqlparser.LoadQueryWithRules(gqlparser.MustLoadSchema(&ast.Source{Input: schema}), "{ thing "+selection, nil)
	require.Empty(t, errs)
	o := &graphql.OperationContext{Doc: document}
	sel := document.Operations[0].SelectionSet[0].(*ast.Field).SelectionSet
	return shown(plain.Object(o, sel, of, thingType()))
}

func shown(m graphql.Marshaler) (string, bool) {
	if m == nil {
		return "", false
	}
	var b bytes.Buffer
	m.MarshalGQL(&b)
	return b.String(), true
}

func TestObject_WritesWhatTheSelectionAsksFor(t *testing.T) {
	t.Parallel()
	word := "w\"\n\x01é<"
	of := &thing{
		ID: "a", Words: []*string{&word, nil}, Many: []*thing{{ID: "b"}, nil, {ID: "c", Many: []*thing{}}}, Sure: []*thing{{ID: "d"}}, One: &thing{ID: "e", Name: &word},
	}
	for selection, want := range map[string]string{
		"{ id } }":                       `{"id":"a"}`,
		"{ again: id id name } }":        `{"again":"a","id":"a","name":null}`,
		"{ __typename words } }":         `{"__typename":"Thing","words":["w\"\n\u0001é<",null]}`,
		"{ many { id many { id } } } }":  `{"many":[{"id":"b","many":null},null,{"id":"c","many":[]}]}`,
		"{ sure { id } one { name } } }": `{"sure":[{"id":"d"}],"one":{"name":"w\"\n\u0001é<"}}`,
		"{ ...f ... on Thing { id } one { id } } } fragment f on Thing { one { name } }": `{"one":{"name":"w\"\n\u0001é<","id":"e"},"id":"a"}`,
		"{ id name @include(if: false) } }":                                              `{"id":"a"}`,
	} {
		got, ok := write(t, of, selection)
		require.True(t, ok, selection)
		require.Equal(t, want, got, selection)
	}
}

func TestObject_LeavesAllElseToGqlgen(t *testing.T) {
	t.Parallel()
	of := &thing{ID: "a", One: &thing{}, Sure: []*thing{nil}, Many: []*thing{{Sure: []*thing{}}, {}}}
	for selection, why := range map[string]string{
		"{ id must } }":                  "a null that the schema does not have",
		"{ id one { must } } }":          "the same below",
		"{ many { must } } }":            "the same in a list",
		"{ sure { id } } }":              "an element that is null",
		"{ id other } }":                 "a field that a resolver gives",
		"{ one { id } one { other } } }": "the same below",
		"{ many { other } } }":           "the same in a list",
		"{ id @skip(if: true) } }":       "nothing is left",
		"{ ... @defer { id } name } }":   "a part that is deferred",
	} {
		got, ok := write(t, of, selection)
		require.False(t, ok, "%s: %s: %s", why, selection, got)
	}
}

func TestObject_APanicIsLeftToGqlgen(t *testing.T) {
	t.Parallel()
	_, ok := write(t, nil, "{ id } }")
	require.False(t, ok)
}

func TestObjects_ElementsAreNullWhereTheSchemaHasItSo(t *testing.T) {
	t.Parallel()
	document, errs := gqlparser.LoadQueryWithRules(gqlparser.MustLoadSchema(&ast.Source{Input: schema}), "{ thing { id } }", nil)
	require.Empty(t, errs)
	o := &graphql.OperationContext{Doc: document}
	sel := document.Operations[0].SelectionSet[0].(*ast.Field).SelectionSet

	list := []*thing{{ID: "a"}, nil}
	got, ok := shown(plain.Objects(o, sel, list, thingType(), true))
	require.True(t, ok)
	require.Equal(t, `[{"id":"a"},null]`, got)
	_, ok = shown(plain.Objects(o, sel, list, thingType(), false))
	require.False(t, ok)
	got, _ = shown(plain.Objects(o, sel, nil, thingType(), false))
	require.Equal(t, "[]", got)
}

func TestObjects_MakeNoRoomForTenThousandLikeALongFirst(t *testing.T) {
	document, errs := gqlparser.LoadQueryWithRules(gqlparser.MustLoadSchema(&ast.Source{Input: schema}), "{ thing { id } }", nil)
	require.Empty(t, errs)
	sel := document.Operations[0].SelectionSet[0].(*ast.Field).SelectionSet
	list := make([]*thing, 10_000)
	list[0] = &thing{ID: strings.Repeat("a", 100_000)}

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, ok := shown(plain.Objects(&graphql.OperationContext{Doc: document}, sel, list, thingType(), true))
	runtime.ReadMemStats(&after)
	require.True(t, ok)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "bytes")
}

func FuzzString_IsWhatGqlgenWrites(f *testing.F) {
	for _, s := range []string{"", "a", "\x00\x1f\x20\x7f\"\\/", "\t\r\n\b\f", "é\u2028\xff<&>", "😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		graphql.MarshalString(s).MarshalGQL(&want)
		require.Equal(t, want.String(), string(plain.String(nil, s)))
	})
}
