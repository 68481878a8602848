package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// bodyCount is how many bodies the differential test makes in all; BERTH_BODIES makes a longer run.
func bodyCount(t *testing.T) int {
	text := os.Getenv("BERTH_BODIES")
	if text == "" {
		return 50_000
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// TestGenerate_ValidatorsAgreeWithAnIndependentOne makes valid bodies for every request body of every document, and
// mutations of them. Accept and reject must agree with the oracle, and the model with encoding/json's.
func TestGenerate_ValidatorsAgreeWithAnIndependentOne(t *testing.T) {
	t.Parallel()
	var all []body
	for _, document := range slices.Sorted(maps.Keys(documents)) {
		all = append(all, bodiesOf(t, document)...)
	}

	each := (bodyCount(t) + len(all) - 1) / len(all)
	for i, b := range all {
		t.Run(b.document+" "+b.schema, func(t *testing.T) {
			t.Parallel()
			m := newMaker(b.root, uint64(i))
			accepted := 0
			for range each {
				value := m.valid(map[string]any{"$ref": "#/components/schemas/" + b.schema}, 0)
				for range max(0, m.random.IntN(5)-1) {
					value = m.mutate(clone(value))
				}
				text, err := json.Marshal(value)
				require.NoError(t, err)

				ok, difference := b.disagreement(text, stricter)
				if difference != "" {
					require.Fail(t, difference, "%s", text)
				}
				if ok {
					accepted++
				}
			}

			t.Logf("%d bodies, %d accepted", each, accepted)
			require.Greater(t, accepted, each/20, "too few bodies are valid for the test to mean anything")
			require.Greater(t, each-accepted, each/20, "too few bodies are invalid for the test to mean anything")
		})
	}
}

func TestGenerate_EveryDocumentIsCompared(t *testing.T) {
	t.Parallel()
	generated, err := filepath.Glob("../../gen/*/validate.gen.go")
	require.NoError(t, err)
	require.NotEmpty(t, generated)
	for _, path := range generated {
		require.Contains(t, documents, filepath.Base(filepath.Dir(path)), "add it to documents, and a fuzz test beside the others")
	}
}
