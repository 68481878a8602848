package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// writeFiles makes a folder of files.
func writeFiles(t *testing.T, files map[string]string) (dir string) {
	dir = t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

func TestBuild_BuildsTheImageOfAnEndpoint(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	s.document("endpoints", "create", "--name", "words", "--image", "i", "--cpu", "cpu3g:2")
	dir := writeFiles(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY . /\n", "handler.py": "x"})

	printed := s.done("build", "words", dir)
	require.Contains(t, printed, "[system] build is BUILDING\nStep 1/2 : FROM scratch\nStep 2/2 : COPY . /\n")
	require.Contains(t, printed, "[system] build is COMPLETED\n")
	image := s.document("endpoints", "get", "words")["image"].(string)
	require.Contains(t, []any{"PENDING", "BUILDING"}, s.document("build", "words", dir, "--detach")["status"])
	require.True(t, strings.HasSuffix(printed, "is COMPLETED: the endpoint's image is "+image+"\n"), printed)
}

func TestBuild_FailsWithItsBuild(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	s.document("endpoints", "create", "--name", "words", "--image", "i", "--cpu", "cpu3g:2")
	r := s.run("build", "words", writeFiles(t, map[string]string{"Dockerfile": "FROM scratch\nRUN exit 3\n"}))
	require.Equal(t, exitEnded, r.code)
	require.Contains(t, r.out, "Step 2/2 : RUN exit 3\n")
	require.Contains(t, r.err, "is FAILED: the command '/bin/sh -c exit 3' returned a non-zero code: 3")
	builds := s.document("endpoints", "builds", "words")["builds"].([]any)
	require.Len(t, builds, 1)
	require.Contains(t, s.done("endpoints", "builds", "words"), "FAILED")
	require.Contains(t, s.done("endpoints", "build-logs", "words", builds[0].(map[string]any)["id"].(string)), "[system] build is PENDING\n")
	require.Equal(t, exitUsage, s.run("build", "words", "nosuchfolder").code)
}

func TestBuild_IgnoresWhatDockerignoreNames(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{".dockerignore": "# big\nnode_modules\n**/*.pyc\n/data/*\n!data/kept\nDockerfile\n"})
	ignored, err := readIgnored(filepath.Join(dir, ".dockerignore"))
	require.NoError(t, err)
	for name, want := range map[string]bool{
		"node_modules": true, "node_modules/a/b": true, "a/node_modules": false, "a.pyc": true, "a/b/c.pyc": true, "data": false, "data/x": true,
		"data/x/y": true, "data/kept": false, "data/kept/z": false, "Dockerfile": false, "handler.py": false, ".dockerignore": false,
	} {
		require.Equal(t, want, ignored.match(name), name)
	}
}
