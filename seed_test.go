package berth_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestOptions_Seed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(path, []byte("templates:\n- {id: templateseed01, name: base, image: busybox}\n"), 0o600))
	s := berthtest.Start(t, berth.Options{Seed: path})
	got, _ := call(t, "GET", s.URL()+"/v2/templates/templateseed01", s.Key(), "")
	require.Equal(t, 200, got)

	require.NoError(t, os.WriteFile(path, []byte("templates:\n- {name: base}\n"), 0o600))
	_, err := berth.Start(t.Context(), berth.Options{Seed: path})
	require.ErrorContains(t, err, path+":2:3: /templates/0/image: is required")
}
