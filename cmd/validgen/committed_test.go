package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is committed is what the generator makes of the committed documents and models, byte by byte: a change of the generator that
// nobody generated with is seen here, without the other generators.
func TestGenerate_CommittedCodeIsWhatItMakes(t *testing.T) {
	for _, made := range []struct{ dir, spec, editions, of string }{
		{"../..", "spec/rest.yaml", "spec/editions", "gen/rest"},
		{"../..", "spec/queue.yaml", "spec/editions", "gen/queue"},
		{"../..", "spec/worker.yaml", "", "gen/worker"},
		{"../..", "spec/controls.yaml", "", "gen/controls"},
		{"testdata/keywords", "keywords.yaml", "", "."},
		{"testdata/editions", "things.yaml", "editions", "."},
	} {
		t.Run(filepath.Base(made.spec), func(t *testing.T) {
			t.Chdir(made.dir)
			committed, err := filepath.Abs(made.of)
			require.NoError(t, err)
			pkg, out := filepath.Base(committed), t.TempDir()
			require.NoError(t, run(made.spec, made.editions, filepath.Join(committed, pkg+".gen.go"), pkg, filepath.Join(out, "validate.gen.go")))

			for _, name := range []string{"validate.gen.go", "encode.gen.go", "encode_test.go"} {
				want, errWant := os.ReadFile(filepath.Join(committed, name)) // there are no encoders without answers
				got, err := os.ReadFile(filepath.Join(out, name))
				require.Equal(t, errWant == nil, err == nil, name)
				require.True(t, bytes.Equal(want, got), "%s is not what is generated: run make generate", name)
			}
		})
	}
}
