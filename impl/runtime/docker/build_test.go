package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
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

// TestRuntime_WhatAnImageSaysOfItselfIsNotBelieved: labels of an image are those of its containers, too, and anybody may make one.
func TestRuntime_WhatAnImageSaysOfItselfIsNotBelieved(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner, Pull: docker.PullAlways})
	other := "berth-test-other-" + owner
	_, err := engine.NetworkCreate(t.Context(), other, client.NetworkCreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		_, _ = engine.NetworkRemove(context.WithoutCancel(t.Context()), other, client.NetworkRemoveOptions{})
	})

	image := runtime.BuiltImages + owner + ":labels"
	require.NoError(t, host.Build(t.Context(), runtime.Build{ID: "labels", Image: image, Archive: folder(t, map[string]string{
		"Dockerfile": "FROM " + dockertest.Image() + "\nLABEL dev.berth.network=" + other + " dev.berth.owner=" + owner + " dev.berth.allocation=volume-a\n",
	})}, func(string) {}))
	made, err := engine.ContainerCreate(t.Context(), client.ContainerCreateOptions{Name: "berth-test-foreign-" + owner, Config: &container.Config{Image: image}})
	require.NoError(t, err)
	listed, err := host.List(t.Context())
	require.NoError(t, err)
	require.NotContains(t, listed, "volume-a")
	_, err = engine.ContainerRemove(t.Context(), made.ID, client.ContainerRemoveOptions{Force: true})
	require.NoError(t, err)

	a := playing("a", "stay")
	a.Image = image
	require.NoError(t, host.Start(t.Context(), a))
	await(t, host, "a", runtime.Up)
	require.NoError(t, host.Remove(t.Context(), "a"))
	_, err = engine.NetworkInspect(t.Context(), other, client.NetworkInspectOptions{})
	require.NoError(t, err, "it is not of the pod")
	require.NoError(t, host.RemoveImage(t.Context(), "labels"))
}
