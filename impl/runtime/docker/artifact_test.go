package docker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

func TestRuntime_ContainerFindsItsArtifact(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	a := playing("a", "read "+runtime.ArtifactPath)
	a.Artifact = filepath.Join(t.TempDir(), "artifact")
	require.NoError(t, os.WriteFile(a.Artifact, []byte("of a program"), 0o600))
	for range 2 { // each start makes another container
		require.NoError(t, host.Start(t.Context(), a))
		await(t, host, "a", runtime.Ended)
		require.Equal(t, runtime.ArtifactPath+": of a program\n", logs(t, host, "a"))
	}

	a.Artifact += "s"
	require.NoError(t, host.Start(t.Context(), a))
	require.Equal(t, "the artifact cannot be read: no such file or directory", await(t, host, "a", runtime.Ended).Reason)
}
