package graphql

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

func TestMeasure_CountsWhatADocumentAsksFor(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]size{
		`{myself{id}}`:                                {depth: 2, fields: 2, values: 2},
		`{a:myself{id} myself{b:id}}`:                 {depth: 2, fields: 4, aliases: 2, values: 4},
		`{...on Query{myself{id}}}`:                   {depth: 2, fields: 2, values: 2},
		`{...f ...f} fragment f on Query{myself{id}}`: {depth: 2, fields: 4, values: 4},

		// Lists are about as long as those of the built-in catalog, and as what somebody owns.
		`{gpuTypes{id}}`:                             {depth: 2, fields: 2, values: 50*1 + 1},
		`{dataCenters{id}}`:                          {depth: 2, fields: 2, values: 30*1 + 1},
		`{cpuTypes{id}}`:                             {depth: 2, fields: 2, values: 5*1 + 1},
		`{myself{pods{id}}}`:                         {depth: 3, fields: 3, values: 100*1 + 1 + 1},
		`{myself{pods{ports env}}}`:                  {depth: 3, fields: 4, values: 100*2 + 1 + 1},
		`{__schema{types{name}}}`:                    {depth: 3, fields: 3, values: 100*1 + 1 + 1},
		`{__type(name:"Pod"){fields{args{name}}}}`:   {depth: 4, fields: 4, values: 5*2 + 1 + 1},
		`{__type(name:"Pod"){possibleTypes{name}}}`:  {depth: 3, fields: 3, values: 3},
		`{__type(name:"PodType"){enumValues{name}}}`: {depth: 3, fields: 3, values: 3},

		// What looks at all hosts, or is large, counts for more.
		`{gpuTypes{id lowestPrice{minVcpu}}}`:      {depth: 3, fields: 4, values: 50*(1+12) + 1},
		`{dataCenters{gpuAvailability{id}}}`:       {depth: 3, fields: 3, values: 30*(50+1+100) + 1},
		`{cpuFlavors{specifics{securePrice}}}`:     {depth: 3, fields: 3, values: 5*12 + 1},
		`{flashBuild(flashBuildId:"b"){manifest}}`: {depth: 2, fields: 2, values: 1 + 1000 + 1},
	} {
		got := measure(parsed(t, document).Operations[0].SelectionSet, 1<<20, map[*ast.FragmentDefinition]size{})
		require.Equal(t, want, got, document)
	}
}

func TestLimits_AreExact(t *testing.T) {
	t.Parallel()
	set := parsed(t, `{a:gpuTypes{id} myself{b:id}}`).Operations[0].SelectionSet
	whole := size{depth: 2, fields: 4, aliases: 2, values: 53}
	measured, err := Limits{Depth: 2, Fields: 4, Aliases: 2, Values: 53}.check(set, false)
	require.NoError(t, err)
	require.Equal(t, whole, measured)

	for words, l := range map[string]Limits{
		"nested too deep; the limit is 1":          {Depth: 1, Fields: 4, Aliases: 2, Values: 53},
		"asks for too many fields; the limit is 3": {Depth: 2, Fields: 3, Aliases: 2, Values: 53},
		"has too many aliases; the limit is 1":     {Depth: 2, Fields: 4, Aliases: 1, Values: 53},
		"too many values in all; the limit is 52":  {Depth: 2, Fields: 4, Aliases: 2, Values: 52},
	} {
		_, err := l.check(set, false)
		require.ErrorContains(t, err, words)
	}
	_, err = Limits{Depth: 2, Fields: 3, Aliases: 2, Values: 3}.check(set, false)
	require.ErrorContains(t, err, "too many fields; the limit is 3", "where no other limit is larger")
}

func TestLimits_WithoutAKeyAQuarterOfTheValues(t *testing.T) {
	t.Parallel()
	flat := func(n int) ast.SelectionSet {
		set := make(ast.SelectionSet, n)
		for i := range set {
			set[i] = &ast.Field{Name: "id", Alias: "id"}
		}
		return set
	}

	l := Limits{Depth: 1, Fields: 1 << 20, Values: 100_000}
	_, err := l.check(flat(25_000), true)
	require.NoError(t, err)
	_, err = l.check(flat(25_001), true)
	require.ErrorContains(t, err, "the limit is 25000")
	_, err = l.check(flat(25_001), false)
	require.NoError(t, err)

	l.Values = 10
	_, err = l.check(flat(11), true)
	require.ErrorContains(t, err, "the limit is 10", "a setting that is lower counts")
}

func TestLimits_AreTheDefaultWhereTheyAreZero(t *testing.T) {
	t.Parallel()
	defaults := Limits{Tokens: 5_000, Depth: 20, Fields: 500, Aliases: 50, Values: 100_000, Body: 1 << 20}
	require.Equal(t, defaults, Limits{}.WithDefaults())
	set := Limits{Tokens: 1, Depth: 2, Fields: 3, Aliases: 4, Values: 5, Body: 6}
	require.Equal(t, set, set.WithDefaults())
}

func TestRepeats_AreFieldsBesideThoseOfTheirNameAndUsesOfFragments(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]int{
		`{a b c}`:                0,
		`{a a a}`:                2,
		`{x:a y:a}`:              0,
		`{x:a x:a}`:              1,
		`{a{b b}}`:               1,
		`{a{b{c c c}}}`:          2,
		`{a{b} a{b}}`:            1,
		`{a{b b} c{d d}}`:        2,
		`{a ...on Query{a b} b}`: 2,
		`{a{...on Pod{b b}} c}`:  1,
		`{...f ...f}`:            2,
		`{a{...f} b}`:            1,
	} {
		d, err := parser.ParseQuery(&ast.Source{Input: document})
		require.NoError(t, err, document)
		require.Equal(t, want, repeats(d.Operations[0].SelectionSet), document)
	}
}
