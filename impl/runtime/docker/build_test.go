package docker_test

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

// folder gives an archive of files.
func folder(t *testing.T, files map[string]string) io.Reader {
	var text bytes.Buffer
	archive := tar.NewWriter(&text)
	for name, content := range files {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
		_, err := io.WriteString(archive, content)
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	return &text
}

func TestRuntime_Build_MakesAnImageThatRuns(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner, Pull: docker.PullAlways}) // what was built is never pulled
	var lines []string
	build := func(id compute.BuildID, dockerfile string) error {
		lines = nil
		return host.Build(t.Context(), runtime.Build{
			ID: id, Image: runtime.BuiltImages + owner + ":" + string(id), Archive: folder(t, map[string]string{"Dockerfile": dockerfile, "file": "of the folder\n"}),
		}, func(line string) { lines = append(lines, line) })
	}

	require.NoError(t, build("good", "FROM "+dockertest.Image()+"\nCOPY file /file\n"))
	require.Contains(t, lines[0], " : FROM "+dockertest.Image())
	require.ErrorContains(t, build("bad", "FROM "+dockertest.Image()+"\nCOPY nosuchfile /file\n"), "nosuchfile")
	require.Contains(t, strings.Join(lines, "\n"), " : COPY nosuchfile /file")
	ids, err := host.Images(t.Context())
	require.NoError(t, err)
	require.Equal(t, []compute.BuildID{"good"}, ids)

	a := playing("a", "read /file", "stay")
	a.Image = runtime.BuiltImages + owner + ":good"
	require.NoError(t, host.Start(t.Context(), a))
	await(t, host, "a", runtime.Up)
	require.Eventually(t, func() bool { return strings.Contains(logs(t, host, "a"), "of the folder") }, time.Minute, 10*time.Millisecond)
	require.NoError(t, host.RemoveImage(t.Context(), "good"))
	ids, err = host.Images(t.Context())
	require.NoError(t, err)
	require.Len(t, ids, 1, "a container is made of it")

	require.NoError(t, host.Remove(t.Context(), "a"))
	require.NoError(t, host.RemoveImage(t.Context(), "good"))
	require.NoError(t, host.RemoveImage(t.Context(), "good"))
	ids, err = host.Images(t.Context())
	require.NoError(t, err)
	require.Empty(t, ids)
	a.Generation++
	require.NoError(t, host.Start(t.Context(), a))
	require.Contains(t, await(t, host, "a", runtime.Ended).Reason, "was built, and is not there any more")
}
