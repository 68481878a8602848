package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const generated = "../../gen/graph/graph.gen.go"

// TestRun_ReadsEveryFieldOfAStruct fails where gqlgen writes a field of a struct in a form that is not known: it would be slow, and
// nothing else would tell.
func TestRun_ReadsEveryFieldOfAStruct(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(generated)
	require.NoError(t, err)
	types, err := objects(string(text))
	require.NoError(t, err)

	models, read, left := map[string]bool{}, 0, []string{}
	for _, o := range types {
		models[o.model] = true
	}
	for _, o := range types {
		for _, f := range o.fields {
			if read++; f.writer(o.model, models) == "" {
				left = append(left, o.name+"."+f.name)
			}
		}
	}
	own, _, _ := strings.Cut(string(text), "func (ec *executionContext) ___Directive_name(") // what follows is gqlgen's introspection
	require.Equal(t, strings.Count(own, "\t\t\treturn obj."), read)
	require.Equal(t, []string{"PodTemplate.config"}, left, "fields that graphql/plain cannot write")
}

func TestRun_StopsAtCodeOfAnotherForm(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(generated)
	require.NoError(t, err)

	for change, want := range map[[2]string]string{
		{"return obj.", "return of."}:                                                 "no field has the form that is known",
		{"MarshalSliceConcurrently(", "MarshalSlice("}:                                "no list has the form that is known",
		{"\t\"github.com/berthdev/berth/graphql/scalar\"\n", "\t\"example.org/x\"\n"}: "the imports have not the form that is known",
	} {
		exec := filepath.Join(t.TempDir(), "graph.gen.go")
		require.NoError(t, os.WriteFile(exec, []byte(strings.ReplaceAll(string(text), change[0], change[1])), 0o600))
		require.ErrorContains(t, run(exec, exec+".out"), want)
		require.NoFileExists(t, exec+".out")
	}
}
