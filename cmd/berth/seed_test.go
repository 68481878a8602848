package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeed(t *testing.T) {
	t.Parallel()
	good := filepath.Join("..", "..", "conformance", "seed.yaml")
	r := call(t.Context(), "", "seed", "check", good)
	require.Zero(t, r.code, r.err)
	require.Equal(t, good+" is a seed with keys: 1, networkVolumes: 1, templates: 1, pods: 1\n", r.out)
	require.Contains(t, call(t.Context(), "", "seed", "check", good, "--json").out, `{"list":"pods","items":1}`)

	bad := filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("pods:\n- {name: a, imgae: i}\n"), 0o600))
	for _, args := range [][]string{{"seed", "check", bad}, {"serve", "--seed", bad, "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0"}} {
		r = call(t.Context(), "", args...)
		require.NotZero(t, r.code)
		require.Contains(t, r.err, bad+":2:13: /pods/0/imgae: is not a known member; is image meant?\n")
		require.Contains(t, r.err, "/pods/0/image: is required")
	}
	require.Equal(t, exitUsage, r.code, "of serve")
	require.Contains(t, call(t.Context(), "", "seed", "schema").out, `"rest.Mounts"`)
}
