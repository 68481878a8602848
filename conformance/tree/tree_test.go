package tree

import (
	"os"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is made in a checkout, and not written.
var made = []string{"artefacts", "berth-data", "bin", "dist", "node_modules"}

func TestFiles_NamesWhatTheRootHas(t *testing.T) {
	t.Parallel()
	files, err := Files("../..", ".go", ".md")
	require.NoError(t, err)
	entries, err := os.ReadDir("../..")
	require.NoError(t, err)

	for _, entry := range entries {
		name := entry.Name()
		switch {
		case name[0] == '.' || slices.Contains(made, name):
		case entry.IsDir():
			assert.Contains(t, folders, name)
		case path.Ext(name) == ".go" || path.Ext(name) == ".md":
			assert.Contains(t, files, name)
		}
	}

	for _, name := range files {
		_, err := os.Stat(path.Join("../..", name))
		require.NoError(t, err)
	}
}
