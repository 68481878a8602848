package graphql

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
)

// The libraries refuse some of these before; they need not for ever, and each has let something pass.
func TestArguments_WrongValueIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	object := ast.NamedType("PodFindAndDeployOnDemandInput", nil)
	for _, of := range []struct {
		t      *ast.Type
		value  any
		places []string
	}{
		{object, map[string]any{}, nil},
		{object, "text", []string{"input: must be an object"}},
		{object, []any{map[string]any{}}, []string{"input: must be an object"}},
		{object, json.Number("7"), []string{"input: must be an object"}},
		{object, true, []string{"input: must be an object"}},
		{object, nil, nil},
		{ast.NonNullNamedType("PodStopInput", nil), nil, []string{"input: must not be null"}},
		{object, map[string]any{"env": "text"}, []string{"input.env: must be an object"}},
		{object, map[string]any{"env": []any{map[string]any{"key": 7}, "text", nil}}, []string{"input.env.0.key: must be text", "input.env.1: must be an object"}},
		{object, map[string]any{"env": map[string]any{"key": "one for a list of one"}}, nil},
		{object, map[string]any{"gpuCount": int64(1) << 31}, []string{"input.gpuCount: must be a whole number of 32 bits"}},
		{object, map[string]any{"gpuCount": int64(1)<<31 - 1}, nil},
		{object, map[string]any{"gpuCount": int64(-1) << 31}, nil},
		{object, map[string]any{"gpuCount": int64(-1)<<31 - 1}, []string{"input.gpuCount: must be a whole number of 32 bits"}},
		{object, map[string]any{"gpuCount": json.Number("2147483647")}, nil},
		{object, map[string]any{"gpuCount": json.Number("2147483648")}, []string{"input.gpuCount: must be a whole number of 32 bits"}},
		{object, map[string]any{"deployCost": json.Number("1e400")}, []string{"input.deployCost: must be a number"}},
		{object, map[string]any{"deployCost": json.Number("1.5")}, nil},
		{object, map[string]any{"startSsh": "true"}, []string{"input.startSsh: must be true or false"}},
		{object, map[string]any{"cloudType": "NONE"}, []string{"input.cloudType: must be one of the values of CloudTypeEnum"}},
		{object, map[string]any{"cloudType": "ALL"}, nil},
		{object, map[string]any{"stopAfter": "tomorrow"}, []string{"input.stopAfter: must be a time as RFC 3339 text"}},
		{object, map[string]any{"stopAfter": "2030-01-01T00:00:00Z"}, nil},
		{object, map[string]any{"port": true}, []string{"input.port: must be a number or text"}},
		{object, map[string]any{"port": "22"}, nil},
		{object, map[string]any{"port": int64(22)}, nil},
	} {
		a := arguments{schema: schema}
		a.value("input", of.t, of.value)
		require.Equal(t, of.places, a.fields, "%s %v", of.t, of.value)
	}
}

// parsed gives a document that fits the schema.
func parsed(t *testing.T, document string) *ast.QueryDocument {
	t.Helper()
	d, errs := gqlparser.LoadQueryWithRules(schema(), document, nil)
	require.Empty(t, errs, document)
	return d
}

func TestArguments_InFragmentsAreCheckedOnce(t *testing.T) {
	t.Parallel()
	const price = `lowestPrice(input:{gpuCount:3000000000}){minVcpu}`
	const line = "input.gpuCount: must be a whole number of 32 bits"
	for document, want := range map[string][]string{
		`{gpuTypes{` + price + `}}`:                                                {line},
		`{gpuTypes{...on GpuType{` + price + `}}}`:                                 {line},
		`{gpuTypes{...f}} fragment f on GpuType{` + price + `}`:                    {line},
		`{a:gpuTypes{...f} b:gpuTypes{...f}} fragment f on GpuType{` + price + `}`: {line},
		`{a:gpuTypes{` + price + `} b:gpuTypes{` + price + `}}`:                    {line, line},
		`{gpuTypes{lowestPrice(input:{gpuCount:1}){minVcpu}}}`:                     nil,
	} {
		err := checkArguments(schema(), &graphql.OperationContext{Operation: parsed(t, document).Operations[0]})
		if want == nil {
			require.NoError(t, err, document)
			continue
		}
		var refused *compute.Error
		require.ErrorAs(t, err, &refused, document)
		require.Equal(t, compute.Invalid, refused.Code, document)
		require.Equal(t, want[0], refused.Detail, document)
		require.Equal(t, want, refused.Fields, document)
	}
}

func TestArguments_UnreadableOneLeavesTheOthersToBeChecked(t *testing.T) {
	t.Parallel()
	a := arguments{schema: schema(), seen: map[*ast.FragmentDefinition]bool{}}
	a.selection(ast.SelectionSet{&ast.Field{
		Arguments: ast.ArgumentList{
			{Name: "first", Value: &ast.Value{Kind: ast.IntValue, Raw: "99999999999999999999"}},
			{Name: "second", Value: &ast.Value{Kind: ast.IntValue, Raw: "7"}},
		},
		Definition: &ast.FieldDefinition{Arguments: ast.ArgumentDefinitionList{
			{Name: "first", Type: ast.NamedType("Int", nil)}, {Name: "second", Type: ast.NamedType("String", nil)},
		}},
	}})
	require.Equal(t, []string{"first: cannot be read", "second: must be text"}, a.fields)
}

func TestArguments_ListOfViolationsIsBounded(t *testing.T) {
	t.Parallel()
	a := arguments{schema: schema()}
	a.value("input", ast.ListType(ast.NamedType("String", nil), nil), slices.Repeat([]any{true}, 200))
	require.Len(t, a.fields, 100)
	require.Equal(t, "input.99: must be text", a.fields[99])
}

func TestArguments_NumbersAreThoseOfTheirTypes(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		value        any
		whole, float bool
	}{
		{int64(7), true, true},
		{int64(1) << 31, false, true},
		{json.Number("7"), true, true},
		{json.Number("7.5"), false, true},
		{json.Number("1e400"), false, false},
		{7.5, false, true},
		{math.Inf(1), false, false},
		{math.Inf(-1), false, false},
		{math.NaN(), false, false},
		{"7", false, false},
		{true, false, false},
	} {
		require.Equal(t, of.whole, isInt(of.value), "%v", of.value)
		require.Equal(t, of.float, isFloat(of.value), "%v", of.value)
	}
}

func TestCanonical_ChangesWhatHasOneMeaningAlone(t *testing.T) {
	t.Parallel()
	named := func(name string) *ast.Type { return ast.NamedType(name, nil) }
	number := func(text string) any { return json.Number(text) }
	for _, of := range []struct {
		t           *ast.Type
		value, want any
	}{
		{named("Int"), number("2.0"), number("2")},
		{named("Int"), number("2e0"), number("2")},
		{named("Int"), number("2.5"), number("2.5")},
		{named("Int"), "2.0", "2.0"},
		{named("Int"), "", ""},
		{named("Int"), nil, nil},
		{named("Float"), number("2.0"), number("2.0")},
		{named("JSON"), number("2.0"), number("2.0")},
		{named("JSON"), map[string]any{"gpuCount": number("2.0")}, map[string]any{"gpuCount": number("2.0")}},
		{named("String"), "", ""},
		{named("CloudTypeEnum"), "", nil},
		{named("CloudTypeEnum"), "ALL", "ALL"},
		{named("DateTime"), "", nil},
		{named("DateTime"), "2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"},
		{named("Nothing"), "", ""},
		{ast.ListType(named("CloudTypeEnum"), nil), "", nil},
		{ast.ListType(named("CloudTypeEnum"), nil), []any{"", "ALL"}, []any{nil, "ALL"}},
		{ast.ListType(named("Int"), nil), []any{number("2.0"), number("3e0")}, []any{number("2"), number("3")}},
		{named("PodFindAndDeployOnDemandInput"), "", ""},
		{
			named("PodFindAndDeployOnDemandInput"), map[string]any{"gpuCount": number("2.0"), "cloudType": "", "name": "", "other": ""},
			map[string]any{"gpuCount": number("2"), "cloudType": nil, "name": "", "other": ""},
		},
	} {
		before, err := json.Marshal(of.value)
		require.NoError(t, err)
		require.Equal(t, of.want, canonical(schema(), of.t, of.value), "%s %s", of.t, before)
	}
}
